"""A fitted model in a few lines of HTML, for notebooks: no script, no link, all text escaped."""

from __future__ import annotations

from html import escape

from spinney.inspection.report.subject import Subject

#: Columns whose importance is shown.
N_COLUMNS = 6

_STYLE = (
    "font:13px/1.5 system-ui,sans-serif;margin:.5em 0;padding:.7em 1em;max-width:36em;"
    "border:1px solid rgba(128,128,128,.35);border-radius:8px"
)
_BAR = "display:inline-block;height:.6em;border-radius:2px;background:#4a7ba6;width:{:.1f}em"
_NUMBER = "text-align:right;font-variant-numeric:tabular-nums;padding:0 .8em"


def compact_summary(subject: Subject) -> str:
    """Size of a fitted model and the columns that matter most.

    Parameters
    ----------
    subject : Subject
        The model.

    Returns
    -------
    str
        A ``div``.
    """
    trees = subject.forest.trees
    n_leaves = sum(tree.n_leaves for tree in trees)
    depth = max(tree.max_depth for tree in trees)
    n_outputs = len(subject.output_names)
    task = f"{n_outputs} classes" if subject.is_classifier else _plural(n_outputs, "output")
    facts = [
        task,
        _plural(len(trees), "tree"),
        f"depth {depth}",
        f"{n_leaves:,} leaves",
        f"{subject.forest.n_parameters:,} parameters",
        _plural(len(subject.column_names), "column"),
    ]
    title = escape(type(subject.model).__name__)
    return (
        f'<div class="spinney-summary" style="{_STYLE}"><strong>{title}</strong>, fitted<br>'
        f"{' · '.join(facts)}{_importances(subject)}"
        '<div style="opacity:.7;margin-top:.4em">report("report.html", X, y) writes the explorer '
        "of this model</div></div>"
    )


def _importances(subject: Subject) -> str:
    """Table of the most important columns, if the model knows them."""
    known = getattr(subject.model, "feature_importances_", None)
    if known is None or not known.any():
        return ""
    order = sorted(range(len(known)), key=lambda column: -known[column])[:N_COLUMNS]
    largest = float(known[order[0]])
    lines = (
        f'<tr><td style="text-align:left">{escape(_short(subject.column_names[column]))}</td>'
        f'<td style="{_NUMBER}">{known[column]:.3f}</td><td style="text-align:left">'
        f'<span style="{_BAR.format(9 * known[column] / largest)}"></span></td></tr>'
        for column in order
        if known[column] > 0
    )
    return f'<table style="margin:.4em 0 0;border:0">{"".join(lines)}</table>'


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
