"""Files that are no table the program reads, told by their first bytes, and what to try instead."""

from __future__ import annotations

from pathlib import Path

READ = "tables are CSV or Parquet, plain or with gzip"

_UNPACK = "unpack it: {program} {{name}} | spinney ... -"
_PANDAS = "in Python: pandas.{function}('{{name}}').to_parquet('table.parquet')"
_SHEET = "save the sheet as CSV"
_BZIP2 = "compressed with bzip2", _UNPACK.format(program="bzcat")
_PAGE = "a web page", "get the table itself"
_JSON = "JSON", _PANDAS.format(function="read_json")
_JSON_LINES = (
    "JSON",
    "in Python: pandas.read_json('{name}', lines=True).to_parquet('table.parquet')",
)
_PICKLE = "a pickle", _PANDAS.format(function="read_pickle")

#: What files begin with, what they are, and what to try; long enough for no header of a CSV.
BEGINNINGS = {
    **{f"BZh{level}1AY".encode(): _BZIP2 for level in range(1, 10)},
    b"\xfd7zXZ\x00": ("compressed with xz", _UNPACK.format(program="xzcat")),
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", _UNPACK.format(program="zstdcat")),
    b"7z\xbc\xaf\x27\x1c": ("an archive", "unpack it"),
    b"Rar!\x1a": ("an archive", "unpack it"),
    b"ARROW1\x00\x00": ("a Feather or Arrow file", _PANDAS.format(function="read_feather")),
    b"Obj\x01": ("an Avro file", "convert it to Parquet"),
    b"\x89HDF\r\n": ("an HDF5 file", _PANDAS.format(function="read_hdf")),
    b"\x93NUMPY": ("a numpy array", "give its columns names and save them as CSV"),
    b"SQLite format 3": ("a database", "export the table as CSV"),
    b"\xd0\xcf\x11\xe0": ("an old Excel file", _SHEET),
    b'{"': _JSON,
    b"[{": _JSON,
    b"<!doctype html": _PAGE,
    b"<!DOCTYPE html": _PAGE,
    b"<html": _PAGE,
}
#: Kinds that only the ending tells, or tells better.
ENDINGS = {
    ".orc": ("an ORC file", _PANDAS.format(function="read_orc")),
    ".json": _JSON,
    ".jsonl": _JSON_LINES,
    ".ndjson": _JSON_LINES,
    ".pkl": _PICKLE,
    ".pickle": _PICKLE,
}
#: Files that all begin as zip files do.
ZIPPED = {
    ".xlsx": ("a spreadsheet", _SHEET),
    ".ods": ("a spreadsheet", _SHEET),
    ".npz": ("a file of numpy arrays", "give the columns names and save them as CSV"),
    ".zip": ("a zip file", _UNPACK.format(program="unzip -p")),
}
#: Endings of tables that are not read, and of nothing else.
TABLES = (".feather", ".arrow", ".orc", ".avro", ".xls", ".xlsx", ".ods", ".bz2", ".xz", ".zst")


def fault_of(data: bytes, name: str) -> str | None:
    """What to say of a file that is not read; None if it may be a table.

    Parameters
    ----------
    data : bytes
        Content of the file, with gzip undone.
    name : str
        For the message; its ending tells some kinds apart.
    """
    found = _kind_of(data, Path(name.removesuffix(".gz")).suffix.lower())
    if found is None:
        return None
    what, advice = found
    return f"{name} is {what}; {READ}; {advice.format(name=name)}"


def _kind_of(data: bytes, ending: str) -> tuple[str, str] | None:
    if data[:4] == b"PK\x03\x04":
        return ZIPPED.get(ending, ("a zip file or a spreadsheet", "save the table as CSV"))
    if data[257:262] == b"ustar":
        return "a tar archive", "unpack it"
    if ending in ENDINGS:
        return ENDINGS[ending]
    return next((BEGINNINGS[start] for start in BEGINNINGS if data.startswith(start)), None)
