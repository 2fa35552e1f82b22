"""``spinney compare``: our forests and those of others on a user's table."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter, process_time
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from spinney.cli.arguments import add_command, add_json, add_table, add_target, at_least
from spinney.cli.console import Console, one_line
from spinney.cli.contestants import BASELINE, Contestant, available, make, title_of
from spinney.cli.errors import FAILED, INTERRUPTED, OK, CommandError, UsageError
from spinney.cli.leaderboard import Cell, Leaderboard
from spinney.cli.scores import rmse
from spinney.cli.target import CLASSIFICATION, TASKS
from spinney.cli.training import add_columns, add_fitting, categorical_features, read_training
from spinney.data.wording import counted, listed

MOST_ROWS = 10_000
BUDGET = 240
FOLDS = 3

DESCRIPTION = f"""\
Compare all forests of spinney with those of scikit-learn, XGBoost, LightGBM, CatBoost and YDF, as
far as they are installed, on your table by cross-validation. Each has the defaults of its library:
this tells where to start, not what careful tuning gives.

The leaderboard has the error, the size of the stored model, seconds of a fit by the clock and of
the processor, and microseconds to predict a row, as means over the folds that all models in it
have finished, with one core unless --n-jobs says otherwise. The first fold is done for all models,
then the second, so that what is there can be compared at any time: Ctrl-C prints it, too. No fit
is started that would probably end after --budget seconds, going by the folds before, or by the
slowest model of the first fold; the one that runs is finished. Larger tables are cut to a random
sample of {MOST_ROWS:,} rows; --max-rows 0 takes all.
"""
EXAMPLES = """
  spinney compare people.csv --target income
  spinney compare people.csv --target income --models gradient,fao,lightgbm --folds 5
  spinney compare big.parquet -t price --max-rows 0 --budget 3600 --json > leaderboard.json
"""


def add_parser(commands: Any) -> None:
    """Add this subcommand to the parser."""
    parser = add_command(
        commands,
        "compare",
        run,
        "a leaderboard of forests on your table",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    add_table(parser)
    add_target(parser, is_required=True)
    parser.add_argument("--task", choices=TASKS, help="classes or numbers (default: guessed)")
    add_columns(parser)
    parser.add_argument(
        "--models", metavar="NAMES", help="only these, with commas; --models help lists them"
    )
    parser.add_argument(
        "--folds", metavar="N", type=at_least(2), default=FOLDS, help=f"(default {FOLDS})"
    )
    parser.add_argument(
        "--budget",
        metavar="SECONDS",
        type=float,
        default=BUDGET,
        help=f"start no fit after this time (default {BUDGET}; 0: no limit)",
    )
    parser.add_argument(
        "--max-rows",
        metavar="N",
        type=at_least(0),
        default=MOST_ROWS,
        help=f"rows to draw from a larger table (default {MOST_ROWS}; 0: all)",
    )
    add_fitting(parser, n_jobs=1, why="times can be compared; -1: all")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Read, measure, tell, whatever interrupts."""
    if len(options.target) > 1:
        raise UsageError("compare takes one --target")
    names = None if options.models is None else _wanted(options.models)
    data, y, task = read_training(options, console)
    entered = _entered(names, task, console)
    categories = categorical_features(options, data)
    table, y = _sample(data.table, y, options, console)
    folds = list(_folds(y, task, options))
    board = Leaderboard(task, options.folds)
    code = OK
    start, cpu_start = perf_counter(), process_time()
    try:
        _measure(board, entered, (table, y), folds, categories, options, console)
    except KeyboardInterrupt:
        console.say("\ninterrupted; this is what was measured:")
        code = INTERRUPTED
    console.say(
        f"{perf_counter() - start:.0f} s, {process_time() - cpu_start:.0f} s of processor time"
    )
    console.answer(board.to_json(), board.to_text())
    return code if _is_measured(board) or code else FAILED


def _is_measured(board: Leaderboard) -> bool:
    """Whether some model was measured; that the baseline was is no comparison if others failed."""
    models = set(board.ranked) - ({BASELINE} if board.failures else set())
    return bool(models)


def _wanted(text: str) -> list[str]:
    """Names from the option."""
    known, absent = available(CLASSIFICATION)
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        missing = f"; not installed: {listed(absent)}" if absent else ""
        which = "" if names == ["help"] else f"{listed(unknown)} is not known; "
        raise UsageError(f"--models: {which}there are {listed(known, 99)}{missing}")
    return names


def _entered(names: list[str] | None, task: str, console: Console) -> list[str]:
    """Who takes part."""
    able, absent = available(task)
    if names is None:
        if absent:
            console.say(f"not installed, so left out: {listed(absent)}")
        return able
    unable = [name for name in names if name not in able]
    if unable:
        raise UsageError(f"--models: {listed(unable)} does no {task}")
    return [name for name in able if name in names]


def _sample(
    table: Any, y: NDArray[Any], options: argparse.Namespace, console: Console
) -> tuple[Any, NDArray[Any]]:
    """At most so many rows, drawn at random."""
    most = options.max_rows or len(y)
    if len(y) <= most:
        return table, y
    console.say(f"a random sample of {most:,} of {len(y):,} rows; --max-rows 0 takes all")
    order = np.random.RandomState(options.random_state).permutation(len(y))
    rows = np.sort(order[:most])
    return table.take(rows), y[rows]


def _folds(
    y: NDArray[Any], task: str, options: argparse.Namespace
) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Rows to fit and to judge by, fold by fold."""
    from sklearn.model_selection import KFold, StratifiedKFold

    if len(y) < 2 * options.folds:
        raise CommandError(
            f"--folds {options.folds} needs at least {2 * options.folds} rows; there are {len(y)}"
        )
    kind = StratifiedKFold if task == CLASSIFICATION else KFold
    splitter = kind(options.folds, shuffle=True, random_state=options.random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # rare classes are not in every fold
        try:
            yield from splitter.split(np.zeros(len(y)), y)
        except ValueError as error:
            raise CommandError(f"--folds {options.folds}: {error}") from error


def _measure(
    board: Leaderboard,
    names: list[str],
    rows: tuple[Any, NDArray[Any]],
    folds: list[tuple[NDArray[Any], NDArray[Any]]],
    categories: Any,
    options: argparse.Namespace,
    console: Console,
) -> None:
    """Fill the leaderboard, fold by fold, as long as there is time."""
    from threadpoolctl import threadpool_limits

    n_jobs = int(effective_n_jobs(options.n_jobs))
    end = perf_counter() + options.budget if options.budget > 0 else np.inf
    console.say(
        f"{counted(len(names), 'model')}, {options.folds} folds, {counted(len(rows[1]), 'row')}, "
        f"{counted(n_jobs, 'core')}" + (f", {options.budget:g} s" if options.budget > 0 else "")
    )
    maker = partial(
        make,
        task=board.task,
        seed=options.random_state,
        n_jobs=n_jobs,
        categorical_features=categories,
    )
    runs = [(fold, name) for fold in range(len(folds)) for name in names]
    n_left_out = 0
    for number, (fold, name) in enumerate(runs, start=1):
        if name in board.failures:
            continue
        if perf_counter() + board.expected_seconds(name) > end:
            n_left_out += 1
            continue
        place = f"[{number:{len(str(len(runs)))}}/{len(runs)}]"
        console.say(f"{place} fold {fold + 1}  {title_of(name, board.task)} … ", end="")
        with threadpool_limits(limits=n_jobs), console.only_talk():
            _one_fit(board, name, maker, rows, (fold, *folds[fold]), console)
    if n_left_out:
        console.say(f"left out {counted(n_left_out, 'fit')}: no time; give a larger --budget")


def _one_fit(
    board: Leaderboard,
    name: str,
    maker: Callable[[str], Contestant],
    rows: tuple[Any, NDArray[Any]],
    fold: tuple[int, NDArray[Any], NDArray[Any]],
    console: Console,
) -> None:
    """Measure one model on one fold; an error of a model ends that model only."""
    (X, y), (number, fitted, judged) = rows, fold
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            contestant = maker(name)
            cell = _cell(contestant, X.take(fitted), y[fitted], X.take(judged), y[judged], board)
    except Exception as error:  # any library may raise anything, and the others go on
        failure = one_line(f"{type(error).__name__}: {error}")
        board.failures[name] = f"fold {number + 1}: {failure}"
        console.say(f"failed: {failure}")
        return
    board.add(name, number, cell)
    console.say(f"{board.measure} {board.error_text(cell.error)}, fit {cell.fit_seconds:.2f} s")


def _cell(
    contestant: Contestant,
    X_fitted: Any,
    y_fitted: NDArray[Any],
    X_judged: Any,
    y_judged: NDArray[Any],
    board: Leaderboard,
) -> Cell:
    prepared = contestant.prepare(X_fitted), contestant.prepare(X_judged)
    start, cpu_start = perf_counter(), process_time()
    contestant.fit(prepared[0], y_fitted)
    fit_seconds, cpu_seconds = perf_counter() - start, process_time() - cpu_start
    start = perf_counter()
    predicted = contestant.predict(prepared[1])
    predict_seconds = perf_counter() - start
    is_class = board.task == CLASSIFICATION
    error = float(np.mean(predicted != y_judged)) if is_class else rmse(y_judged, predicted)
    row_seconds = predict_seconds / len(y_judged)
    return Cell(error, fit_seconds, cpu_seconds, 1e6 * row_seconds, contestant.n_bytes())
