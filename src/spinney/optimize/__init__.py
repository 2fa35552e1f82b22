"""Alternating optimisation of trees."""

from spinney.optimize.path import optimize_path
from spinney.optimize.tao import OptimizedTree, TAOOptions, optimize_tree
from spinney.optimize.trace import Trace

__all__ = ["OptimizedTree", "TAOOptions", "Trace", "optimize_path", "optimize_tree"]
