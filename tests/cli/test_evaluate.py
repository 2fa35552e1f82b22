from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score

import spinney
from tests.cli.conftest import FAST, HEADER, Run, people, write_csv


def judged(run: Run, *words: object) -> dict[str, object]:
    ran = run("evaluate", *words, "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert isinstance(found, dict)
    return found


def test_scores_of_two_classes_are_scikit_learns(run: Run, model: Path, test_table: Path) -> None:
    from pyarrow import csv as arrow_csv

    options = arrow_csv.ConvertOptions(strings_can_be_null=True)
    table = arrow_csv.read_csv(test_table, convert_options=options)
    y = np.array(table.column("income").to_pylist())
    loaded, X = spinney.load(model), table.select(HEADER[1:-1])
    found = judged(run, model, test_table, "--target", "income")
    assert found["error"] == pytest.approx(np.mean(loaded.predict(X) != y))
    shares = loaded.predict_proba(X)
    assert found["auc"] == pytest.approx(roc_auc_score(y == "low", shares[:, 1]))
    assert found["log_loss"] == pytest.approx(log_loss(y, shares))
    confusion = np.array(found["confusion"])
    assert confusion.sum() == 50
    assert 1 - np.trace(confusion) / 50 == pytest.approx(found["error"])
    assert confusion.sum(axis=1).tolist() == [np.sum(y == "high"), np.sum(y == "low")]


def test_the_target_is_found_if_it_is_clear(run: Run, model: Path, test_table: Path) -> None:
    named = judged(run, model, test_table, "--target", "income")
    ran = run("evaluate", model, test_table, "--json")
    assert json.loads(ran.out) == named
    assert "target: 'income', the one column that holds the classes of the model" in ran.err


def test_a_target_that_is_not_clear_must_be_named(run: Run, model: Path, tmp_path: Path) -> None:
    rows = [[*row, row[-1]] for row in people(10, 2)]
    path = write_csv(tmp_path / "t.csv", [*HEADER, "again"], rows)
    ran = run("evaluate", model, path)
    assert ran.code == 2
    assert "--target is needed" in ran.err
    assert "id, income, again" in ran.err


def test_a_table_without_answers_is_refused(run: Run, model: Path, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", HEADER[1:-1], [row[1:-1] for row in people(10, 2)])
    ran = run("evaluate", model, path)
    assert ran.code == 1
    assert "has no target" in ran.err


def test_labels_the_model_does_not_know_count_as_errors(
    run: Run, model: Path, tmp_path: Path
) -> None:
    rows = people(10, 2)
    for row in rows[:4]:
        row[-1] = "middling"
    path = write_csv(tmp_path / "t.csv", HEADER, rows)
    found = judged(run, model, path, "--target", "income")
    assert found["unknown_labels"] == ["middling"]
    assert found["error"] >= 0.4
    assert found["auc"] is None
    assert "middling" in run("evaluate", model, path, "--target", "income").out


def test_many_classes_of_numbers(run: Run, tmp_path: Path) -> None:
    rows = [[i % 5, i % 3, i % 3 + 1] for i in range(60)]
    path = write_csv(tmp_path / "t.csv", ["a", "b", "y"], rows)
    model = tmp_path / "m.spinney"
    run("train", path, "-t", "y", *FAST, "-o", model)
    found = judged(run, model, path)
    assert found["error"] == 0
    assert found["classes"] == ["1", "2", "3"]
    assert found["auc"] == 1
    assert "true \\ predicted   1   2   3" in run("evaluate", model, path).out


def test_scores_of_numbers(run: Run, table: Path, test_table: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.spinney"
    run("train", table, "-t", "wage", "--drop", "id", "--drop", "income", *FAST, "-o", model)
    found = judged(run, model, test_table, "-t", "wage")
    assert 0 < float(str(found["rmse"])) < float(str(found["baseline_rmse"]))
    assert float(str(found["r2"])) == pytest.approx(
        1 - (float(str(found["rmse"])) / float(str(found["baseline_rmse"]))) ** 2
    )
    assert "R2: 0." in run("evaluate", model, test_table, "-t", "wage").out


def test_rows_without_an_answer_are_refused(run: Run, model: Path, tmp_path: Path) -> None:
    rows = people(10, 2)
    rows[4][-1] = ""
    path = write_csv(tmp_path / "t.csv", HEADER, rows)
    assert "missing in 1 of 10 rows, first in line 6" in run("evaluate", model, path).err
    found = judged(run, model, path, "--skip-missing-target")
    assert found["rows"] == 9


@pytest.mark.parametrize("written", [("1", "2"), ("1.0", "2.0"), ("1.0", "2")])
def test_a_number_is_the_same_label_however_it_is_written(
    run: Run, tmp_path: Path, written: tuple[str, str]
) -> None:
    tree = spinney.TAOTreeClassifier(max_depth=1, random_state=0)
    X = np.arange(10.0)[:, None]
    spinney.save(tree.fit(X, 1 + (X[:, 0] > 4)), tmp_path / "m.spinney")
    rows = [[number, written[number > 4]] for number in range(10)]
    path = write_csv(tmp_path / "t.csv", ["x", "y"], [*rows, [3, "1.5"]])
    found = judged(run, tmp_path / "m.spinney", path, "-t", "y")
    assert found["unknown_labels"] == ["1.5"]
    assert found["error"] == pytest.approx(1 / 11)
