"""The nearest point of a polyhedron, against paper and an independent solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.inspection.explanations.projection import Polyhedron, nearest_l1, nearest_l2
from tests.reference import distance_to

FREE = np.array([-np.inf, -np.inf]), np.array([np.inf, np.inf])


def polyhedron(normals, offsets, bounds=FREE):
    return Polyhedron(np.array(normals, dtype=float), np.array(offsets, dtype=float), *bounds)


@st.composite
def polyhedra(draw):
    """Polyhedra of several scales, some of them empty, some with bounds."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_rows = draw(st.integers(1, 6)), draw(st.integers(1, 8))
    sizes = 10.0 ** rng.uniform(-3, 3, size=(n_rows, 1))
    normals = sizes * rng.normal(size=(n_rows, n)) * (rng.random((n_rows, n)) < 0.7)
    offsets = sizes[:, 0] * rng.normal(size=n_rows)
    lower = np.where(rng.random(n) < 0.5, -np.inf, -rng.random(n))
    upper = np.where(rng.random(n) < 0.5, np.inf, rng.random(n))
    return Polyhedron(normals, offsets, lower, upper)


def misses(body, u):
    """By how much a point misses the half-spaces, in units of the coordinates."""
    sizes = np.linalg.norm(body.normals, axis=1)
    sizes[sizes == 0] = 1.0
    return float(((body.offsets - body.normals @ u) / sizes).max())


@given(polyhedra())
@settings(max_examples=150, deadline=None)
def test_l2_is_as_near_as_an_independent_solver(body):
    pairs = list(zip(body.normals, -body.offsets, strict=True))
    wanted = distance_to(np.zeros(len(body.lower)), pairs, body.lower, body.upper)
    u = nearest_l2(body)
    if u is None:
        assert wanted > 1e6
        return
    assert misses(body, u) <= 1e-7 * (1 + np.linalg.norm(u))
    assert ((u >= body.lower) & (u <= body.upper)).all()
    assert np.linalg.norm(u) <= wanted * (1 + 1e-6) + 1e-7


@given(polyhedra())
@settings(max_examples=60, deadline=None)
def test_l1_is_a_point_that_none_in_its_dual_contradicts(body):
    # By duality of norms the l1 norm is between the l2 norm and sqrt(n) times it.
    u, v = nearest_l1(body), nearest_l2(body)
    assert (u is None) == (v is None)
    if u is None or v is None:
        return
    assert misses(body, u) <= 1e-6 * (1 + np.linalg.norm(u))
    assert np.abs(u).sum() <= np.abs(v).sum() + 1e-6
    assert np.abs(u).sum() >= np.linalg.norm(v) - 1e-6


def test_a_half_space_is_met_along_its_normal():
    np.testing.assert_allclose(nearest_l2(polyhedron([[3, 4]], [10])), [1.2, 1.6])


def test_l1_moves_the_column_with_the_largest_weight_alone():
    np.testing.assert_allclose(nearest_l1(polyhedron([[3, 4]], [10])), [0, 2.5])


def test_a_corner_is_found():
    body = polyhedron([[1, 0], [0, 1], [1, 1]], [2, 1, 0])
    np.testing.assert_allclose(nearest_l2(body), [2, 1])


def test_a_bound_turns_the_way_to_other_columns():
    bounds = np.array([-np.inf, -np.inf]), np.array([0.5, np.inf])
    body = polyhedron([[1, 1]], [4], bounds)
    np.testing.assert_allclose(nearest_l2(body), [0.5, 3.5])
    np.testing.assert_allclose(np.abs(nearest_l1(body)).sum(), 4)


@pytest.mark.parametrize("nearest", [nearest_l2, nearest_l1])
@pytest.mark.parametrize(
    "body",
    [
        polyhedron([[1, 0], [-1, 0]], [1, 1]),
        polyhedron([[0, 0]], [1]),
        polyhedron([[1, 1]], [5], (np.array([0, 0]), np.array([1, 1]))),
        polyhedron([[1, 1]], [0], (np.array([1, 0]), np.array([0, 1]))),
    ],
    ids=["opposite", "no weights", "bounds", "bounds that cross"],
)
def test_an_empty_polyhedron_has_no_point(nearest, body):
    assert nearest(body) is None


@pytest.mark.parametrize("nearest", [nearest_l2, nearest_l1])
def test_the_origin_stays_where_it_is_allowed(nearest):
    np.testing.assert_array_equal(nearest(polyhedron([[1, 2]], [-1])), [0, 0])


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_units_mean_nothing(unit):
    body = polyhedron([[3, 4], [1, 0]], [10 * unit, 2 * unit])
    np.testing.assert_allclose(nearest_l2(body) / unit, [2, 1])
    np.testing.assert_allclose(np.abs(nearest_l1(body)).sum() / unit, 3)
