"""A fit that fails on its way, in whichever thread, leaves the model as it was."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd
import pytest
from numpy.typing import NDArray

from spinney import Tree
from tests.bits import same
from tests.contracts.cases import Case, named, said
from tests.contracts.registry import REFINED
from tests.contracts.ways import EACH

GROWING_TREES = {name: case for name, case in EACH.items() if name not in REFINED}
HAS_SEVERAL = {name: case for name, case in GROWING_TREES.items() if "Tree" not in name}


@contextmanager
def trees_fail(error: type[BaseException] = MemoryError, number: float = math.inf) -> Iterator[Any]:
    """Making the tree of this number fails, and so do all after it; the trees that were made."""
    make, lock, made = Tree.__init__, threading.Lock(), []

    def make_or_fail(*arguments: Any, **values: Any) -> None:
        with lock:
            made.append(1)
            fails = len(made) >= number
        if fails:
            raise error
        make(*arguments, **values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tree, "__init__", make_or_fail)
        yield made


def frame_of(X: NDArray[Any]) -> pd.DataFrame:
    return pd.DataFrame(X, columns=list("abcdefghi")[: X.shape[1]])


def with_more_trees(case: Case) -> dict[str, int]:
    names = case.estimator.get_params(deep=False)
    return {word: 6 for word in ("n_forests", "n_estimators") if word in names}


# Only the main thread, which alone works with one job, is ever interrupted from the keyboard.
@named(GROWING_TREES)
@pytest.mark.parametrize(
    ("error", "n_jobs"),
    [(KeyboardInterrupt, 1), (MemoryError, 1), (ValueError, 1), (MemoryError, 2)],
)
@pytest.mark.parametrize("warm_start", [False, True])
def test_a_fit_that_fails_on_its_way_leaves_the_model_as_it_was(
    case: Case, error: type[BaseException], n_jobs: int, warm_start: bool
) -> None:
    X, y = case.data
    has_warm_start = "warm_start" in case.estimator.get_params(deep=False)
    values = {"warm_start": warm_start} if has_warm_start else {}
    model = case.new(n_jobs=n_jobs, **values).fit(frame_of(X), y)
    model.set_params(**with_more_trees(case))
    before, answers = dict(vars(model)), said(model, frame_of(X))
    with trees_fail() as made:
        case.new(**values, **with_more_trees(case)).fit(X, y)
    assert made
    for number in {1, max(1, len(made) // 3)}:  # a warm start makes half of them
        with trees_fail(error, number), pytest.raises(error):
            model.fit(frame_of(X[:, ::-1]), y[::-1])
        assert vars(model) == before
    assert same(said(model, frame_of(X)), answers)


@named(GROWING_TREES)
def test_a_first_fit_that_fails_leaves_the_estimator_unfitted(case: Case) -> None:
    model = case.new()
    before = dict(vars(model))
    with trees_fail(KeyboardInterrupt, 1), pytest.raises(KeyboardInterrupt):
        model.fit(*case.data)
    assert vars(model) == before


def other_threads_end(n_threads: int, within: float) -> bool:
    """Wait until there are no more threads than before."""
    end = time.perf_counter() + within
    while threading.active_count() > n_threads and time.perf_counter() < end:
        time.sleep(0.02)
    return threading.active_count() <= n_threads


@named(HAS_SEVERAL)
def test_failure_between_two_trees_leaves_no_worker_behind(case: Case) -> None:
    def fail(_: Any) -> None:
        raise OSError("closed pipe")

    n_threads = threading.active_count()
    with pytest.raises(OSError, match="closed pipe"):
        case.fit(fail, n_jobs=2, **with_more_trees(case))
    assert other_threads_end(n_threads + 3, within=1.5)  # idle threads of the pool, none with work
    before = time.process_time()
    time.sleep(0.1)
    assert time.process_time() - before < 0.08
