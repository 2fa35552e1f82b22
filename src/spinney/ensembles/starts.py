"""Where the trees of an ensemble start, said once for all of them."""

from __future__ import annotations

from typing import Protocol

from spinney.data import Problem
from spinney.tree.structure import Topology, Tree


class StartRule(Protocol):
    """Makes the start of one tree. It travels to workers, so it must be picklable."""

    def __call__(self, problem: Problem, seed: int) -> Topology | Tree:
        """Topology or tree from which the optimiser starts on `problem`."""
        ...
