from __future__ import annotations

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor

from spinney import TAOForestClassifier, TAOTreeClassifier, TAOTreeRegressor
from spinney.cli import demo
from spinney.cli.demo_picture import draw_splits
from tests.cli.conftest import Run


@pytest.fixture(autouse=True)
def few_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole demo takes a minute."""
    labellers = {
        "TAO tree, constant leaves": TAOTreeClassifier(max_depth=4, max_iter=3, random_state=0),
        "TAO forest": TAOForestClassifier(2, max_depth=2, max_iter=2, random_state=0),
        "gradient boosting": HistGradientBoostingClassifier(max_iter=2, random_state=0),
    }
    regressors = {
        "TAO tree": TAOTreeRegressor(max_depth=3, max_iter=3, random_state=0),
        "random forest": RandomForestRegressor(2, random_state=0),
    }
    monkeypatch.setattr(demo, "classifiers", lambda: labellers)
    monkeypatch.setattr(demo, "regressors", lambda: regressors)


def test_both_tasks_are_shown_with_a_picture(run: Run, tmp_path: Path) -> None:
    ran = run("demo", "--picture", tmp_path / "demo.png")
    assert ran.code == 0, ran.err
    assert "Digits: 1347 training rows" in ran.out
    assert "test RMSE" in ran.out
    assert (tmp_path / "demo.png").read_bytes()[:4] == b"\x89PNG"


def test_json_has_the_same_figures(run: Run) -> None:
    found = json.loads(run("demo", "--json").out)
    tree = found["digits"][0]
    assert 0 < tree["error"] < 0.5
    assert tree["parameters"] > 0
    assert found["friedman1"][1]["trees"] == 2


def test_splits_are_drawn_as_weight_times_deviation() -> None:
    X = np.random.default_rng(0).normal(size=(200, 64))
    X[:, 0] *= 1e-3  # a dead corner: its weight is large and weighs nothing
    tree = TAOTreeClassifier(max_depth=1, alpha=0.01, random_state=0)
    tree = tree.fit(X, X[:, 9] + 500 * X[:, 0] > 0).tree_
    axes = dict(zip("0123456", plt.figure().subplots(1, 7), strict=True))
    draw_splits(axes, tree, X.std(axis=0))
    drawn = np.asarray(axes["0"].images[0].get_array()).ravel()
    columns = tree.split_indices
    np.testing.assert_allclose(drawn[columns], tree.split_weights * X.std(axis=0)[columns])
    assert np.abs(drawn).argmax() == 9
    assert [len(axes[place].images) for place in "123456"] == [0] * 6
