"""Run a table of the benchmark, or part of it, and write its page.

    python benchmarks/run.py letter                              the whole table
    python benchmarks/run.py letter --rows "S-TAO T=100" "RF*"   some rows (* stands for anything)
    python benchmarks/run.py letter --seeds 0                    some seeds
    python benchmarks/run.py letter --report-only                only the page, from what is there
    python benchmarks/run.py letter --list                       the rows and their cells
    python benchmarks/run.py --list                              the tables

A run that was stopped goes on where it stopped: finished cells are kept in
``benchmarks/results/cells/TABLE.jsonl`` and measured anew only with ``--force``. The page is
``benchmarks/results/TABLE.md``, with the same content as JSON and the plots beside it. The page
always shows the whole table, also after a run of some rows.
"""

from __future__ import annotations

import argparse
import dataclasses
import signal
import sys
from pathlib import Path

import plots
import table_page
from cells import CellStore
from environment import describe, versions
from runner import run_table
from table import Row, Table, names, read
from verdicts import matches

RESULTS = Path(__file__).resolve().parent / "results"


def parse_arguments() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", nargs="?", help=f"one of {', '.join(names())}, or a .toml file")
    parser.add_argument("--rows", nargs="+", metavar="LABEL", help="rows to measure")
    parser.add_argument("--data", nargs="+", metavar="NAME", help="data sets to measure (*, too)")
    parser.add_argument("--seeds", nargs="+", type=int, metavar="SEED", help="seeds to measure")
    parser.add_argument("--force", action="store_true", help="measure finished cells anew")
    parser.add_argument("--report-only", action="store_true", help="measure nothing")
    parser.add_argument("--list", action="store_true", help="show the tables, or a table's rows")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    options = parser.parse_args()
    if options.table is None and not options.list:
        parser.error(f"name a table: {', '.join(names())}")
    return options


def main() -> None:
    """Measure what is missing, then write the page."""
    options = parse_arguments()
    if options.table is None:
        for name in names():
            print(f"{name:16} {read(name).title}")
        return
    table = read(options.table)
    rows = choose_rows(table, options)
    if options.list:
        list_rows(rows)
        return
    store = CellStore(options.results / "cells" / f"{table.name}.jsonl", force=options.force)
    # Being ended is as good as Ctrl-C: the cell's process goes with this one, the page is written.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if not options.report_only:
        try:
            run_table(table, rows, store, measure=True)
        except KeyboardInterrupt:
            print("stopped; the same command goes on from here", file=sys.stderr)
    write_page(table, options.results)


def choose_rows(table: Table, options: argparse.Namespace) -> list[Row]:
    """Rows that the options name, with the seeds that they name."""
    rows = [
        row
        for row in table.rows
        if (not options.rows or any(matches(row.label, pattern) for pattern in options.rows))
        and (not options.data or any(matches(row.data, pattern) for pattern in options.data))
    ]
    if not rows:
        raise SystemExit(
            f"no row of {table.name} fits --rows {options.rows} --data {options.data}; the rows "
            f"are {sorted({row.label for row in table.rows})} on {list(table.data)}"
        )
    if options.seeds is None:
        return rows
    return [dataclasses.replace(row, seeds=tuple(options.seeds)) for row in rows]


def list_rows(rows: list[Row]) -> None:
    """Print each row with its data, number of configurations and seeds."""
    for row in rows:
        kind = "quoted" if row.is_quoted else f"{len(row.grid)} configurations, seeds {row.seeds}"
        print(f"{row.data:24} {row.label:40} {kind}")


def write_page(table: Table, results: Path) -> None:
    """Page, JSON and plots of all cells that are on disk."""
    store = CellStore(results / "cells" / f"{table.name}.jsonl")
    outcomes = run_table(table, table.rows, store, measure=False)
    results.mkdir(parents=True, exist_ok=True)
    drawn = plots.draw_all(results, table, outcomes)
    table_page.save(
        results,
        table,
        outcomes,
        plots=drawn,
        cautions=store.take_cautions(),
        environment=describe() | versions(),
    )
    print(f"written: {results / f'{table.name}.md'}", file=sys.stderr)


if __name__ == "__main__":
    main()
