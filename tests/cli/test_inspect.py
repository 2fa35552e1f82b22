from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import spinney
from tests.cli.conftest import HEADER, Run


def test_everything_in_a_file_is_told(run: Run, model: Path) -> None:
    found = json.loads(run("inspect", model, "--json").out)
    loaded = spinney.load(model)
    assert found["model"] == "TAOTreeClassifier"
    assert found["library"] == spinney.__version__
    assert found["classes"] == ["high", "low"]
    assert found["bytes"] == model.stat().st_size
    assert found["n_parameters"] == loaded.n_parameters_
    assert found["parameters"]["max_depth"] == 3
    assert found["changed"] == ["max_depth", "n_jobs", "random_state"]
    columns = found["columns"]
    assert [column["name"] for column in columns] == HEADER[1:-1]
    assert [column["role"] for column in columns] == [
        "number",
        "text",
        "number",
        "datetime",
        "number",
    ]
    assert columns[1]["levels"] == ["clerk", "cook", "smith, black"]
    importances = [column["importance"] for column in columns]
    np.testing.assert_allclose(importances, loaded.feature_importances_)
    names = [name for column in columns for name in column["coordinates"]]
    assert names == loaded.get_coordinate_names().tolist()
    assert found["trees"][0]["nodes"] == loaded.tree_.n_nodes


def test_the_text_names_kind_columns_and_trees(run: Run, model: Path) -> None:
    text = run("inspect", model).out
    assert "TAOTreeClassifier in" in text
    assert "chosen: max_depth=3" in text
    assert "job = clerk, job = cook" in text
    assert "tree  depth  nodes" in text


def test_a_tree_is_printed_as_rules(run: Run, model: Path) -> None:
    assert (
        run("inspect", model, "--tree", 0).out.strip()
        == spinney.export_text(spinney.load(model)).strip()
    )
    ran = run("inspect", model, "--tree", 3)
    assert ran.code == 2
    assert "--tree 3: the file holds 1 tree" in ran.err


X, Y = load_iris(return_X_y=True, as_frame=True)
FOREST = spinney.TAOForestClassifier(n_estimators=12, max_depth=2, max_iter=2, random_state=0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: FOREST.fit(X, Y),
        lambda: spinney.refine_leaves(FOREST.fit(X, Y), X, Y),
        lambda: spinney.FAOForestRegressor(1, 2, max_depth=2, max_iter=2).fit(X, X.iloc[:, :2]),
        lambda: spinney.TAOTreeClassifier(max_depth=2).fit(X.to_numpy(), Y),
        lambda: spinney.TAOTreeClassifier(max_depth=2).fit(X, Y).tree_,
        lambda: spinney.regularization_path(
            spinney.TAOTreeClassifier(max_depth=2), X, Y, alphas=[1.0]
        ),
        spinney.TAOTreeRegressor,
    ],
    ids=["forest", "refined", "outputs", "no names", "bare tree", "path", "not fitted"],
)
def test_whatever_can_be_saved_can_be_looked_at(run: Run, tmp_path: Path, make: object) -> None:
    path = tmp_path / "m.spinney"
    spinney.save(make(), path)  # type: ignore[operator]
    for words in ((), ("--json",), ("--all-trees",)):
        ran = run("inspect", path, *words)
        assert ran.code == 0, ran.err
        assert type(spinney.load(path)).__name__ in ran.out


def test_long_lists_of_trees_are_cut(run: Run, tmp_path: Path) -> None:
    spinney.save(FOREST.fit(X, Y), tmp_path / "m.spinney")
    assert "… 2 more: --all-trees" in run("inspect", tmp_path / "m.spinney").out
    assert "more" not in run("inspect", tmp_path / "m.spinney", "--all-trees").out
