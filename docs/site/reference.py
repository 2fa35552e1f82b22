"""Pages of the public names, written from what the packages export.

A name is public if it is in ``__all__`` of one of `MODULES`. Each gets a page with its docstring
and those methods that are ours; scikit-learn's own are left to its documentation.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
from functools import cached_property
from pathlib import Path
from types import ModuleType

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

MODULES = {
    "spinney": "Estimators and functions",
    "spinney.images": "Images",
    "spinney.tree": "Trees as plain arrays",
    "spinney.data.tables": "Tables as coordinates",
    "spinney.inspection.explanations": "Explanations",
    "spinney.plotting": "Plots",
    "spinney.fitting.progress": "Progress",
    "spinney.inspection.report": "Reports",
}
# Known to users by one method or attribute of an estimator; the rest of the package is inner life.
ONLY = {"spinney.data.tables": ("TableEncoding", "Coordinate"), "spinney.tree": None}
HIDDEN = {"__version__"}
KINDS = ("Classifiers", "Regressors", "Functions", "Types")


def public_names() -> dict[str, tuple[str, object]]:
    """Public name -> where it is documented, and the object."""
    found: dict[str, tuple[str, object]] = {}
    seen: set[int] = set()
    for name in MODULES:
        for member in _members(name):
            thing = getattr(importlib.import_module(name), member)
            if id(thing) not in seen:
                found[f"{name}.{member}"] = (name, thing)
                seen.add(id(thing))
    return found


def write_reference(folder: Path) -> None:
    """A page a name, and tables of them at the end of the folder's index."""
    folder.mkdir(parents=True, exist_ok=True)
    names = public_names()
    for name, (_, thing) in names.items():
        (folder / f"{name}.rst").write_text(page_of(name, thing), encoding="utf-8")
    lines = []
    for module, title in MODULES.items():
        here = {name: thing for name, (place, thing) in names.items() if place == module}
        if here:
            lines += ["", f"## {title}: `{module}`", *tables_of(module, here)]
    lines += ["", "```{toctree}", ":hidden:", "", *names, "```", ""]
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        index.write("\n".join(lines))


def tables_of(module: str, things: dict[str, object]) -> list[str]:
    """A table a kind of thing, in Markdown; a single kind has no heading of its own."""
    kinds: dict[str, list[str]] = {}
    for name, thing in things.items():
        short = name.removeprefix(f"{module}.")
        row = f"| [`{short}`]({name}.rst) | {_first_line(thing)} |"
        kinds.setdefault(kind_of(thing), []).append(row)
    lines = []
    for kind in sorted(kinds, key=KINDS.index):
        lines += ["", f"### {kind}"] if len(kinds) > 1 else []
        lines += ["", "| name | what it is |", "|---|---|", *kinds[kind]]
    return lines


def kind_of(thing: object) -> str:
    """Under which heading a thing is listed."""
    if not inspect.isclass(thing):
        return "Functions" if callable(thing) else "Types"
    if issubclass(thing, ClassifierMixin):
        return "Classifiers"
    if issubclass(thing, RegressorMixin):
        return "Regressors"
    return "Types"


def page_of(name: str, thing: object) -> str:
    """A page in reStructuredText: the docstring, then the methods that are ours."""
    module, _, short = name.rpartition(".")
    lines = [short, "=" * len(short), "", f".. currentmodule:: {module}", ""]
    if not inspect.isclass(thing):
        kind = "autofunction" if callable(thing) else "autodata"
        return "\n".join([*lines, f".. {kind}:: {short}", ""])
    lines += [f".. autoclass:: {short}", ""]
    for member in own_members(thing):
        kind = "automethod" if callable(getattr(thing, member)) else "autoproperty"
        lines += [f"   .. {kind}:: {member}", ""]
    return "\n".join(lines)


def own_members(kind: type) -> list[str]:
    """Public methods and properties that this library adds to those of scikit-learn."""
    found = []
    for name, member in inspect.getmembers(kind):
        owner = next((base for base in kind.__mro__ if name in vars(base)), None)
        is_ours = owner is not None and owner.__module__.startswith("spinney")
        is_known = hasattr(BaseEstimator, name)  # set_params is what it always is
        is_routing = name.startswith("set_") and name.endswith("_request")  # made by scikit-learn
        is_shown = inspect.isroutine(member) or isinstance(member, property | cached_property)
        if is_ours and is_shown and not is_known and not is_routing and not name.startswith("_"):
            found.append(name)
    return found


def _members(name: str) -> list[str]:
    if importlib.util.find_spec(name) is None:
        return []
    module: ModuleType = importlib.import_module(name)
    exported = [member for member in getattr(module, "__all__", []) if member not in HIDDEN]
    chosen = ONLY.get(name)
    return [member for member in exported if chosen is None or member in chosen]


def _first_line(thing: object) -> str:
    """The first line of a docstring as Markdown, which knows no roles."""
    line = (inspect.getdoc(thing) or "").partition("\n")[0].replace("|", "\\|")
    return re.sub(r":\w+:(?=`)", "", line)
