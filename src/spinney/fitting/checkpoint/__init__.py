"""Unfinished fits in files: what has been grown so far, and of which data and parameters.

Lies between the estimators, which say what belongs to a fit, and the ensembles and optimisers,
which give and take plain states and know nothing of files.
"""

from spinney.fitting.checkpoint.checkpoint import Checkpoint
from spinney.fitting.checkpoint.identity import Identity

__all__ = ["Checkpoint", "Identity"]
