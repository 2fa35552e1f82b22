"""Random tree shapes: where an optimisation may start besides a complete tree.

A shape is drawn from the root down. How likely a node splits depends on its depth only; the profile
is set by two depths and one probability, which can be chosen for a wanted number of nodes. No
weights are drawn here.

References
----------
.. [1] Carreira-Perpiñán and Zharmagambetov, "Ensembles of bagged TAO trees consistently improve
   over random forests, AdaBoost and gradient boosting", FODS 2020, section 8.3.1.
"""

from __future__ import annotations

import numpy as np

from spinney.tree.structure import DEEPEST_COMPLETE, Topology, children_of


def random_topology(delta1: int, delta2: int, p: float, rng: np.random.Generator) -> Topology:
    """Draw the shape of a tree with depth between `delta1` and `delta2`.

    Parameters
    ----------
    delta1 : int
        All levels up to this depth are complete.
    delta2 : int
        No node is deeper than this.
    p : float
        Probability that a node between the two depths splits.
    rng : numpy.random.Generator
        Source of chance.

    Returns
    -------
    left, right : ndarray of int32
        Children of each node, breadth first, -1 at a leaf.

    Notes
    -----
    The profile is eq. (3) of [1] with each bound one lower: nodes split surely at depths below
    `delta1` and never at `delta2`. As printed, the equation gives trees one level deeper than the
    text around it and Table 9 say (there, 8 and 8 is the complete tree of depth 8, 511 nodes).
    """
    if expected_nodes(delta1, delta2, p) > LARGEST_STRUCTURE:
        raise ValueError(
            f"delta1={delta1}, delta2={delta2} and p={p} give more than {LARGEST_STRUCTURE} nodes "
            "on average; lower one of them."
        )
    # The three steps of section 8.3.1 of [1], all nodes of a depth at once: begin with the root,
    # split a node with probability P_d, do the same with each child.
    levels = []
    n_level = 1
    for depth in range(delta2 + 1):
        chance = _chance_of_split(depth, delta1, delta2, p)
        levels.append(rng.random(n_level) < chance)
        n_level = 2 * int(np.count_nonzero(levels[-1]))
        if n_level == 0:
            break
    return children_of(np.concatenate(levels))


def expected_nodes(delta1: int, delta2: int, p: float) -> float:
    """Mean number of nodes, splits and leaves, of `random_topology`.

    Parameters
    ----------
    delta1, delta2, p
        The profile, as in `random_topology`.

    Returns
    -------
    float
        Eq. (2) of [1], summed from the deepest level up: a node at depth ``d`` heads
        ``1 + 2 P_d n_{d+1}`` nodes on average.
    """
    _check_profile(delta1, delta2)
    if not 0 <= p <= 1:
        raise ValueError(f"p={p}; give a probability from 0 to 1.")
    below = 0.0  # n_{d+1}: nothing is deeper than delta2
    for depth in range(delta2, -1, -1):
        # n_d = 1 + 2 P_d n_{d+1}: the recursion of which eq. (2) of [1] is the sum.
        below = 1.0 + 2.0 * _chance_of_split(depth, delta1, delta2, p) * below
    return below


def split_probability(delta1: int, delta2: int, n_nodes: float) -> float:
    """Probability `p` for which `random_topology` has `n_nodes` nodes on average.

    Parameters
    ----------
    delta1, delta2 : int
        The depths of the profile, as in `random_topology`.
    n_nodes : float
        Wanted mean number of nodes, between those of the complete trees of depth `delta1` and
        `delta2`.

    Returns
    -------
    float
        The inverse of `expected_nodes`, by bisection, as [1] proposes below eq. (3); 0 if the
        two depths are equal.
    """
    _check_profile(delta1, delta2)
    fewest, most = complete_size(delta1), complete_size(delta2)
    if not fewest <= n_nodes <= most:
        raise ValueError(
            f"n_nodes={n_nodes} cannot be the mean size of trees with depth from {delta1} to "
            f"{delta2}; give a number from {fewest} to {most}."
        )
    if n_nodes == fewest:
        return 0.0
    low, high = 0.0, 1.0  # each more split makes more nodes: eq. (2) rises with p
    while low < (middle := 0.5 * (low + high)) < high:  # until the two are neighbours
        if expected_nodes(delta1, delta2, middle) < n_nodes:
            low = middle
        else:
            high = middle
    return high


def _chance_of_split(depth: int, delta1: int, delta2: int, p: float) -> float:
    """`P_d`, eq. (3) of [1] with the bounds of its text; see the notes of `random_topology`."""
    if depth < delta1:
        return 1.0
    return p if depth < delta2 else 0.0


def complete_size(depth: int) -> int:
    """Number of nodes of a complete binary tree."""
    return int(2 ** (int(depth) + 1) - 1)  # 2**depth leaves and one split less


LARGEST_STRUCTURE = complete_size(DEEPEST_COMPLETE)
"""Most nodes that random trees may have on average."""


def _check_profile(delta1: int, delta2: int) -> None:
    if not 0 <= delta1 <= delta2:
        raise ValueError(f"delta1={delta1}, delta2={delta2}; give 0 <= delta1 <= delta2.")
    if delta1 > DEEPEST_COMPLETE:
        raise ValueError(f"delta1={delta1}; give at most {DEEPEST_COMPLETE}.")
