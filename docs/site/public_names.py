"""A Sphinx extension: public names in the prose of pages lead to their place in the reference.

It also reads the shapes in docstrings, such as ``(n_features_in_,)``, as what they are: to
reStructuredText a word with an underscore at its end is a link.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from reference import public_names
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


class LinkNames(SphinxTransform):
    """Wraps inline code that is a public name into a reference to it."""

    default_priority = 999

    def apply(self, **_: Any) -> None:
        """Look at all inline code of a page that is in no link and no heading yet."""
        names = {name.rpartition(".")[2]: name for name in public_names()}
        names |= {name: name for name in public_names()}
        for literal in list(self.document.findall(nodes.literal)):
            name = names.get(literal.astext())
            if name is None or isinstance(literal.parent, nodes.reference | nodes.title):
                continue
            if isinstance(literal.parent, pending_xref) or len(literal.children) != 1:
                continue
            found = pending_xref(
                "", refdomain="py", reftype="obj", reftarget=name, refexplicit=True
            )
            literal.replace_self(found)
            found += literal


def escape_shapes(_app: Sphinx, _what: str, _name: str, _of: object, *rest: Any) -> None:
    """Escape the last underscore of names in the line of a parameter's or attribute's type."""
    lines: list[str] = rest[-1]
    for number, line in enumerate(lines):
        name, colon, kind = line.partition(" : ")
        if colon and re.fullmatch(r"[\w, *]+", name):
            lines[number] = name + colon + re.sub(r"(?<=\w)_(?=[,)\s]|$)", r"\\_", kind)


def drop_dead_backlinks(_app: Sphinx, tree: nodes.document, _page: str) -> None:
    """Drop links from a reference to where it is cited, if that is in a part only for LaTeX."""
    ids = {name for node in tree.findall(nodes.Element) for name in node["ids"]}
    for kind in (nodes.citation, nodes.footnote):
        for reference in tree.findall(kind):
            reference["backrefs"] = [name for name in reference["backrefs"] if name in ids]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all of it."""
    app.connect("doctree-resolved", drop_dead_backlinks)
    app.add_transform(LinkNames)
    app.connect("autodoc-process-docstring", escape_shapes, priority=400)  # before numpydoc
    return {"parallel_read_safe": True}
