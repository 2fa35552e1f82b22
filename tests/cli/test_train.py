from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import spinney
from spinney.cli.models import MODELS
from tests.cli.conftest import FAST, HEADER, Run, people, write_csv


def test_a_raw_table_becomes_a_model_that_knows_its_columns(
    run: Run, table: Path, tmp_path: Path
) -> None:
    path = tmp_path / "m.spinney"
    ran = run("train", table, "--target", "income", "--drop", "id", *FAST, "-o", path)
    assert ran.code == 0
    model = spinney.load(path)
    assert list(model.feature_names_in_) == HEADER[1:-1]
    assert model.classes_.tolist() == ["high", "low"]
    kinds = [model.encoding_.kind(column) for column in range(5)]
    assert kinds == ["number", "text_levels", "number", "datetime", "number"]


@pytest.mark.parametrize("name", MODELS)
def test_every_model_trains(run: Run, table: Path, tmp_path: Path, name: str) -> None:
    few = {"fao": "n_forests=1", "tree": "max_depth=2"}.get(name, "n_estimators=2")
    path = tmp_path / "m.spinney"
    ran = run(
        "train",
        table,
        "-t",
        "income",
        "--drop",
        "id",
        "--model",
        name,
        "--param",
        few,
        "--n-jobs",
        1,
        "-o",
        path,
        "--json",
    )
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert found["model"] == MODELS[name].classifier.__name__ == type(spinney.load(path)).__name__
    assert found["trees"] >= 1
    assert found["training"] < 0.45


@pytest.mark.parametrize("name", [name for name, model in MODELS.items() if model.regressor])
def test_every_regression_trains(run: Run, table: Path, tmp_path: Path, name: str) -> None:
    few = {"fao": "n_forests=1", "tree": "max_depth=2"}.get(name, "n_estimators=2")
    path = tmp_path / "m.spinney"
    ran = run(
        "train",
        table,
        "-t",
        "wage",
        "--drop",
        "id",
        "--model",
        name,
        "--param",
        few,
        "--n-jobs",
        1,
        "-o",
        path,
        "--json",
    )
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["task"] == "regression"
    assert type(spinney.load(path)) is MODELS[name].regressor


@pytest.mark.parametrize(
    ("values", "task", "why"),
    [
        (["a", "b"] * 10, "classification", "2 different texts"),
        (["true", "false"] * 10, "classification", "2 different texts"),
        ([0, 1] * 10, "classification", "only 2 different whole numbers"),
        (list(range(20)), "regression", "20 different whole numbers"),
        ([0.5, 1.5] * 10, "regression", "fractions"),
    ],
)
def test_the_guessed_task_is_said_with_its_reason(
    run: Run, tmp_path: Path, values: list[object], task: str, why: str
) -> None:
    rows = [[number % 7, value] for number, value in enumerate(values)]
    path = write_csv(tmp_path / "t.csv", ["x", "y"], rows)
    ran = run("train", path, "-t", "y", *FAST, "-o", tmp_path / "m.spinney")
    assert ran.code == 0, ran.err
    assert f"{task} of 'y', because it holds" in ran.err
    assert why in ran.err.splitlines()[0]


def test_the_named_task_wins(run: Run, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", ["x", "y"], [[i % 7, i % 2] for i in range(20)])
    ran = run("train", path, "-t", "y", "--task", "regression", *FAST, "-o", tmp_path / "m.spinney")
    assert ran.code == 0
    assert isinstance(spinney.load(tmp_path / "m.spinney"), spinney.TAOTreeRegressor)
    assert "because" not in ran.err


def test_labels_stay_as_they_are_written(run: Run, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", ["x", "y"], [[i % 7, f"0{i % 2}"] for i in range(20)])
    assert run("train", path, "-t", "y", *FAST, "-o", tmp_path / "m.spinney").code == 0
    assert spinney.load(tmp_path / "m.spinney").classes_.tolist() == ["00", "01"]


def test_numbers_named_as_categories_join_the_texts(run: Run, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.spinney"
    ran = run(
        "train", table, "-t", "income", "--drop", "id", "--categorical", "zip", *FAST, "-o", path
    )
    assert ran.code == 0
    encoding = spinney.load(path).encoding_
    assert [encoding.kind(column) for column in (1, 2)] == ["text_levels", "number_levels"]


def test_the_same_command_gives_the_same_file(run: Run, table: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.spinney", "b.spinney")]
    for jobs, path in enumerate(files, start=1):
        words = ("--model", "bagged", "--param", "n_estimators=3", "--n-jobs", jobs)
        assert run("train", table, "-t", "income", *words, "-o", path).code == 0
    first, second = (spinney.load(path) for path in files)
    for one, other in zip(first.trees_, second.trees_, strict=True):
        np.testing.assert_array_equal(one.split_weights, other.split_weights)


def test_validation_rows_are_not_fitted(run: Run, table: Path, tmp_path: Path) -> None:
    words = ("--validation", 0.25, *FAST, "--json")
    ran = run("train", table, "-t", "income", *words, "-o", tmp_path / "m.spinney")
    found = json.loads(ran.out)
    assert (found["rows"], found["validation_rows"]) == (90, 30)
    assert 0 <= found["validation"] <= 1


def test_validation_rows_decide_where_the_model_stops_early(
    run: Run, table: Path, tmp_path: Path
) -> None:
    words = (
        "--model",
        "gradient",
        "--param",
        "n_estimators=30",
        "--param",
        "n_iter_no_change=2",
        "--param",
        "learning_rate=1.0",
        "--n-jobs",
        1,
        "--json",
    )
    ran = run(
        "train", table, "-t", "income", *words, "--validation", 0.3, "-o", tmp_path / "m.spinney"
    )
    assert "decide when to stop" in ran.err
    assert json.loads(ran.out)["trees"] < 30


SMALL_FAO = ("--model", "fao", "--param", "n_trees=2", "--param", "max_iter=3", "--n-jobs", 1)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("income", SMALL_FAO),
        ("wage", SMALL_FAO),
        ("income", ("--model", "boosted", "--param", "n_estimators=3", "--n-jobs", 1)),
        ("wage", ("--model", "gradient", "--param", "n_estimators=3", "--n-jobs", 1)),
    ],
)
def test_the_bar_tells_the_error_on_rows_set_aside(
    run: Run, table: Path, tmp_path: Path, target: str, words: tuple[object, ...]
) -> None:
    path = tmp_path / "m.spinney"
    aside = ("--validation", 0.2)
    ran = run("train", table, "-t", target, "--drop", "id", *words, *aside, "-o", path)
    assert ran.code == 0, ran.err
    assert re.search(r"validation (error|loss) \d", ran.err)
    assert "decide when to stop" not in ran.err


def test_rows_set_aside_that_decide_nothing_change_nothing(table: Path) -> None:
    frame = pd.read_csv(table, parse_dates=["since"]).drop(columns="id")
    y = frame.pop("income")
    forest = spinney.FAOForestClassifier(n_trees=2, max_iter=3, random_state=0, n_jobs=1)
    alone = clone(forest).fit(frame[:90], y[:90]).trees_
    judged = clone(forest).fit(frame[:90], y[:90], X_val=frame[90:], y_val=y[90:]).trees_
    for one, other in zip(alone, judged, strict=True):
        np.testing.assert_array_equal(one.split_weights, other.split_weights)
        np.testing.assert_array_equal(one.leaf_values, other.leaf_values)


def test_a_class_that_is_only_among_the_rows_set_aside_does_not_stop_the_fit(
    run: Run, tmp_path: Path
) -> None:
    for labels in (["rare", *"abab" * 4], ["a", "b", "c", "d", "e"]):
        rows = [[i % 7, label] for i, label in enumerate(labels)]
        path = write_csv(tmp_path / "t.csv", ["x", "y"], rows)
        for seed in range(3):
            words = ("--validation", 0.4, *SMALL_FAO, "--random-state", seed)
            ran = run("train", path, "-t", "y", *words, "-o", tmp_path / "m.spinney")
            assert ran.code == 0, ran.err


def test_a_target_of_one_class_is_told_of(run: Run, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", ["x", "y"], [[i, "a"] for i in range(9)])
    ran = run("train", path, "-t", "y", *FAST, "-o", tmp_path / "m.spinney")
    assert ran.code == 0, ran.err
    assert "note: target 'y' is 'a' in all 9 rows" in ran.err
    path = write_csv(tmp_path / "t.csv", ["x", "y"], [[i, 2.5] for i in range(9)])
    ran = run("train", path, "-t", "y", *FAST, "-o", tmp_path / "m.spinney")
    assert "note: target 'y' is 2.5 in all 9 rows" in ran.err


def test_several_targets_are_a_regression_of_all(run: Run, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.spinney"
    ran = run("train", table, "-t", "wage", "-t", "zip", "--drop", "id", *FAST, "-o", path)
    assert ran.code == 0, ran.err
    assert spinney.load(path).n_outputs_ == 2
    predicted = run("predict", path, table)
    assert predicted.out.splitlines()[0] == "prediction_0,prediction_1"
    judged = run("evaluate", path, table, "-t", "wage", "-t", "zip", "--json")
    assert json.loads(judged.out)["rmse"] < json.loads(judged.out)["baseline_rmse"]


def test_a_model_file_is_replaced_and_that_is_said(run: Run, table: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.spinney"
    said = [run("train", table, "-t", "income", *FAST, "-o", path).err for _ in range(2)]
    assert f"wrote {path}" in said[0]
    assert f"replaced {path}" in said[1]


def test_quiet_says_nothing_but_the_result(run: Run, table: Path, tmp_path: Path) -> None:
    ran = run("train", table, "-t", "income", *FAST, "-o", tmp_path / "m.spinney", "--quiet")
    assert ran.err == ""
    assert ran.out.startswith("TAOTreeClassifier: 1 tree")


def test_progress_is_talk_and_no_result(run: Run, table: Path, tmp_path: Path) -> None:
    ran = run("train", table, "-t", "income", *FAST, "-o", tmp_path / "m.spinney", "--json")
    json.loads(ran.out)
    assert len(ran.err.splitlines()) > 3
    assert spinney.load(tmp_path / "m.spinney").verbose == 0


def test_an_interrupted_fit_says_how_to_go_on(
    run: Run, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = (
        "train",
        table,
        "-t",
        "income",
        "--model",
        "bagged",
        "--param",
        "n_estimators=4",
        "--n-jobs",
        1,
        "--checkpoint",
        tmp_path / "c",
        "-o",
        tmp_path / "m.spinney",
    )

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(spinney.TAOForestClassifier, "fit", interrupt)
        ran = run(*words)
    assert ran.code == 130
    assert "the same command goes on" in ran.err
    assert not (tmp_path / "m.spinney").exists()
    assert run(*words).code == 0
    assert len(spinney.load(tmp_path / "m.spinney")) == 4


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--param", "max_dept=3"), "did you mean max_depth?"),
        (("--param", "max_depth"), "not of the form name=value"),
        (("--param", "random_state=3"), "--random-state"),
        (("--model", "boosted", "--task", "regression"), "--model boosted does no regression"),
    ],
)
def test_wrong_usage_ends_with_code_2(
    run: Run, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    path = write_csv(tmp_path / "t.csv", ["x", "y"], [[i % 7, i % 2] for i in range(20)])
    ran = run("train", path, "-t", "y", *words, "-o", tmp_path / "m.spinney")
    assert ran.code == 2
    assert says in ran.err
    assert not (tmp_path / "m.spinney").exists()


def test_a_target_named_twice_is_one(run: Run, table: Path, tmp_path: Path) -> None:
    words = ("-t", "income", "-t", "income", "--drop", "id", *FAST)
    assert run("train", table, *words, "-o", tmp_path / "m.spinney").code == 0


def test_a_target_that_is_dropped_is_refused(run: Run, table: Path, tmp_path: Path) -> None:
    ran = run("train", table, "-t", "income", "--drop", "income", "-o", tmp_path / "m.spinney")
    assert ran.code == 2
    assert "--drop 'income': it is the target" in ran.err


def test_a_value_the_estimator_refuses_ends_with_its_message(
    run: Run, table: Path, tmp_path: Path
) -> None:
    ran = run("train", table, "-t", "income", "--param", "alpha=-1", "-o", tmp_path / "m.spinney")
    assert ran.code == 1
    assert "alpha=-1" in ran.err


def test_a_folder_that_is_not_there_is_refused_before_the_fit(
    run: Run, table: Path, tmp_path: Path
) -> None:
    ran = run("train", table, "-t", "income", "-o", tmp_path / "no" / "m.spinney")
    assert ran.code == 1
    assert ran.err == f"spinney: error: {tmp_path / 'no'}: No such folder\n"


def test_parameters_of_a_model_are_listed(run: Run) -> None:
    ran = run("train", "--parameters-of", "boosted")
    assert ran.code == 0
    assert "  learning_rate=0.1\n" in ran.out


def test_columns_that_name_rows_are_told_of(run: Run, table: Path, tmp_path: Path) -> None:
    ran = run("train", table, "-t", "income", *FAST, "-o", tmp_path / "m.spinney")
    assert (
        "column 'id' has 120 different texts in 120 rows; if it only names the rows: --drop id"
        in ran.err
    )


def test_a_column_of_numbers_with_a_word_in_it_is_refused_by_line(run: Run, tmp_path: Path) -> None:
    # All of them differ, too: that they would name the rows must not be what is said.
    rows = [[i if i not in (3, 20) else "?", i % 2] for i in range(40)]
    path = write_csv(tmp_path / "t.csv", ["x", "y"], rows)
    for command in ("train", "compare"):
        words = (*FAST, "-o", tmp_path / "m.spinney") if command == "train" else ()
        ran = run(command, path, "-t", "y", *words)
        assert ran.code == 1
        assert (
            "column 'x' is text because of '?' in line 5 and 1 other row; 38 of its 40 cells"
            in ran.err
        )
        assert "--missing '?'" in ran.err
        assert "different texts" not in ran.err
    ran = run("train", path, "-t", "y", *FAST, "--missing", "?", "-o", tmp_path / "m.spinney")
    assert ran.code == 0
    assert spinney.load(tmp_path / "m.spinney").encoding_.kind(0) == "number"
    words = ("--categorical", "x", "-o", tmp_path / "m.spinney")
    assert run("train", path, "-t", "y", *FAST, *words).code == 0
    assert spinney.load(tmp_path / "m.spinney").encoding_.kind(0) == "text_levels"


@pytest.mark.parametrize(
    ("write", "says"),
    [
        (lambda i: "soon" if i == 7 else f"{i % 28 + 1:02}.03.2024", "all dates as 2024-01-31"),
        (lambda i: f"{i}%", "because of '0%' in line 2; 40 of its 40 cells are numbers; try writi"),
        (lambda i: f"{i},5", "--decimal , if the comma is a decimal point"),
        (lambda i: f"{90 - i} kg", "because of '90 kg' in line 2; 40 of its 40 cells are numbers"),
    ],
)
def test_numbers_and_dates_that_are_not_plain_are_refused(
    run: Run, tmp_path: Path, write: Any, says: str
) -> None:
    path = write_csv(tmp_path / "t.csv", ["x", "y"], [[write(i), i % 2] for i in range(40)])
    ran = run("train", path, "-t", "y", *FAST, "-o", tmp_path / "m.spinney")
    assert ran.code == 1
    assert says in ran.err


def test_a_comma_in_another_role_is_not_blamed_on_the_decimal_point(
    run: Run, tmp_path: Path
) -> None:
    rows = [["1,234.5" if i == 7 else f"{i},5", i % 2] for i in range(40)]
    path = write_csv(tmp_path / "t.csv", ["x", "y"], rows)
    words = ("-t", "y", *FAST, "--decimal", ",", "-o", tmp_path / "m.spinney")
    ran = run("train", path, *words)
    assert ran.code == 1
    assert "because of '1,234.5' in line 9; 39 of its 40 cells are numbers; try wri" in ran.err
    assert "writing plain numbers, as 1234,5, in the file" in ran.err
    assert "--decimal" not in ran.err
    assert "--missing" not in ran.err


def test_text_of_plain_numbers_alone_blames_no_cell(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"x": [f"{i}.5" for i in range(40)], "y": [0, 1] * 20}).to_parquet(path)
    ran = run("train", path, "-t", "y", *FAST, "-o", tmp_path / "m.spinney")
    assert "column 'x' is stored as text, not numbers; 40 of its 40 cells are numbers; try sto" in (
        ran.err
    )
    assert "because of" not in ran.err


def test_text_that_never_repeats_is_refused_with_options_not_with_code(
    run: Run, tmp_path: Path
) -> None:
    rows = [[f"client {i}", i % 2] for i in range(40)]
    path = write_csv(tmp_path / "t.csv", ["x", "y"], rows)
    ran = run("train", path, "-t", "y", *FAST, "-o", tmp_path / "m.spinney")
    assert ran.code == 1
    assert "nothing can be learned" in ran.err
    assert "--categorical x" in ran.err
    assert "astype" not in ran.err


def test_rows_without_a_target_are_refused_or_left_out(run: Run, tmp_path: Path) -> None:
    rows = [[i % 7, "" if i in (3, 8) else i % 2] for i in range(20)]
    path = write_csv(tmp_path / "t.csv", ["x", "y"], rows)
    ran = run("train", path, "-t", "y", *FAST, "-o", tmp_path / "m.spinney")
    assert ran.code == 1
    assert "target 'y' is missing in 2 of 20 rows, first in line 5" in ran.err
    assert "--skip-missing-target" in ran.err
    words = ("--skip-missing-target", "--json")
    ran = run("train", path, "-t", "y", *FAST, *words, "-o", tmp_path / "m.spinney")
    assert json.loads(ran.out)["rows"] == 18
    assert "left out 2 rows without a target" in ran.err


@pytest.mark.parametrize("words", [(), ("--task", "regression")])
@pytest.mark.parametrize("command", ["train", "compare"])
def test_a_numeric_target_with_a_bad_cell_is_refused_by_line(
    run: Run, tmp_path: Path, command: str, words: tuple[str, ...]
) -> None:
    rows = [[i % 7, "-" if i in (3, 8) else 10 + i % 24] for i in range(60)]
    path = write_csv(tmp_path / "t.csv", ["x", "y"], rows)
    output = (*FAST, "-o", tmp_path / "m.spinney") if command == "train" else ()
    ran = run(command, path, "-t", "y", *words, *output)
    assert ran.code == 1
    assert (
        "target 'y' is text because of '-' in line 5 and 1 other row; 58 of its 60 cells are "
        "numbers; try --missing '-' if that means a missing value, with --skip-missing-target, or "
        "--task classification if they are classes"
    ) in ran.err


def test_what_is_said_of_a_numeric_target_with_a_bad_cell_helps(run: Run, tmp_path: Path) -> None:
    rows = [[i % 7, "-" if i in (3, 8) else 10 + i % 24] for i in range(60)]
    path = write_csv(tmp_path / "t.csv", ["x", "y"], rows)
    words = ("train", path, "-t", "y", *FAST, "--json", "-o", tmp_path / "m.spinney")
    as_numbers = run(*words, "--missing", "-", "--skip-missing-target")
    assert json.loads(as_numbers.out)["task"] == "regression"
    as_classes = run(*words, "--task", "classification")
    assert len(json.loads(as_classes.out)["classes"]) == 25
    assert "y is text" not in as_classes.err


@pytest.mark.parametrize(
    "labels", [["10%", "20%"] * 20, ["007", "008"] * 20, ["a", "b", "-", "1"] * 10]
)
def test_labels_with_digits_are_classes(run: Run, tmp_path: Path, labels: list[str]) -> None:
    rows = [[i % 7, label] for i, label in enumerate(labels)]
    path = write_csv(tmp_path / "t.csv", ["x", "y"], rows)
    ran = run("train", path, "-t", "y", *FAST, "--json", "-o", tmp_path / "m.spinney")
    assert json.loads(ran.out)["classes"] == sorted(set(labels))


@pytest.mark.parametrize(
    ("rows", "words", "says"),
    [
        ([[i, f"t{i}"] for i in range(30)], (), "30 classes in 30 rows"),
        ([[i, ""] for i in range(30)], (), "has no value in any row"),
        ([[i, "a"] for i in range(30)], ("--task", "regression"), "line 2: target 'y' holds 'a'"),
    ],
)
def test_targets_that_cannot_be_learned_are_refused(
    run: Run, tmp_path: Path, rows: list[list[object]], words: tuple[str, ...], says: str
) -> None:
    path = write_csv(tmp_path / "t.csv", ["x", "y"], rows)
    ran = run("train", path, "-t", "y", *words, "-o", tmp_path / "m.spinney")
    assert ran.code == 1
    assert says in ran.err


def test_parquet_and_csv_give_the_same_model(run: Run, tmp_path: Path) -> None:
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    path = write_csv(tmp_path / "t.csv", HEADER, people(60, 3))
    options = arrow_csv.ConvertOptions(strings_can_be_null=True)
    parquet.write_table(arrow_csv.read_csv(path, convert_options=options), tmp_path / "t.parquet")
    trees = []
    for name in ("t.csv", "t.parquet"):
        ran = run("train", tmp_path / name, "-t", "income", *FAST, "-o", tmp_path / "m.spinney")
        assert ran.code == 0, ran.err
        trees.append(spinney.load(tmp_path / "m.spinney").tree_)
    np.testing.assert_array_equal(trees[0].split_weights, trees[1].split_weights)
    np.testing.assert_array_equal(trees[0].leaf_values, trees[1].leaf_values)


def test_an_old_name_of_a_parameter_is_taken_with_a_note(
    run: Run, table: Path, tmp_path: Path
) -> None:
    path = tmp_path / "m.spinney"
    ran = run("train", table, "-t", "income", *FAST, "--param", "monotone=true", "-o", path)
    assert ran.code == 0, ran.err
    assert "note: TAOTreeClassifier: the parameter monotone is called strict_descent" in ran.err
    assert spinney.load(path).strict_descent is True
