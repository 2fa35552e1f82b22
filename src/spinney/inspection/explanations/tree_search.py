"""The least change for a model of one tree: exact, leaf by leaf."""

from __future__ import annotations

import numpy as np

from spinney.inspection.explanations.candidate import Search, Setting, total_cost
from spinney.inspection.explanations.space import HalfSpaces, answer_regions
from spinney.tree import Tree


def search_tree(setting: Setting, search: Search) -> None:
    """Try every leaf with a wanted answer, the nearest half-space first.

    A leaf is a polyhedron; its distance is at least that of the half-space on its way that is
    violated most. Leaves whose bound is no better than the best change so far are passed over.
    """
    tree = setting.space.fitted.trees[0]
    distances = setting.space.leaf_distances(0, setting.norm)
    for leaf in _wanted_leaves(tree, setting):
        bound = total_cost(setting.level_cost, float(distances[leaf]), setting.norm)
        if bound >= search.limit or search.is_late():
            break
        way = setting.space.on_way(0, int(leaf))
        for region in _regions(tree, setting, int(leaf)):
            search.enter(setting, way if region is None else way + region)


def _wanted_leaves(tree: Tree, setting: Setting) -> list[int]:
    """Leaves that may give a wanted answer, in the order of their bounds."""
    distances = setting.space.leaf_distances(0, setting.norm)
    leaves = tree.leaf_nodes
    if not tree.is_linear:
        readout = setting.space.fitted.readout
        says = readout.said_for(tree, tree.leaf_values)
        leaves = leaves[setting.goal.is_met(readout.tree_weights[0] * says + readout.offsets)]
    leaves = leaves[np.isfinite(distances[leaves])]
    return [int(leaf) for leaf in leaves[np.argsort(distances[leaves], kind="stable")]]


def _regions(tree: Tree, setting: Setting, leaf: int) -> list[HalfSpaces] | list[None]:
    """What else must hold in a leaf, for each way to a wanted answer."""
    return answer_regions(setting.space, setting.goal, leaf) if tree.is_linear else [None]
