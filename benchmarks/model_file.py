"""Time to save and load a model file, beside pickle, joblib, skops and bare safetensors.

The forest has the size of the one for MNIST: 30 trees of depth 8 on 784 columns and 10 classes,
about a million parameters. Its numbers are random; how long a file takes does not depend on them.

    python benchmarks/model_file.py
"""

from __future__ import annotations

import json
import pickle
import platform
import statistics
import tempfile
import time
from pathlib import Path

import joblib
import numpy as np

import spinney
from spinney.tree import Forest, Tree, complete_topology
from spinney.tree.sparse_rows import row_offsets
from spinney.tree.structure import constant_leaves

N_TREES, DEPTH, N_FEATURES, N_CLASSES, N_WEIGHTS = 30, 8, 784, 10, 130
REPEATS = 30


def random_tree(rng: np.random.Generator) -> Tree:
    left, right = complete_topology(DEPTH)
    is_split = left >= 0
    lengths = np.where(is_split, N_WEIGHTS, 0)
    indices = [np.sort(rng.choice(N_FEATURES, N_WEIGHTS, False)) for _ in range(is_split.sum())]
    values = rng.dirichlet(np.ones(N_CLASSES), int((~is_split).sum()))
    return Tree(
        n_features=N_FEATURES,
        left=left,
        right=right,
        bias=np.where(is_split, rng.normal(size=len(left)), 0.0),
        split_indptr=row_offsets(lengths),
        split_indices=np.concatenate(indices).astype(np.int32),
        split_weights=rng.normal(size=int(lengths.sum())).astype(np.float32),
        **constant_leaves(values),
    )


def mnist_sized_forest() -> spinney.TAOForestClassifier:
    """A fitted forest without a fit: a small one, whose trees are exchanged."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, N_FEATURES)).astype(np.float32)
    y = np.arange(200) % N_CLASSES
    model = spinney.TAOForestClassifier(
        N_TREES, max_depth=1, max_iter=1, random_state=0, bootstrap=True
    ).fit(X, y)
    model.forest_ = Forest(tuple(random_tree(rng) for _ in range(N_TREES)))
    model.n_parameters_ = model.forest_.n_parameters
    return model


def milliseconds(action, clock=time.perf_counter) -> float:
    """Median over some repeats, by the wall clock or by that of the processor."""
    times = []
    for _ in range(REPEATS):
        start = clock()
        action()
        times.append(1e3 * (clock() - start))
    return round(statistics.median(times), 2)


def measure(folder: Path) -> dict[str, object]:
    from safetensors.numpy import load_file

    model = mnist_sized_forest()
    row = np.zeros((1, N_FEATURES), np.float32)
    paths = {name: folder / f"model.{name}" for name in ("spinney", "pickle", "joblib", "skops")}
    spinney.save(model, paths["spinney"])
    paths["pickle"].write_bytes(pickle.dumps(model))
    joblib.dump(model, paths["joblib"])
    loads = {
        "spinney.load": lambda: spinney.load(paths["spinney"]),
        "spinney.load, memory_map": lambda: spinney.load(paths["spinney"], memory_map=True),
        "spinney.load and one predict": lambda: spinney.load(paths["spinney"]).predict(row),
        "safetensors load_file, nothing checked": lambda: load_file(paths["spinney"]),
        "pickle.load, nothing checked": lambda: pickle.loads(paths["pickle"].read_bytes()),
        "joblib.load, nothing checked": lambda: joblib.load(paths["joblib"]),
    }
    try:
        import skops.io
    except ImportError:
        paths.pop("skops")
    else:
        skops.io.dump(model, paths["skops"])
        trusted = skops.io.get_untrusted_types(file=paths["skops"])
        loads["skops.io.load"] = lambda: skops.io.load(paths["skops"], trusted=trusted)
    return {
        "machine": platform.processor() or platform.machine(),
        "trees": N_TREES,
        "parameters": model.n_parameters_,
        "bytes": {name: path.stat().st_size for name, path in paths.items()},
        "save ms": milliseconds(lambda: spinney.save(model, paths["spinney"])),
        "load ms": {name: milliseconds(action) for name, action in loads.items()},
        "load ms of CPU": {
            name: milliseconds(action, time.process_time) for name, action in loads.items()
        },
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        result = measure(Path(folder))
    target = Path(__file__).parent / "results" / "model_file.json"
    target.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
