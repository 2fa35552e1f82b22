"""How many weights hyperplanes may have, and how a run comes down to that.

The paper's penalty alone makes hyperplanes sparse; a limit is ours, see `docs/algorithms/tao.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spinney import _core
from spinney.tree.structure import Tree

#: Shares of the exploring sweeps between which the limit falls from all columns to the one that is
#: wanted. Which weights matter is known only after a while, and the tree has to adapt.
TIGHTENING = (0.4, 0.8)


@dataclass(frozen=True)
class WeightLimits:
    """Most weights of a hyperplane; 0 stands for any number.

    Attributes
    ----------
    of_split, of_leaf : int
        Of a split, and of each output of a linear leaf.
    n_features : int
    """

    of_split: int
    of_leaf: int
    n_features: int

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit that a hyperplane could exceed."""
        return self._binds(self.of_split) or self._binds(self.of_leaf)

    def tighten(self, native: _core.TreeOptimizer, share: float) -> bool:
        """Limit hyperplanes as after this share of exploring; True if as tightly as wanted."""
        if not self.is_limited:
            return True
        native.limit_weights(
            tightened(self.of_split, self.n_features, share),
            tightened(self.of_leaf, self.n_features, share),
        )
        return share >= TIGHTENING[1]

    def allow(self, tree: Tree, leaf: str) -> bool:
        """Whether a given tree, with the leaves it starts with, keeps to the limits."""
        if self._binds(self.of_split):
            widest = int(np.diff(tree.split_indptr).max(initial=0))
            if widest > self.of_split:
                return False
        if self._binds(self.of_leaf):
            # Leaves of another kind are fitted anew, with all columns.
            widest = int(np.diff(tree.leaf_indptr).max(initial=0))
            return tree.leaf_kind == leaf and widest <= self.of_leaf
        return True

    def _binds(self, limit: int) -> bool:
        return 0 < limit < self.n_features


def tightened(limit: int, n_features: int, share: float) -> int:
    """Weights that a hyperplane may have when a share of exploring is done; 0 for any number."""
    if not 0 < limit < n_features:
        return 0
    first, last = TIGHTENING
    done = min(max((share - first) / (last - first), 0.0), 1.0)
    # Evenly in logarithms, from all columns to the limit: each sweep drops the same share.
    kept: float = n_features * (limit / n_features) ** done
    return round(kept)
