from __future__ import annotations

import builtins
import bz2
import gzip
import io
import lzma
import sys
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv
from pyarrow import feather as pyarrow_feather
from pyarrow import parquet

import spinney
from spinney.cli import csv_faults
from spinney.cli.errors import CommandError
from spinney.cli.reading import Format, in_arrow, read_data
from tests.cli.conftest import FAST, Run


def read(tmp_path: Path, data: bytes, name: str = "t.csv", form: Format = Format()) -> Any:  # noqa: B008
    path = tmp_path / name
    path.write_bytes(data)
    return read_data(str(path), form)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "t.csv is empty"),
        (b" \n\n", "t.csv is empty"),
        (b"a,b\n", "has a header but no rows"),
        (b"a,b\n1,2\n3\n", "t.csv, line 3: 1 values where the header has 2: '3'; complete the row"),
        (b"a,b\n1,2\n\n3,4,5\n", "line 4: 3 values where the header has 2: '3,4,5'; put values"),
        (b'a,b\n"x\ny",2\n3\n', "line 4: 1 values"),
        (b'a,b\n1,2\n3,"4\n5,6\n7,8,9\n', "line 3: a quote opens here that is never closed"),
        (b'a,b\n"1\n2,3",4,5\n', "line 2: a quote opens here and the row does not end"),
        (b"a,b,a,b,c\n1,2,3,4,5\n", "more than one column named 'a', 'b'"),
        (b"a;b;c\n1;2;3\n", "try --delimiter ';'"),
        (b"a\tb\n1\t2\n", "try --delimiter tab"),
        ("a,b\n1,é\n".encode("latin-1"), "line 2: byte 0xe9 is no UTF-8; try --encoding latin-1"),
        ("a,b\n1,2\n".encode("utf-16"), "is UTF-16; try --encoding utf-16"),
        (b"PAR1 and nothing else", "damaged Parquet file"),
        (b"\x1f\x8bnothing", "damaged gzip file"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(tmp_path: Path, data: bytes, says: str) -> None:
    with pytest.raises(CommandError, match=r"t\.csv") as caught:
        read(tmp_path, data)
    assert says in str(caught.value)


def feather() -> bytes:
    stream = pyarrow.BufferOutputStream()
    pyarrow_feather.write_feather(pyarrow.table({"a": [1.5]}), stream, compression="uncompressed")
    return stream.getvalue().to_pybytes()


def tar() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("t.csv"))
    return stream.getvalue()


CSV = b"a,b\n1,2\n"
FOREIGN = [
    ("t.feather", feather(), "a Feather or Arrow file", "pandas.read_feather('"),
    ("t.csv.bz2", bz2.compress(CSV), "compressed with bzip2", "bzcat "),
    ("t.csv.xz", lzma.compress(CSV), "compressed with xz", "xzcat "),
    ("t.csv.zst", b"\x28\xb5\x2f\xfdrest", "compressed with zstd", "zstdcat "),
    ("t.zip", b"PK\x03\x04rest", "a zip file", "unzip -p "),
    ("t.xlsx", b"PK\x03\x04rest", "a spreadsheet", "save the sheet as CSV"),
    ("t.csv", b"PK\x03\x04rest", "a zip file or a spreadsheet", "save the table as CSV"),
    ("t.xls", b"\xd0\xcf\x11\xe0rest", "an old Excel file", "save the sheet as CSV"),
    ("t.json", b'[{"a": 1}]', "JSON", "pandas.read_json('"),
    ("t.jsonl", b'{"a": 1}\n{"a": 2}\n', "JSON", "pandas.read_json('"),
    ("t.json", b'[\n  {"a": 1}]', "JSON", "pandas.read_json('"),
    ("t.txt", b'[{"a": 1}]', "JSON", "pandas.read_json('"),
    ("t.pkl", b"\x80\x04anything", "a pickle", "pandas.read_pickle('"),
    ("t.csv", b"<!DOCTYPE html><p>404", "a web page", "get the table itself"),
    ("t.tar.gz", gzip.compress(tar(), mtime=0), "a tar archive", "unpack it"),
    ("t.parquet", feather(), "a Feather or Arrow file", "pandas.read_feather('"),
]


@pytest.mark.parametrize(("name", "data", "what", "advice"), FOREIGN, ids=lambda of: str(of)[:20])
def test_a_file_of_another_format_is_named_with_what_to_try(
    tmp_path: Path, name: str, data: bytes, what: str, advice: str
) -> None:
    with pytest.raises(CommandError) as caught:
        read(tmp_path, data, name)
    said = str(caught.value)
    assert said.startswith(f"{tmp_path / name} is {what}; tables are CSV or Parquet, plain or with")
    assert advice in said


def test_a_table_of_another_format_is_no_model_either(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.feather"
    path.write_bytes(feather())
    ran = run("predict", path, tmp_path / "m.spinney")
    assert ran.code == 1
    assert "is a table; the model file comes first" in ran.err


def test_a_csv_named_parquet_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is no Parquet file"):
        read(tmp_path, b"a,b\n1,2\n", "t.parquet")


@pytest.mark.parametrize(
    ("data", "name", "form"),
    [
        (b"a;b\n1,5;x\n", "t.csv", Format(delimiter=";", decimal=",")),
        (b"a\tb\n1.5\tx\n", "t.tsv", Format()),
        ("a,b\n1.5,x\n".encode("utf-16"), "t.csv", Format(encoding="utf-16")),
        (b"\xef\xbb\xbfa,b\r\n1.5,x\r\n", "t.csv", Format()),
        (gzip.compress(b"a,b\n1.5,x\n", mtime=0), "t.csv.gz", Format()),
    ],
)
def test_other_ways_to_write_the_same_table(
    tmp_path: Path, data: bytes, name: str, form: Format
) -> None:
    assert read(tmp_path, data, name, form).table.to_pydict() == {"a": [1.5], "b": ["x"]}


def test_cells_that_mean_missing(tmp_path: Path) -> None:
    table = read(tmp_path, b"a,b\n1,x\n?,\n3,NA\n", form=Format(missing=("?",))).table
    assert table.to_pydict() == {"a": [1, None, 3], "b": ["x", None, None]}


def test_columns_without_a_name_are_left_out_and_counted(tmp_path: Path) -> None:
    data = read(tmp_path, b",a,b\n0,1,2\n1,3,4\n")
    assert data.names == ["a", "b"]
    assert data.unnamed == 1


def write_parquet(path: Path, n_rows: int = 30) -> Path:
    """A data frame as pandas writes it, with numbers of rows as its index."""
    numbers = np.arange(n_rows)
    frame = pd.DataFrame({"x": numbers % 7, "y": numbers % 2}, index=1000 + 3 * numbers)
    frame.to_parquet(path)
    return path


def test_the_index_of_a_data_frame_is_known_but_not_a_range(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "t.parquet")
    assert read_data(str(path), Format()).index == ("__index_level_0__",)
    pd.read_parquet(path).reset_index(drop=True).to_parquet(path)
    assert read_data(str(path), Format()).index == ()


def test_training_leaves_out_the_index_of_a_data_frame_and_says_so(
    run: Run, tmp_path: Path
) -> None:
    path = write_parquet(tmp_path / "t.parquet")
    ran = run("train", path, "-t", "y", *FAST, "-o", tmp_path / "m.spinney")
    assert ran.code == 0, ran.err
    assert "left out the index of the data frame: __index_level_0__; to read it" in ran.err
    assert spinney.load(tmp_path / "m.spinney").feature_names_in_.tolist() == ["x"]
    assert run("predict", tmp_path / "m.spinney", path).code == 0


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (("-t", "id"), ["x", "y"]),
        (("-t", "y", "--categorical", "id"), ["x", "id"]),
        (("-t", "y", "--drop", "id"), ["x"]),
    ],
)
def test_an_index_that_an_option_names_is_a_column_like_others(
    run: Run, tmp_path: Path, words: tuple[str, ...], read: list[str]
) -> None:
    frame = pd.DataFrame({"x": np.arange(30) % 7, "y": np.arange(30) % 2})
    frame.set_index(pd.Index(np.arange(30) % 3, name="id")).to_parquet(tmp_path / "t.parquet")
    ran = run("train", tmp_path / "t.parquet", *words, *FAST, "-o", tmp_path / "m.spinney")
    assert ran.code == 0, ran.err
    assert "left out the index" not in ran.err
    assert spinney.load(tmp_path / "m.spinney").feature_names_in_.tolist() == read


def test_a_model_without_names_does_not_count_the_index(run: Run, tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "t.parquet")
    frame = pd.read_parquet(path)
    model = spinney.TAOTreeClassifier(max_depth=2).fit(frame[["x"]].to_numpy(), frame["y"])
    spinney.save(model, tmp_path / "m.spinney")
    frame[["x"]].to_parquet(path)
    assert run("predict", tmp_path / "m.spinney", path).code == 0


def test_parquet_without_rows_or_bytes_is_told_in_its_own_words(tmp_path: Path) -> None:
    write_parquet(tmp_path / "t.parquet", n_rows=0)
    with pytest.raises(CommandError, match="has columns but no rows; give at least one row"):
        read_data(str(tmp_path / "t.parquet"), Format())
    with pytest.raises(CommandError, match="is empty, not even a Parquet file without rows"):
        read(tmp_path, b"", "t.parquet")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_no_python_object_is_given_to_threads_that_outlive_the_interpreter(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"a,b\n1,2\n" if name == "t.csv" else write_parquet(tmp_path / name).read_bytes()
    before = sys.getrefcount(data)
    copied = in_arrow(data, pyarrow)
    assert copied.read() == data
    assert sys.getrefcount(data) == before
    received: list[Any] = []
    for module, reader in ((arrow_csv, "read_csv"), (parquet, "read_table")):
        real = getattr(module, reader)
        monkeypatch.setattr(
            module, reader, lambda file, *, real=real, **_: (received.append(file), real(file))[1]
        )
    read(tmp_path, data, name)
    assert [type(file) for file in received] == [pyarrow.BufferReader]


def test_columns_named_as_text_stay_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\n007,1\n")
    data = read_data(str(tmp_path / "t.csv"), Format(), texts=["a", "no such column"])
    assert data.table.to_pydict() == {"a": ["007"], "b": [1]}


def test_a_missing_file_is_named(run: Run, tmp_path: Path) -> None:
    ran = run("train", tmp_path / "no.csv", "-t", "y", "-o", tmp_path / "m.spinney")
    assert ran.code == 1
    assert ran.err == f"spinney: error: {tmp_path / 'no.csv'}: No such file or directory\n"


def test_a_missing_reader_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without_pyarrow(name: str, *rest: Any, **options: Any) -> Any:
        if name.split(".")[0] == "pyarrow":
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    ran = run("train", "t.parquet", "-t", "y", "-o", tmp_path / "m.spinney")
    assert ran.code == 1
    assert ran.err == (
        "spinney: error: t.parquet cannot be read without pyarrow; try pip install 'spinney[cli]'\n"
    )


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Income", "did you mean 'income'?"),
        ("incone", "did you mean 'income'?"),
        ("zzz", "(it has 'id', 'age', 'job', 'zip', 'since', 'wage'"),
    ],
)
@pytest.mark.parametrize("option", ["--target", "--drop", "--categorical"])
def test_an_unknown_column_is_named_with_what_there_is(
    run: Run, table: Path, tmp_path: Path, option: str, name: str, says: str
) -> None:
    words = ["--target", "income", option, name][0 if option != "--target" else 2 :]
    ran = run("train", table, *words, "-o", tmp_path / "m.spinney")
    assert ran.code == 1
    assert f"{option} {name!r}: {table} has no such column" in ran.err
    assert "did you mean" in ran.err if "mean" in says else says in ran.err


def test_a_file_without_a_header_is_told_of(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("5.1,3.5,1\n4.9,3.0,0\n")
    ran = run("train", tmp_path / "t.csv", "-t", "y", "-o", tmp_path / "m.spinney")
    assert "its first line holds numbers (5.1, 3.5, 1); give a header line with names" in ran.err


def test_a_quote_inside_a_cell_is_no_open_one(tmp_path: Path) -> None:
    assert read(tmp_path, b'a,b\n5" pipe,1\n').table.to_pydict() == {"a": ['5" pipe'], "b": [1]}


cells = st.text(alphabet='ab,"\n ', max_size=4)


@given(rows=st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1, max_size=6))
def test_a_row_is_found_on_the_line_it_starts(rows: list[list[str]]) -> None:
    lines = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    text = "\n".join(["x,y", *lines]) + "\n"
    for number in range(len(rows)):
        before = "\n".join(["x,y", *lines[:number]])
        assert csv_faults.line_of_row(text, ",", number) == before.count("\n") + 2
    assert csv_faults.bad_row(text, ",") is None


@given(
    rows=st.lists(st.lists(st.sampled_from(["1", "x", ""]), min_size=3, max_size=3), max_size=6),
    bad=st.lists(st.sampled_from(["1", "x"]), min_size=4, max_size=5),
)
def test_the_first_bad_row_is_found(rows: list[list[str]], bad: list[str]) -> None:
    text = "\n".join(",".join(row) for row in [["a", "b", "c"], *rows, bad, bad])
    found = csv_faults.bad_row(text, ",")
    assert found is not None
    assert found.startswith(f"line {len(rows) + 2}: {len(bad)} values")


@pytest.mark.parametrize("header", [b"ORCID,b", b"FEA1,FEA2", b"BZh,b", b"ARROW1,b", b"Rar!,b"])
def test_headers_like_the_first_bytes_of_other_formats_are_headers(
    tmp_path: Path, header: bytes
) -> None:
    assert read(tmp_path, header + b"\n1,2\n").names == header.decode().split(",")
