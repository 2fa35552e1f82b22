"""What a search for the least change is given: the row, the goal, and what may change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.inspection.explanations.goal import Goal
from spinney.inspection.explanations.moves import Choice, Moves
from spinney.inspection.explanations.row import OneRow
from spinney.inspection.fitted_model import FittedModel


@dataclass(frozen=True, eq=False)
class ChangeTask:
    """Everything that does not change during the search.

    Attributes
    ----------
    fitted : FittedModel
    row : OneRow
        The row as it was given.
    coordinates : float32 ndarray of shape (n_coordinates,)
        The row as the trees read it.
    goal : Goal
        What the prediction is to become.
    moves : Moves
        Numbers that may change.
    choices : list of Choice
        Categories that may change.
    norm : {"l2", "l1"}
    max_changes : int
        Most columns that may change.
    """

    fitted: FittedModel
    row: OneRow
    coordinates: NDArray[np.float32]
    goal: Goal
    moves: Moves
    choices: list[Choice]
    norm: str
    max_changes: int
