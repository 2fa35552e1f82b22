"""What is to be predicted: the column, its missing values, and whether it holds classes or numbers.

Labels stay as they are written in the file, so that predictions are written the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.cli.columns import check_known
from spinney.cli.console import Console
from spinney.cli.errors import CommandError, UsageError
from spinney.cli.reading import Data
from spinney.data.wording import counted

CLASSIFICATION, REGRESSION = "classification", "regression"
TASKS = (CLASSIFICATION, REGRESSION)

#: Whole numbers of at most so many values, each in some rows on average, are taken for classes.
MOST_CLASSES_OF_NUMBERS = 20
LEAST_ROWS_A_CLASS = 3


@dataclass(frozen=True, eq=False)
class Target:
    """Values to predict, one array a column: float64, bool or text."""

    names: tuple[str, ...]
    columns: tuple[NDArray[Any], ...]

    @property
    def name(self) -> str:
        """Its name, for messages."""
        return " and ".join(repr(name) for name in self.names)


def take_target(
    data: Data, names: Sequence[str], console: Console, *, skip_missing: bool
) -> tuple[Data, Target]:
    """The table without the target, and the target; rows without one are refused or left out."""
    check_known(names, data, "--target")
    is_missing = np.zeros(data.table.num_rows, dtype=np.bool_)
    for name in names:
        is_missing |= _missing(data.table.column(name))
    if is_missing.any():
        data = _without(data, is_missing, names, console, skip_missing)
    columns = tuple(_values(data, name) for name in names)
    kept = [name for name in data.names if name not in names]
    if not kept:
        raise CommandError(f"{data.name} has no column beside the target; there is nothing to read")
    return data.with_table(data.table.select(kept)), Target(tuple(names), columns)


def guess_task(target: Target) -> tuple[str, str]:
    """Classification or regression, and why."""
    if len(target.columns) > 1:
        return REGRESSION, "there are several targets"
    [values] = target.columns
    n_rows, n_different = len(values), len(np.unique(values))
    if values.dtype.kind != "f":
        return CLASSIFICATION, f"it holds {counted(n_different, 'different text')}"
    if not _is_whole(values):
        return REGRESSION, "it holds numbers with fractions"
    is_few = n_different <= MOST_CLASSES_OF_NUMBERS
    if is_few and n_different * LEAST_ROWS_A_CLASS <= n_rows:
        return CLASSIFICATION, f"it holds only {counted(n_different, 'different whole number')}"
    return REGRESSION, f"it holds {counted(n_different, 'different whole number')}"


def as_y(target: Target, task: str, data: Data) -> NDArray[Any]:
    """The target as estimators take it.

    Raises
    ------
    CommandError
        If there are texts where numbers are needed, or nearly as many classes as rows.
    UsageError
        If several targets are to be classes.
    """
    if task == REGRESSION:
        return _numbers(target, data)
    if len(target.columns) > 1:
        raise UsageError("--task classification takes one --target; train a model for each")
    [values] = target.columns
    n_classes = len(np.unique(values))
    if len(values) > MOST_CLASSES_OF_NUMBERS and 2 * n_classes > len(values):
        raise CommandError(
            f"target {target.name} has {n_classes:,} classes in "
            f"{counted(len(values), 'row')}; classes must repeat; "
            + ("try --task regression" if values.dtype.kind == "f" else "name another column")
        )
    if values.dtype.kind != "f":
        return values
    return values.astype(np.int64) if _is_whole(values) else values.astype(np.str_)


def label_texts(target: Target, classes: NDArray[Any]) -> NDArray[np.str_]:
    """The target as the texts of a model's classes, so that 1, 1.0 and "1" are the same."""
    [values] = target.columns
    if values.dtype.kind == "f" and classes.dtype.kind != "f":
        return np.array([f"{value:.15g}" for value in values], dtype=np.str_)
    texts = values.astype(np.str_)
    return np.char.capitalize(texts) if classes.dtype.kind == "b" else texts


def _numbers(target: Target, data: Data) -> NDArray[np.float64]:
    for name, values in zip(target.names, target.columns, strict=True):
        if values.dtype.kind != "f":
            is_bad = [not _reads_as_number(value, data.decimal) for value in values]
            bad = is_bad.index(True) if any(is_bad) else 0
            raise CommandError(
                f"{data.name}, {data.place(bad)}: target {name!r} holds {str(values[bad])!r}, but "
                "regression needs numbers; correct it, or try --task classification"
            )
    if len(target.columns) == 1:
        return np.asarray(target.columns[0], dtype=np.float64)
    return np.column_stack(target.columns).astype(np.float64)


def _reads_as_number(value: Any, decimal: str) -> bool:
    try:
        float(str(value).replace(decimal, ".") if decimal != "." else value)
    except ValueError:
        return False
    return not isinstance(value, bool | np.bool_)


def _is_whole(values: NDArray[Any]) -> bool:
    return bool(np.isfinite(values).all() and (values == np.round(values)).all())


def _missing(column: Any) -> NDArray[np.bool_]:
    from pyarrow import compute

    return np.asarray(compute.is_null(column, nan_is_null=True).to_numpy(), dtype=np.bool_)


def _without(
    data: Data,
    is_missing: NDArray[np.bool_],
    names: Sequence[str],
    console: Console,
    skip_missing: bool,
) -> Data:
    """The table without rows that have no target, if that is wanted."""
    import pyarrow

    n_missing, first = int(is_missing.sum()), int(is_missing.argmax())
    which = " and ".join(repr(name) for name in names)
    if n_missing == len(is_missing):
        raise CommandError(f"{data.name}: target {which} has no value in any row; name another")
    if not skip_missing:
        raise CommandError(
            f"{data.name}: target {which} is missing in {n_missing} of "
            f"{counted(len(is_missing), 'row')}, first in {data.place(first)}; fill it in, or "
            "leave these rows out with --skip-missing-target"
        )
    console.say(f"left out {counted(n_missing, 'row')} without a target")
    kept = data.table.filter(pyarrow.array(~is_missing)).combine_chunks()
    return replace(data, table=kept, text=None)


def _values(data: Data, name: str) -> NDArray[Any]:
    """A column of targets as float64 if all of it reads as numbers, else bool or text."""
    import pyarrow
    from pyarrow import compute

    column = data.table.column(name)
    types, kind = pyarrow.types, column.type
    if types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if types.is_boolean(kind):
        return np.asarray(column.to_numpy(), dtype=np.bool_)
    if types.is_string(kind) or types.is_large_string(kind):
        if compute.any(compute.match_substring_regex(column, r"^-?0\d")).as_py():
            return np.array(column.to_pylist(), dtype=np.str_)  # 007 is a name, not 7
        plain = column
        if data.decimal != ".":
            plain = compute.replace_substring(column, data.decimal, ".")
        try:
            return np.asarray(plain.cast(pyarrow.float64()).to_numpy(), dtype=np.float64)
        except pyarrow.ArrowInvalid:
            return np.array(column.to_pylist(), dtype=np.str_)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return np.asarray(column.cast(pyarrow.float64()).to_numpy(), dtype=np.float64)
    raise CommandError(
        f"{data.name}: target {name!r} is of type {kind}; targets are numbers, text or truth values"
    )
