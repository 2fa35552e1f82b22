"""Where the trees of a jointly optimised forest start, if not each by itself.

A forest that is optimised from random trees ends about as well as from grown ones ([1]_ fig. 1),
but grown ones are there already, or get there in fewer iterations.

References
----------
.. [1] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest
   Alternating Optimization", CVPR 2023.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from spinney.algorithms.fao import FAOOptions, kind_of_split
from spinney.algorithms.tao import optimize_tree
from spinney.data import Problem
from spinney.ensembles.gradient import GradientRule, first_scores, gradient_boost
from spinney.ensembles.rows import draw_rows
from spinney.ensembles.starts import StartRule
from spinney.ensembles.stop import StopSignal
from spinney.tree.structure import Topology, Tree

#: Share of the rows that each bagged tree sees, as in bagged TAO forests.
BAGGED_SHARE = 0.9

#: What follows "bagged" and "boosted" where the leaves of these trees count, too.
WITH_LEAVES = "_with_leaves"

#: Shrinkage and sweeps of boosted trees.
BOOSTED = GradientRule(learning_rate=0.3)
BOOSTED_SWEEPS = 5


def forest_start(
    kind: str,
    problem: Problem,
    start: StartRule,
    options: FAOOptions,
    seeds: Sequence[int],
    stop: StopSignal,
) -> Sequence[Topology | Tree]:
    """Starts of the trees of one forest, one a seed.

    Parameters
    ----------
    kind : {"own", "bagged", "boosted", "bagged_with_leaves", "boosted_with_leaves"}
        Each tree by itself; TAO trees on drawn rows; or a gradient boosted forest of TAO trees.
        With leaves, what these say adds up: to the mean of the bagged trees, or to what the
        boosted ones say after their first constant.
    problem : Problem
    start : StartRule
        Where trees begin before they are bagged or boosted.
    options : FAOOptions
        Those of the forest to come.
    seeds : sequence of int
    stop : StopSignal
    """
    if kind == "own":
        return [start(problem, seed) for seed in seeds]
    if kind.startswith("bagged"):
        bagged = [
            _bagged_tree(problem, start, options, number, seed, stop)
            for number, seed in enumerate(seeds)
        ]
        return [replace(tree, leaf_values=tree.leaf_values / len(seeds)) for tree in bagged]
    boosted = _boosted_trees(problem, start, options, seeds, stop)
    first = first_scores(problem, options.loss) / len(seeds)
    return [replace(tree, leaf_values=tree.leaf_values + first) for tree in boosted]


def _bagged_tree(
    problem: Problem,
    start: StartRule,
    options: FAOOptions,
    number: int,
    seed: int,
    stop: StopSignal,
) -> Tree:
    """A TAO tree on a share of the rows, optimised for itself alone."""
    sample = draw_rows(problem, BAGGED_SHARE, seed, number)
    tao = replace(
        options.tao,
        loss="zero_one" if problem.n_classes else options.loss.name,
        split=kind_of_split(options.tao.split, number),
        n_threads=options.n_threads,
        seed=seed,
    )
    return optimize_tree(sample, start(sample, seed), tao, stop.look).tree


def _boosted_trees(
    problem: Problem,
    start: StartRule,
    options: FAOOptions,
    seeds: Sequence[int],
    stop: StopSignal,
) -> list[Tree]:
    """The trees of a gradient boosted forest."""
    each = replace(
        options,
        max_iter=min(options.max_iter, BOOSTED_SWEEPS),
        keeps_iterations=False,
        average_last=1,
    )
    grown: list[Tree] = []
    for added in islice(gradient_boost(problem, start, each, BOOSTED, seeds[0]), len(seeds)):
        stop.look()
        grown.append(added.tree)
    return grown
