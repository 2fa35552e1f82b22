"""Which fit a file is of: its identity, the seeds it drew, and where its generator was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from spinney.fitting.checkpoint.identity import Identity
from spinney.storage import DamagedFileError

FORMAT = 1
"""Version of what the records mean."""


@dataclass(frozen=True)
class Drawing:
    """How a fit draws its seeds.

    Attributes
    ----------
    draw : callable
        Draws them.
    generator : callable
        Digest of the state of the generator that `draw` moves on; None if it has none.
    n_seeds : int
    """

    draw: Callable[[], list[int]]
    generator: Callable[[], str | None]
    n_seeds: int


@dataclass(frozen=True)
class FitRecord:
    """What a file says of a fit.

    Attributes
    ----------
    identity : Identity
        What decides its outcome.
    seeds : list of int
    generator : (str or None, str or None)
        State of the generator before and after they were drawn.
    """

    identity: Identity
    seeds: list[int]
    generator: tuple[str | None, str | None]

    @classmethod
    def of_new(cls, identity: Identity, drawing: Drawing) -> FitRecord:
        """That of a fit which begins."""
        before, seeds = drawing.generator(), drawing.draw()
        return cls(identity, seeds, (before, drawing.generator()))

    def as_json(self) -> dict[str, Any]:
        """The same as plain JSON values."""
        return {
            "format": FORMAT,
            "identity": self.identity.as_json(),
            "seeds": self.seeds,
            "generator": list(self.generator),
        }

    @classmethod
    def from_json(cls, stored: Any, file: object) -> FitRecord:
        """What `as_json` gave; raises DamagedFileError for anything else."""
        if not isinstance(stored, dict):
            raise DamagedFileError(f"{file} is no checkpoint; give another path.")
        if stored.get("format") != FORMAT:
            raise DamagedFileError(
                f"{file} is a checkpoint of another format than {FORMAT}; finish it with "
                "the release that began it, or delete it to begin anew."
            )
        identity = Identity.from_json(stored.get("identity"))
        seeds, states = _listed(stored.get("seeds")), _listed(stored.get("generator"))
        if len(states) != 2:
            raise DamagedFileError(f"{file} has no generator; try deleting the file.")
        return cls(identity, seeds, (states[0], states[1]))

    def differences(self, now: Identity, drawing: Drawing, file: object) -> list[str]:
        """How the fit of now differs, in words; the generator moves on as if it had drawn."""
        if found := self.identity.differences(now):
            return found
        is_seed = all(type(seed) is int and 0 <= seed < 2**63 for seed in self.seeds)
        if len(self.seeds) != drawing.n_seeds or not is_seed:
            raise DamagedFileError(f"{file} has no seed; try deleting the file.")
        before, after = self.generator
        state = drawing.generator()
        if state == before and state is not None:
            drawing.draw()  # it moves on as in a fit without a checkpoint
        elif state not in (None, after):
            return ["random_state is a RandomState in another state"]
        return []


def _listed(stored: Any) -> list[Any]:
    return stored if isinstance(stored, list) else []
