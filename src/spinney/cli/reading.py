"""Read the table a command is about: CSV or Parquet, from a file or from a pipe.

Reading is done by pyarrow, an extra of the package. What can be wrong with a file is told apart
here, with the line where it is.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spinney.cli import csv_faults, foreign
from spinney.cli.errors import CommandError
from spinney.data.wording import listed

STANDARD_INPUT = "-"
INSTALL = "pip install 'spinney[cli]'"

TABLES = (".csv", ".tsv", ".tab", ".parquet", ".gz", *foreign.TABLES)
"""Endings of files that are no models."""

_TABS = (".tsv", ".tab")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_NAMES_OF_DELIMITERS = {"\t": "tab"}


@dataclass(frozen=True)
class Format:
    """How the cells of a CSV file are written.

    Attributes
    ----------
    delimiter : str or None
        None: a tab if the name of the file ends in .tsv or .tab, else a comma.
    decimal : str
        The decimal point.
    encoding : str
    missing : tuple of str
        Cells that mean a missing value, beside the empty cell, NA, NaN, null and such.
    """

    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Data:
    """A table and what messages need to know of where it came from.

    Attributes
    ----------
    table : pyarrow.Table
    name : str
        The file, for messages.
    text : str or None
        The CSV it was read from; None if it was no CSV, or if rows were taken out since.
    delimiter : str
    decimal : str
    nulls : frozenset of str
        Cells that mean a missing value.
    unnamed : int
        Columns without a name, which were left out.
    index : tuple of str
        Columns that pandas wrote as the index of a Parquet file.
    """

    table: Any
    name: str
    text: str | None = None
    delimiter: str = ","
    decimal: str = "."
    nulls: frozenset[str] = frozenset()
    unnamed: int = 0
    index: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.table.column_names)

    def place(self, row: int) -> str:
        """How messages speak of a row: by its line, if it has one."""
        line = csv_faults.line_of_row(self.text, self.delimiter, row) if self.text else None
        return f"row {row + 1}" if line is None else f"line {line}"

    def with_table(self, table: Any) -> Data:
        """The same source with other columns."""
        return replace(self, table=table)


def read_data(path: str, form: Format, *, texts: Collection[str] = ()) -> Data:
    """The table at `path`, or on standard input if it is "-".

    Parameters
    ----------
    path : str
    form : Format
    texts : collection of str
        Columns of a CSV file to read as text, whatever their cells look like.

    Raises
    ------
    CommandError
        If it is no table, or a broken one.
    OSError
        If it cannot be read.
    """
    name = "standard input" if path == STANDARD_INPUT else path
    pyarrow = _pyarrow(name)
    data = _bytes(path, name)
    if data[:4] == b"PAR1":
        return _read_parquet(data, name, pyarrow)
    _check_kind(data, path, name)
    text = _decode(data, name, form.encoding)
    delimiter = form.delimiter or ("\t" if Path(path).suffix in _TABS else ",")
    return read_text(text, name, delimiter, form, texts)


def _pyarrow(name: str) -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise CommandError(f"{name} cannot be read without pyarrow; try {INSTALL}") from error
    return pyarrow


def _bytes(path: str, name: str) -> bytes:
    if path == STANDARD_INPUT:
        if sys.stdin.isatty():
            raise CommandError("standard input is a terminal; pipe a table in, or name a file")
        data = sys.stdin.buffer.read()
    else:
        data = Path(path).read_bytes()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError) as error:
            raise CommandError(f"{name} is a damaged gzip file ({error}); copy it again") from error
    return data


def in_arrow(data: bytes, pyarrow: Any) -> Any:
    """The bytes as a file in memory of Arrow's own.

    Arrow reads ahead in threads that may let go of the file as late as the interpreter ends. A file
    that holds a Python object, as `io.BytesIO` is or holds, needs the interpreter then, and the
    process aborts.
    """
    stream = pyarrow.BufferOutputStream()
    stream.write(data)
    return pyarrow.BufferReader(stream.getvalue())


def _read_parquet(data: bytes, name: str, pyarrow: Any) -> Data:
    from pyarrow import parquet

    try:
        table = parquet.read_table(in_arrow(data, pyarrow))
    except (pyarrow.ArrowException, OSError) as error:
        raise CommandError(f"{name} is a damaged Parquet file ({error}); copy it again") from error
    _check_names(table.column_names, name)
    if not table.num_rows:
        raise CommandError(f"{name} has columns but no rows; give at least one row")
    return Data(table.combine_chunks(), name, index=_index_of(table))


def _index_of(table: Any) -> tuple[str, ...]:
    """Columns that were the index of the data frame; a range is stored without a column."""
    columns = (table.schema.pandas_metadata or {}).get("index_columns", ())
    return tuple(column for column in columns if column in table.column_names)


def _check_kind(data: bytes, path: str, name: str) -> None:
    """Raise if the file is empty, or plainly no CSV."""
    if path.endswith(".parquet") and not data:
        raise CommandError(f"{name} is empty, not even a Parquet file without rows; write it again")
    if not data.strip():
        raise CommandError(f"{name} is empty; give a header line with names and rows below it")
    if path.endswith(".spinney"):
        raise CommandError(f"{name} is a model file; the model comes first, then the table")
    if fault := foreign.fault_of(data, name):
        raise CommandError(fault)
    if path.endswith(".parquet"):
        raise CommandError(f"{name} is no Parquet file; if it is CSV, rename it")


def _decode(data: bytes, name: str, encoding: str) -> str:
    if encoding == "utf-8":
        encoding = "utf-8-sig"
        if data[:2] in _UTF16:
            raise CommandError(f"{name} is UTF-16; try --encoding utf-16")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = csv_faults.line_of_byte(data, error.start)
        raise CommandError(
            f"{name}, line {line}: byte 0x{data[error.start]:02x} is no {encoding[:5].upper()}; "
            "try --encoding latin-1, or whatever the file was saved in"
        ) from error


def read_text(text: str, name: str, delimiter: str, form: Format, texts: Collection[str]) -> Data:
    """The table in the text of a CSV file."""
    import pyarrow
    from pyarrow import csv as arrow_csv

    header = _header(text, name, delimiter)
    nulls = [*arrow_csv.ConvertOptions().null_values, *form.missing]
    try:
        table = arrow_csv.read_csv(
            in_arrow(text.encode(), pyarrow),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                strings_can_be_null=True,
                null_values=nulls,
                decimal_point=form.decimal,
                column_types={column: pyarrow.string() for column in texts if column in header},
            ),
        )
    except pyarrow.ArrowException as error:
        fault = csv_faults.bad_row(text, delimiter) or str(error)
        raise CommandError(f"{name}, {fault}") from error
    unclosed = csv_faults.unclosed_quote(text, delimiter)
    if unclosed is not None:
        raise CommandError(f"{name}, {unclosed}")
    if not table.num_rows:
        raise CommandError(f"{name} has a header but no rows; give at least one row")
    named = [column for column in table.column_names if column.strip()]
    unnamed = table.num_columns - len(named)
    return Data(
        table.select(named).combine_chunks(),
        name,
        text,
        delimiter,
        form.decimal,
        frozenset(nulls),
        unnamed,
    )


def _header(text: str, name: str, delimiter: str) -> list[str]:
    """Names of the columns, checked."""
    line, header = next(csv_faults.rows_of(text, delimiter), (1, []))
    named = [column for column in header if column.strip()]
    if len(named) <= 1:
        other = csv_faults.looks_separated_by(",".join(header), delimiter)
        if other is not None:
            shown = _NAMES_OF_DELIMITERS.get(other, f"'{other}'")
            raise CommandError(
                f"{name}, line {line}: one column, {header[0]!r}; its name seems to hold several; "
                f"try --delimiter {shown}"
            )
    _check_names(named, name)
    return header


def _check_names(names: Sequence[str], name: str) -> None:
    twice = sorted({column for column in names if list(names).count(column) > 1})
    if twice:
        raise CommandError(
            f"{name} has more than one column named {listed([repr(column) for column in twice])}; "
            "give each column a name of its own"
        )


def looks_like_data(names: Sequence[str]) -> bool:
    """Whether the header line holds numbers, so that it is probably no header."""
    return bool(names) and all(_is_number(name) for name in names)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
