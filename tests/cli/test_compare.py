from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from threadpoolctl import threadpool_limits

from spinney.cli import compare, contestants
from spinney.cli.contestants import available, make
from spinney.cli.leaderboard import Cell, Leaderboard
from spinney.cli.models import MODELS
from spinney.cli.peers import PEERS, PeerEncoding
from tests.cli.conftest import Run, write_csv

QUICK = ("--models", "baseline,tree,greedy", "--folds", 2, "--n-jobs", 1)


def mixed(n_rows: int, seed: int = 0) -> tuple[Any, np.ndarray[Any, Any]]:
    """A table of numbers, text and holes, and whether its first two columns agree."""
    random = np.random.RandomState(seed)
    numbers = random.rand(n_rows)
    texts = random.choice(["a", "b", "c"], n_rows)
    holes = [None if random.rand() < 0.2 else float(value) for value in random.rand(n_rows)]
    table = pyarrow.table({"number": numbers, "text": texts.tolist(), "holes": holes})
    return table, (numbers > 0.5) ^ (texts == "a")


def test_the_leaderboard_is_sorted_and_complete(run: Run, table: Path) -> None:
    ran = run("compare", table, "-t", "income", "--drop", "id", *QUICK, "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    rows = found["leaderboard"]
    assert {row["name"] for row in rows} == {"baseline", "tree", "greedy"}
    errors = [row["error"] for row in rows]
    assert errors == sorted(errors)
    assert rows[-1]["name"] == "baseline"
    assert all(row["folds"] == 2 for row in rows)
    assert all(row["bytes"] > 0 and row["fit_seconds"] >= 0 for row in rows)
    assert found["failures"] == {}


def test_the_table_and_the_progress_are_for_people(run: Run, table: Path) -> None:
    ran = run("compare", table, "-t", "income", "--drop", "id", *QUICK)
    header = ran.out.splitlines()[0]
    assert " ".join(header.split()) == "model error % size fit s CPU s predict µs/row"
    assert "[1/6] fold 1  most frequent class … error" in ran.err
    assert "[6/6] fold 2  spinney greedy forest … error" in ran.err


def test_numbers_are_compared_by_rmse(run: Run, table: Path) -> None:
    ran = run("compare", table, "-t", "wage", "--drop", "id", *QUICK, "--json")
    found = json.loads(ran.out)
    assert found["measure"] == "rmse"
    assert found["leaderboard"][-1]["name"] == "baseline"


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", [*PEERS, "gradient"])
def test_every_contestant_learns_a_mixed_table(name: str, task: str) -> None:
    if name in PEERS and not PEERS[name].is_installed:
        pytest.skip(f"{PEERS[name].package} is not installed")
    X, is_true = mixed(400)
    y = np.where(is_true, "yes", "no") if task == "classification" else 2.0 * is_true
    contestant = make(name, task, seed=0, n_jobs=1, categorical_features="from_dtype")
    fitted, judged = np.arange(300), np.arange(300, 400)
    rows = contestant.prepare(X.take(fitted))
    with threadpool_limits(limits=1):
        contestant.fit(rows, y[fitted])
        predicted = contestant.predict(contestant.prepare(X.take(judged)))
    if task == "classification":
        assert set(predicted) <= {"yes", "no"}
        assert np.mean(predicted != y[judged]) < 0.2
    else:
        assert np.sqrt(np.mean((predicted - y[judged]) ** 2)) < 0.6
    assert contestant.n_bytes() > 100


def test_peers_get_codes_of_training_levels() -> None:
    X = pyarrow.table({"a": [1.5, None, 2.5], "b": ["y", "x", None]})
    encoding = PeerEncoding(X, "from_dtype")
    new = pyarrow.table({"a": [3.5, 4.5], "b": ["x", "new"]})
    np.testing.assert_array_equal(encoding.encode(X).matrix, [[1.5, 1], [np.nan, 0], [2.5, np.nan]])
    np.testing.assert_array_equal(encoding.encode(new).matrix, [[3.5, 0], [4.5, np.nan]])
    assert encoding.encode(new).categories == [1]


def test_no_fit_is_started_after_the_budget(run: Run, table: Path) -> None:
    ran = run("compare", table, "-t", "income", *QUICK, "--budget", 1e-9, "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["leaderboard"] == []
    assert "left out 6 fits: no time" in ran.err


def test_a_model_that_is_too_slow_for_what_is_left_is_left_out(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = compare._cell

    def slow(contestant: Any, *rest: Any) -> Any:
        cell = real(contestant, *rest)
        is_greedy = "Greedy" in repr(getattr(contestant, "_estimator", ""))
        return type(cell)(**{**vars(cell), "fit_seconds": 1e9}) if is_greedy else cell

    monkeypatch.setattr(compare, "_cell", slow)
    found = json.loads(run("compare", table, "-t", "income", *QUICK, "--json").out)
    folds = {row["name"]: row["folds"] for row in found["leaderboard"]}
    assert folds == {"baseline": 2, "tree": 2, "greedy": 1}
    assert found["compared_folds"] == [1]
    text = run("compare", table, "-t", "income", *QUICK).out
    assert "1 of 2" in text
    assert (
        "ranked on 1 fold that all have finished; fewer than the others: spinney greedy forest"
        in text
    )


def test_a_model_that_was_not_measured_yet_may_be_as_slow_as_the_slowest() -> None:
    board = Leaderboard("classification", 2)
    assert board.expected_seconds("tree") == 0
    board.add("tree", 0, Cell(0.1, 3.0, 3.0, 1.0, 1))
    board.add("ho", 0, Cell(0.1, 1.0, 1.0, 1.0, 1))
    assert board.expected_seconds("ho") == 1
    assert board.expected_seconds("fao") == 3


def board_of(n_folds: int, errors: dict[str, list[float | None]]) -> Leaderboard:
    """A leaderboard of these errors by fold; None where a fold was not finished."""
    board = Leaderboard("classification", n_folds)
    for name, of in errors.items():
        for fold, error in enumerate(of):
            if error is not None:
                board.add(name, fold, Cell(error, 1.0, 1.0, 1.0, 1))
    return board


def test_models_are_ranked_on_the_folds_that_all_have_finished() -> None:
    # The first fold is easy: the mean of all its folds would put "ho", which did no other, first.
    board = board_of(3, {"tree": [0.1, 0.4, 0.4], "ho": [0.2, None, None], "fao": [0.3, 0.1, None]})
    assert [row["name"] for row in board.rows()] == ["tree", "ho", "fao"]
    assert [row["error"] for row in board.rows()] == [0.1, 0.2, 0.3]
    assert [row["folds"] for row in board.rows()] == [3, 1, 2]
    assert [row["deviation"] for row in board.rows()] == [None] * 3
    said = board.to_text().splitlines()[-1]
    assert "ranked on 1 fold that all" in said
    assert "fewer than the others: spinney Ho's random decision forest, spinney FAO forests" in said


def test_common_folds_need_not_be_the_first() -> None:
    board = board_of(3, {"tree": [None, 0.4, 0.2], "ho": [0.1, 0.2, 0.2]})
    assert board.common_folds == [1, 2]
    assert [row["error"] for row in board.rows()] == pytest.approx([0.2, 0.3])


def test_nothing_is_said_of_folds_that_all_have() -> None:
    board = board_of(2, {"tree": [0.1, 0.2], "ho": [0.1, 0.3]})
    assert "ranked on" not in board.to_text()
    assert "folds" not in board.to_text()
    assert board.to_json()["compared_folds"] == [1, 2]


def test_a_model_that_failed_on_a_fold_is_not_ranked() -> None:
    board = board_of(2, {"tree": [0.1, 0.2], "ho": [0.05, None]})
    board.failures["ho"] = "out of luck"
    assert [row["name"] for row in board.rows()] == ["tree"]
    assert board.rows()[0]["error"] == pytest.approx(0.15)
    assert board.to_text().endswith("spinney Ho's random decision forest failed: out of luck")


def test_a_board_of_failures_names_them() -> None:
    board = Leaderboard("classification", 2, failures={"tree": "out of luck"})
    text = board.to_text()
    assert text == "nothing was measured\nspinney TAO tree failed: out of luck"
    assert board.to_json()["compared_folds"] == []


def test_an_interrupt_prints_what_was_measured(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, n_calls = compare._cell, []

    def interrupted(*arguments: Any) -> Any:
        n_calls.append(1)
        if len(n_calls) == 5:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(compare, "_cell", interrupted)
    ran = run("compare", table, "-t", "income", *QUICK)
    assert ran.code == 130
    assert "interrupted; this is what was measured" in ran.err
    assert ran.out.count("1 of 2") == 2
    assert ran.out.count("2 of 2") == 1


def test_models_that_failed_alike_are_told_of_once() -> None:
    board = Leaderboard("classification", 2, failures=dict.fromkeys(("tree", "ho"), "no luck"))
    assert board.to_text().count("no luck") == 1


def test_a_baseline_alone_is_no_comparison(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr(contestants.Ours, "fit", fail)
    words = ("compare", table, "-t", "income", "--folds", "2")
    assert run(*words, "--models", "baseline,tree").code == 1
    assert run(*words, "--models", "baseline").code == 0


def test_text_is_looked_at_in_the_whole_table_not_in_each_fold(run: Run, tmp_path: Path) -> None:
    # More than half are ages, but not of the rows of every fold.
    cells = [f"{20 + i % 7}-29" if i % 2 else "30" for i in range(60)]
    rows = [[cell if i else "31", i % 7, i % 2] for i, cell in enumerate(cells)]
    path = write_csv(tmp_path / "t.csv", ["x", "z", "y"], rows)
    ran = run("compare", path, "-t", "y", "--models", "tree", "--folds", "3")
    assert ran.code == 0
    assert "failed" not in ran.err


def test_a_model_that_fails_does_not_stop_the_others(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("out of\nluck")

    monkeypatch.setattr(contestants.Ours, "fit", fail)
    ran = run("compare", table, "-t", "income", *QUICK, "--json")
    found = json.loads(ran.out)
    assert ran.code == 1  # only the baseline is left
    assert [row["name"] for row in found["leaderboard"]] == ["baseline"]
    assert found["failures"]["tree"] == "fold 1: RuntimeError: out of luck"


def test_large_tables_are_sampled_and_that_is_said(run: Run, table: Path) -> None:
    ran = run("compare", table, "-t", "income", *QUICK, "--max-rows", 50)
    assert "a random sample of 50 of 120 rows; --max-rows 0 takes all" in ran.err
    assert "sample" not in run("compare", table, "-t", "income", *QUICK, "--max-rows", 0).err


def test_libraries_that_are_not_installed_are_named(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = type(PEERS["xgboost"])("Peer X", "no_such_package", PEERS["xgboost"].make)
    monkeypatch.setitem(PEERS, "xgboost", absent)
    monkeypatch.setattr(contestants, "ORDER", ("baseline", "xgboost"))
    ran = run("compare", table, "-t", "income", "--folds", 2)
    assert "not installed, so left out: Peer X" in ran.err
    assert "Peer X" not in ran.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--models", "nothing"), "nothing is not known; there are baseline, tree"),
        (("--models", "help"), "--models: there are baseline, tree"),
        (("--task", "regression", "--models", "ho"), "ho does no regression"),
        (("-t", "x"), "compare takes one --target"),
        (("--folds", "1"), "1 is less than 2"),
    ],
)
def test_wrong_usage_ends_with_code_2(
    run: Run, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    path = write_csv(tmp_path / "t.csv", ["x", "y"], [[i % 7, i % 2] for i in range(20)])
    ran = run("compare", path, "-t", "y", *words)
    assert ran.code == 2
    assert says in ran.err


def test_too_few_rows_for_the_folds_are_refused(run: Run, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", ["x", "y"], [[i, i % 2] for i in range(5)])
    ran = run("compare", path, "-t", "y", "--task", "classification")
    assert ran.code == 1
    assert "needs at least 6 rows; there are 5" in ran.err


def test_all_our_models_and_all_peers_take_part() -> None:
    assert {*MODELS, *PEERS, "baseline"} == set(contestants.ORDER)
    assert "ho" not in available("regression")[0]
