"""Alternating optimisation of trees."""

from spinney.algorithms.fao import FAOOptions, OptimizedForest, optimize_forest
from spinney.algorithms.path import optimize_path
from spinney.algorithms.tao import OptimizedTree, TAOOptions, optimize_tree
from spinney.algorithms.trace import Trace

__all__ = [
    "FAOOptions",
    "OptimizedForest",
    "OptimizedTree",
    "TAOOptions",
    "Trace",
    "optimize_forest",
    "optimize_path",
    "optimize_tree",
]
