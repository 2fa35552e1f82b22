"""A share of the rows for one tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spinney.data import Problem
from spinney.ensembles.seeds import ROWS, stream


def draw_rows(problem: Problem, share: float, seed: int, tree: int) -> Problem:
    """The task on a share of its rows, drawn without replacement.

    The other rows keep their numbers but have no weight. A share of 1 or more is all rows.
    """
    if share >= 1:
        return problem
    n_rows = problem.n_rows
    n_drawn = max(1, round(share * n_rows))
    is_drawn = np.zeros(n_rows, dtype=np.bool_)
    is_drawn[stream(seed, tree, ROWS).permutation(n_rows)[:n_drawn]] = True
    return replace(problem, sample_weight=np.where(is_drawn, problem.sample_weight, 0.0))
