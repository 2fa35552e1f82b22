"""Importances of every estimator: noise gets next to nothing, and nothing but the data counts."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

import spinney
from spinney.algorithms.losses import forest_loss
from spinney.data import classification_problem, regression_problem
from spinney.ensembles.gradient import first_scores
from spinney.tree.gains import column_gains, gain_task
from spinney.tree.route import apply, outputs
from tests import reference

N_ROWS, N_NOISE = 300, 6


def rows() -> NDArray[np.float32]:
    return np.random.default_rng(7).normal(size=(N_ROWS, 2 + N_NOISE)).astype(np.float32)


def scores() -> NDArray[np.float64]:
    X = rows()
    return X[:, 0] + 0.8 * X[:, 1] + np.random.default_rng(8).normal(size=N_ROWS) / 2


FEW: dict[str, Any] = {"random_state": 0}
MODELS = [
    spinney.TAOTreeClassifier(max_depth=4, **FEW),
    spinney.TAOTreeClassifier(max_depth=2, leaf="linear", loss="log_loss", **FEW),
    spinney.TAOTreeRegressor(max_depth=4, **FEW),
    spinney.TAOTreeRegressor(max_depth=2, leaf="linear", **FEW),
    spinney.TAOForestClassifier(4, max_depth=5, max_iter=3, **FEW),
    spinney.TAOForestRegressor(4, max_depth=4, max_iter=3, bootstrap=True, **FEW),
    spinney.TAOBoostClassifier(4, max_depth=4, max_sweeps=3, **FEW),
    spinney.TAOGradientBoostingClassifier(6, max_depth=3, max_sweeps=3, **FEW),
    spinney.TAOGradientBoostingRegressor(6, max_depth=3, max_sweeps=3, **FEW),
    spinney.FAOForestClassifier(2, 4, max_depth=4, max_iter=4, **FEW),
    spinney.FAOForestRegressor(2, 4, max_depth=4, max_iter=4, **FEW),
    spinney.CO2TreeClassifier(max_epochs=10, **FEW),
    spinney.CO2TreeRegressor(max_epochs=10, **FEW),
    spinney.CO2ForestClassifier(4, max_epochs=10, **FEW),
    spinney.CO2ForestRegressor(4, max_epochs=10, **FEW),
    spinney.RandomDecisionForestClassifier(6, **FEW),
    spinney.GreedyForestClassifier(6, **FEW),
    spinney.GreedyForestRegressor(6, **FEW),
]
for _model in MODELS:
    if "calibrate" in _model.get_params():
        _model.set_params(calibrate=False)  # it changes no tree and takes time
NAMES = [f"{type(model).__name__}-{model.get_params().get('leaf', 'constant')}" for model in MODELS]
every = pytest.mark.parametrize("model", MODELS, ids=NAMES)


def targets(model: Any) -> NDArray[Any]:
    return (scores() > 0).astype(int) if is_classifier(model) else scores()


def fitted(model: Any, X: Any = None, **params: Any) -> Any:
    return clone(model).set_params(**params).fit(rows() if X is None else X, targets(model))


@every
def test_noise_gets_next_to_nothing(model: Any) -> None:
    found = fitted(model).feature_importances_
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()
    by_weight = fitted(model, importance_type="weight").feature_importances_
    assert found[2:].sum() < 0.2
    assert found[2:].sum() < by_weight[2:].sum() / 2
    assert found[:2].min() > found[2:].max()


@every
def test_the_type_changes_no_tree(model: Any) -> None:
    one, other = fitted(model), fitted(model, importance_type="weight")
    assert np.array_equal(one.predict(rows()), other.predict(rows()))
    assert not np.allclose(one.feature_importances_, other.feature_importances_)


@every
def test_constant_columns_get_nothing_and_change_nothing_in_what_is_known(model: Any) -> None:
    found = fitted(model, np.column_stack([rows(), np.full(N_ROWS, 3.0)])).feature_importances_
    assert found[-1] == 0
    assert found.sum() == pytest.approx(1)


@every
def test_unknown_types_are_refused(model: Any) -> None:
    with pytest.raises(ValueError, match="importance_type='cover'"):
        fitted(model, importance_type="cover")


@every
def test_models_of_older_releases_go_on_with_weights(model: Any) -> None:
    found = fitted(model, importance_type="weight")
    state = found.__getstate__()
    del state["importance_type"]
    older = pickle.loads(pickle.dumps(found))
    older.__dict__.clear()
    older.__setstate__(state)
    assert older.get_params()["importance_type"] == "weight"
    assert np.array_equal(older.feature_importances_, found.feature_importances_)
    again = older.fit(rows(), targets(model))
    assert np.array_equal(again.feature_importances_, found.feature_importances_)


def test_symmetric_effects_count_where_splits_read_one_column() -> None:
    X = rows()
    y = (np.abs(X[:, 3]) > 0.7).astype(int)
    found = spinney.GreedyForestClassifier(5, random_state=0).fit(X, y).feature_importances_
    assert found[3] > 0.95


def test_correlated_columns_share_what_they_know() -> None:
    rng = np.random.default_rng(0)
    signal = rng.normal(size=500)
    copies = signal[:, None] + rng.normal(size=(500, 3)) / 5
    X = np.column_stack([copies, rng.normal(size=(500, 3))])
    model = spinney.TAOForestClassifier(
        10, max_depth=3, max_iter=5, calibrate=False, random_state=0
    )
    found = model.fit(X, signal > 0).feature_importances_
    assert found[:3].min() > 0.1
    assert found[3:].sum() < 0.05


def shares(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    return gains / gains.sum()


def test_rounds_of_boosting_are_judged_by_their_weights() -> None:
    model = spinney.TAOBoostClassifier(
        4, max_depth=2, max_sweeps=3, learning_rate=1.0, random_state=0
    )
    y = targets(model)
    weights = np.random.default_rng(0).integers(1, 4, N_ROWS).astype(float)
    model.fit(rows(), y, sample_weight=weights)
    problem = classification_problem(rows(), y.astype(np.int32), 2, weights)
    given, gains = gain_task(problem), np.zeros(2 + N_NOISE)
    present = weights.copy()
    for tree, say in zip(model.trees_, model.estimator_weights_, strict=True):
        leaves = apply(tree, problem.rows)
        found = column_gains(tree, problem.rows, leaves, given.with_weights(present))
        gains += say * found[0]
        is_wrong = outputs(tree, problem.rows).argmax(axis=1) != y
        present = np.where(is_wrong, present * np.exp(say), present)
        present *= weights.sum() / present.sum()
    np.testing.assert_allclose(model.feature_importances_, shares(gains), rtol=1e-9)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber"])
def test_trees_of_gradient_boosting_are_judged_by_what_is_left(loss: str) -> None:
    model = spinney.TAOGradientBoostingRegressor(
        5, loss=loss, max_depth=2, max_sweeps=3, random_state=0
    )
    y = 10 * targets(model)
    model.fit(rows(), y)
    problem = regression_problem(rows(), y[:, None], np.ones(N_ROWS))
    unit = problem.target_scale
    sums = np.tile(first_scores(problem, forest_loss(loss, 1.0 / unit)), (N_ROWS, 1))
    gains = np.zeros(2 + N_NOISE)
    for tree in model.trees_:
        left = (y[:, None] - sums) / unit
        if loss == "absolute_error":
            left = np.sign(left)
        elif loss == "huber":
            left = np.clip(left, -1.0 / unit, 1.0 / unit)
        ones = np.ones(N_ROWS)
        gains += reference.column_gains(tree, rows().astype(float), left, ones, ones, 2 + N_NOISE)[
            0
        ]
        sums += outputs(tree, problem.rows)
    np.testing.assert_allclose(model.feature_importances_, shares(gains), rtol=1e-6)


def test_refit_judges_by_the_new_rows() -> None:
    model = spinney.FAOForestRegressor(1, 3, max_depth=3, max_iter=3, random_state=0)
    X = rows()
    model.fit(X, X[:, 0])
    assert model.feature_importances_.argmax() == 0
    model.refit(X, X[:, 4])
    assert model.feature_importances_.argmax() == 4


def test_the_last_importances_of_a_stopped_fit_are_those_of_its_trees() -> None:
    model = spinney.GreedyForestRegressor(9, random_state=0)
    stopped = clone(model).fit(rows(), scores(), callback=lambda event: event.number == 3)
    assert stopped.stopped_by_callback_
    short = clone(model).set_params(n_estimators=3).fit(rows(), scores())
    assert np.array_equal(stopped.feature_importances_, short.feature_importances_)
