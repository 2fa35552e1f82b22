"""matplotlib is wanted only where something is drawn."""

from __future__ import annotations

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

import spinney.plotting
from spinney.inspection.plotting.canvas import axes_or_new, figure_of, log_scale
from tests.compat.models import small_model


def test_importing_the_library_imports_neither_plots_nor_matplotlib() -> None:
    code = (
        "import sys, spinney\n"
        "assert 'spinney.inspection.plotting' not in sys.modules\n"
        "import spinney.inspection.plotting\n"
        "assert 'matplotlib' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_is_there() -> None:
    assert all(hasattr(spinney.plotting, name) for name in spinney.plotting.__all__)


def test_plots_without_matplotlib_name_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'spinney\[plot\]'"):
        spinney.inspection.plotting.plot_tree(small_model("tao_tree_classifier"))


def test_given_axes_are_used_and_no_figure_is_made() -> None:
    _, ax = plt.subplots()
    before = plt.get_fignums()
    assert axes_or_new(ax) is ax
    assert plt.get_fignums() == before


def test_figure_of_axes_in_a_part_of_a_figure_is_the_whole() -> None:
    figure = plt.figure()
    ax = figure.subfigures(1, 2)[0].subplots()
    assert figure_of(ax) is figure


@pytest.mark.parametrize(("high", "expected"), [(30.0, ["2", "5", "20"]), (30000.0, [])])
def test_short_logarithmic_axes_label_more_than_decades(high: float, expected: list[str]) -> None:
    figure, ax = plt.subplots()
    ax.plot([1.0, high], [1.0, 2.0])
    log_scale(ax, "x")
    ax.set_xlim(1.0, high)
    figure.canvas.draw()
    minor = ax.get_xticklabels(minor=True)
    inside = [label.get_text() for label in minor if 1 <= label.get_position()[0] <= high]
    assert [text for text in inside if text] == expected
    assert "1" in [label.get_text() for label in ax.get_xticklabels()]


def test_large_numbers_on_logarithmic_axes_are_in_groups() -> None:
    figure, ax = plt.subplots()
    ax.plot(np.geomspace(1, 1e5, 9))
    log_scale(ax, "y")
    figure.canvas.draw()
    assert "10,000" in [label.get_text() for label in ax.get_yticklabels()]
