"""Links of Markdown files and of HTML pages, and which of them lead nowhere.

Nothing is fetched: addresses of other sites are only looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FENCED = re.compile(r"^(```+|~~~+).*?^\1\s*$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)(?: {4}.*\n|\n)+")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
INLINE_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
EXTERNAL = ("http", "https", "mailto")


@dataclass
class _Page(HTMLParser):
    """Targets and anchors of one HTML page."""

    targets: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what the tag refers to and what it can be referred to by."""
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if name in ("href", "src") and value and not (tag == "link" and value == "#"):
                self.targets.append(value)


def broken_in_markdown(page: Path) -> list[str]:
    """Links of a Markdown file that lead to no file, or to no heading of one."""
    targets = LINK.findall(prose_of(page))
    return [target for target in targets if not _leads_somewhere(page, target, _headings)]


def broken_in_html(page: Path) -> list[str]:
    """Links, images, styles and scripts of an HTML page that lead nowhere."""
    targets = _parsed(page).targets
    return [target for target in targets if not _leads_somewhere(page, target, _ids)]


def prose_of(page: Path) -> str:
    """A Markdown file without its code and comments."""
    text = COMMENT.sub("", FENCED.sub("", page.read_text(encoding="utf-8")))
    return INLINE_CODE.sub("", INDENTED.sub("", text))


def linked_files(page: Path) -> Iterator[Path]:
    """The files in the repository that a Markdown file links to."""
    for target in LINK.findall(prose_of(page)):
        parts = urlsplit(target)
        if not parts.scheme and parts.path:
            yield (page.parent / unquote(parts.path)).resolve()


def _leads_somewhere(
    page: Path, target: str, anchors_of: Callable[[Path], Collection[str]]
) -> bool:
    parts = urlsplit(target)
    if parts.scheme == "data":
        return True
    if parts.scheme:
        return parts.scheme in EXTERNAL and (bool(parts.netloc) or parts.scheme == "mailto")
    file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not file.is_file():
        return False
    is_page = file.suffix in (".md", ".html") and bool(parts.fragment)
    return not is_page or unquote(parts.fragment) in anchors_of(file)


@cache
def _headings(page: Path) -> frozenset[str]:
    """Anchors of the headings, made as code hosts make them."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    found: list[str] = []
    for heading in HEADING.findall(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        n_before = sum(other == slug or other.startswith(f"{slug}-") for other in found)
        found.append(slug if slug not in found else f"{slug}-{n_before}")
    return frozenset(found)


@cache
def _parsed(page: Path) -> _Page:
    parser = _Page()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser


def _ids(page: Path) -> set[str]:
    return _parsed(page).anchors
