"""The figures that the TAO tree has to show, each a function from a `Bench` to a `Figure`.

`FIGURES` is the table of them; ``tao_tree.py --only NAME`` runs one.
"""

from __future__ import annotations

from collections.abc import Callable

from bench import Bench

from figures.axis import axis_from_cart
from figures.equality import bit_equal
from figures.errors import letter_constant, letter_linear, mnist_constant, mnist_linear
from figures.figure import Figure
from figures.memory import mnist_memory, r8_sparse
from figures.speed import (
    letter_predict,
    letter_speed,
    mnist_liblinear,
    mnist_speed,
    mnist_threads,
)

__all__ = ["BY_NAME_ONLY", "FIGURES", "Figure"]

FIGURES: dict[str, Callable[[Bench], Figure]] = {
    function.__name__: function
    for function in (
        letter_constant,
        mnist_constant,
        letter_linear,
        mnist_linear,
        axis_from_cart,
        letter_speed,
        mnist_speed,
        mnist_threads,
        letter_predict,
        mnist_memory,
        r8_sparse,
        bit_equal,
        mnist_liblinear,
    )
}

# Left out of a run without --only: about a quarter of an hour a seed.
BY_NAME_ONLY = ("mnist_liblinear",)
