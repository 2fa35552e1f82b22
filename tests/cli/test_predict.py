from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spinney
from tests.cli.conftest import FAST, HEADER, Run, people, write_csv


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_predictions_are_those_of_the_library(run: Run, model: Path, test_table: Path) -> None:
    from pyarrow import csv as arrow_csv

    ran = run("predict", model, test_table, "--proba")
    options = arrow_csv.ConvertOptions(strings_can_be_null=True)
    X = arrow_csv.read_csv(test_table, convert_options=options).select(HEADER[1:-1])
    loaded = spinney.load(model)
    rows = rows_of(ran.out)
    assert [row["prediction"] for row in rows] == loaded.predict(X).tolist()
    shares = np.array([[float(row[f"probability_{c}"]) for c in ("high", "low")] for row in rows])
    np.testing.assert_array_equal(shares, loaded.predict_proba(X))


def test_the_order_of_columns_does_not_matter(run: Run, model: Path, tmp_path: Path) -> None:
    rows = people(30, 5)
    plain = write_csv(tmp_path / "a.csv", HEADER, rows)
    order = [4, 6, 1, 0, 5, 3, 2]
    shuffled = write_csv(
        tmp_path / "b.csv", [HEADER[i] for i in order], [[row[i] for i in order] for row in rows]
    )
    assert run("predict", model, plain).out == run("predict", model, shuffled).out


def test_other_columns_are_left_aside_with_a_note(run: Run, model: Path, test_table: Path) -> None:
    ran = run("predict", model, test_table)
    assert ran.code == 0
    assert "left aside, because the model does not read them: id, income" in ran.err


def test_a_missing_column_is_named(run: Run, model: Path, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", ["Age", "zip"], [[1, 2]])
    ran = run("predict", model, path)
    assert ran.code == 1
    assert "has no column 'age' and 3 others, which the model reads; did you mean 'Age'?" in ran.err


def test_text_that_looks_like_numbers_is_read_as_in_training(run: Run, tmp_path: Path) -> None:
    rows = [["a1" if i % 2 else "12", i % 2] for i in range(20)]
    train = write_csv(tmp_path / "t.csv", ["code", "y"], rows)
    new = write_csv(tmp_path / "n.csv", ["code"], [["12"], ["12"]])
    path = tmp_path / "m.spinney"
    assert run("train", train, "-t", "y", *FAST, "-o", path).code == 0
    assert run("predict", path, new).out == "prediction\n0\n0\n"


@pytest.mark.parametrize(
    ("column", "value", "held"),
    [(5, "much", "numbers"), (1, "old", "numbers"), (4, "May", "dates")],
)
def test_a_word_among_numbers_is_named_with_its_line(
    run: Run, model: Path, tmp_path: Path, column: int, value: str, held: str
) -> None:
    rows = people(6, 1)
    rows[2][column] = "?"
    rows[3][column] = value
    path = write_csv(tmp_path / "t.csv", HEADER, rows)
    words = ("predict", model, path, "--missing", "?")
    ran = run(*words)
    assert ran.code == 1
    name = HEADER[column]
    assert f"{path}, line 5: column {name!r} holds {value!r}, but held {held} in trai" in ran.err
    assert run(*words, "--missing", value).code == 0


@pytest.mark.parametrize(
    ("value", "words", "says"),
    [
        ("12,57", (), "try --decimal , if the comma is a decimal point, or write a plain number"),
        ("12%", (), "line 4: column 'wage' holds '12%', but held numbers in training; write a pl"),
        ("12.57", ("--decimal", ","), "holds '12.57', but held numbers in training; write a pl"),
    ],
)
def test_a_number_in_another_spelling_gets_options_that_help(
    run: Run, model: Path, tmp_path: Path, value: str, words: tuple[str, ...], says: str
) -> None:
    rows = people(6, 1)
    for row in rows:
        row[5] = "12,5" if words else 12.5
    rows[2][5] = value
    ran = run("predict", model, write_csv(tmp_path / "t.csv", HEADER, rows), *words)
    assert ran.code == 1
    assert says in ran.err
    assert "--missing" not in ran.err


def test_a_word_among_numbers_of_parquet_is_named_with_its_row(
    run: Run, model: Path, tmp_path: Path
) -> None:
    table = pd.DataFrame(people(6, 1), columns=HEADER)
    path = tmp_path / "t.parquet"
    table.assign(wage=["1.5", "2.5", "much", None, "3", "4"]).to_parquet(path)
    assert "row 3: column 'wage' holds 'much', but held" in run("predict", model, path).err
    table.assign(wage="1.5").to_parquet(path)
    assert "column 'wage' is stored as text, but held" in run("predict", model, path).err


def test_holes_are_told_of_without_advice_for_python(run: Run, model: Path, tmp_path: Path) -> None:
    rows = people(6, 1)
    rows[2][3] = ""
    ran = run("predict", model, write_csv(tmp_path / "t.csv", HEADER, rows))
    assert "values are missing in columns that had none missing in training" in ran.err
    assert "missing='error'" not in ran.err


def test_a_pipe_is_as_good_as_a_file(run: Run, model: Path, test_table: Path) -> None:
    piped = run("predict", model, "-", stdin=test_table.read_bytes())
    assert piped.out == run("predict", model, test_table).out


def test_json_has_one_object_a_row(run: Run, model: Path, test_table: Path) -> None:
    ran = run("predict", model, test_table, "--json", "--proba", "--keep", "id")
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert len(rows) == 50
    assert list(rows[0]) == ["id", "prediction", "probability_high", "probability_low"]
    assert rows[7]["id"] == "p7"


def test_output_is_a_file_that_is_whole(
    run: Run, model: Path, test_table: Path, tmp_path: Path
) -> None:
    path = tmp_path / "out.csv"
    ran = run("predict", model, test_table, "-o", path)
    assert ran.out == ""
    assert path.read_text() == run("predict", model, test_table).out
    assert [p for p in tmp_path.iterdir() if p.suffix == ".tmp"] == []


def test_a_failed_prediction_leaves_the_old_file(run: Run, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    out.write_text("old\n")
    broken = write_csv(tmp_path / "t.csv", ["zip"], [[1]])
    assert run("predict", model, broken, "-o", out).code == 1
    assert out.read_text() == "old\n"


def test_numbers_have_no_probabilities(run: Run, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.spinney"
    run("train", table, "-t", "wage", *FAST, "-o", path)
    ran = run("predict", path, table, "--proba")
    assert ran.code == 2
    assert "predicts numbers" in ran.err


def test_a_model_without_names_takes_columns_in_order(run: Run, tmp_path: Path) -> None:
    X = np.arange(20.0).reshape(10, 2)
    y = (X[:, 1] > 9).astype(int)
    tree = spinney.TAOTreeClassifier(max_depth=1, random_state=0).fit(X, y)
    spinney.save(tree, tmp_path / "m.spinney")
    path = write_csv(tmp_path / "t.csv", ["p", "q"], X.tolist())
    ran = run("predict", tmp_path / "m.spinney", path)
    assert ran.out.split()[1:] == [str(label) for label in tree.predict(X)]
    assert "in the order of the file" in ran.err
    wide = write_csv(tmp_path / "w.csv", ["p", "q", "r"], [[1, 2, 3]])
    assert "fitted without names to 2 columns" in run("predict", tmp_path / "m.spinney", wide).err


@pytest.mark.parametrize("data", [b"", b"nothing of the kind", b"x" * 5000])
def test_a_file_that_is_no_model_is_refused(
    run: Run, tmp_path: Path, test_table: Path, data: bytes
) -> None:
    path = tmp_path / "bad.spinney"
    path.write_bytes(data)
    ran = run("predict", path, test_table)
    assert ran.code == 1
    assert str(path) in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_model_that_was_never_fitted_is_refused(run: Run, tmp_path: Path, table: Path) -> None:
    spinney.save(spinney.TAOTreeClassifier(), tmp_path / "m.spinney")
    ran = run("predict", tmp_path / "m.spinney", table)
    assert ran.code == 1
    assert "never fitted" in ran.err


def test_an_infinite_number_is_named_with_its_line(run: Run, model: Path, tmp_path: Path) -> None:
    rows = people(6, 1)
    rows[2][5] = "inf"
    path = write_csv(tmp_path / "t.csv", HEADER, rows)
    for words in (("predict", model, path), ("train", path, "-t", "income", "-o", model)):
        ran = run(*words)
        assert ran.code == 1
        assert f"{path}, line 4: column 'wage' holds an infinite number" in ran.err


def test_a_device_is_not_replaced(run: Run, model: Path, table: Path) -> None:
    ran = run("predict", model, table, "-o", "/dev/null")
    assert ran.code == 1
    assert "no regular file" in ran.err


def test_a_kept_column_may_not_hide_a_result(run: Run, model: Path, tmp_path: Path) -> None:
    rows = [[*row, 1] for row in people(5, 0)]
    path = write_csv(tmp_path / "t.csv", [*HEADER, "prediction"], rows)
    ran = run("predict", model, path, "--keep", "prediction")
    assert ran.code == 1
    assert "a column of the result has this name" in ran.err


def test_holes_that_training_did_not_have_are_filled_with_one_note(
    run: Run, tmp_path: Path
) -> None:
    header, rows = ["a", "b", "y"], [[i % 7, i % 5, "hi" if i % 2 else "lo"] for i in range(60)]
    train = write_csv(tmp_path / "t.csv", header, rows)
    path = tmp_path / "m.spinney"
    assert run("train", train, "-t", "y", *FAST, "-o", path).code == 0
    mean = sum(row[0] for row in rows) / 60
    new = write_csv(tmp_path / "n.csv", header[:2], [["", 3], [2, 4]])
    filled = write_csv(tmp_path / "f.csv", header[:2], [[mean, 3], [2, 4]])
    ran = run("predict", path, new, "--proba")
    assert ran.code == 0
    assert ran.err.count("note: values are missing") == 1
    assert "column 0 of X (a) in 1 row; numbers were filled" in ran.err
    assert ran.out == run("predict", path, filled, "--proba").out
