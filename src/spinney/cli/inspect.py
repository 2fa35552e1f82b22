"""``spinney inspect``: what is in a model file."""

from __future__ import annotations

import argparse
import inspect
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

import spinney
from spinney.cli.arguments import add_command, add_json, at_least
from spinney.cli.console import Console
from spinney.cli.errors import OK, UsageError
from spinney.cli.layout import align, bytes_text
from spinney.cli.loading import task_of
from spinney.data.wording import counted, listed
from spinney.inspection.fitted_model import FittedModel, fitted_model
from spinney.storage import read_container
from spinney.tree import Tree, count_parameters

DESCRIPTION = """\
Say what is in a model file: the estimator and its parameters, what it predicts, the columns it
reads and how they become numbers, and its trees. --tree K prints tree K as rules, from 0.

Nothing in the file is executed, and every byte of it is checked, so a file of a stranger is safe to
look at.
"""
EXAMPLES = """
  spinney inspect income.spinney
  spinney inspect income.spinney --tree 0 --max-weights 3
  spinney inspect income.spinney --json | jq .parameters
"""

#: Trees that are listed unless --all-trees asks for more.
TREES_SHOWN = 10
#: What the roles of columns are called here.
ROLES = {"text_levels": "text", "number_levels": "category of numbers", "empty": "empty"}


def add_parser(commands: Any) -> None:
    """Add this subcommand to the parser."""
    parser = add_command(
        commands,
        "inspect",
        run,
        "say what is in a model file",
        description=DESCRIPTION,
        examples=EXAMPLES,
    )
    parser.add_argument("model", help="model file")
    parser.add_argument("--tree", metavar="K", type=at_least(0), help="print this tree as rules")
    parser.add_argument(
        "--max-weights", metavar="N", type=at_least(1), help="longest sum to print, with --tree"
    )
    parser.add_argument("--all-trees", action="store_true", help="a line for every tree")
    add_json(parser)


def run(options: argparse.Namespace, console: Console) -> int:
    """Load and tell."""
    model = spinney.load(options.model)
    if options.tree is not None:
        text = rules(model, options.tree, options.max_weights)
        console.answer({"tree": options.tree, "rules": text}, text)
        return OK
    found = describe(model, options.model)
    console.answer(found, _text(found, show_all=options.all_trees))
    return OK


def rules(model: Any, number: int, max_weights: int | None) -> str:
    """One tree as text."""
    fitted = _fitted_model(model)
    n_trees = 0 if fitted is None else len(fitted.trees)
    if number >= n_trees:
        raise UsageError(f"--tree {number}: the file holds {counted(n_trees, 'tree')}, from 0")
    return spinney.export_text(model, tree=number, max_weights=max_weights).rstrip("\n")


def describe(model: Any, path: str) -> dict[str, Any]:
    """Everything about a model file."""
    header, _ = read_container(path, memory_map=True)
    found: dict[str, Any] = {
        "file": path,
        "bytes": Path(path).stat().st_size,
        "library": header.get("library"),
        "model": type(model).__name__,
        "parameters": _parameters(model),
        "changed": _changed(model),
    }
    fitted = _fitted_model(model)
    if fitted is not None and not isinstance(model, Tree):
        found.update(_learned(fitted))
    trees = () if fitted is None else fitted.trees
    found["n_parameters"] = sum(count_parameters(tree) for tree in trees)
    found["trees"] = [_tree(number, tree) for number, tree in enumerate(trees)]
    return found


def _parameters(model: Any) -> dict[str, Any]:
    """Constructor values."""
    return dict(model.get_params(deep=False)) if hasattr(model, "get_params") else {}


def _changed(model: Any) -> list[str]:
    """Parameters that are not the defaults."""
    known = inspect.signature(type(model).__init__).parameters
    return [name for name, value in _parameters(model).items() if value != known[name].default]


def _fitted_model(model: object) -> FittedModel | None:
    """The model as all see it; None of what was not fitted or has no trees of its own."""
    try:
        return fitted_model(model)
    except (NotFittedError, TypeError):
        return None


def _learned(fitted: FittedModel) -> dict[str, Any]:
    """What a fit has found out: the task, and what the columns are."""
    found: dict[str, Any] = {"task": task_of(fitted)}
    if fitted.readout.classes is not None:
        found["classes"] = fitted.readout.classes.tolist()
    else:
        found["outputs"] = fitted.forest.n_outputs
    found["columns"] = _columns(fitted)
    return found


def _columns(fitted: FittedModel) -> list[dict[str, Any]]:
    """Name, role, coordinates and importance of each column."""
    encoding, importances = fitted.encoding, fitted.importances
    found = []
    kinds = zip(fitted.column_names, fitted.column_kinds, strict=True)
    for column, (name, kind) in enumerate(kinds):
        entry: dict[str, Any] = {"name": name, "role": ROLES.get(kind, kind)}
        if encoding is not None:
            own = [part.name for part in encoding.coordinates if part.column == column]
            entry["coordinates"] = own
            if column in encoding.levels:
                levels = encoding.levels[column]
                entry["levels"] = list(levels.known or levels.own)
        if importances is not None:
            entry["importance"] = float(importances[column])
        found.append(entry)
    return found


def _tree(number: int, tree: Tree) -> dict[str, Any]:
    n_leaves = int(np.count_nonzero(tree.left < 0))
    return {
        "tree": number,
        "depth": int(tree.max_depth),
        "nodes": int(tree.n_nodes),
        "leaves": n_leaves,
        "weights": int(tree.split_indptr[-1]),
        "parameters": int(count_parameters(tree)),
    }


def _text(found: dict[str, Any], *, show_all: bool) -> str:
    parts = [_head(found)]
    if found["parameters"]:
        parts.append(_text_of_parameters(found["parameters"], found["changed"]))
    if "columns" in found:
        parts.append(_text_of_columns(found["columns"]))
    if found["trees"]:
        parts.append(_text_of_trees(found["trees"], show_all=show_all))
    return "\n\n".join(parts)


def _head(found: dict[str, Any]) -> str:
    lines = [
        f"{found['model']} in {found['file']}: {bytes_text(found['bytes'])}, written by spinney "
        f"{found['library']}"
    ]
    if "classes" in found:
        lines.append(
            f"predicts {counted(len(found['classes']), 'class')}: {listed(found['classes'], 20)}"
        )
    elif "outputs" in found:
        lines.append(f"predicts {counted(found['outputs'], 'number')}")
    lines.append(
        f"{counted(len(found['trees']), 'tree')}, {counted(found['n_parameters'], 'parameter')}"
    )
    return "\n".join(lines)


def _text_of_parameters(parameters: dict[str, Any], changed: list[str]) -> str:
    """Values that were chosen, then those of the defaults."""
    chosen = [f"{name}={parameters[name]!r}" for name in changed]
    others = [f"{name}={value!r}" for name, value in parameters.items() if name not in changed]
    parts = [("chosen", chosen), ("defaults", others)]
    return "\n".join(
        textwrap.fill(
            ", ".join(words),
            100,
            initial_indent=f"{title}: ",
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
        for title, words in parts
        if words
    )


def _text_of_columns(columns: list[dict[str, Any]]) -> str:
    rows = []
    for column in columns:
        importance = f"{column['importance']:.3f}" if "importance" in column else "–"
        becomes = listed(column.get("coordinates", [column["name"]]), 5)
        rows.append([column["name"], column["role"], importance, becomes])
    header = ["column", "role", "importance", "becomes"]
    widths = [max(len(row[place]) for row in [header, *rows]) for place in range(3)]
    lines = [
        f"{name.ljust(widths[0])}  {role.ljust(widths[1])}  {share.rjust(widths[2])}  {becomes}"
        for name, role, share, becomes in [header, *rows]
    ]
    return "\n".join(lines)


def _text_of_trees(trees: list[dict[str, Any]], *, show_all: bool) -> str:
    shown = trees if show_all else trees[:TREES_SHOWN]
    header = list(shown[0])
    text = align(header, [[f"{tree[name]:,}" for name in header] for tree in shown], left=0)
    rest = len(trees) - len(shown)
    return text + (f"\n… {rest} more: --all-trees" if rest else "")
