"""Seconds of a fit, and rows predicted a second."""

from __future__ import annotations

from bench import Bench, mean, ratios
from models import Settings, cart, forest, liblinear

from figures.figure import Figure, run_note
from figures.settings import letter_tree, mnist_tree


def letter_speed(bench: Bench) -> Figure:
    """Seconds against the LIBLINEAR version: same start, sweeps and alpha, one thread."""
    ours, note = letter_tree(bench)
    return _against_liblinear(bench, "letter", ours, note, wanted=60)


def mnist_liblinear(bench: Bench) -> Figure:
    """MNIST beside the LIBLINEAR version (slow: run it by name, with --seeds 1)."""
    ours, note = mnist_tree(bench)
    return _against_liblinear(bench, "mnist", ours, note, wanted=None)


def _against_liblinear(
    bench: Bench, data: str, tree: Settings, note: str, wanted: float | None
) -> Figure:
    """Both optimisers from the same hyperplanes; `wanted` is the least speed-up, if any."""
    same = {key: tree["params"][key] for key in ("max_depth", "alpha", "max_iter")}
    models = {"spinney": tree | {"start": "shared"}, "LIBLINEAR TAO": liblinear(**same)}
    results = bench.compare(data, models)
    ours, theirs = results["spinney"], results["LIBLINEAR TAO"]
    faster = ratios(theirs, ours, "wall_seconds")
    is_lower = mean(ours, "objective") <= mean(theirs, "objective")
    return Figure(
        what=f"{data}, depth {same['max_depth']}: seconds against the LIBLINEAR version",
        target=f">= {wanted}x faster at equal or lower objective" if wanted else "shown",
        value=f"{faster.mean():.1f}x faster (least {faster.min():.1f}x); objective "
        f"{mean(ours, 'objective'):.1f} against {mean(theirs, 'objective'):.1f}",
        passed=bool(faster.mean() >= wanted and is_lower) if wanted else None,
        models=results,
        notes=[
            note,
            f"sweeps made: {mean(ours, 'n_sweeps'):.0f} and {mean(theirs, 'n_sweeps'):.0f}",
            *run_note(ours, theirs),
        ],
    )


def mnist_speed(bench: Bench) -> Figure:
    """Seconds of a depth 8, 20 sweep MNIST fit against RF-100."""
    ours, note = mnist_tree(bench)
    results = bench.compare("mnist", {"spinney": ours, "RF-100": forest()})
    share = ratios(results["spinney"], results["RF-100"], "wall_seconds")
    return Figure(
        what="mnist, depth 8, 20 sweeps: time over RF-100's, one thread",
        target="<= 0.4x",
        value=f"{share.mean():.2f}x (highest {share.max():.2f}x)",
        passed=bool(share.mean() <= 0.4),
        models=results,
        notes=[note, *run_note(*results.values())],
    )


def mnist_threads(bench: Bench) -> Figure:
    """Two threads against one on the MNIST fit, in turns."""
    one, note = mnist_tree(bench)
    # `turn` keeps these cells apart from those of other figures: both are timed side by side.
    one = one | {"turn": "threads"}
    two = one | {"params": {**one["params"], "n_jobs": 2}}
    results = bench.compare("mnist", {"1 thread": one, "2 threads": two})
    faster = ratios(results["1 thread"], results["2 threads"], "wall_seconds")
    return Figure(
        what="mnist, depth 8: two threads against one",
        target=">= 1.7x faster",
        value=f"{faster.mean():.2f}x (least {faster.min():.2f}x)",
        passed=bool(faster.mean() >= 1.7),
        models=results,
        notes=[note, *run_note(*results.values())],
    )


def letter_predict(bench: Bench) -> Figure:
    """Rows predicted a second on Letter, against CART's."""
    ours, note = letter_tree(bench)
    results = bench.compare("letter", {"spinney": ours, "CART": cart()})
    faster = ratios(results["spinney"], results["CART"], "rows_per_second")
    return Figure(
        what="letter: batch prediction, rows a second over CART's",
        target=">= 1x",
        value=f"{faster.mean():.2f}x ({mean(results['spinney'], 'rows_per_second'):.3g} rows/s)",
        passed=bool(faster.mean() >= 1),
        models=results,
        notes=[note, *run_note(*results.values())],
    )
