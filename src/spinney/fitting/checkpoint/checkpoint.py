"""The file of one fit: written as the fit goes on, read when the same fit is called again.

Finished parts of an ensemble are added in order; the running optimisation of a part is stored
beside them and replaced after each of its steps. Writing takes a fixed share of the time: what
comes too soon after the last write waits, or is left out if something newer will follow.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from spinney.data.warn_caller import warn_caller
from spinney.fitting.checkpoint.fit_record import Drawing, FitRecord
from spinney.fitting.checkpoint.identity import Identity
from spinney.fitting.checkpoint.pace import Pace
from spinney.fitting.checkpoint.part_records import PartRecords, numbers_of
from spinney.fitting.checkpoint.writable import checked_path
from spinney.storage import DamagedFileError
from spinney.storage.journal import Journal, Record

Part = TypeVar("Part")
Run = TypeVar("Run")

WRITING_SHARE = 0.02
"""Share of the time that writing may take."""

RETRY_SECONDS = 1.0
"""Time until writing is tried again after it has failed."""

FIT = "fit"
"""Key of the record that says which fit the file is of."""

AROUND = "around"
"""Key of the record that says which other fit that one is a part of, if it is."""


class Checkpoint:
    """What a fit has done so far, in a file; or nowhere, if there is no path.

    Parameters
    ----------
    path : str, path or None
        None makes every method do nothing, so that callers need not ask.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._path = None if path is None else checked_path(path)
        self._journal: Journal | None = None
        self._lock = threading.RLock()
        self._pace = Pace(WRITING_SHARE)
        self._records = PartRecords((0, 0))
        self._n_parts = 0
        self._waiting: list[tuple[int, Any]] = []  # finished parts that are not written yet
        self._saved_at = ""
        self._has_warned = False
        self._is_within = False  # whether the fit is a part of another one

    @property
    def has_path(self) -> bool:
        """Whether anything is stored."""
        return self._path is not None

    def begin(
        self,
        identity: Callable[[], Identity],
        draw: Callable[[], int],
        generator: Callable[[], str | None],
        shape: tuple[int, int],
    ) -> int:
        """Open the file and return the seed of the fit.

        Parameters
        ----------
        identity : callable
            Says which fit this is.
        draw : callable
            Draws a seed.
        generator : callable
            Digest of the state of the generator that `draw` moves on; None if it has none.
        shape : (n_features, n_outputs)
            Of the trees of the fit.

        Raises
        ------
        ValueError
            If the file is damaged, or of another fit: the message says what differs.
        OSError
            If it cannot be read or written.
        """
        if self._path is None:
            return draw()
        self._records = PartRecords(shape)
        drawing = Drawing(lambda: [draw()], generator, n_seeds=1)
        self._open()
        if self._journal is None or (self._is_within and FIT not in self._journal):
            return self._create(FIT, identity(), drawing)[0]
        seeds = self._seeds_of(FIT if self._is_within else self._outermost(), identity(), drawing)
        self._n_parts = self._records.find(self._journal)
        return seeds[0]

    def begin_around(
        self,
        identity: Callable[[], Identity],
        draw: Callable[[], list[int]],
        generator: Callable[[], str | None],
        n_seeds: int,
    ) -> list[int]:
        """Open the file for a fit that prepares the data of another one, and return its seeds.

        The other one calls `begin` as usual. Parameters and errors are those of `begin`; `draw`
        draws `n_seeds` seeds.
        """
        if self._path is None:
            return draw()
        drawing = Drawing(draw, generator, n_seeds)
        self._open()
        self._is_within = True
        if self._journal is None:
            return self._create(AROUND, identity(), drawing)
        return self._seeds_of(self._outermost(), identity(), drawing)

    def parts(self, kind: type[Part]) -> list[Part]:
        """Parts that are done, in order."""
        return [self._read(f"part {number}", kind, number) for number in range(self._n_parts)]

    def runs(self, kind: type[Run]) -> dict[int, Run]:
        """States of optimisations that are under way, by the number of their part."""
        if self._journal is None:
            return {}
        numbers = numbers_of(self._journal.keys, "run")
        return {number: self._read(f"run {number}", kind, number) for number in numbers}

    def add(self, part: Any) -> None:
        """Store the next part as done."""
        if self._journal is None:
            return
        with self._lock:
            self._waiting.append((self._n_parts, part))
            self._n_parts += 1
            if self._pace.is_due("parts"):
                self._write_waiting()

    def saver(self, number: int) -> RunSaver | None:
        """Takes the states of a part under way; None if there is no file."""
        return None if self._journal is None else RunSaver(self, number)

    def offer(self, number: int, make_state: Callable[[], Any]) -> None:
        """Store the state of a part under way, unless that would take too much of the time."""
        if not self._pace.is_due(number):
            return  # without waiting for others who write
        with self._lock:
            if self._journal is None:
                return
            with self._pace.measured(number):
                records = self._records.records(f"run {number}", make_state(), number)
                self._write(records, number)

    def close(self) -> None:
        """Write what is waiting and close the file."""
        with self._lock:
            if self._journal is None:
                return
            try:
                self._write_waiting()
            finally:
                self._journal.close()
                self._journal = None

    def _open(self) -> None:
        """Open the file if there is one and it is not open yet."""
        assert self._path is not None, "there is no file without a path"
        if self._journal is not None or not self._path.exists():
            return
        try:
            self._journal = Journal.open(self._path)
        except BlockingIOError as error:
            raise ValueError(
                f"checkpoint={str(self._path)!r} is in use by another fit; wait for its end, or "
                "give another path."
            ) from error
        except DamagedFileError as error:
            raise DamagedFileError(
                f"checkpoint cannot be used: {error} Give another path, or delete the file to "
                "begin anew."
            ) from error

    def _outermost(self) -> str:
        """Key of the fit that the user called."""
        assert self._journal is not None, "the file is open"
        return AROUND if AROUND in self._journal else FIT

    def _create(self, key: str, identity: Identity, drawing: Drawing) -> list[int]:
        """Draw seeds and write which fit they are of, to a new file if there is none."""
        assert self._path is not None, "there is no file without a path"
        fit = FitRecord.of_new(identity, drawing)
        record = Record(key, fit.as_json(), {})
        try:
            if self._journal is None:
                self._journal = Journal.create(self._path, record)
            else:
                self._journal.write([record])
        except OSError as error:
            raise OSError(
                error.errno,
                f"checkpoint={str(self._path)!r} cannot be written ({error.strerror}); make room, "
                "or give another path",
            ) from error
        self._note_success()
        return fit.seeds

    def _seeds_of(self, key: str, now: Identity, drawing: Drawing) -> list[int]:
        """Seeds in the file, if it is of the fit of now."""
        assert self._journal is not None, "the file is open"
        stored = self._journal.read(key)[0] if key in self._journal else None
        fit = FitRecord.from_json(stored, self._path)
        if differences := fit.differences(now, drawing, self._path):
            raise ValueError(
                f"checkpoint={str(self._path)!r} is of another fit: {'; '.join(differences)}; give "
                "the same data and parameters, or another path; try deleting the file to begin "
                "anew."
            )
        return fit.seeds

    def _read(self, key: str, kind: type[Part], number: int) -> Part:
        assert self._journal is not None, "the file is open"
        try:
            return self._records.read(self._journal, key, kind, number)
        except DamagedFileError as error:
            raise DamagedFileError(
                f"checkpoint={str(self._path)!r} cannot be used: {error} Try deleting the file to "
                "begin anew."
            ) from error

    def _write_waiting(self) -> None:
        """Write the finished parts that wait; their states are of no use any more."""
        assert self._journal is not None, "the file is open"
        if not self._waiting:
            return
        with self._pace.measured("parts"):
            records = (
                record
                for number, part in self._waiting
                for record in self._records.records(f"part {number}", part, number)
            )
            if not self._write(records, "parts"):
                return
            for number, _ in self._waiting:
                self._journal.drop(f"run {number}")
            self._waiting.clear()

    def _write(self, records: Iterable[Record], of: object) -> bool:
        """Write records; a disk that takes none must not end the fit, so that only warns."""
        assert self._journal is not None, "the file is open"
        written = list(records)
        try:
            self._journal.write(written)
        except OSError as error:
            self._pace.postpone(of, RETRY_SECONDS)
            self._warn(error)
            return False
        self._records.note_written(written)
        self._note_success()
        return True

    def _note_success(self) -> None:
        self._saved_at = time.strftime("%Y-%m-%d %H:%M:%S")

    def _warn(self, error: OSError) -> None:
        if self._has_warned:
            return
        self._has_warned = True
        n_saved = self._n_parts - len(self._waiting)
        warn_caller(
            f"checkpoint={str(self._path)!r} cannot be written ({error.strerror}); nothing has "
            f"been saved since {self._saved_at}, when {n_saved} parts were done; the fit goes on "
            "and tries again; make room or make the folder writable.",
        )


class RunSaver:
    """Stores the states of one part under way; has the form that optimisers expect.

    In another process it does nothing: there is one writer a file, and finished parts come back to
    it anyway.
    """

    def __init__(self, checkpoint: Checkpoint | None = None, number: int = 0) -> None:
        self._checkpoint = checkpoint
        self._number = number

    def __call__(self, make_state: Callable[[], Any]) -> None:
        """Offer a state."""
        if self._checkpoint is not None:
            self._checkpoint.offer(self._number, make_state)

    def __reduce__(self) -> tuple[type[RunSaver], tuple[()]]:
        return RunSaver, ()
