"""How far down a run has come, and whether it is worth going on."""

from __future__ import annotations

import math
from dataclasses import dataclass

#: Steps without progress after which an exploring run ends; it may go up before it goes down.
PATIENCE = 5


@dataclass(frozen=True)
class Descent:
    """The least value of a run so far, and for how long nothing was clearly below it.

    Attributes
    ----------
    best : float
        Objective or loss, whichever the run is judged by.
    n_stalled : int
        Steps since it last fell by a share of `tol`.
    """

    best: float = math.inf
    n_stalled: int = 0

    def has_fallen(self, reached: float, tol: float) -> bool:
        """Whether a value is below the best one by a share of `tol`."""
        return reached < (1 - tol) * self.best

    def after(self, reached: float, tol: float) -> Descent:
        """The progress once a step has reached this value."""
        n_stalled = 0 if self.has_fallen(reached, tol) else self.n_stalled + 1
        return Descent(min(self.best, reached), n_stalled)

    def is_over(self, patience: int, tol: float) -> bool:
        """Whether so many steps have brought nothing; with ``tol=0`` a run goes on to its end."""
        return self.n_stalled >= patience and tol > 0
