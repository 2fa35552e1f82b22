"""The algorithms of the papers, a step a file; equation numbers stand at the lines.

- TAO optimises one tree (:mod:`~spinney.algorithms.tao`): sweeps over its nodes (`tao_sweep`), run
  on a tree in the core (`tree_optimizer`).
- FAO optimises a sum of trees (:mod:`~spinney.algorithms.fao`): steps over one tree and over all
  leaves (`fao_steps`, `leaves`) of a forest (`fao_forest`), for a loss of the sum (`losses`).
- A path repeats TAO for several penalties (:mod:`~spinney.algorithms.path`).
- Greedy trees are grown once, from the root down (:mod:`~spinney.algorithms.grow`).

Nothing here knows scikit-learn, files or threads of its own, and loops over rows are native.
"""

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
