"""Native kernels of spinney: rows, trees, forests, node solvers, alternating optimisation."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, final

import numpy as np
from numpy.typing import NDArray

_Int8: TypeAlias = NDArray[np.int8]
_Int32: TypeAlias = NDArray[np.int32]
_Int64: TypeAlias = NDArray[np.int64]
_UInt8: TypeAlias = NDArray[np.uint8]
_UInt32: TypeAlias = NDArray[np.uint32]
_Float32: TypeAlias = NDArray[np.float32]
_Float64: TypeAlias = NDArray[np.float64]
_LeafNumbers: TypeAlias = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]
_Csr: TypeAlias = tuple[_Int64, _Int32, _Float32]
# left, right, bias, CSR of the splits, leaf values, CSR of the leaves, whether leaves are linear
_TreeArrays: TypeAlias = tuple[
    _Int32, _Int32, _Float64, _Int64, _Int32, _Float32, _Float64, _Int64, _Int32, _Float32, bool
]

@final
class Rows:
    """Dense or sparse float32 rows, borrowed from numpy arrays."""

    @property
    def n_rows(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def is_sparse(self) -> bool: ...

def set_thread_look(look: Callable[[], None] | None) -> Callable[[], None] | None: ...
def dense_rows(values: _Float32) -> Rows: ...
def padded_rows(values: _Float32) -> Rows: ...
def byte_rows(values: _Float32) -> Rows | None: ...
def sparse_rows(indptr: _Int64, indices: _Int32, data: _Float32, n_features: int) -> Rows: ...
def with_columns(
    rows: Rows, columns: Sequence[tuple[int, int, int]], weights: _Float64
) -> Rows: ...
def simd_levels() -> list[str]: ...
def simd_level() -> str: ...
def use_simd_level(name: str) -> None: ...
def column_moments(
    rows: Rows, weights: _Float64, n_threads: int
) -> tuple[_Float64, _Float64, _Float32, _Float32]: ...
def apply(
    rows: Rows,
    left: _Int32,
    right: _Int32,
    bias: _Float64,
    indptr: _Int64,
    indices: _Int32,
    weights: _Float32,
    n_threads: int,
) -> _Int32: ...
def column_gains(
    rows: Rows,
    tree: _TreeArrays,
    leaf_nodes: _Int32,
    classes: _Int32,
    values: _Float64,
    n_outputs: int,
    weights: _Float64,
    counts: _Float64,
    n_columns: int,
    n_threads: int,
) -> tuple[_Float64, _Float64]: ...
def linear_outputs(
    rows: Rows,
    leaves: _Int32,
    intercepts: _Float64,
    indptr: _Int64,
    indices: _Int32,
    weights: _Float32,
    n_threads: int,
) -> _Float64: ...

@final
class Forest:
    """Many trees, copied and packed for prediction."""

    def __init__(self, trees: Sequence[_TreeArrays], n_features: int, n_outputs: int) -> None: ...
    @property
    def n_trees(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_outputs(self) -> int: ...
    def apply(self, rows: Rows, n_threads: int) -> _Int32: ...
    def labels(self, rows: Rows, n_threads: int) -> _Int32: ...
    def votes(self, rows: Rows, tree_weights: _Float64, n_threads: int) -> _Float64: ...
    def sums(
        self, rows: Rows, tree_weights: _Float64, is_softmax: bool, n_threads: int
    ) -> _Float64: ...

@final
class Readout:
    """A packed forest with what its trees say and count."""

    def __init__(
        self, forest: Forest, says: str, tree_weights: _Float64, offsets: _Float64
    ) -> None: ...
    def largest(self, x: _Float32 | _Float64, n_threads: int = 1) -> int | _Int32: ...
    def totals(self, x: _Float32 | _Float64, n_threads: int = 1) -> _Float64: ...

def softmax(scores: _Float64) -> _Float64: ...
def power_shares(votes: _Float64, shift: float, slope: float) -> _Float64: ...
def logistic_split(
    rows: Rows,
    mean: _Float64,
    inverse_scale: _Float64,
    labels: _Int8,
    weights: _Float64,
    alpha: float,
    solver: str,
    max_newton: int,
    epochs: int,
    step: float,
    tolerance: float,
    seed: int,
) -> tuple[_Float32, float]: ...
def axis_split(
    rows: Rows, labels: _Int8, weights: _Float64, alpha: float
) -> tuple[int, float, float, float]: ...
def column_split(
    rows: Rows, labels: _Int8, weights: _Float64, alpha: float, n_threads: int
) -> tuple[_UInt32, _Float32, float, float]: ...

@final
class Task:
    """What a tree has to predict, by which loss and with which leaves."""

    def __init__(
        self,
        classes: _Int32,
        values: _Float64,
        weights: _Float64,
        n_outputs: int,
        loss: str,
        leaf: str,
        huber_delta: float,
        leaf_alpha: float,
        leaf_ridge: float,
        leaf_epochs: int,
        constant_l1: float = 0.0,
        constant_l2: float = 0.0,
    ) -> None: ...

@final
class RowState:
    """What the trees of a forest know of each row; theirs in turn, in one thread at a time."""

    def __init__(self, weights: _Float64) -> None: ...

@final
class TreeOptimizer:
    """One tree under alternating optimisation."""

    def __init__(
        self,
        rows: Rows,
        mean: _Float64,
        inverse_scale: _Float64,
        left: _Int32,
        right: _Int32,
        task: Task,
        solver: Mapping[str, float],
        split: str,
        n_threads: int,
        seed: int,
        max_features: int = 0,
        start_seed: int | None = None,
        deviation: _Float64 | None = None,
        state: RowState | None = None,
    ) -> None: ...
    @property
    def n_levels(self) -> int: ...
    def draw_splits(self, kind: str, length: float, is_axis: bool = False) -> None: ...
    def set_tree(
        self,
        bias: _Float64,
        indptr: _Int64,
        indices: _Int32,
        weights: _Float32,
        leaf_values: _Float64,
        leaf_weights: _Float32,
    ) -> None: ...
    def state(self) -> tuple[_Float64, _Csr, _Float64, _Csr, _UInt8]: ...
    def kept_state(self) -> tuple[_Float64, _Csr, _Float64, _Csr, _UInt8]: ...
    def set_state(
        self,
        bias: _Float64,
        splits: _Csr,
        leaf_values: _Float64,
        leaf_weights: _Csr,
        fitted: _UInt8,
    ) -> None: ...
    def set_leaves(self, values: _Float64) -> None: ...
    def take_turn(self, leaf_numbers: _LeafNumbers, values: _Float64) -> None: ...
    def limit_weights(self, of_split: int, of_leaf: int) -> None: ...
    def solve_level(
        self, depth: int, sweep: int, is_guarded: bool, is_next_below: bool = False
    ) -> None: ...
    def fit_leaves(self, sweep: int, is_guarded: bool) -> None: ...
    def relax_leaves(self, ridge: float) -> None: ...
    def clear_empty_leaves(self) -> None: ...
    def objective(self, counts: NDArray[np.uint8] | None = None) -> tuple[float, float]: ...
    def count_active(self) -> int: ...
    def keep(self) -> None: ...
    def restore(self) -> None: ...
    def care_points(self, node: int) -> tuple[_UInt32, _Int8, _Float64]: ...
    def leaf_numbers(self, out: _LeafNumbers) -> None: ...
    def leaf_of(self) -> _Int32: ...
    def splits(self) -> tuple[_Float64, _Csr]: ...
    def leaves(self) -> tuple[_Float64, _Csr]: ...
    def reach(self) -> _Int64: ...

@final
class LeafSystem:
    """Ridge regression on all leaves of a forest, whose splits are fixed."""

    def __init__(
        self,
        leaves: _LeafNumbers,
        weights: _Float64,
        n_leaves: int,
        l2: float,
        direct_limit: int,
        n_threads: int,
        first_leaf: _UInt32 | None = None,
    ) -> None: ...
    def solve(
        self,
        targets: _Float64,
        start: _Float64,
        tolerance: float,
        of_start: float = 0.0,
        max_iterations: int = 1000,
    ) -> _Float64: ...
    def add_up(self, values: _Float64) -> _Float64: ...

class LeafLasso:
    """Lasso regression on all leaves of a forest, whose splits are fixed."""

    def __init__(
        self,
        leaves: _LeafNumbers,
        weights: _Float64,
        n_leaves: int,
        l1: float,
        gram_limit: int,
        n_threads: int,
        first_leaf: _UInt32 | None = None,
    ) -> None: ...
    def solve(self, targets: _Float64, start: _Float64, tolerance: float) -> _Float64: ...
    def add_up(self, values: _Float64) -> _Float64: ...

def add_leaf_values(
    sums: _Float64, leaf_of: _LeafNumbers, values: _Float64, factor: float, n_threads: int
) -> None: ...

class CO2Options:
    """How a CO2 stump is optimised."""

    def __init__(self) -> None: ...
    max_norm: float
    learning_rate: float
    momentum: float
    batch_size: int
    max_epochs: int
    refresh_epochs: int
    relabel_epochs: int
    tolerance: float

class SplitOptions:
    """Name of a split and what its rule wants to know."""

    def __init__(self, name: str) -> None: ...
    co2: CO2Options
    n_steps: int
    max_iter: int
    n_restarts: int
    n_jumps: int
    most_columns: int
    ridge: float

class GrowOptions:
    """When a tree stops to grow, and its seed."""

    def __init__(
        self,
        criterion: str,
        max_depth: int,
        min_samples_split: int,
        min_leaf_weight: float,
        n_candidates: int,
        seed: int,
        n_threads: int,
    ) -> None: ...

def grow_tree(
    rows: Rows,
    mean: _Float64,
    inverse_scale: _Float64,
    classes: _Int32,
    values: _Float64,
    weights: _Float64,
    judge_weights: _Float64,
    n_outputs: int,
    split: SplitOptions,
    options: GrowOptions,
    callback: Callable[[], None] | None,
) -> tuple[_Int32, _Int32, _Float64, _Int64, _Int32, _Float32, _Float64]: ...

table_block: int

@final
class Edges:
    """Where the values of each column are cut into bins."""

    @property
    def n_columns(self) -> int: ...
    def thresholds(self, column: int) -> _Float32: ...

@final
class Codes:
    """Numbers of the bins that values lie in, a byte each; 255 for a missing one."""

    @property
    def n_rows(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    def begin(self) -> _Int64: ...
    def to_array(self) -> _UInt8: ...

def column_sketches(
    rows: Rows, weights: _Float64, n_threads: int
) -> list[tuple[_Float32, _Float64, float]]: ...
def find_edges(
    rows: Rows, weights: _Float64, n_levels: _UInt8, n_bins: int, n_threads: int
) -> Edges: ...
def code_rows(rows: Rows, edges: Edges, n_threads: int) -> Codes: ...
def gradient_histogram(
    codes: Codes, pairs: _Float32, rows: _UInt32 | None, n_threads: int
) -> _Float64: ...
def label_histogram(
    codes: Codes,
    labels: _Int32,
    weights: _Float64,
    n_classes: int,
    rows: _UInt32 | None,
    n_threads: int,
) -> _Float64: ...
def count_histogram(codes: Codes, rows: _UInt32 | None, n_threads: int) -> _UInt32: ...
def round_to_grid(pairs: _Float32) -> _Float32: ...
def best_cut(
    bins: _Float64, counts: _UInt32, l2: float, min_hessian: float, min_rows: int
) -> tuple[float, int, bool, float, float, int]: ...
