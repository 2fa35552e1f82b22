"""The report of a model: gather, pack, write."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney import _version
from spinney.inspection.explanations.pushes import Pushes, pushes_of
from spinney.inspection.fitted_model import FittedModel, fitted_estimator
from spinney.inspection.report import figures
from spinney.inspection.report.blocks import Block, pack
from spinney.inspection.report.page import escaped_json, page_parts
from spinney.inspection.report.rows import AnsweredRows, answered_rows
from spinney.inspection.report.sample import chosen_rows, raw_values, row_arrays
from spinney.inspection.report.trees import PageTrees, page_trees
from spinney.storage.atomic import replace_file
from spinney.tree.readout import holds_scores

#: A page stays below this, in bytes.
LARGEST_PAGE = 15_000_000

#: What the program, the style and the frame of the page take at most.
PAGE_BYTES = 100_000

#: Characters of a parameter that are shown.
LONGEST_VALUE = 200


def write_report(
    path: str | os.PathLike[str],
    model: object,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    image_shape: Sequence[int] | None = None,
    baselines: Mapping[str, Any] | None = None,
    max_rows: int = 500,
) -> Path:
    """Write the explorer of a model to one HTML file.

    Parameters
    ----------
    path : str or path
        File to write; one that is there is replaced when all is done.
    model : fitted estimator
    X, y : rows and targets, optional
        Rows to show the model with.
    image_shape : (height, width), optional
        Shape of rows that are pictures.
    baselines : mapping of str to estimator or number, optional
        Fitted estimators, or errors, to compare with.
    max_rows : int, default=500
        Most rows that the page carries.

    Returns
    -------
    Path
        The file.
    """
    fitted = fitted_estimator(model)
    shape = _checked_shape(image_shape, fitted)
    _check_max_rows(max_rows)
    if baselines is not None and not isinstance(baselines, Mapping):
        raise TypeError(
            f"baselines is of type {type(baselines).__name__}; give a dict of names and fitted "
            'estimators or errors; try {"random forest": forest}.'
        )
    rows = answered_rows(fitted, X, y)
    document = _document(fitted, rows, shape, baselines)
    blocks: dict[str, Block] = {}
    if rows is not None:
        chosen = chosen_rows(fitted, rows, int(max_rows))
        pushes = pushes_of(fitted, rows.matrix_of(chosen))
        document["rows"] = _sample(fitted, rows, chosen) | _push_document(pushes)
        arrays = {} if pushes is None else {"pushes": pushes.of_rows}
        blocks["rows"] = pack(row_arrays(fitted, rows, chosen) | arrays)
    blocks["columns"] = pack(_column_arrays(fitted, rows))
    used = PAGE_BYTES + len(escaped_json(document).encode()) + sum(map(len, blocks.values()))
    packed = page_trees(fitted, rows, LARGEST_PAGE - used)
    document |= {"precision": packed.precision, "nTreesShown": len(packed.blocks)}
    blocks |= _tree_blocks(packed)
    replace_file(path, page_parts(document, blocks))
    return Path(path)


def _column_arrays(fitted: FittedModel, rows: AnsweredRows | None) -> dict[str, NDArray[Any]]:
    """Deviation of each coordinate, and the typical row if the model knows it."""
    arrays: dict[str, NDArray[Any]] = {
        "spreads": figures.spreads(rows, len(fitted.coordinate_names))
    }
    if fitted.typical is not None:
        arrays["typical"] = fitted.typical.coordinates
    return arrays


def _tree_blocks(packed: PageTrees) -> dict[str, Block]:
    return {f"tree-{number}": block for number, block in enumerate(packed.blocks)}


def _document(
    fitted: FittedModel,
    rows: AnsweredRows | None,
    shape: list[int] | None,
    baselines: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Names, texts and small numbers of the page."""
    readout, trees = fitted.readout, fitted.trees
    document: dict[str, Any] = {
        "version": _version.__version__,
        "title": fitted.model_name,
        "task": "classification" if fitted.is_classifier else "regression",
        "outputs": fitted.output_names,
        "coordinates": fitted.coordinate_names,
        "columns": fitted.column_names,
        "imageShape": shape,
        "reject": None if readout.reject_label is None else str(readout.reject_label),
        "says": readout.says,
        "finish": readout.finish,
        "hasTypical": fitted.typical is not None,
        "hasScores": fitted.is_classifier and holds_scores(trees),
        "treeWeights": readout.tree_weights.tolist(),
        "offsets": readout.offsets.tolist(),
        "trees": [{"depth": tree.max_depth, "leaves": tree.n_leaves} for tree in trees],
        "nParameters": fitted.forest.n_parameters,
        "flops": getattr(fitted.model, "flops_", None),
        "parameters": _parameters(fitted.model),
        "importances": figures.importances(fitted),
        "importanceType": fitted.importance_type,
        "training": figures.training(fitted),
        "compared": figures.compared(fitted, rows, baselines),
        "errorName": figures.ERROR_NAMES[fitted.is_classifier],
    }
    if rows is not None:
        document |= {
            "nRows": rows.n_rows,
            "hasTruth": rows.truth is not None,
            "scores": figures.scores(fitted, rows),
            "confusion": figures.confusion(fitted, rows),
            "calibration": figures.calibration(rows),
        }
    return document


def _sample(fitted: FittedModel, rows: AnsweredRows, chosen: NDArray[np.int64]) -> dict[str, Any]:
    errors = rows.error_of_rows()
    return {
        "numbers": chosen.tolist(),
        "raw": raw_values(fitted, rows, chosen),
        "nWrongKept": None if errors is None else int((errors[chosen] > 0).sum()),
        "nWrong": None if errors is None else int((errors > 0).sum()),
    }


def _push_document(pushes: Pushes | None) -> dict[str, Any]:
    """What the model says of the typical row, and how exact it is what columns add to that."""
    if pushes is None:
        return {}
    return {"typicalAnswer": pushes.typical.tolist(), "pushError": pushes.error}


def _parameters(model: Any) -> list[list[str]]:
    """Constructor values as text, long ones cut."""
    shown = []
    for name, value in model.get_params(deep=False).items():
        text = repr(value)
        shown.append([name, text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"])
    return shown


def _checked_shape(image_shape: Sequence[int] | None, fitted: FittedModel) -> list[int] | None:
    if image_shape is None:
        return None
    shape = [int(side) for side in image_shape]
    n_coordinates = len(fitted.coordinate_names)
    if len(shape) != 2 or min(shape) < 1 or shape[0] * shape[1] != n_coordinates:
        raise ValueError(
            f"image_shape={tuple(shape)} for rows of {n_coordinates} numbers; give (height, width) "
            f"with height * width = {n_coordinates}; try leaving it out."
        )
    return shape


def _check_max_rows(max_rows: object) -> None:
    is_integer = isinstance(max_rows, int | np.integer) and not isinstance(max_rows, bool)
    if not is_integer or int(max_rows) < 1:  # type: ignore[call-overload]
        raise ValueError(f"max_rows={max_rows!r}; give an integer >= 1; try max_rows=500.")
