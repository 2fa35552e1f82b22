"""Run the independent parts of an ensemble at once, and hand them over in order."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

from spinney.ensembles.stop import StopSignal

Part = TypeVar("Part")


def work_in_order(
    task: Callable[..., Part], arguments: Iterable[tuple[Any, ...]], n_jobs: int | None
) -> Generator[Part, None, None]:
    """``task(stop, *arguments)`` for each tuple of arguments, in order, as they are done.

    Parameters
    ----------
    task : callable
        A function of a module, so that any joblib backend can send it. It has to look at the
        :class:`StopSignal` it is given now and then, which raises if nobody wants the result.
    arguments : iterable of tuple
    n_jobs : int or None
        Tasks at once, in threads unless a joblib context says otherwise.
    """
    stop = StopSignal()
    done = start_work(task, arguments, n_jobs, stop)
    try:
        # Not `yield from`: joblib is to be closed after the workers have stopped.
        for found in done:  # noqa: UP028
            yield found
    except BaseException:  # Ctrl-C, an error, or a caller who wants no more
        stop.stop()
        _close(done)
        raise


def start_work(
    task: Callable[..., Part],
    arguments: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    stop: StopSignal,
) -> Iterator[Part]:
    """Begin as `work_in_order` does; who waits for the parts has to stop the workers on errors."""
    tasks = (delayed(_work)(task, stop, *given) for given in arguments)
    parts: Iterator[Part] = iter(
        Parallel(n_jobs=n_jobs, prefer="threads", return_as=_return_as())(tasks)
    )
    return parts


def is_in_threads(n_jobs: int | None) -> bool:
    """Whether tasks would run in other threads of this process."""
    if effective_n_jobs(n_jobs) == 1:
        return False
    backend, _ = get_active_backend(prefer="threads")
    return bool(getattr(backend, "supports_sharedmem", False))


def _work(task: Callable[..., Part], stop: StopSignal, *arguments: Any) -> Part:
    """One task, done by a worker that can be stopped."""
    with stop.working():
        stop.look()
        return task(stop, *arguments)


def _close(done: Any) -> None:
    """End joblib's generator without its word on parts that nobody wants any more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if isinstance(done, Generator):
            done.close()


def _return_as() -> str:
    """Parts as they are done, where the active joblib backend can hand them over so."""
    backend, _ = get_active_backend(prefer="threads")
    return "generator" if getattr(backend, "supports_return_generator", False) else "list"
