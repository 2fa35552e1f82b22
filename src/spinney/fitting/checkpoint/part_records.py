"""Parts and states of parts as records of a journal.

The trees after each iteration of a forest are the bulk of what there is to write, and never change:
they are stored beside the part, once, and not again with each of its states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from spinney.algorithms.fao import OptimizedForest
from spinney.algorithms.state import ForestRun
from spinney.fitting.checkpoint.records import decode, encode
from spinney.storage import DamagedFileError
from spinney.storage.journal import Journal, Record
from spinney.tree.structure import Tree

Part = TypeVar("Part")


@dataclass(frozen=True, eq=False)
class _Iteration:
    trees: tuple[Tree, ...]


class PartRecords:
    """Reads and writes the parts of one fit.

    Parameters
    ----------
    shape : (n_features, n_outputs)
        Of the trees of the fit.
    """

    def __init__(self, shape: tuple[int, int]) -> None:
        self._shape = shape
        self._n_stored: dict[int, int] = {}  # iterations of a forest that are in the file

    def find(self, journal: Journal) -> int:
        """Number of parts that are there without a gap; states of finished parts are left out."""
        keys, n_parts = set(journal.keys), 0
        while f"part {n_parts}" in keys:
            journal.drop(f"run {n_parts}")
            n_parts += 1
        for number in numbers_of(keys, "run"):
            self._n_stored[number] = len(numbers_of(keys, f"iteration {number}"))
        return n_parts

    def read(self, journal: Journal, key: str, kind: type[Part], number: int) -> Part:
        """What is stored under a key, with the iterations that are stored beside it."""
        stored, arrays = journal.read(key)
        if set(stored) != {"value", "n_spilled"} or type(stored["n_spilled"]) is not int:
            raise DamagedFileError(f"{key} has other fields than it should.")
        value = decode(stored["value"], arrays, kind, self._shape)
        if isinstance(value, ForestRun | OptimizedForest):
            places = range(stored["n_spilled"])
            trees = tuple(self._read_iteration(journal, number, place) for place in places)
            value = replace(value, iterations=trees)
        return value

    def _read_iteration(self, journal: Journal, number: int, place: int) -> tuple[Tree, ...]:
        key = f"iteration {number} {place}"
        if key not in journal:
            raise DamagedFileError(f"{key} is missing.")
        stored, arrays = journal.read(key)
        return decode(stored, arrays, _Iteration, self._shape).trees

    def records(self, key: str, value: Any, number: int) -> Iterator[Record]:
        """Records of a part or its state; iterations that are stored are not stored again."""
        n_iterations = 0
        if isinstance(value, ForestRun | OptimizedForest):
            n_iterations = len(value.iterations)
            first = self._n_stored.get(number, 0)
            if isinstance(value, OptimizedForest):
                first = min(first, max(n_iterations - 1, 0))  # the end may replace the last
            for place in range(first, n_iterations):
                header, arrays = encode(_Iteration(value.iterations[place]), _Iteration)
                yield Record(f"iteration {number} {place}", header, arrays)
            value = replace(value, iterations=())
        header, arrays = encode(value, type(value))
        yield Record(key, {"value": header, "n_spilled": n_iterations}, arrays)

    def note_written(self, records: Iterable[Record]) -> None:
        """Remember which iterations are in the file."""
        for record in records:
            if record.key.startswith("iteration "):
                number, place = map(int, record.key.split()[1:])
                self._n_stored[number] = place + 1


def numbers_of(keys: Iterable[str], word: str) -> list[int]:
    """Numbers of the keys that are `word` and a number, ascending."""
    found = (key.removeprefix(f"{word} ") for key in keys if key.startswith(f"{word} "))
    return sorted(int(number) for number in found if number.isdecimal())
