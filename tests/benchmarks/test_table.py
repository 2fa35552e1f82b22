import numpy as np
import pytest
import table

MINIMAL = {"title": "t", "data": ["digits"], "row": [{"label": "CART", "estimator": "cart"}]}


def test_every_table_of_the_repository_is_valid():
    tables = {name: table.read(name) for name in table.names()}
    assert {"letter", "mnist", "r8", "mnist_binary", "peers"} <= set(tables)
    for found in tables.values():
        labels = {row.label for row in found.rows}
        for claim in found.claims:
            for side in ("lower", "than", "over", "under", "ours", "theirs"):
                wanted = claim.get(side, [])
                for label in [wanted] if isinstance(wanted, str) else wanted:
                    assert "*" in label or label in labels, (found.name, label)


def test_vary_makes_a_row_for_each_combination():
    row = {
        "label": "d{max_depth} {init}",
        "estimator": "TAOTreeClassifier",
        "vary": {"max_depth": [2, 4], "init": ["balanced", "random"]},
    }
    found = table.parse("x", {**MINIMAL, "row": [row]})
    assert [r.label for r in found.rows] == ["d2 balanced", "d2 random", "d4 balanced", "d4 random"]
    assert found.row("d4 random").settings["params"] == {"max_depth": 4, "init": "random"}


def test_cases_are_merged_into_the_row():
    row = {
        "label": "CART",
        "estimator": "cart",
        "params": {"max_depth": 3},
        "cases": [
            {"data": ["letter"], "params": {"min_samples_leaf": 2}, "paper": {"error": 1.0}},
            {"data": ["usps"]},
        ],
    }
    found = table.parse("x", {**MINIMAL, "row": [row]})
    letter, usps = found.row("CART", "letter"), found.row("CART", "usps")
    assert letter.settings["params"] == {"max_depth": 3, "min_samples_leaf": 2}
    assert letter.paper == {"error": 1.0}
    assert usps.paper == {}


def test_seeds_of_a_data_set_win():
    content = {**MINIMAL, "data": ["digits", "usps"], "seeds": [0, 1], "data_seeds": {"usps": [7]}}
    found = table.parse("x", content)
    assert [row.seeds for row in found.rows] == [(0, 1), (7,)]


def test_folds_are_seeds():
    found = table.parse("x", {**MINIMAL, "data": ["mnist_2v4_fold{seed}"]})
    assert found.rows[0].data_of(3) == "mnist_2v4_fold3"


def test_the_paper_limits_the_parameters():
    row = {**MINIMAL["row"][0], "paper": {"parameters": 100}, "target": {"error": 2.0}}
    found = table.parse("x", {**MINIMAL, "row": [row]})
    assert found.rows[0].target == {"error": 2.0, "parameters": 150.0}


def test_a_search_changes_only_its_own_fits():
    row = {
        "label": "RF",
        "estimator": "rf",
        "params": {"n_estimators": 100},
        "search_params": {"n_estimators": 10},
        "grid": {"max_features": [1, 2]},
        "curve": True,
    }
    (found,) = table.parse("x", {**MINIMAL, "row": [row]}).rows
    searched, chosen = found.searched(found.grid[1]), found.chosen(found.grid[1])
    assert searched["params"] == {"n_estimators": 10, "max_features": 2}
    assert "curve" not in searched
    assert chosen["params"] == {"n_estimators": 100, "max_features": 2}
    assert chosen["curve"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sedes": [0]}, "unknown keys"),
        ({"row": [{"label": "x", "estimator": "cart", "seed": 1}]}, "unknown keys"),
        ({"row": [{"label": "x", "estimator": "carrot"}]}, "'carrot' is not known"),
        ({"row": MINIMAL["row"] * 2}, "two rows are named"),
        (
            {"budget": 1, "row": [{**MINIMAL["row"][0], "grid": {"max_depth": [1, 2]}}]},
            "searches 2 configurations",
        ),
    ],
)
def test_mistakes_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        table.parse("x", {**MINIMAL, **change})


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([2.16], "2.16"),
        ([1.7, 1.72], "1.71 ± 0.01"),
        ([0.3, 0.31], "0.30 ± 0.01"),
        ([0.07123], "0.0712"),
        ([0.0001641, 0.0001643], "0.000164 ± 0.000000"),
        ([44247.91], "44248"),
        ([0.0], "0.00"),
    ],
)
def test_errors_are_shown_with_digits_that_tell(values, text):
    from markdown_parts import spread

    assert spread(np.array(values)) == text
