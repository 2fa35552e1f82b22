"""The one tree type of the library, and what can be said of a tree without fitting anything.

A `Tree` is a frozen set of numpy arrays, a `Forest` many trees that predict together. Around them:
the first trees an optimisation starts from, conversion from scikit-learn, pruning, sizes, and views
for people, and what its splits gain on given rows. Nothing here learns.
"""

from spinney.tree.convert import from_sklearn
from spinney.tree.forest import Forest
from spinney.tree.prune import prune
from spinney.tree.size import count_flops, count_parameters, path_parameters
from spinney.tree.start import expected_nodes, random_topology, split_probability
from spinney.tree.structure import Tree, breadth_first, complete_topology
from spinney.tree.view import LeafView, NodeView, SplitView, view_tree, walk

__all__ = [
    "Forest",
    "LeafView",
    "NodeView",
    "SplitView",
    "Tree",
    "breadth_first",
    "complete_topology",
    "count_flops",
    "count_parameters",
    "expected_nodes",
    "from_sklearn",
    "path_parameters",
    "prune",
    "random_topology",
    "split_probability",
    "view_tree",
    "walk",
]
