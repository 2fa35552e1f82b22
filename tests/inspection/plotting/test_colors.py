"""Colours differ, also for those who see fewer of them."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from spinney.inspection.plotting.colors import (
    NEGATIVE,
    POSITIVE,
    class_colors,
    line_colors,
    weight_colors,
)

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB: no red, no green cones.
NO_RED = [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
]
NO_GREEN = [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.011820, 0.042940, 0.968881],
]


def linear(colors: list[str]) -> np.ndarray:
    return np.array([to_rgb(color) for color in colors]) ** 2.2


@pytest.mark.parametrize("n_classes", [1, 2, 8, 9, 10, 11, 26])
def test_there_is_one_colour_a_class(n_classes: int) -> None:
    assert len(set(class_colors(n_classes))) == n_classes


@pytest.mark.parametrize("n_classes", [2, 5, 8, 10])
@pytest.mark.parametrize("eye", [np.eye(3), NO_RED, NO_GREEN], ids=["all", "no red", "no green"])
def test_few_classes_differ_to_every_eye(n_classes: int, eye: np.ndarray) -> None:
    seen = np.clip(linear(class_colors(n_classes)) @ np.transpose(eye), 0, 1) ** (1 / 2.2)
    distances = np.linalg.norm(seen[:, None] - seen[None, :], axis=2)
    assert distances[~np.eye(n_classes, dtype=bool)].min() > 0.08


def test_weights_are_coloured_by_their_sign() -> None:
    assert weight_colors(np.array([2.0, -1.0])) == [POSITIVE, NEGATIVE]


def test_lines_begin_anew_when_colours_run_out() -> None:
    colors = line_colors(9)
    assert len(set(colors[:8])) == 8
    assert colors[8] == colors[0]
