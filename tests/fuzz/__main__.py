"""Run many mutants of model files, each where a crash or a hang does no harm and is counted.

    python -m tests.fuzz --mutants 100000

A child process with a limit on its memory judges one mutant after the other and says what came of
each. If it dies or says nothing for a while, that mutant is counted and kept, and a new child goes
on with the next. Counts are written down as they come; the same command goes on where it was
stopped.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

import spinney
from tests.compat.models import MAKERS, small_model
from tests.fuzz.judge import LOADED, REFUSED, UNASKED, judge
from tests.fuzz.mutants import kind_of, mutant

UNCHANGED = "unchanged"
GOOD = (REFUSED, LOADED, UNASKED, UNCHANGED)
STEP = 500


def main() -> int:
    options = _options()
    state = json.loads(options.state.read_text()) if options.state.exists() else {}
    if state.get("seed") != options.seed:
        state = {"seed": options.seed, "next": 0, "counts": {}, "seconds": 0.0}
    counts = Counter(state["counts"])
    print(f"mutants {state['next']} to {options.mutants}, seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        bases = _bases(Path(folder))
        while state["next"] < options.mutants:
            last = min(state["next"] + STEP, options.mutants)
            start = time.perf_counter()
            _run(bases, state["next"], last, options, counts, Path(folder))
            state["seconds"] = round(state["seconds"] + time.perf_counter() - start, 1)
            state["next"], state["counts"] = last, dict(sorted(counts.items()))
            options.state.parent.mkdir(parents=True, exist_ok=True)
            options.state.write_text(json.dumps(state, indent=1) + "\n")
            if last % (10 * STEP) == 0 or last == options.mutants:
                print(last, state["counts"], f"{state['seconds']} s", flush=True)
    bad = {key: value for key, value in counts.items() if key.split(": ")[-1] not in GOOD}
    print("failures:", bad or "none")
    return 1 if bad else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--mutants", type=int, default=100_000, help="how many, in all")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds for one mutant")
    parser.add_argument("--memory", type=int, default=4096, help="MB of a child; 0 is no limit")
    parser.add_argument("--state", type=Path, default=Path("build/fuzz/state.json"))
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz/failures"))
    return parser.parse_args()


def _bases(folder: Path) -> list[bytes]:
    """A whole file of every family."""
    found = []
    for name in sorted(MAKERS):
        spinney.save(small_model(name), folder / "whole")
        found.append((folder / "whole").read_bytes())
    return found


def _run(
    bases: list[bytes],
    first: int,
    last: int,
    options: argparse.Namespace,
    counts: Counter[str],
    folder: Path,
) -> None:
    """Judge mutants `first` to `last`, with as many children as it takes."""
    context = multiprocessing.get_context("fork")
    while first < last:
        receiver, sender = context.Pipe(duplex=False)
        path = folder / "mutant.spinney"
        arguments = (bases, first, last, options.seed, options.memory, path, sender)
        child = context.Process(target=_judge_all, args=arguments, daemon=True)
        child.start()
        sender.close()
        is_going = True
        while first < last and is_going:
            said = _next_word(receiver, options.timeout)
            if not said:
                is_going = False
                said = "hang" if said is None else _crash_of(child)
            kind = kind_of(first, options.seed)
            counts[f"{kind}: {said}"] += 1
            if said not in GOOD:
                options.keep.mkdir(parents=True, exist_ok=True)
                broken = mutant(bases[first % len(bases)], first, options.seed)
                (options.keep / f"{options.seed}-{first}.spinney").write_bytes(broken)
                print(f"mutant {first} ({kind}): {said}", file=sys.stderr, flush=True)
            first += 1
        child.kill()  # it has said all, or will never say anything
        child.join()


def _next_word(receiver: Connection, timeout: float) -> str | None:
    """What a child says of its next mutant; "" if it has died, None if it is silent."""
    try:
        return receiver.recv() if receiver.poll(timeout) else None
    except EOFError:
        return ""


def _crash_of(child: multiprocessing.process.BaseProcess) -> str:
    child.join()
    return f"crash {child.exitcode}"


def _judge_all(
    bases: list[bytes],
    first: int,
    last: int,
    seed: int,
    memory: int,
    path: Path,
    sender: Connection,
) -> None:
    """The child: judge each mutant, and say what came of it."""
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory << 20, memory << 20))
    os.environ["PYTHONFAULTHANDLER"] = "1"
    for number in range(first, last):
        path.unlink(missing_ok=True)  # a mapped file must not be changed in place
        whole = bases[number % len(bases)]
        broken = mutant(whole, number, seed)
        path.write_bytes(broken)
        try:
            said = UNCHANGED if broken == whole else judge(path, memory_map=number % 2 == 1)
        except Exception as error:  # every error but the documented one is a finding
            said = f"{type(error).__name__} {str(error)[:100]}"
        sender.send(said)


if __name__ == "__main__":
    sys.exit(main())
