"""Losses of sums of trees: gradients, bounds, first scores, and what they promise of themselves."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.algorithms import losses
from spinney.algorithms.losses import (
    AbsoluteError,
    BoundedLoss,
    Huber,
    LogLoss,
    SquaredError,
    SquaredHinge,
    forest_loss,
    weighted_median,
)
from tests import reference
from tests.strategies import seeds

CLASS_LOSSES = ["squared_error", "squared_hinge", "log_loss"]
VALUE_LOSSES = ["squared_error", "absolute_error", "huber"]
CASES = [(loss, True) for loss in CLASS_LOSSES] + [(loss, False) for loss in VALUE_LOSSES]
all_losses = pytest.mark.parametrize(("name", "is_class"), CASES)
all_names = pytest.mark.parametrize("name", sorted({*CLASS_LOSSES, *VALUE_LOSSES}))

HUBER_DELTA = 0.4
N_ROWS = 30


def task_of(loss, is_class, seed=0):
    """Random classes or targets, scores and weights."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=N_ROWS if is_class else 0).astype(np.int32)
    wanted = loss.wanted(codes, 3) if is_class else rng.normal(size=(N_ROWS, 2))
    scores = rng.normal(scale=1.5, size=wanted.shape)
    return wanted, scores, codes, rng.uniform(0.1, 3.0, N_ROWS)


@all_losses
def test_the_word_makes_the_loss_of_that_word(name, is_class):
    loss = forest_loss(name, HUBER_DELTA)
    assert loss.name == name
    wanted, scores, codes, _ = task_of(loss, is_class)
    targets = codes if is_class else wanted
    slow = [
        reference.forest_row_loss(name, row, target, huber_delta=HUBER_DELTA)
        for row, target in zip(scores, targets, strict=True)
    ]
    assert loss.of_rows(wanted, scores, codes) == pytest.approx(slow)


@pytest.mark.parametrize("name", ["", "squared", "zero_one", "Huber"])
def test_an_unknown_word_is_refused_with_those_there_are(name):
    with pytest.raises(ValueError, match=f"loss={name!r}.*squared_error, absolute_error, huber"):
        forest_loss(name)


def test_losses_are_values():
    assert forest_loss("huber", 2.0) == Huber(2.0) != Huber(3.0)
    assert len({SquaredError(), SquaredError(), LogLoss()}) == 2
    assert pickle.loads(pickle.dumps(Huber(2.0))) == Huber(2.0)


@all_losses
def test_downhill_is_the_negative_gradient_over_twice_the_curvature(name, is_class):
    loss = forest_loss(name, HUBER_DELTA)
    wanted, scores, codes, _ = task_of(loss, is_class)
    downhill = loss.downhill(wanted, scores, codes)
    for output in range(scores.shape[1]):
        step = np.zeros_like(scores)
        step[:, output] = 1e-6
        ahead, behind = (loss.of_rows(wanted, scores + s, codes) for s in (step, -step))
        slope = (ahead - behind) / 2e-6
        assert 2.0 * loss.curvature * downhill[:, output] == pytest.approx(-slope, abs=1e-4)


@all_losses
def test_the_quadratic_of_downhill_is_a_bound_where_a_loss_says_so(name, is_class):
    loss = forest_loss(name, HUBER_DELTA)
    # Huber's is one too, but of no use to the joint step; the absolute loss has none.
    is_below = isinstance(loss, (BoundedLoss, Huber))
    found = []
    for seed in range(100):
        wanted, here, codes, _ = task_of(loss, is_class, seed)
        there = np.random.default_rng(seed + 1000).normal(scale=2.0, size=here.shape)
        aim = here + loss.downhill(wanted, here, codes)
        rise = loss.curvature * (((aim - there) ** 2) - ((aim - here) ** 2)).sum(axis=1)
        at_most = loss.of_rows(wanted, here, codes) + rise
        found.append(loss.of_rows(wanted, there, codes) <= at_most + 1e-9)
    assert np.all(found) == is_below


@pytest.mark.parametrize("name", CLASS_LOSSES)
def test_the_aim_is_where_downhill_leads(name):
    loss = forest_loss(name)
    wanted, scores, codes, _ = task_of(loss, is_class=True)
    aim = loss.aim(wanted, scores, codes)
    assert scores + loss.downhill(wanted, scores, codes) == pytest.approx(aim)


@all_losses
def test_a_quadratic_loss_is_its_own_bound(name, is_class):
    loss = forest_loss(name, HUBER_DELTA)
    assert loss.is_quadratic == (name == "squared_error") == (loss.n_rounds == 1)
    if loss.is_quadratic:
        wanted, scores, codes, _ = task_of(loss, is_class)
        squares = ((loss.aim(wanted, scores, codes) - scores) ** 2).sum(axis=1)
        assert loss.of_rows(wanted, scores, codes) == pytest.approx(loss.curvature * squares)


@all_losses
def test_a_loss_knows_whether_it_ignores_shifts(name, is_class):
    loss = forest_loss(name, HUBER_DELTA)
    wanted, scores, codes, _ = task_of(loss, is_class)
    before, after = (loss.of_rows(wanted, scores + shift, codes) for shift in (0.0, 0.7))
    assert np.allclose(before, after) == loss.ignores_shifts


@all_losses
def test_total_is_the_weighted_sum_over_rows(name, is_class):
    loss = forest_loss(name, HUBER_DELTA)
    wanted, scores, codes, weights = task_of(loss, is_class)
    rows = loss.of_rows(wanted, scores, codes)
    assert loss.total(wanted, scores, codes, weights) == pytest.approx((weights * rows).sum())


@all_losses
def test_no_constant_near_the_first_one_is_much_better(name, is_class):
    loss = forest_loss(name, HUBER_DELTA)
    wanted, _, codes, weights = task_of(loss, is_class)
    first = loss.best_constant(wanted, codes, weights)
    slack = 0.1 if name in ("huber", "squared_hinge") else 1e-9  # these only begin near it

    def total(constant):
        return loss.total(wanted, np.tile(constant, (N_ROWS, 1)), codes, weights)

    for output, change in itertools.product(range(wanted.shape[1]), (-0.01, 0.01)):
        moved = first.copy()
        moved[output] += change
        assert total(moved) >= total(first) * (1 - slack)


def test_classes_without_weight_are_unlikely_and_not_impossible():
    loss, codes = LogLoss(), np.array([0, 1, 1], dtype=np.int32)
    first = loss.best_constant(loss.wanted(codes, 3), codes, np.array([1.0, 0.0, 0.0]))
    assert np.isfinite(first).all()
    assert first.argmax() == 0


@given(seed=seeds())
def test_the_hinge_forgives_what_is_beyond_its_target(seed):
    hinge, squares = SquaredHinge(), SquaredError()
    wanted, scores, codes, _ = task_of(hinge, is_class=True, seed=seed)
    lost = hinge.of_rows(wanted, scores, codes)
    assert (lost <= squares.of_rows(wanted, scores, codes) + 1e-12).all()
    aim = hinge.aim(wanted, scores, codes)
    assert (hinge.of_rows(wanted, aim, codes) == 0).all()


def test_huber_is_half_the_squares_near_and_the_size_far_away():
    near, far = np.array([[0.1]]), np.array([[7.0]])
    zero, no_codes = np.zeros((1, 1)), np.zeros(0, dtype=np.int32)
    half = 0.5 * SquaredError().of_rows(near, zero, no_codes)
    assert Huber(0.5).of_rows(near, zero, no_codes) == pytest.approx(half)
    size = AbsoluteError().of_rows(far, zero, no_codes)
    assert Huber(0.5).of_rows(far, zero, no_codes) == pytest.approx(0.5 * (size - 0.25))


def test_cross_entropy_by_pieces_has_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    scores, codes = rng.normal(size=(100, 4)), rng.integers(4, size=100).astype(np.int32)
    loss, wanted = forest_loss("log_loss"), np.zeros((100, 4))

    def answers() -> tuple[float, bytes]:
        total = loss.total(wanted, scores, codes, np.ones(100))
        return total, loss.downhill(wanted, scores, codes).tobytes()

    whole = answers()
    monkeypatch.setattr(losses, "ROWS_AT_ONCE", 7)
    assert answers() == whole


@given(
    st.lists(st.tuples(st.floats(-9, 9), st.floats(0.1, 3)), min_size=1, max_size=20),
)
def test_weighted_median_has_least_absolute_error(pairs):
    values, weights = np.array(pairs).T
    found = weighted_median(values, weights)
    cost = {value: float(weights @ np.abs(values - value)) for value in values}
    assert cost[found] <= min(cost.values()) + 1e-9
