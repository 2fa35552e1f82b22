"""What all estimators of greedily grown trees promise: the same bits, clear errors, no traces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.datasets import load_iris, make_classification
from sklearn.model_selection import cross_val_score

from spinney import (
    CO2ForestClassifier,
    CO2ForestRegressor,
    CO2TreeClassifier,
    CO2TreeRegressor,
    FAOForestClassifier,
    FAOForestRegressor,
    GreedyForestClassifier,
    GreedyForestRegressor,
    RandomDecisionForestClassifier,
    TAOTreeClassifier,
    TAOTreeRegressor,
    export_text,
    refine_leaves,
)
from spinney.algorithms.grow import COLUMN_SPLITS, DIRECTION_SPLITS
from spinney.data import as_rows
from spinney.tree.route import apply, outputs
from tests import reference

IRIS, CODES = load_iris(return_X_y=True)
QUICK_OC1 = {"n_restarts": 1, "n_jumps": 1}
CLASSIFIERS = [
    *(
        GreedyForestClassifier(3, split=split, random_state=0, **QUICK_OC1)
        for split in (*COLUMN_SPLITS, *DIRECTION_SPLITS)
    ),
    GreedyForestClassifier(3, feature_sampling="global", max_features=4, random_state=0),
    CO2ForestClassifier(3, max_epochs=5, random_state=0),
    RandomDecisionForestClassifier(3, random_state=0),
    RandomDecisionForestClassifier(3, split="perceptron", max_epochs=5, random_state=0),
    CO2ForestClassifier(3, max_epochs=10, relabel_epochs=5, choice="oob", random_state=0),
    CO2ForestClassifier(3, max_epochs=5, leaf_shrinkage=4.0, random_state=0),
    CO2ForestClassifier(3, max_epochs=5, scale_spread=0.5, random_state=0),
]
REGRESSORS = [
    GreedyForestRegressor(3, random_state=0),
    GreedyForestRegressor(3, split="ridge", bootstrap=False, random_state=0),
    GreedyForestRegressor(3, split="probes", n_candidates=5, random_state=0),
    CO2ForestRegressor(3, max_epochs=5, random_state=0),
    CO2ForestRegressor(3, max_epochs=5, choice="oob", random_state=0),
    GreedyForestRegressor(3, leaf_shrinkage=4.0, random_state=0),
    CO2ForestRegressor(3, max_epochs=5, scale_spread=0.5, random_state=0),
]
TREES = [
    CO2TreeClassifier(max_epochs=5, random_state=0),
    CO2TreeRegressor(max_epochs=5, random_state=0),
    CO2TreeClassifier(max_epochs=5, leaf_shrinkage=4.0, random_state=0),
]
FORESTS = [*CLASSIFIERS, *REGRESSORS]
KINDS = [
    GreedyForestClassifier,
    GreedyForestRegressor,
    CO2ForestClassifier,
    CO2ForestRegressor,
    RandomDecisionForestClassifier,
    CO2TreeClassifier,
    CO2TreeRegressor,
]


def name_of(estimator: Any) -> str:
    words = [type(estimator).__name__, getattr(estimator, "split", "")]
    if vars(estimator).get("feature_sampling") == "global":
        words.append("global")
    if vars(estimator).get("choice") == "oob":
        words.append("judged")
    if vars(estimator).get("scale_spread"):
        words.append("stretched")
    return " ".join(words).strip()


every = pytest.mark.parametrize("estimator", [*FORESTS, *TREES], ids=name_of)
forests = pytest.mark.parametrize("estimator", FORESTS, ids=name_of)
classifiers = pytest.mark.parametrize("estimator", [*CLASSIFIERS, TREES[0]], ids=name_of)


def noisy_task() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    X, y = make_classification(150, 9, n_informative=6, n_classes=3, flip_y=0.1, random_state=1)
    return X.astype(np.float32), y


X, Y = noisy_task()


def fresh(given: Any, **values: Any) -> Any:
    return clone(given).set_params(**values)


def trees_of(fitted: Any) -> tuple[Any, ...]:
    return fitted.trees_ if hasattr(fitted, "forest_") else (fitted.tree_,)


def same(one: Any, two: Any) -> bool:
    pairs = zip(trees_of(one), trees_of(two), strict=True)
    return all(a.same_as(b) for a, b in pairs)


def said(fitted: Any, rows: Any = X) -> NDArray[np.float64]:
    return fitted.predict_proba(rows) if is_classifier(fitted) else fitted.predict(rows)


# --- predictions ----------------------------------------------------------------------------


@every
def test_each_learns_its_training_rows(estimator: Any) -> None:
    assert fresh(estimator).fit(X, Y).score(X, Y) > 0.7


@classifiers
def test_each_classifies_unseen_flowers(estimator: Any) -> None:
    names = load_iris().target_names[CODES]
    if isinstance(estimator, RandomDecisionForestClassifier):
        estimator = fresh(estimator, max_features=2)
    assert cross_val_score(fresh(estimator), IRIS, names, cv=3).mean() > 0.85


@classifiers
def test_probabilities_are_means_of_the_fractions_in_the_leaves(estimator: Any) -> None:
    fitted = fresh(estimator, max_depth=3).fit(X, Y)
    if "calibrate" in fitted.get_params():
        fitted.set_params(calibrate=False)
    shares = np.mean([outputs(tree, as_rows(X)) for tree in trees_of(fitted)], axis=0)
    assert fitted.predict_proba(X) == pytest.approx(shares)
    assert fitted.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(150))
    best = fitted.predict_proba(X).argmax(axis=1)
    assert np.array_equal(fitted.predict(X), fitted.classes_[best])
    with np.errstate(divide="ignore"):
        assert np.allclose(fitted.predict_log_proba(X), np.log(fitted.predict_proba(X)))


@pytest.mark.parametrize("estimator", [*REGRESSORS, TREES[1]], ids=name_of)
def test_several_outputs_are_predicted_as_means_of_the_leaves(estimator: Any) -> None:
    targets = np.column_stack([Y, X[:, 0], X.sum(axis=1)])
    fitted = fresh(estimator).fit(X, targets)
    assert fitted.n_outputs_ == 3
    means = np.mean([outputs(tree, as_rows(X)) for tree in trees_of(fitted)], axis=0)
    assert fitted.predict(X) == pytest.approx(means)
    assert fitted.score(X, targets) > 0.6
    assert fresh(estimator).fit(X, targets[:, :1]).predict(X).shape == (150,)


# --- fitted attributes ----------------------------------------------------------------------


@every
def test_fitted_attributes_describe_the_trees(estimator: Any) -> None:
    weights = np.random.default_rng(0).uniform(0.5, 2, 150)
    frame = pd.DataFrame(X, columns=list("abcdefghi"))
    fitted = fresh(estimator).fit(frame, Y, sample_weight=weights)
    trees = trees_of(fitted)
    for tree in trees:
        tree.check()
    assert fitted.n_parameters_ == sum(reference.count_parameters(tree) for tree in trees)
    met = [sum(reference.row_parameters(tree, x) for tree in trees) for x in X]
    assert fitted.flops_ == pytest.approx(np.average(met, weights=weights))
    assert fitted.feature_importances_.sum() == pytest.approx(1)
    assert (fitted.feature_importances_ >= 0).all()
    assert fitted.feature_names_in_.tolist() == list("abcdefghi")
    assert (fitted.n_features_in_, fitted.n_outputs_) == (9, 1)
    if is_classifier(fitted):
        assert fitted.classes_.tolist() == [0, 1, 2]
        assert fitted.n_classes_ == 3


@every
def test_apply_and_paths_are_those_of_the_trees(estimator: Any) -> None:
    fitted = fresh(estimator).fit(X, Y)
    leaves = fitted.apply(X).reshape(150, -1)
    for number, tree in enumerate(trees_of(fitted)):
        assert np.array_equal(leaves[:, number], apply(tree, as_rows(X)))
    paths = fitted.decision_path(X)
    indicator = paths[0] if isinstance(paths, tuple) else paths
    assert indicator.shape == (150, sum(tree.n_nodes for tree in trees_of(fitted)))
    assert len(fitted) == 3 if hasattr(fitted, "forest_") else fitted.get_depth() > 1


@every
def test_verbose_prints_a_line_a_tree(estimator: Any, capsys: pytest.CaptureFixture[str]) -> None:
    fitted = fresh(estimator, verbose=2).fit(X, Y)
    lines = capsys.readouterr().err.splitlines()
    n_trees = str(len(trees_of(fitted)))
    assert [line.split()[0:4:3] for line in lines] == [["tree", n_trees]] * int(n_trees)
    fresh(estimator).fit(X, Y)
    assert capsys.readouterr() == ("", "")


# --- limits ---------------------------------------------------------------------------------


@every
def test_limits_of_growth_are_kept(estimator: Any) -> None:
    for tree in trees_of(fresh(estimator, max_depth=2).fit(X, Y)):
        assert tree.max_depth <= 2
    fitted = fresh(estimator, min_samples_split=40).fit(X, Y)
    full = fresh(estimator).fit(X, Y)
    assert fitted.n_parameters_ < full.n_parameters_
    one_leaf = fresh(estimator, min_samples_split=151).fit(X, Y)
    assert all(tree.n_nodes == 1 for tree in trees_of(one_leaf))


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[2], KINDS[5]])
def test_criterion_decides_the_splits(kind: Any) -> None:
    one, two = (
        kind(criterion=criterion, max_depth=4, random_state=0).fit(X, Y)
        for criterion in ("entropy", "gini")
    )
    assert not same(one, two)


# --- weights --------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("unit", [1e-30, 1e30])
def test_weights_in_any_unit_are_fitted(estimator: Any, unit: float) -> None:
    in_units = {}
    if "leaf_shrinkage" in estimator.get_params():  # counts rows by their weight
        in_units["leaf_shrinkage"] = estimator.leaf_shrinkage * unit
    fitted = fresh(estimator, **in_units).fit(X, Y, sample_weight=np.full(150, unit))
    assert fitted.score(X, Y) > 0.7


# --- the same trees, bit for bit ------------------------------------------------------------


# --- warm start -----------------------------------------------------------------------------


# --- copies ---------------------------------------------------------------------------------


# --- trees as starts of others --------------------------------------------------------------


@classifiers
def test_grown_trees_start_tao(estimator: Any) -> None:
    fitted = fresh(estimator, max_depth=3).fit(X, Y)
    tree = TAOTreeClassifier(init=trees_of(fitted)[0], max_iter=3, alpha=0.1, random_state=0)
    assert tree.fit(X, Y).score(X, Y) > 0.5


def test_grown_estimators_are_starts_themselves() -> None:
    classifier = CO2TreeClassifier(max_depth=3, random_state=0).fit(X, Y)
    strict = {"strict_descent": True, "max_iter": 10}
    tree = TAOTreeClassifier(init=classifier, alpha=1e-3, **strict).fit(X, Y)
    assert tree.score(X, Y) >= classifier.score(X, Y)
    regressor = CO2TreeRegressor(max_depth=3, random_state=0).fit(X, Y)
    values = TAOTreeRegressor(init=regressor, alpha=1e-4, **strict).fit(X, Y)
    assert values.score(X, Y) >= regressor.score(X, Y) - 0.01


@forests
def test_grown_forests_start_fao_and_have_their_leaves_refined(estimator: Any) -> None:
    kind = FAOForestClassifier if is_classifier(estimator) else FAOForestRegressor
    fitted = fresh(estimator, max_depth=3).fit(X, Y)
    joint = kind(n_forests=1, n_trees=3, max_iter=2, init=fitted, random_state=0).fit(X, Y)
    assert joint.score(X, Y) > 0.5
    assert refine_leaves(fitted, X, Y).score(X, Y) >= fitted.score(X, Y) - 0.02


@every
def test_trees_can_be_read_as_text(estimator: Any) -> None:
    fitted = fresh(estimator, max_depth=2).fit(X, Y)
    for tree in trees_of(fitted):
        assert len(export_text(tree).splitlines()) >= tree.n_leaves
    if not hasattr(fitted, "forest_"):
        assert export_text(fitted)


# --- odd data -------------------------------------------------------------------------------


@every
def test_one_class_or_one_number_gives_single_leaves(estimator: Any) -> None:
    fitted = fresh(estimator).fit(X, np.full(150, 3))
    assert all(tree.n_nodes == 1 for tree in trees_of(fitted))
    assert np.array_equal(fitted.predict(X), np.full(150, 3))


@every
def test_one_row_and_one_column_are_fitted(estimator: Any) -> None:
    is_ho = isinstance(estimator, RandomDecisionForestClassifier)
    given = fresh(estimator)
    given = given.set_params(max_features=None, **({"n_estimators": 1} if is_ho else {}))
    assert fresh(given).fit(X[:1], Y[:1]).predict(X[:2]).tolist() == [Y[0], Y[0]]
    narrow = fresh(given).fit(X[:, :1], Y)
    assert narrow.score(X[:, :1], Y) > 0.5


@every
def test_rows_that_are_alike_but_differ_in_y_share_their_mean(estimator: Any) -> None:
    rows, y = np.ones((20, 4)), np.arange(20) % 2
    given = fresh(estimator)
    if hasattr(given, "bootstrap") and "bootstrap" in given.get_params():
        given.set_params(bootstrap=False, max_samples=1.0)
    if "choice" in given.get_params():
        given.set_params(choice="bound")  # no row is left to judge
    fitted = given.fit(rows, y)
    assert all(tree.n_nodes == 1 for tree in trees_of(fitted))
    assert np.array_equal(said(fitted, rows), np.full_like(said(fitted, rows), 0.5))


@every
def test_constant_and_repeated_columns_do_no_harm(estimator: Any) -> None:
    rows = np.hstack([np.ones((150, 2)), X[:, :4], X[:, :4], np.full((150, 1), -7.0)])
    fitted = fresh(estimator).fit(rows, Y)
    assert all(not {0, 1, 10} & set(tree.split_indices.tolist()) for tree in trees_of(fitted))
    assert fitted.score(rows, Y) > 0.6


def is_squaring(estimator: Any) -> bool:
    """Whether its splits square the columns' scales in float32."""
    return "CO2" in type(estimator).__name__ or getattr(estimator, "split", "") == "perceptron"


@every
@pytest.mark.parametrize("factor", [1e30, 1e-25])
def test_huge_and_tiny_values_are_fitted_or_refused_by_name(estimator: Any, factor: float) -> None:
    rows = X.astype(np.float64) * factor
    if is_squaring(estimator):
        with pytest.raises(
            ValueError, match=r"column 0 of X varies by about .* give scales .* try"
        ):
            fresh(estimator).fit(rows, Y)
        return
    fitted = fresh(estimator).fit(rows, Y)
    assert fitted.score(rows, Y) > 0.6
    assert all(np.isfinite(tree.check().bias).all() for tree in trees_of(fitted))


@every
@pytest.mark.parametrize("factor", [1e17, 1e-17, 1e-44, 1e-60])
def test_large_and_vanishing_values_are_fitted(estimator: Any, factor: float) -> None:
    rows = X.astype(np.float64) * factor
    fitted = fresh(estimator).fit(rows, Y)
    assert np.isfinite(said(fitted, rows)).all()
    assert fitted.score(rows, Y) > (0.6 if factor > 1e-40 else -1)


@every
def test_large_offsets_are_fitted(estimator: Any) -> None:
    offsets = np.array([1e6, -1e5, 1e4, 0, 0, 0, 0, 0, 0])
    rows = X + offsets
    fitted = fresh(estimator).fit(rows, Y)
    assert fitted.score(rows, Y) > 0.6


def test_sample_that_lacks_a_class_keeps_its_column() -> None:
    y = np.where(np.arange(150) == 0, 2, Y % 2)
    for given in (CLASSIFIERS[0], CLASSIFIERS[8]):
        fitted = fresh(given, max_samples=5).fit(X, y)
        assert fitted.predict_proba(X).shape == (150, 3)


# --- values ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator",
    [
        GreedyForestClassifier(
            np.int32(2), max_depth=np.int64(2), max_features=np.float32(0.5), bootstrap=np.True_,
            max_samples=np.float64(0.5), ridge=np.float32(0.1), split="ridge",
        ),
        GreedyForestRegressor(np.int8(2), split="probes", n_candidates=np.int16(4)),
        CO2ForestClassifier(
            np.int32(2), max_norm=np.float32(4), learning_rate=np.float64(0.1),
            batch_size=np.int64(10), max_epochs=np.uint8(3), momentum=np.float32(0),
        ),
        CO2TreeRegressor(max_norm=4, learning_rate=1, momentum=0, tol=0, max_epochs=np.int8(2)),
        RandomDecisionForestClassifier(np.int64(2), n_steps=np.int16(10), max_features=np.int8(2)),
    ],
    ids=name_of,
)  # fmt: skip
def test_numpy_scalars_are_as_good_as_python_numbers(estimator: Any) -> None:
    assert estimator.fit(IRIS, CODES).score(IRIS, CODES) > 0.6


@pytest.mark.parametrize(
    "values",
    [
        {"max_depth": 10**30},
        {"min_samples_split": 10**30},
        {"split": "projections", "max_columns": 10**30},
    ],
    ids=str,
)
def test_counts_beyond_any_size_mean_no_limit(values: dict[str, Any]) -> None:
    fitted = GreedyForestClassifier(2, random_state=0, **values).fit(IRIS, CODES)
    assert (fitted.n_parameters_ == 2) == ("min_samples_split" in values)
    many = {"batch_size": 10**30, "refresh_epochs": 10**30}
    CO2TreeClassifier(max_epochs=3, random_state=0, **many).fit(IRIS, CODES)


# --- transaction ----------------------------------------------------------------------------


STEPPING = [
    CO2TreeClassifier(max_epochs=10, random_state=0),
    RandomDecisionForestClassifier(2, split="perceptron", random_state=0),
    CO2ForestClassifier(2, max_epochs=5, bootstrap=False, max_samples=1.0, random_state=0),
]


@pytest.mark.parametrize("estimator", STEPPING, ids=lambda of: type(of).__name__)
@pytest.mark.parametrize("as_rows", [np.asarray, sp.csr_matrix])
def test_a_weight_is_as_many_rows_in_any_order(estimator: BaseEstimator, as_rows: Any) -> None:
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, len(Y))
    copies = rng.permutation(np.repeat(np.arange(len(Y)), weights))
    weighted = clone(estimator).fit(as_rows(X), Y, sample_weight=weights)
    repeated = clone(estimator).fit(as_rows(X[copies]), Y[copies])
    assert same(weighted, repeated)


WITH_LEAVES = [
    GreedyForestClassifier(3, split="axis", min_weight_fraction_leaf=0.1, random_state=0),
    GreedyForestRegressor(3, split="probes", min_weight_fraction_leaf=0.1, random_state=0),
    CO2TreeClassifier(max_epochs=5, min_weight_fraction_leaf=0.1, random_state=0),
    CO2ForestRegressor(
        2, max_epochs=5, min_weight_fraction_leaf=0.1, bootstrap=False, max_samples=1.0
    ),
    RandomDecisionForestClassifier(3, min_weight_fraction_leaf=0.1, random_state=0),
]


@pytest.mark.parametrize("estimator", WITH_LEAVES, ids=lambda of: type(of).__name__)
def test_leaves_weigh_as_much_as_they_have_to(estimator: BaseEstimator) -> None:
    weights = np.random.default_rng(0).random(len(Y)) + 0.1
    estimator = clone(estimator)
    if isinstance(estimator, GreedyForestClassifier | GreedyForestRegressor):
        estimator.set_params(bootstrap=False, max_samples=1.0)
    fitted = estimator.fit(X, Y, sample_weight=weights)
    for tree in trees_of(fitted):
        held = np.bincount(apply(tree, as_rows(X.astype(np.float32))), weights)
        assert tree.n_leaves > 1
        assert held[held > 0].min() >= 0.1 * weights.sum() * (1 - 1e-9)


def test_class_weights_matter_where_leaves_are_not_pure() -> None:
    noise = np.random.default_rng(0)
    rows, labels = noise.normal(size=(200, 2)), noise.integers(0, 2, 200)
    weighty = {"class_weight": {0: 1000, 1: 1}, "random_state": 0}
    pure = CO2TreeClassifier(max_epochs=5, **weighty).fit(rows, labels)
    mixed = CO2TreeClassifier(max_epochs=5, min_weight_fraction_leaf=0.05, **weighty)
    assert np.mean(pure.predict(rows) == 0) < 0.6
    assert np.mean(mixed.fit(rows, labels).predict(rows) == 0) > 0.9
