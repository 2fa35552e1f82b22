"""How one tree is optimised by TAO, as a value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

#: What may not raise the objective: nothing that is asked for, each step, or each sweep.
StrictDescent: TypeAlias = bool | Literal["sweep"]

#: Most columns for which nodes are solved by Newton steps (`benchmarks/solvers.py`).
NEWTON_LIMIT = 64

#: Effort of a node solve. A few steps from a warm start are not only faster than a converged
#: solution, they also find trees of lower objective and error: nodes move together instead of
#: overfitting to subtrees that are still bad.
SOLVER = {"max_newton": 1, "epochs": 4, "step": 1.0, "newton_limit": NEWTON_LIMIT}


@dataclass(frozen=True)
class TAOOptions:
    """How one tree is optimised; the estimators' docstrings explain most words.

    Attributes
    ----------
    init : {"supervised", "balanced", "random"}
        How hyperplanes are drawn where a start gives a shape alone.
    solver : mapping
        Effort of the solver of a node, see `SOLVER`.
    leaf_epochs : int
        Passes over the rows of a linear leaf.
    seed, start_seed : int
        Of the solver, and of the hyperplanes that are drawn; None is the same seed.
    """

    loss: str = "zero_one"
    split: str = "oblique"
    leaf: str = "constant"
    alpha: float = 0.1
    ridge: float = 0.01
    max_weights: int = 0
    max_leaf_weights: int = 0
    max_iter: int = 20
    strict_descent: StrictDescent = False
    order: str = "leaves_first"
    tol: float = 1e-4
    huber_delta: float = 1.0
    n_threads: int = 1
    seed: int = 0
    init: str = "supervised"
    leaf_alpha: float | None = None
    leaf_penalty: str = "l1"
    relax_leaves: bool = False
    leaf_epochs: int = 4
    max_features: int = 0
    start_seed: int | None = None
    solver: dict[str, float] = field(default_factory=lambda: dict(SOLVER))

    @property
    def constant_alpha(self) -> float:
        """Weight of the penalty on constant leaves; they have none of their own accord."""
        return self.leaf_alpha or 0.0 if self.leaf == "constant" else 0.0

    @property
    def linear_alpha(self) -> float:
        """Weight of the penalty on linear leaves."""
        return self.alpha if self.leaf_alpha is None else self.leaf_alpha
