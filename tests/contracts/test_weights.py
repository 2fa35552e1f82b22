"""A weight is as many rows: none leaves the row out, k repeats it where trees see all rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_sample_weight

from tests.bits import differences
from tests.contracts.cases import Case, kind_of, named, said, same_trees
from tests.contracts.registry import REFINED
from tests.contracts.ways import EACH, WAYS

N_ROWS = 150
# What is given to the constructor may differ between two fits that must be the same.
AS_GIVEN = {"class_weight"}


@named(WAYS)
def test_weight_zero_is_the_row_left_out(case: Case) -> None:
    X, y = case.data
    kept = np.random.default_rng(3).random(N_ROWS) < 0.7
    weighted = case.new().fit(X, y, sample_weight=kept.astype(float))
    without = case.new().fit(X[kept], y[kept])
    if (
        kind_of(case) in REFINED
    ):  # leaves of trees that were there are counted by rows of any weight
        for name, values in said(without, X).items():
            if values.dtype.kind == "f":
                assert said(weighted, X)[name] == pytest.approx(values, rel=1e-9)
            else:
                assert np.array_equal(said(weighted, X)[name], values)
    else:
        assert differences(weighted, without) == []


def draws(case: Case) -> bool:
    """Whether a row of weight 2 is drawn once, and two rows each by themselves."""
    values = case.estimator.get_params(deep=False)
    bagged = "max_samples" in values and (values["max_samples"] != 1.0 or values["bootstrap"])
    resampled = values.get("resample", False) or values.get("subsample", 1.0) < 1
    return bagged or resampled or values.get("init") == "bagged"


def first_tree(case: Case) -> dict[str, int]:
    """What makes one tree of trees that follow each other, which would enlarge a rounding."""
    names = case.estimator.get_params(deep=False)
    alone = {"n_forests": 1, "n_trees": 1, "max_iter": 1} if "n_forests" in names else {}
    return alone | (
        {"n_estimators": 1} if "learning_rate" in names and "max_sweeps" in names else {}
    )


REPEATABLE = {
    name: case
    for name, case in WAYS.items()
    # Absolute errors of several splits may be equal, and rounding decides between them; in trees
    # that follow each other it grows.
    if not draws(case)
    and "absolute_error" not in name
    and (not first_tree(case) or case is EACH[kind_of(case)])
}


@named(REPEATABLE, in_a_hurry=EACH)
@pytest.mark.parametrize("seed", range(5))
def test_weight_k_is_the_row_repeated(case: Case, seed: int) -> None:
    case = case.with_values(**first_tree(case))
    X, y = case.data
    rows = np.round(4 * X) / 4  # sums of them are exact
    counts = np.random.default_rng(seed).integers(0, 4, N_ROWS)
    weighted = case.new().fit(rows, y, sample_weight=counts)
    repeated = case.new().fit(np.repeat(rows, counts, axis=0), np.repeat(y, counts, axis=0))
    method = "predict_proba" if hasattr(weighted, "predict_proba") else "predict"
    wanted = getattr(repeated, method)(rows)
    scale = np.abs(wanted).max()
    assert getattr(weighted, method)(rows) == pytest.approx(wanted, rel=1e-6, abs=1e-6 * scale)
    if hasattr(weighted, "flops_"):
        assert weighted.flops_ == pytest.approx(repeated.flops_)
        assert weighted.n_parameters_ == repeated.n_parameters_
        assert weighted.feature_importances_ == pytest.approx(
            repeated.feature_importances_, abs=1e-5
        )


@named(WAYS, having="class_weight")
def test_class_weights_are_sample_weights(case: Case) -> None:
    X, y = case.data
    factors = {"ash": 2.0, "elm": 0.5, "oak": 0.0}
    by_class = case.new(class_weight=factors).fit(X, y)
    by_row = case.new(class_weight=None).fit(X, y, sample_weight=[factors[name] for name in y])
    assert set(differences(by_class, by_row)) <= AS_GIVEN
    assert not (by_class.predict(X) == "oak").any()
    assert by_class.predict_proba(X).shape == (N_ROWS, 3)
    assert by_class.classes_.tolist() == ["ash", "elm", "oak"]


@named(WAYS, having="class_weight")
def test_balanced_class_weights_count_all_classes_alike(case: Case) -> None:
    X, y = case.data
    few = np.flatnonzero((y != "oak") | (np.arange(N_ROWS) % 10 == 0))
    by_word = case.new(class_weight="balanced").fit(X[few], y[few])
    factors = compute_sample_weight("balanced", y[few])
    by_row = case.new(class_weight=None).fit(X[few], y[few], sample_weight=factors)
    assert same_trees(by_word, by_row)
