"""The code that people read first must run, and print what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import Block, blocks_of, run

ROOT = Path(__file__).resolve().parents[2]
GUIDES = sorted((ROOT / "docs" / "guide").glob("*.md"))
EXTEND = sorted((ROOT / "docs" / "extend").glob("*.md"))
PAGES = [ROOT / "docs" / "start.md", *GUIDES, *EXTEND]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_of_a_page_run_and_print_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run(page)


def test_readme_example_is_short_and_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [block] = blocks_of(text)
    assert len([line for line in block.code.splitlines() if line]) <= 15
    exec(compile(block.code, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    [said] = re.findall(r"It prints:\n\n```text\n(.*?)```", text, flags=re.DOTALL)
    # scikit-learn's forest may differ from release to release, ours may not.
    assert without_peers(printed) == without_peers(said.splitlines())


def without_peers(lines: list[str]) -> list[str]:
    return [line.rstrip() for line in lines if line and not line.startswith("random forest")]


def test_start_runs_from_a_table_to_a_file() -> None:
    text = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    assert len([block for block in blocks_of(text) if block.printed is not None]) >= 4


PAGE = """
<!-- setup
x = 1
-->

```python
print(x)
```

```text
1
```

<!-- needs: a_package_that_nobody_has -->

```python
import a_package_that_nobody_has
```

<!-- not run: takes a day -->

```python
1 / 0
```

```python
y = x
```

Words.

```text
2
```
"""


def test_only_blocks_that_can_run_are_taken() -> None:
    assert list(blocks_of(PAGE)) == [
        Block("x = 1\n", 2, None),
        Block("print(x)\n", 6, "1\n"),
        Block("y = x\n", 26, None),
    ]


def test_a_block_that_prints_something_else_fails(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n\n```text\n2\n```\n")
    with pytest.raises(AssertionError, match="line 1"):
        run(page)
