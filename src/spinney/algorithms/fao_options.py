"""How one forest is optimised by FAO, as a value.

References
----------
.. [1] Carreira-Perpiñán, Gabidolla and Zharmagambetov, "Towards better decision forests: Forest
   Alternating Optimization", CVPR 2023.
"""

from __future__ import annotations

from dataclasses import dataclass

from spinney.algorithms.losses import ForestLoss
from spinney.algorithms.tao_options import TAOOptions


@dataclass(frozen=True)
class FAOOptions:
    """How one forest is optimised; the estimators' docstrings explain each word.

    Attributes
    ----------
    tao : TAOOptions
        How each tree is: its splits, penalty, solver, order and guard. Loss and leaves are the
        forest's. Its `split` may also be "mixed", see `kind_of_split`.
    loss : ForestLoss
        The L of [1]_ eq. (2).
    leaf_alpha : float
        Weight of the penalty on leaf values; the μ of [1]_ eq. (2).
    leaf_penalty : {"l1", "l2"}
        Its ψ: absolute or squared values.
    max_iter : int
    tol : float
    n_threads : int
    keeps_iterations : bool
        Whether the forest after each iteration is part of the result.
    average_last : int
        Iterations at the end over which the hyperplanes of each split are averaged; 1 takes the
        last ones as they are.
    shrink_to : float
        Score of every class towards which the penalty shrinks leaves; numbers are shrunk towards
        their mean.
    """

    tao: TAOOptions
    loss: ForestLoss
    leaf_alpha: float = 0.01
    leaf_penalty: str = "l2"
    max_iter: int = 20
    tol: float = 1e-4
    n_threads: int = 1
    keeps_iterations: bool = False
    average_last: int = 1
    shrink_to: float = 0.0

    @property
    def l1(self) -> float:
        """Weight of the absolute leaf values."""
        return self.leaf_alpha if self.leaf_penalty == "l1" else 0.0

    @property
    def l2(self) -> float:
        """Weight of the squared leaf values."""
        return self.leaf_alpha if self.leaf_penalty == "l2" else 0.0


def kind_of_split(split: str, number: int) -> str:
    """Kind of the splits of tree `number` of a forest: "mixed" takes turns, hyperplanes first."""
    if split != "mixed":
        return split
    return "axis" if number % 2 else "oblique"
