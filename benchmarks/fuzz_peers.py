"""What happens if a model file is damaged: the same random bytes for us and for others.

Each library saves a small model of the same rows. Mutants of the file, made by one script and from
the same seeds, are loaded and asked for predictions, each in a process of its own with limits on
time and memory. The process may end well (the model was loaded and answered, or was refused with an
error that Python can catch), crash, or hang.

    python benchmarks/fuzz_peers.py --mutants 100

Bytes are all that is changed. Our own checksum refuses nearly all such mutants at once, so a second
line for our file has the checksum set right again after the damage.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

RESULTS = Path(__file__).parent / "results"
SECONDS = 20
CPU_SECONDS = 8  # a loop without end is seen sooner by the processor's clock than by ours
MEGABYTES = 8192
OUTCOMES = ("crash", "hang", "refused", "loaded")
EXIT = {10: "loaded", 11: "refused"}

Peer = tuple[str, str, Callable[[Path], None], Callable[[Path], object]]


def rows() -> tuple[np.ndarray, np.ndarray]:
    return load_iris(return_X_y=True)


# How each library saves a small model and loads it again.


def save_spinney(path: Path) -> None:
    import spinney

    X, y = rows()
    spinney.save(spinney.TAOForestClassifier(5, max_depth=3, random_state=0).fit(X, y), path)


def ask_spinney(path: Path) -> object:
    import spinney

    return spinney.load(path).predict_proba(rows()[0])


def _xgboost():
    import xgboost

    X, y = rows()
    return xgboost.XGBClassifier(n_estimators=5, max_depth=3, n_jobs=1).fit(X, y)


def save_xgboost(path: Path) -> None:
    _xgboost().save_model(path)


def ask_xgboost(path: Path) -> object:
    import xgboost

    model = xgboost.XGBClassifier(n_jobs=1)
    model.load_model(path)
    return model.predict_proba(rows()[0])


def save_lightgbm(path: Path) -> None:
    import lightgbm

    X, y = rows()
    model = lightgbm.LGBMClassifier(n_estimators=5, max_depth=3, n_jobs=1, verbose=-1).fit(X, y)
    model.booster_.save_model(path)


def ask_lightgbm(path: Path) -> object:
    import lightgbm

    return lightgbm.Booster(model_file=path).predict(rows()[0], num_threads=1)


def save_treelite(path: Path) -> None:
    import treelite

    treelite.frontend.from_xgboost(_xgboost().get_booster()).serialize(path)


def ask_treelite(path: Path) -> object:
    import treelite

    X = rows()[0].astype(np.float32)
    return treelite.gtil.predict(treelite.Model.deserialize(path), X, nthread=1)


def save_ydf(path: Path) -> None:
    import pandas as pd
    import ydf

    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=y)
    learner = ydf.GradientBoostedTreesLearner(label="label", num_trees=5, max_depth=3)
    learner.train(frame, verbose=0).save(str(path))


def ask_ydf(path: Path) -> object:
    import pandas as pd
    import ydf

    return ydf.load_model(str(path)).predict(pd.DataFrame(rows()[0], columns=list("abcd")))


PEERS: list[Peer] = [
    ("xgboost json", "model.json", save_xgboost, ask_xgboost),
    ("xgboost ubj", "model.ubj", save_xgboost, ask_xgboost),
    ("lightgbm text", "model.txt", save_lightgbm, ask_lightgbm),
    ("treelite", "model.treelite", save_treelite, ask_treelite),
    ("ydf", "model", save_ydf, ask_ydf),
    ("spinney", "model.spinney", save_spinney, ask_spinney),
    ("spinney, checksum set right", "model.spinney", save_spinney, ask_spinney),
]


# One mutation script for all.


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """A few single bytes in half of the mutants, up to eight wilder changes in the others."""
    change = _single_bytes if rng.random() < 0.5 else _wild_changes
    return change(content, rng)


def _single_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """One to three other bytes; a digit becomes another digit, so that texts stay texts."""
    changed = bytearray(content)
    digits = [place for place, byte in enumerate(content) if 48 <= byte <= 57]
    for _ in range(rng.integers(1, 4)):
        if digits and rng.random() < 0.7:
            place = digits[rng.integers(len(digits))]
            changed[place] = 48 + (content[place] - 48 + int(rng.integers(1, 10))) % 10
        else:
            place = int(rng.integers(len(changed)))
            changed[place] = content[place] ^ int(rng.integers(1, 256))
    return bytes(changed)


def _wild_changes(content: bytes, rng: np.random.Generator) -> bytes:
    """One to eight flips, stretches, gaps and insertions, and now and then a cut."""
    changed = bytearray(content)
    for _ in range(rng.integers(1, 9)):
        place = int(rng.integers(len(changed)))
        kind = rng.integers(4)
        if kind == 0:
            changed[place] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            changed[place : place + 4] = rng.bytes(4)
        elif kind == 2:
            del changed[place : place + int(rng.integers(1, 9))]
        else:
            changed[place:place] = rng.bytes(int(rng.integers(1, 9)))
        if not changed:
            break
    if rng.random() < 0.1 and changed:
        del changed[int(rng.integers(len(changed))) :]
    return bytes(changed)


def damage(path: Path, number: int, is_checked: bool) -> None:
    """Change the file, or one of the files of a folder, in place."""
    rng = np.random.default_rng([7, number])
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    files = [file for file in files if file.stat().st_size]
    chosen = files[rng.integers(len(files))]
    content = chosen.read_bytes()
    broken = mutated(content[:-4] if is_checked else content, rng)
    chosen.write_bytes(broken + zlib.crc32(broken).to_bytes(4, "little") if is_checked else broken)


# One mutant, in a process of its own.


def try_one(ask: Callable[[Path], object], path: Path) -> str:
    child = multiprocessing.get_context("fork").Process(target=_child, args=(ask, path))
    child.start()
    child.join(SECONDS)
    if child.is_alive():
        child.kill()
        child.join()
        return "hang"
    if child.exitcode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "hang"
    return EXIT.get(child.exitcode or 0, "crash")


def _child(ask: Callable[[Path], object], path: Path) -> None:
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20, MEGABYTES << 20))
    try:
        ask(path)
    except Exception:  # any error that a program can catch
        os._exit(11)
    os._exit(10)


def copy_of(whole: Path, folder: Path) -> Path:
    import shutil

    target = folder / whole.name
    if target.is_dir():
        shutil.rmtree(target)
    return Path((shutil.copytree if whole.is_dir() else shutil.copy)(whole, target))


def count(peer: Peer, n_mutants: int) -> dict[str, object]:
    name, file, save, ask = peer
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        whole = Path(first) / file
        # Saved by another process: some libraries start threads, which a fork does not survive.
        saver = multiprocessing.get_context("spawn").Process(target=save, args=(whole,))
        saver.start()
        saver.join()
        import_first(name)
        if try_one(ask, copy_of(whole, Path(second))) != "loaded":
            raise RuntimeError(f"{name} cannot load its own file")
        for number in range(n_mutants):
            path = copy_of(whole, Path(second))
            damage(path, number, is_checked="checksum" in name)
            counts[try_one(ask, path)] += 1
        sizes = [p.stat().st_size for p in [whole, *whole.rglob("*")] if p.is_file()]
    found = {outcome: counts[outcome] for outcome in OUTCOMES}
    return {"library": name, "version": _version(name), "bytes": sum(sizes), **found}


def import_first(name: str) -> None:
    """Import once, in the parent, what every child needs."""
    __import__(name.split()[0].strip(","))
    import pandas  # noqa: F401


def _version(name: str) -> str:
    try:
        return version(name.split()[0].strip(","))
    except PackageNotFoundError:
        import spinney

        return spinney.__version__


def as_markdown(results: list[dict[str, object]], n_mutants: int) -> str:
    lines = [
        "# Damaged model files",
        "",
        f"{n_mutants} mutants of one small file each, made by `benchmarks/fuzz_peers.py` from",
        "the same seeds. Each is loaded and asked for predictions in a process of its own "
        f"({SECONDS} s,",
        f"{MEGABYTES} MB). A crash ends the process of the user; what is refused raises an error",
        "that Python can catch; what is loaded has answered, rightly or not.",
        "",
        "| library | version | bytes | crash | hang | refused | loaded |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in results:
        cells = [row[key] for key in ("library", "version", "bytes", *OUTCOMES)]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    lines += [
        "",
        "The last line has the checksum set right after the damage, so that the",
        "checks behind it are met. What it loads are models with other numbers or names in them,",
        "each of them whole: `python -m tests.fuzz` has a judge for that.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--only", nargs="*", help="libraries, by the first word of their names")
    options = parser.parse_args()
    results = []
    for peer in PEERS:
        if options.only and peer[0].split()[0].strip(",") not in options.only:
            continue
        try:
            results.append(count(peer, options.mutants))
        except ImportError as error:
            print(f"{peer[0]} is left out: {error}", file=sys.stderr)
            continue
        print(results[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    stored = {"mutants": options.mutants, "seconds": SECONDS, "results": results}
    (RESULTS / "fuzz_peers.json").write_text(json.dumps(stored, indent=1) + "\n")
    (RESULTS / "fuzz_peers.md").write_text(as_markdown(results, options.mutants))


if __name__ == "__main__":
    main()
