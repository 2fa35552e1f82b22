"""Maps to probabilities, fitted to rows that trees have not seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.datasets import load_iris

from spinney.data import classification_problem
from spinney.ensembles.calibration import (
    OF_VOTES,
    SHARED_VOTES,
    UNFITTED_SCORES,
    UNFITTED_VOTES,
    Unseen,
    cross_fitted,
    held_parts,
    map_of_scores,
    map_of_votes,
)
from spinney.tree.shares import power_shares, softmax
from tests import reference

IRIS, CODES = load_iris(return_X_y=True)
CODES = CODES.astype(np.int32)


def votes_of_unsure_trees(n_rows: int, n_votes: int, seed: int = 0) -> tuple[Unseen, np.ndarray]:
    """Rows whose true probability is known, and votes that lean to it."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(size=n_rows)
    codes = (rng.uniform(size=n_rows) < truth).astype(np.int32)
    for_second = rng.binomial(n_votes, truth).astype(float)
    said = np.column_stack([n_votes - for_second, for_second])
    return Unseen(said, codes, np.ones(n_rows)), truth


@given(st.integers(0, 10_000), st.floats(0.01, 20), st.floats(0.05, 30))
@settings(max_examples=50, deadline=None)
def test_powers_are_those_of_the_formula(seed: int, shift: float, slope: float) -> None:
    votes = np.random.default_rng(seed).uniform(0, 30, size=(4, 3))
    expected = [reference.power_shares(row, shift, slope) for row in votes]
    np.testing.assert_allclose(power_shares(votes, shift, slope), expected, rtol=1e-11)


def test_a_map_is_the_best_of_all_slopes_and_shared_votes() -> None:
    unseen, _ = votes_of_unsure_trees(300, 7)
    found = map_of_votes(unseen, 7)
    best = min(
        (
            minimize(
                lambda x, shared=shared: reference.vote_loss(
                    unseen.said, unseen.codes, np.exp(x[0]), shared, OF_VOTES.deviation
                ),
                [0.0],
                method="Nelder-Mead",
                options={"xatol": 1e-10, "fatol": 1e-12},
            )
            for shared in SHARED_VOTES
        ),
        key=lambda run: run.fun,
    )
    loss = reference.vote_loss(
        unseen.said, unseen.codes, found.slope, found.shared, OF_VOTES.deviation
    )
    assert loss <= best.fun + 1e-8


def test_a_map_of_few_votes_serves_many() -> None:
    """Votes that lean to the truth itself: shared votes stand for how few they were."""
    found = map_of_votes(votes_of_unsure_trees(20_000, 3)[0], 3)
    many, truth = votes_of_unsure_trees(2000, 300, seed=1)
    said = power_shares(many.said, found.shared / 2, found.slope)[:, 1]
    assert np.abs(said - truth).mean() < 0.05
    assert 0.9 < found.slope < 1.3


def test_true_scores_get_the_slope_they_were_made_with() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(20_000, 3))
    codes = np.array([rng.choice(3, p=row) for row in softmax(2.5 * scores)], dtype=np.int32)
    found = map_of_scores(Unseen(scores, codes, np.ones(len(codes))))
    assert found.slope == pytest.approx(2.5, rel=0.03)


def test_a_weight_is_so_many_rows() -> None:
    unseen, _ = votes_of_unsure_trees(200, 5)
    weights = np.random.default_rng(2).integers(0, 4, 200)
    repeated = Unseen(
        np.repeat(unseen.said, weights, axis=0),
        np.repeat(unseen.codes, weights),
        np.ones(weights.sum()),
    )
    weighted = replace(unseen, weights=weights.astype(float))
    assert map_of_votes(weighted, 5) == map_of_votes(repeated, 5)
    assert map_of_scores(weighted) == map_of_scores(repeated)


def test_unknown_classes_are_left_out() -> None:
    unseen, _ = votes_of_unsure_trees(200, 5)
    unknown = unseen.codes.copy()
    unknown[:50] = -1
    without = Unseen(unseen.said[50:], unseen.codes[50:], unseen.weights[50:])
    assert map_of_votes(replace(unseen, codes=unknown), 5) == map_of_votes(without, 5)


def test_rows_that_are_all_right_make_no_endless_slope() -> None:
    codes = np.array([0, 1] * 40, dtype=np.int32)
    said = 10.0 * np.eye(2)[codes]
    assert map_of_votes(Unseen(said, codes, np.ones(80)), 10).slope < 4
    assert map_of_scores(Unseen(said, codes, np.ones(80))).slope < 20


def test_no_rows_leave_the_first_guess() -> None:
    none = Unseen(np.zeros((0, 2)), np.zeros(0, dtype=np.int32), np.zeros(0))
    assert map_of_votes(none, 10) == UNFITTED_VOTES
    assert map_of_scores(none) == UNFITTED_SCORES


def problem_of(X: np.ndarray, codes: np.ndarray, weights: np.ndarray | None = None):
    weights = np.ones(len(codes)) if weights is None else weights
    return classification_problem(
        np.ascontiguousarray(X, dtype=np.float32), codes, 3, weights.astype(float)
    )


def test_parts_are_held_out_of_their_own_task_alone() -> None:
    problem = problem_of(IRIS, CODES)
    seen = np.zeros(150, dtype=int)
    for part, held in held_parts(problem):
        assert (part.sample_weight[held] == 0).all()
        assert np.count_nonzero(part.sample_weight == 0) == len(held)
        assert np.unique(CODES[part.sample_weight > 0]).tolist() == [0, 1, 2]
        seen[held] += 1
    assert (seen == 1).all()


def test_many_rows_are_held_out_once() -> None:
    X = np.random.default_rng(0).normal(size=(6000, 2))
    codes = (X[:, 0] > 0).astype(np.int32)
    ((_, held),) = held_parts(problem_of(X, codes))
    assert 1100 < len(held) < 1300


def test_copies_of_a_row_and_other_orders_are_of_no_account() -> None:
    rng = np.random.default_rng(3)
    weights = rng.integers(0, 3, 150)
    rows = rng.permutation(np.repeat(np.arange(150), weights))
    by_weight = problem_of(IRIS, CODES, weights)
    by_copies = problem_of(IRIS[rows], CODES[rows])
    for (_, held), (_, copies) in zip(held_parts(by_weight), held_parts(by_copies), strict=True):
        assert sorted(rows[copies]) == sorted(np.repeat(held, weights[held]))


def test_a_class_of_one_row_is_never_held_out() -> None:
    codes = np.zeros(150, dtype=np.int32)
    codes[70] = 2
    codes[80:] = 1
    assert all(70 not in held for _, held in held_parts(problem_of(IRIS, codes)))


def test_what_is_said_stands_beside_its_row() -> None:
    problem = problem_of(IRIS, CODES)

    def say(part, rows) -> np.ndarray:
        assert (part.sample_weight > 0).sum() + rows.n_rows == 150
        return np.full((rows.n_rows, 3), rows.n_rows, dtype=float)

    unseen = cross_fitted(problem, say)
    assert unseen.said.shape == (150, 3)
    assert np.bincount(unseen.codes).tolist() == [50, 50, 50]
