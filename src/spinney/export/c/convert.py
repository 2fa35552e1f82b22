"""A fitted model as one C file without dependencies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spinney.data.checks import check_choice
from spinney.export.boundary import axis_thresholds
from spinney.export.c import columns, program
from spinney.export.c.literals import check_name, escape, string
from spinney.export.c.tables import TYPES, Tables, add_hyperplanes, quantised
from spinney.export.export_forest import ExportForest, export_forest
from spinney.export.lanes import lane_count
from spinney.inspection.fitted_model import FittedModel, fitted_estimator
from spinney.tree.readout import Readout
from spinney.tree.ties import with_rejects

WEIGHTS = ("float32", "int8")


@dataclass(frozen=True, repr=False)
class CSource:
    """A C file and the sizes of its tables.

    Parameters
    ----------
    text : str
        The file.
    table_bytes : dict
        Bytes of each constant array. Their sum is most of what a program needs of flash.
    """

    text: str
    table_bytes: dict[str, int]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        n_lines = self.text.count("\n")
        return f"CSource({n_lines:,} lines of C, {self.n_table_bytes:,} bytes of tables)"

    @property
    def n_table_bytes(self) -> int:
        """Bytes of all constant arrays."""
        return sum(self.table_bytes.values())


def to_c(
    model: object,
    path: str | Path | None = None,
    *,
    weights: str = "float32",
    name: str = "model",
) -> CSource:
    """Write a fitted model as one C99 file that predicts the same.

    The file needs no library, not even that of C, allocates nothing, and keeps all tables in
    constant memory. For ``name="model"`` it has ``int model_predict(const float *x)``, the number
    of the class, ``void model_predict_proba(const float *x, double *out)`` and
    ``model_label(number)`` for classifiers, and
    ``void model_predict_values(const float *x, double *out)`` for regressors.
    Define ``MODEL_ONLY_DECLARATIONS`` to include it as a header.

    Parameters
    ----------
    model : fitted estimator
        Any tree or forest of this library.
    path : str or Path, optional
        Where to write the file. Default: it is only returned.
    weights : {"float32", "int8"}, default="float32"
        Type of the weights of splits and linear leaves. float32 gives the bits of ``predict`` and
        ``predict_proba``. int8 rounds each hyperplane to 127 steps of its largest weight, and leaf
        values to float32: a quarter of the size, and some rows take another way. Splits that read
        one column are exact in both.
    name : str, default="model"
        Begin of all names in the file.

    Returns
    -------
    CSource
        The text and the sizes of its tables.

    Notes
    -----
    Rows are floats that are not infinite, which the functions do not check. NaN is filled as by
    ``predict``, whatever `missing` says; a model of an older release does not know what with. A
    model of a table with categories, dates or missing values has
    ``void model_encode(const double *columns, float *x)`` too, which turns its columns into such a
    row, and ``int model_level(int column, const char *text)``. A rejected row of
    `RandomDecisionForestClassifier` has the number behind that of the last class.
    See docs/guide/export.md.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from spinney import TAOTreeClassifier, to_c
    >>> X, y = load_iris(return_X_y=True)
    >>> source = to_c(TAOTreeClassifier(max_depth=2, random_state=0).fit(X, y))
    >>> "int model_predict(const float *x)" in source.text
    True
    """
    check_choice("weights", weights, WEIGHTS)
    name = check_name(name)
    fitted = fitted_estimator(model)
    readout, encoding = fitted.readout, fitted.encoding
    forest = export_forest(readout.forest)
    tables = Tables(name)
    walk = _walk(tables, forest, weights)
    leaves = _leaves(tables, forest, readout, weights)
    is_filled = encoding is None and _fill(tables, fitted)
    code = _program(walk, leaves, readout, forest, is_filled=is_filled)
    declarations, texts = _declarations(readout), ""
    if encoding is not None:
        count = str(encoding.n_columns)
        declarations = columns.DECLARATIONS.replace("COUNT", count) + declarations
        code = columns.encode_functions(tables, encoding) + "\n" + code
        texts = "\n" + columns.text_tables(name, encoding)
    parts = {
        "HEAD": _head(fitted, forest, tables, weights),
        "LABELS": _label_lines(readout),
        "TABLES": tables.text() + texts,
    }
    text = _file(parts, declarations, code, forest, name)
    source = CSource(text, tables.sizes)
    if path is not None:
        Path(path).write_text(text, encoding="ascii")
    return source


def _walk(tables: Tables, forest: ExportForest, weights: str) -> list[str]:
    """Functions that find leaves; adds the tables that they read."""
    tables.add_counts("root", forest.roots, is_signed=True)
    if forest.n_splits == 0:
        return [program.NO_SPLITS]
    tables.add_counts("child", forest.children, is_signed=True)
    if forest.is_axis_aligned:
        return [program.LEAF.replace("SCORE", _axis_score(tables, forest))]
    if weights == "int8":
        rows, scales = quantised(forest.weights)
        with np.errstate(over="ignore", under="ignore"):
            tables.add("limit", (-forest.bias / scales).astype(np.float32))
    else:
        rows = forest.weights
        tables.add("limit", forest.thresholds)
    is_sparse = add_hyperplanes(tables, "split", rows)
    dot = program.dot_functions(
        "split", TYPES[rows.dtype.str[1:]], is_sparse=is_sparse, is_exact=False
    )
    return [dot, program.LEAF.replace("SCORE", "NAME_split_dot(x, at)")]


def _axis_score(tables: Tables, forest: ExportForest) -> str:
    """What splits of one column compare with their limits."""
    read, axis_weights = forest.axis_splits
    cuts, is_right_above = axis_thresholds(axis_weights, forest.bias)
    tables.add_counts("column", read)
    if is_right_above.all():
        tables.add("limit", cuts)
        return "x[NAME_column[at]]"
    sign = np.where(is_right_above, 1, -1).astype(np.int8)
    tables.add("limit", cuts * sign.astype(np.float32))
    tables.add("sign", sign)
    return "(float)NAME_sign[at] * x[NAME_column[at]]"


def _leaves(tables: Tables, forest: ExportForest, readout: Readout, weights: str) -> list[str]:
    """Functions that read leaves; adds the tables that they read."""
    is_rounded = weights == "int8"
    if (readout.tree_weights != 1).any():
        tables.add("tree_weight", readout.tree_weights)
    if readout.offsets.any():
        tables.add("offset", readout.offsets)
    if forest.is_linear.any():
        return _linear_leaves(tables, forest, readout, is_rounded=is_rounded)
    if readout.says == "label":
        tables.add_counts("label_of", forest.leaf_labels)
        return []
    tables.add_values("value", forest.leaf_values, is_rounded=is_rounded)
    return [program.CONSTANTS]


def _linear_leaves(
    tables: Tables, forest: ExportForest, readout: Readout, *, is_rounded: bool
) -> list[str]:
    rows, scale = forest.leaf_weights, ""
    if is_rounded:
        rows, scales = quantised(rows)
        tables.add("linear_scale", scales)
        scale = " * (double)NAME_linear_scale[row]"
    tables.add_values("value", forest.leaf_values, is_rounded=is_rounded)
    is_mixed = not forest.is_linear.all() and readout.says == "probabilities"
    if is_mixed:
        tables.add("is_linear", forest.is_linear.astype(np.uint8))
    is_sparse = add_hyperplanes(tables, "linear", rows)
    dot = program.dot_functions(
        "linear", TYPES[rows.dtype.str[1:]], is_sparse=is_sparse, is_exact=True
    )
    return [dot, program.SCORES.replace("SCALE", scale)]


def _fill(tables: Tables, fitted: FittedModel) -> bool:
    """Whether it is known what NaN of plain numbers is filled with; adds the table of it."""
    if fitted.typical is not None:
        tables.add("typical", fitted.typical.coordinates)
    return fitted.typical is not None


def _program(
    walk: list[str],
    leaves: list[str],
    readout: Readout,
    forest: ExportForest,
    *,
    is_filled: bool,
) -> str:
    """All functions, each before those that call it."""
    is_linear = bool(forest.is_linear.any())
    totals = program.total_function(readout, is_linear=is_linear)
    if not forest.is_linear.all():
        single = "        NAME_softmax(said);"
        totals = totals.replace(single, "        if (NAME_is_linear[t])\n    " + single)
    if is_filled:
        totals = f"{totals.replace('NAME_totals', 'NAME_sums')}\n{program.FILLED_TOTALS}"
    finish = program.finish_of(readout)
    last = _last_functions(readout).replace("FINISH", finish)
    body = "\n".join([*walk, *leaves, totals, last])
    helpers = [
        text
        for call, text in (
            ("NAME_fold(", program.FOLD),
            ("NAME_largest(", program.LARGEST),
            ("NAME_softmax(", program.SOFTMAX),
        )
        if call in body or (call == "NAME_softmax(" and "NAME_powers(" in body)
    ]
    if "NAME_powers(" in body:
        helpers.append(program.POWERS)
    if "NAME_shares(" in body or "NAME_nearest(" in body:
        helpers.append(program.SHARES)
    if "NAME_nearest(" in body:
        helpers.append(program.NEAREST)
    return "\n".join([*helpers, body])


def _last_functions(readout: Readout) -> str:
    """The functions that users call."""
    if readout.classes is None:
        return program.PREDICT_NUMBERS
    labels = _labels(readout)
    kind, _ = _label_literals(labels)
    returned = kind if kind.endswith("*") else f"{kind} "
    array = f"{kind}const" if kind.endswith("*") else f"const {kind}"
    return (
        program.PREDICT_CLASS.replace("LABEL_TYPE", returned)
        .replace("LABEL_ARRAY", array)
        .replace("LABEL_COUNT", str(len(labels)))
        .replace("REJECT", "" if readout.reject_label is None else program.REJECT)
    )


def _label_lines(readout: Readout) -> str:
    """Initialisers of the array of labels."""
    if readout.classes is None:
        return ""
    _, literals = _label_literals(_labels(readout))
    return "\n".join(f"        {literal}," for literal in literals)


def _labels(readout: Readout) -> list[Any]:
    """Class labels, and behind them that of rejected rows if there is one."""
    assert readout.classes is not None
    labels = readout.classes
    if readout.reject_label is not None:
        padded = np.concatenate([labels, labels[:1]])
        labels = with_rejects(padded, np.arange(len(padded)) == len(labels), readout.reject_label)
    found: list[Any] = labels.tolist()
    return found


def _label_literals(labels: list[Any]) -> tuple[str, list[str]]:
    """C type of the labels and each of them; labels that are no numbers are strings."""
    if all(isinstance(label, int) and abs(label) < 2**31 for label in labels):
        return "long", [f"{int(label)}L" for label in labels]
    if all(isinstance(label, float) for label in labels):
        return "double", [repr(label) for label in labels]
    return "const char *", [string(str(label)) for label in labels]


def _declarations(readout: Readout) -> str:
    """Prototypes and what the functions do."""
    if readout.classes is None:
        return (
            "/* NAME_N_OUTPUTS numbers to predict for a row of NAME_N_FEATURES floats. */\n"
            "void NAME_predict_values(const float *x, double *out);\n"
        )
    kind, _ = _label_literals(_labels(readout))
    returned = kind if kind.endswith("*") else f"{kind} "
    rejects = ""
    if readout.reject_label is not None:
        rejects = ", NAME_N_OUTPUTS if its best classes tie"
    return (
        f"/* Number of the class of a row of NAME_N_FEATURES floats{rejects}. */\n"
        "int NAME_predict(const float *x);\n"
        "/* Probabilities of its classes, NAME_N_OUTPUTS of them. */\n"
        "void NAME_predict_proba(const float *x, double *out);\n"
        "/* Label of a class. */\n"
        f"{returned}NAME_label(int number);\n"
    )


def _head(fitted: FittedModel, forest: ExportForest, tables: Tables, weights: str) -> str:
    """The comment at the top: what this is, its columns, its classes, its size."""
    lines = [
        f"{fitted.model_name} of {forest.n_trees} trees, {forest.n_splits} splits and "
        f"{forest.n_leaves} leaves, exported by spinney.",
        f"Weights are {weights}. A row goes right at a split if w . x + bias >= 0.",
        f"Tables take {sum(tables.sizes.values())} bytes: "
        + ", ".join(f"{name} {size}" for name, size in tables.sizes.items())
        + ".",
    ]
    if fitted.encoding is not None:
        lines += ["Columns:", *columns.described(fitted.encoding)]
    elif fitted.given_names is not None:
        names = enumerate(fitted.given_names)
        lines += ["Columns:", *(f"  x[{j}] {escape(name)}" for j, name in names)]
    if fitted.is_classifier:
        labels = enumerate(_labels(fitted.readout))
        lines += ["Classes:", *(f"  {k} {escape(str(label))}" for k, label in labels)]
    return "/*\n" + "".join(f" * {line}\n" for line in lines) + " */\n"


def _file(
    parts: dict[str, str], declarations: str, code: str, forest: ExportForest, name: str
) -> str:
    """The whole file. What users have named is put in last, so that nothing looks into it."""
    sizes = {
        "N_FEATURES": forest.n_features,
        "N_OUTPUTS": forest.n_outputs,
        "N_TREES": forest.n_trees,
        "LANES": lane_count(forest.n_features),
    }
    used = {key: size for key, size in sizes.items() if key != "LANES" or "NAME_LANES" in code}
    includes = ["float.h", "stddef.h", "stdint.h"]
    if "INFINITY" in parts["TABLES"]:
        includes.append("math.h")  # for the name alone
    text = "\n".join(
        [
            "@HEAD@",
            "#ifndef NAME_DECLARED\n#define NAME_DECLARED\n",
            "".join(f"#define NAME_{key} {size}\n" for key, size in used.items()),
            declarations,
            "#endif\n\n#ifndef NAME_ONLY_DECLARATIONS\n",
            "".join(f"#include <{header}>\n" for header in includes),
            program.GUARDS,
            "@TABLES@\n",
            code,
            "#endif\n",
        ]
    )
    for macro in ("DECLARED", "ONLY_DECLARATIONS", "N_COLUMNS", *sizes):
        text = text.replace(f"NAME_{macro}", f"{name.upper()}_{macro}")
    text = text.replace("NAME", name)
    return re.sub("@([A-Z]+)@", lambda found: parts[found[1]], text)
