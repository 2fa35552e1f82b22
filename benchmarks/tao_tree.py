"""Benchmark of one TAO tree beside LIBLINEAR TAO, CART and a random forest of 100 trees.

    python benchmarks/tao_tree.py                      all figures, five seeds
    python benchmarks/tao_tree.py --only letter_speed  one of them (may be repeated)
    python benchmarks/tao_tree.py --list               their names

Every finished fit is kept in ``benchmarks/results/cells/tao_tree.jsonl`` and not repeated;
``--force`` measures anew. The page is ``benchmarks/results/tao_tree.md``, with the same content as
JSON beside it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench import Bench
from cells import CellStore
from environment import describe, one_blas_thread
from figures import BY_NAME_ONLY, FIGURES
from report import save

RESULTS = Path(__file__).resolve().parent / "results"


def parse_arguments() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=FIGURES, metavar="NAME")
    parser.add_argument("--list", action="store_true", help="show the names of the figures")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds (default 5)")
    parser.add_argument("--force", action="store_true", help="measure finished cells anew")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error(f"--seeds {options.seeds}: give at least 1")
    return options


def main() -> None:
    """Run the chosen figures, one after the other, and print each as it is done."""
    options = parse_arguments()
    if options.list:
        for name, function in FIGURES.items():
            print(f"{name:16} {(function.__doc__ or '').splitlines()[0]}")
        return
    names = options.only or [name for name in FIGURES if name not in BY_NAME_ONLY]
    store = CellStore(options.results / "cells" / "tao_tree.jsonl", force=options.force)
    bench = Bench(store, tuple(range(options.seeds)))
    environment = describe()
    with one_blas_thread():
        for name in names:
            print(f"== {name}", file=sys.stderr, flush=True)
            figure = FIGURES[name](bench)
            figure.notes += store.take_cautions()
            save(options.results, name, figure, environment)
            met = {True: "met", False: "NOT MET", None: "shown"}[figure.passed]
            print(f"{name}: {figure.value}  [{figure.target}: {met}]", flush=True)
    print(f"written: {options.results / 'tao_tree.md'}", file=sys.stderr)


if __name__ == "__main__":
    main()
