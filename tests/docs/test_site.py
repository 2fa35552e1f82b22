"""The generated parts of the site: the reference and the pages of the examples."""

from __future__ import annotations

from pathlib import Path

import pytest
from gallery import page_of as example_page
from reference import own_members, page_of, public_names, write_reference
from sklearn.base import BaseEstimator
from stage import SCRIPT

import spinney
from spinney.tree import NodeView


def test_every_public_name_has_a_page(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("# Reference\n")
    write_reference(tmp_path)
    wanted = {name for name in spinney.__all__ if name != "__version__"}
    pages = {page.stem for page in tmp_path.glob("*.rst")}
    assert {f"spinney.{name}" for name in wanted} <= pages
    index = (tmp_path / "index.md").read_text()
    assert [page for page in pages if f"({page}.rst)" not in index] == []
    assert ":func:" not in index


def test_a_thing_that_two_packages_export_has_one_page() -> None:
    things = [id(thing) for _, thing in public_names().values()]
    assert len(things) == len(set(things))


@pytest.mark.parametrize("name", ["TAOForestClassifier", "FAOForestRegressor"])
def test_members_are_ours_alone(name: str) -> None:
    members = own_members(getattr(spinney, name))
    assert {"fit", "predict", "trees_"} <= set(members)
    assert not set(members) & set(vars(BaseEstimator))
    assert [member for member in members if member.endswith("_request")] == []


def test_a_page_says_of_what_kind_a_name_is() -> None:
    assert ".. autofunction:: save" in page_of("spinney.save", spinney.save)
    assert ".. autodata:: NodeView" in page_of("spinney.tree.NodeView", NodeView)
    forest = page_of("spinney.TAOForestClassifier", spinney.TAOForestClassifier)
    assert "   .. automethod:: fit\n" in forest
    assert "   .. autoproperty:: trees_\n" in forest


def test_the_page_of_an_example_has_what_it_says_prints_and_draws(tmp_path: Path) -> None:
    script = tmp_path / "wood.py"
    script.write_text('"""Title here.\n\nMore.\n"""\n\nprint(1)\n')
    page = example_page(script, "1\n", ["wood.png"])
    assert page.startswith("# Title here\n\nMore.\n")
    assert "(wood.png)" in page
    assert "```text\n1\n```" in page
    assert "````python\nprint(1)\n````" in page


@pytest.mark.parametrize(
    ("link", "wanted"),
    [
        ("[a](../examples/wood.py)", "[a](../examples/wood.md)"),
        ("[a](wood.py)", "[a](wood.md)"),
        ("[a](../src/wood.py)", "[a](../src/wood.py)"),
    ],
)
def test_links_to_scripts_of_examples_lead_to_their_pages(link: str, wanted: str) -> None:
    assert SCRIPT.sub(r"\1.md)", link) == wanted
