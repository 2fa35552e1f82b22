"""Time both ONNX encodings of oblique forests of several shapes, to choose between them.

    python benchmarks/onnx_encodings.py

Prints one row a shape: microseconds of a single row and of each row of a batch, by encoding, and
the encoding that ``to_onnx`` would choose.
"""

from __future__ import annotations

import itertools
import time

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from spinney import TAOForestRegressor, Tree, to_onnx
from spinney.export.export_forest import export_forest
from spinney.export.onnx.leaves import choose_encoding
from spinney.tree.forest import Forest
from spinney.tree.sparse_rows import row_offsets
from spinney.tree.structure import complete_topology, constant_leaves

SHAPES = itertools.product((1, 10, 30), (3, 6, 9), (8, 32, 256))
N_BATCH = 256


def random_tree(depth: int, n_features: int, seed: int) -> Tree:
    """A complete tree of random full hyperplanes and one output."""
    rng = np.random.default_rng(seed)
    left, right = complete_topology(depth)
    is_split = left >= 0
    n_splits, n_leaves = int(is_split.sum()), int((~is_split).sum())
    return Tree(
        n_features=n_features,
        left=left,
        right=right,
        bias=np.where(is_split, rng.normal(size=len(left)), 0.0),
        split_indptr=row_offsets(is_split * n_features),
        split_indices=np.tile(np.arange(n_features, dtype=np.int32), n_splits),
        split_weights=rng.normal(size=n_splits * n_features).astype(np.float32),
        **constant_leaves(rng.normal(size=(n_leaves, 1))),
    ).check()


def regressor(forest: Forest) -> TAOForestRegressor:
    """A fitted regressor of these trees."""
    model = TAOForestRegressor(n_estimators=forest.n_trees)
    model.forest_, model.n_outputs_ = forest, 1
    model.n_features_in_, model.encoding_ = forest.n_features, None
    return model


def microseconds(session: onnxruntime.InferenceSession, X: NDArray[np.float32]) -> float:
    """Median time of a run, divided by the rows."""
    times = []
    end = time.perf_counter() + 0.2
    while len(times) < 5 or (time.perf_counter() < end and len(times) < 500):
        start = time.perf_counter()
        session.run(None, {"X": X})
        times.append(time.perf_counter() - start)
    return float(np.median(times)) / len(X) * 1e6


def main() -> None:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    print("trees depth columns | gather: 1 row, batch | gemm: 1 row, batch (us a row) | auto")
    for n_trees, depth, n_features in SHAPES:
        trees = tuple(random_tree(depth, n_features, seed) for seed in range(n_trees))
        forest = Forest(trees)
        X = np.random.default_rng(1).normal(size=(N_BATCH, n_features)).astype(np.float32)
        cells = []
        for encoding in ("gather", "gemm"):
            model = to_onnx(regressor(forest), encoding=encoding).SerializeToString()
            session = onnxruntime.InferenceSession(model, options)
            cells += [microseconds(session, X[:1]), microseconds(session, X)]
        chosen = choose_encoding(export_forest(forest))
        times = "{:8.0f} {:7.1f} | {:8.0f} {:7.1f}".format(*cells)
        print(f"{n_trees:5d} {depth:5d} {n_features:7d} | {times} | {chosen}", flush=True)


if __name__ == "__main__":
    main()
