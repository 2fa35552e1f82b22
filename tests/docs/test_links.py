"""Links lead somewhere, and the checker that says so can tell."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from links import broken_in_html, broken_in_markdown, linked_files
from paths import ROOT, pages

each_page = pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))


@each_page
def test_links_of_pages_lead_somewhere(page: Path) -> None:
    assert broken_in_markdown(page) == []


@each_page
def test_files_that_pages_name_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|cpp|bindings|benchmarks|tests|examples|docs)/[\w./]+)`", text)
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_links_of_pages_stay_in_the_repository() -> None:
    linked = {file for page in pages() for file in linked_files(page)}
    assert [file for file in linked if not file.is_relative_to(ROOT)] == []


MARKDOWN = """# A page: with *words*, `code` & signs

[self](#a-page-with-words-code--signs) [other](other.md) [there](other.md#twice-1)
[site](https://example.org/a?b=c) ![picture](picture.png)
[gone](gone.md) [no such heading](other.md#gone) [folder](folder/) [odd](ftp:/x)

`[code](gone.md)` <!-- [comment](gone.md) -->

```python
[fenced](gone.md)
```

    [indented](gone.md)
"""


def test_checker_finds_exactly_the_broken_links_of_markdown(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "picture.png").touch()
    (tmp_path / "other.md").write_text("# Twice\n\n# Twice\n")
    page = tmp_path / "page.md"
    page.write_text(MARKDOWN)
    assert broken_in_markdown(page) == ["gone.md", "other.md#gone", "folder/", "ftp:/x"]


HTML = """<h1 id="top">A</h1><a href="#top"></a><a href="other.html#there"></a><img src="data:x">
<a href="#gone"></a><a href="other.html#gone"></a><img src="gone.png">
<script src="gone.js"></script><a href="https://example.org"></a><a href="https://"></a>"""


def test_checker_finds_exactly_the_broken_links_of_html(tmp_path: Path) -> None:
    (tmp_path / "other.html").write_text('<p id="there">')
    page = tmp_path / "page.html"
    page.write_text(HTML)
    broken = ["#gone", "other.html#gone", "gone.png", "gone.js", "https://"]
    assert broken_in_html(page) == broken
