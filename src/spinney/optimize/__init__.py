"""Alternating optimisation of trees."""

from spinney.optimize.fao import FAOOptions, OptimizedForest, optimize_forest
from spinney.optimize.path import optimize_path
from spinney.optimize.tao import OptimizedTree, TAOOptions, optimize_tree
from spinney.optimize.trace import Trace

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
