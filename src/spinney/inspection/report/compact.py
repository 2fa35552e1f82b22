"""A fitted model in a few lines of HTML, for notebooks: no script, no link, all text escaped."""

from __future__ import annotations

from html import escape

from sklearn.exceptions import NotFittedError

from spinney.data.wording import counted
from spinney.inspection.fitted_model import FittedModel, fitted_estimator

#: Columns whose importance is shown.
N_COLUMNS = 6

_STYLE = (
    "font:13px/1.5 system-ui,sans-serif;margin:.5em 0;padding:.7em 1em;max-width:36em;"
    "border:1px solid rgba(128,128,128,.35);border-radius:8px"
)
_BAR = "display:inline-block;height:.6em;border-radius:2px;background:#4a7ba6;width:{:.1f}em"
_NUMBER = "text-align:right;font-variant-numeric:tabular-nums;padding:0 .8em"


def compact_summary(model: object) -> str:
    """Size of a fitted model and the columns that matter most.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    str
        A ``div``; nothing for models that are not fitted, and for refined forests whose trees
        cannot be read.
    """
    try:
        fitted = fitted_estimator(model)
    except (NotFittedError, TypeError):
        return ""
    trees = fitted.trees
    n_leaves = sum(tree.n_leaves for tree in trees)
    depth = max(tree.max_depth for tree in trees)
    n_outputs = len(fitted.output_names)
    task = counted(n_outputs, "class" if fitted.is_classifier else "output")
    facts = [
        task,
        counted(len(trees), "tree"),
        f"depth {depth}",
        counted(n_leaves, "leaf"),
        counted(fitted.forest.n_parameters, "parameter"),
        counted(len(fitted.column_names), "column"),
    ]
    title = escape(fitted.model_name)
    return (
        f'<div class="spinney-summary" style="{_STYLE}"><strong>{title}</strong>, fitted<br>'
        f"{' · '.join(facts)}{_importances(fitted)}"
        '<div style="opacity:.7;margin-top:.4em">report("report.html", X, y) writes the explorer '
        "of this model</div></div>"
    )


def _importances(fitted: FittedModel) -> str:
    """Table of the most important columns, if the model knows them."""
    known = fitted.importances
    if known is None or not known.any():
        return ""
    order = sorted(range(len(known)), key=lambda column: -known[column])[:N_COLUMNS]
    largest = float(known[order[0]])
    lines = (
        f'<tr><td style="text-align:left">{escape(_short(fitted.column_names[column]))}</td>'
        f'<td style="{_NUMBER}">{known[column]:.3f}</td><td style="text-align:left">'
        f'<span style="{_BAR.format(9 * known[column] / largest)}"></span></td></tr>'
        for column in order
        if known[column] > 0
    )
    return f'<table style="margin:.4em 0 0;border:0">{"".join(lines)}</table>'


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
