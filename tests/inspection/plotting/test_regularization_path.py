"""Lines are the errors and sizes of a regularisation path."""

from __future__ import annotations

import numpy as np
import pytest

from spinney import TAOForestClassifier, TAOTreeClassifier, TAOTreeRegressor, regularization_path
from spinney.inspection.plotting import RegularizationPathDisplay
from tests.compat.models import classes, numbers, rows, small_model
from tests.inspection.plotting.models import draw


def line(ax, label: str):
    return next(line for line in ax.lines if line.get_label() == label)


@pytest.mark.parametrize("size", ["n_parameters", "n_leaves"])
def test_errors_and_sizes_are_those_of_the_path(size: str) -> None:
    path = small_model("regularization_path")
    display = RegularizationPathDisplay.from_path(path, size=size)
    draw(display)
    assert line(display.ax_, "training").get_ydata().tolist() == path.train_error.tolist()
    assert line(display.ax_, "validation").get_ydata().tolist() == path.validation_error.tolist()
    assert display.ax_size_.lines[0].get_ydata().tolist() == getattr(path, size).tolist()
    assert display.ax_size_.lines[0].get_xdata().tolist() == path.alphas.tolist()
    assert display.ax_.get_xscale() == "log"


def test_the_choices_of_alpha_are_marked() -> None:
    path = small_model("regularization_path")
    display = RegularizationPathDisplay.from_path(path)
    simplest = path.alphas[path.best_index(one_standard_error=True)]
    assert (display.best_alpha, display.simplest_alpha) == (path.best_alpha, simplest)
    marked = [drawn.get_xdata()[0] for drawn in display.ax_.lines if "alpha" in drawn.get_label()]
    assert marked == [path.best_alpha, simplest]


def test_the_band_is_one_standard_error_wide() -> None:
    path = small_model("regularization_path")
    display = RegularizationPathDisplay.from_path(path)
    [band] = display.ax_.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx(
        (path.validation_error + path.validation_standard_error).max()
    )


def test_a_path_without_validation_rows_has_no_choice() -> None:
    X, y = rows(), numbers()
    path = regularization_path(
        TAOTreeRegressor(max_depth=2, max_iter=2, random_state=0), X, y, alphas=[1.0, 10.0]
    )
    display = RegularizationPathDisplay.from_path(path)
    draw(display)
    assert display.best_alpha is None
    assert len(display.ax_.lines) == 1
    assert display.ax_.get_ylabel() == "mean squared error of a row"


def test_alpha_of_zero_has_a_place_and_order_does_not_matter() -> None:
    model = TAOTreeClassifier(max_depth=2, max_iter=2, random_state=0)
    path = regularization_path(model, rows(), classes(), alphas=[10.0, 0.0, 1.0])
    display = RegularizationPathDisplay.from_path(path)
    draw(display)
    assert display.alphas.tolist() == [0.0, 1.0, 10.0]
    order = np.argsort(path.alphas)
    drawn = line(display.ax_, "training")
    assert drawn.get_ydata().tolist() == path.train_error[order].tolist()
    assert drawn.get_xdata().tolist() == [0.1, 1.0, 10.0]
    assert display.sizes.tolist() == path.n_parameters[order].tolist()
    ticks = dict(zip(display.ax_.get_xticks(), display.ax_.get_xticklabels(), strict=True))
    assert ticks[0.1].get_text() == "0"


def test_an_estimator_gives_the_display_of_its_path() -> None:
    model = TAOTreeClassifier(max_depth=2, max_iter=2, random_state=0)
    X, y, options = rows(), classes(), {"alphas": [1.0, 10.0], "cv": 2}
    path = regularization_path(model, X, y, **options)
    display = RegularizationPathDisplay.from_estimator(model, X, y, size="n_leaves", **options)
    draw(display)
    assert display.sizes.tolist() == path.n_leaves.tolist()
    assert display.train_error.tolist() == path.train_error.tolist()
    assert display.validation_error.tolist() == path.validation_error.tolist()
    assert display.path_.best_estimator().alpha == display.best_alpha == path.best_alpha
    assert not hasattr(model, "tree_")


def test_an_estimator_without_a_path_is_refused() -> None:
    with pytest.raises(TypeError, match="TAOForestClassifier"):
        RegularizationPathDisplay.from_estimator(TAOForestClassifier(), rows(), classes())


def test_an_unknown_size_is_refused_before_anything_is_fitted() -> None:
    with pytest.raises(ValueError, match="size='n_trees'"):
        RegularizationPathDisplay.from_path(small_model("regularization_path"), size="n_trees")
    with pytest.raises(ValueError, match="size='n_trees'"):
        RegularizationPathDisplay.from_estimator(None, None, None, size="n_trees")
