"""Compare fitted models to the bit."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from spinney.algorithms import Trace
from spinney.tree import Forest, Tree


def differences(one, two):
    """Names of the fitted attributes in which two estimators differ; seconds do not count."""
    ours, theirs = vars(one), vars(two)
    unshared = ours.keys() ^ theirs.keys()
    shared = ours.keys() & theirs.keys() - {"n_jobs", "verbose", "random_state"}
    return sorted(unshared | {name for name in shared if not same(ours[name], theirs[name])})


def same(one, two):
    """Whether two fitted attributes hold the same bits."""
    if isinstance(one, Tree):
        return one.same_as(two)
    if isinstance(one, Forest):
        return same(one.trees, two.trees)
    if isinstance(one, Trace):
        columns = one.as_dict().keys() - {"seconds"}
        return all(getattr(one, name) == getattr(two, name) for name in columns)
    if isinstance(one, np.ndarray):
        if one.dtype != two.dtype or one.shape != two.shape:
            return False
        if one.dtype == object:  # its bytes are addresses
            return one.tolist() == two.tolist()
        return one.tobytes() == two.tobytes()
    if isinstance(one, BaseEstimator):
        return type(one) is type(two) and differences(one, two) == []
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(same(one[name], two[name]) for name in one)
    return type(one) is type(two) and (one == two or one != one)
