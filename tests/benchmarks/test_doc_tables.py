"""Tables of README and docs are those of the results."""

from __future__ import annotations

from pathlib import Path

import doc_tables
import numpy as np
import pytest


@pytest.mark.parametrize("page", doc_tables.pages(), ids=lambda page: page.name)
def test_tables_of_pages_are_up_to_date(page: Path) -> None:
    said = page.read_text(encoding="utf-8")
    assert doc_tables.rewritten(page) == said, "run `python benchmarks/doc_tables.py`"


def test_readme_and_results_have_tables() -> None:
    names = {page.name for page in doc_tables.pages()}
    assert {"README.md", "results.md", "which_forest.md"} <= names


def test_a_page_with_other_numbers_is_rewritten(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- table: serving -->\n| old |\n<!-- end of table -->\nb\n")
    text = doc_tables.rewritten(page)
    assert "old" not in text
    assert text.startswith("a\n<!-- table: serving -->\n\n| model |")
    assert text.endswith("|\n\n<!-- end of table -->\nb\n")
    page.write_text(text)
    assert doc_tables.rewritten(page) == text


def row(*errors: float, kind: str = "spinney", paper: dict[str, float] | None = None) -> dict:
    cells = {str(seed): {"test_error": error} for seed, error in enumerate(errors)}
    return {
        "label": "S-TAO T=100",
        "data": "letter",
        "cells": cells,
        "settings": {"kind": kind},
        "paper": paper or {},
    }


def test_an_error_has_its_spread_and_seeds_if_not_three() -> None:
    assert doc_tables.error_text(row(1.0, 2.0, 3.0), is_best=True) == "**2.00\u00a0±\u00a01.00**"
    assert doc_tables.with_seeds("2.00", row(1.0, 2.0, 3.0)) == "2.00"
    assert doc_tables.with_seeds("2.00", row(2.0)) == "2.00 (one seed)"


def test_a_paper_is_bold_only_if_it_is_better_as_shown() -> None:
    assert doc_tables.paper_text(row(1.934, paper={"error": 1.93})) == "1.93"
    assert (
        doc_tables.paper_text(row(1.94, paper={"error": 1.93, "sd": 0.1}))
        == "**1.93\u00a0±\u00a00.10**"
    )
    assert doc_tables.paper_text(row(1.0)) == "–"


def test_a_row_that_is_not_measured_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"rows": [row(paper={"error": 1.93})]}
    monkeypatch.setattr(doc_tables, "results", lambda _file: rows)
    choice = {"name": "Letter", "file": "letter", "data": "letter", "row": "S-TAO T=100"}
    lines = doc_tables.beside_papers({"rows": [{**choice, "forest": "boosted"}]})
    assert lines[-1] == "| Letter | boosted | not measured | 1.93 | – | – | – |"


def test_sizes_are_beside_those_of_the_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = row(2.0, paper={"error": 1.93, "parameters": 200e3, "flops": 50.0})
    measured["cells"]["0"] |= {"n_parameters": 300_000.0, "flops": 40.0}
    monkeypatch.setattr(doc_tables, "results", lambda _file: {"rows": [measured]})
    choice = {"name": "Letter", "file": "letter", "data": "letter", "row": "S-TAO T=100"}
    head, _, line = doc_tables.beside_papers({"rows": [{**choice, "forest": "boosted"}]})
    sizes = "300\u202f000 | 200\u202f000\u00a0(1.50×) | 40 | 50\u00a0(0.80×)"
    assert "| parameters | paper's | FLOPS | paper's |" in head
    assert f"| {sizes} |" in line


def test_a_row_that_no_table_has_is_named() -> None:
    with pytest.raises(ValueError, match="0 rows 'S-TAO T=31' on 'letter'"):
        doc_tables.row_of("letter", "letter", "S-TAO T=31")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("44853.7 ± 215", "44853.7 ± 215"),
        ("44854 ± 215", "44\u202f854 ± 215"),
        ("0.000165", "0.000165"),
    ],
)
def test_only_whole_numbers_are_grouped(text: str, wanted: str) -> None:
    assert doc_tables.grouped_text(text) == wanted


def test_labels_are_told_in_words() -> None:
    assert doc_tables.readable("S-TAO T=100") == "boosted T=100"
    assert doc_tables.readable("avg-FAO 2 x 30 trees") == "FAO 2 × 30"


def test_an_error_is_a_root_mean_square_where_there_is_one() -> None:
    cells = {"cells": {"0": {"test_error": None, "test_rmse": 2.5}}}
    assert np.array_equal(doc_tables.errors_of(cells), [2.5])
