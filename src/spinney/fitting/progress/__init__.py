"""How a fit reports what is done, and how it is stopped.

Knows nothing of trees: the loop reports what is done, listeners get it in order. One shows it to
people, one calls the user's function, and one, in :mod:`spinney.fitting.sklearn_callbacks`, is for
scikit-learn's callbacks.
"""

from spinney.fitting.progress.display import display_for
from spinney.fitting.progress.event import FitEvent
from spinney.fitting.progress.listener import (
    Asked,
    Listener,
    Plan,
    check_callback,
)
from spinney.fitting.progress.progress import Progress

__all__ = [
    "Asked",
    "FitEvent",
    "Listener",
    "Plan",
    "Progress",
    "check_callback",
    "display_for",
]
