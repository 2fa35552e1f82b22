"""Splits that outlast rows which do not need them.

A split that the rows at hand want on one side only becomes a constant: within one fit it decides
nothing, and is pruned. A forest that goes on with other rows would lose a part of itself with every
batch, and never get it back. There a split keeps the hyperplane it had instead. It is what makes
"quickly retrain a forest as more data is collected" ([1]_ section 7) work batch by batch.

References
----------
.. [1] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest
   Alternating Optimization", CVPR 2023.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spinney import _core
from spinney.algorithms.state import NativeTree
from spinney.tree.sparse_rows import take_rows


@contextmanager
def lasting_splits(native: _core.TreeOptimizer) -> Iterator[None]:
    """Splits that become constants within it get back the hyperplanes they had before.

    Nodes of one level see different rows, so around the solution of a level this costs those that
    did move nothing: a guarded level still does not raise the objective.
    """
    before = NativeTree.of(native)
    yield
    after = NativeTree.of(native)
    is_lost = _has_weights(before) & ~_has_weights(after)
    if is_lost.any():
        _with_splits_of(before, after, is_lost).put_into(native)


def _has_weights(tree: NativeTree) -> NDArray[np.bool_]:
    """Which splits are hyperplanes, and no constants."""
    of_split = np.repeat(np.arange(len(tree.bias)), np.diff(tree.split_indptr))
    has_weights = np.zeros(len(tree.bias), dtype=np.bool_)
    has_weights[of_split[tree.split_weights != 0]] = True
    return has_weights


def _with_splits_of(
    before: NativeTree, after: NativeTree, is_lost: NDArray[np.bool_]
) -> NativeTree:
    """The later tree, with the earlier hyperplanes where they are lost."""
    n_splits, n_weights = len(before.bias), before.split_indptr[-1]
    indptr = np.concatenate([before.split_indptr, n_weights + after.split_indptr[1:]])
    taken, entries = take_rows(indptr, np.arange(n_splits) + np.where(is_lost, 0, n_splits))
    return replace(
        after,
        bias=np.where(is_lost, before.bias, after.bias),
        split_indptr=taken,
        split_indices=np.concatenate([before.split_indices, after.split_indices])[entries],
        split_weights=np.concatenate([before.split_weights, after.split_weights])[entries],
    )
