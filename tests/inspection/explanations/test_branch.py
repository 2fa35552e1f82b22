"""Whole steps and few changes, against all there are."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from spinney.inspection.explanations import branch
from spinney.inspection.explanations.branch import PointLimits, nearest_allowed
from spinney.inspection.explanations.projection import Polyhedron, nearest_l1, nearest_l2, size

NEAREST = {"l2": nearest_l2, "l1": nearest_l1}


def random_body(seed, n=3, n_rows=3):
    rng = np.random.default_rng(seed)
    offsets = rng.uniform(-1, 2, size=n_rows)
    return Polyhedron(rng.normal(size=(n_rows, n)), offsets, np.full(n, -4.0), np.full(n, 4.0))


def contains(body, u):
    return bool((body.normals @ u >= body.offsets - 1e-9).all())


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_no_point_of_the_grid_is_nearer(seed, norm):
    body = random_body(seed)
    steps = np.array([0.5, 1.0, 2.0])
    u, is_complete = nearest_allowed(body, PointLimits(norm, steps, 3))
    assert is_complete
    grid = (steps * np.array(k) for k in product(range(-8, 9), range(-4, 5), range(-2, 3)))
    costs = [size(point, norm) for point in grid if contains(body, point)]
    if u is None:
        assert costs == []
    else:
        np.testing.assert_allclose(u / steps, np.rint(u / steps), atol=1e-5)
        assert size(u, norm) == pytest.approx(min(costs), abs=1e-6)


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("norm", ["l2", "l1"])
@pytest.mark.parametrize("most", [1, 2])
def test_no_choice_of_few_columns_is_nearer(seed, norm, most):
    body = random_body(seed, n=4)
    u, is_complete = nearest_allowed(body, PointLimits(norm, np.zeros(4), most))
    assert is_complete
    costs = []
    for kept in combinations(range(4), most):
        held = np.isin(np.arange(4), kept)
        point = NEAREST[norm](
            Polyhedron(body.normals, body.offsets, body.lower * held, body.upper * held)
        )
        if point is not None:
            costs.append(size(point, norm))
    if u is None:
        assert costs == []
    else:
        assert np.count_nonzero(np.abs(u) > 1e-9) <= most
        assert size(u, norm) == pytest.approx(min(costs), abs=1e-6)


def test_a_limit_leaves_out_what_is_not_nearer():
    body = Polyhedron(np.eye(2), np.array([1.5, 0.0]), np.full(2, -9.0), np.full(2, 9.0))
    asked = PointLimits("l2", np.ones(2), 2)
    assert nearest_allowed(body, asked, limit=2.1)[0] is not None
    assert nearest_allowed(body, asked, limit=1.9)[0] is None


def test_a_search_that_is_cut_short_says_so(monkeypatch):
    monkeypatch.setattr(branch, "MOST_NODES", 1)
    body = Polyhedron(np.ones((1, 2)), np.array([1.5]), np.full(2, -9.0), np.full(2, 9.0))
    assert nearest_allowed(body, PointLimits("l2", np.ones(2), 2))[1] is False
