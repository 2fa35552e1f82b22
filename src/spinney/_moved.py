"""Modules that had other names in older releases, for pickles that name them.

A pickle says in which module each of its classes is. Where a module has moved, importing its old
name gives a module that looks everything up in the new one. Nothing else is looked at: this finder
comes after all others, so it is asked for modules of this library that do not exist.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "spinney.checkpoint": "spinney.fitting.checkpoint",
    "spinney.distinct": "spinney.data.distinct",
    "spinney.estimators.base": "spinney.estimators.model",
    "spinney.estimators.class_weight": "spinney.data.class_weight",
    "spinney.estimators.co2_tuning": "spinney.selection.co2_tuning",
    "spinney.estimators.fao_tuning": "spinney.selection.fao_tuning",
    "spinney.estimators.held_out": "spinney.selection.held_out",
    "spinney.estimators.holes": "spinney.data.row_reader",
    "spinney.estimators.path": "spinney.selection.regularization_path",
    "spinney.estimators.predictor": "spinney.inspection.compiled",
    "spinney.estimators.readout": "spinney.tree.readout",
    "spinney.estimators.row_loss": "spinney.selection.row_loss",
    "spinney.estimators.served_rows": "spinney.data.served_rows",
    "spinney.estimators.start": "spinney.ensembles.tree_start",
    "spinney.estimators.target_texts": "spinney.data.target_texts",
    "spinney.estimators.validation": "spinney.data.validation",
    "spinney.explanations": "spinney.inspection.explanations",
    "spinney.grow": "spinney.algorithms.grow",
    "spinney.inspection.explanations.paths": "spinney.inspection.explanations.explain_row",
    "spinney.inspection.plotting.path": "spinney.inspection.plotting.regularization_path",
    "spinney.inspection.text": "spinney.inspection.tree_text",
    "spinney.losses": "spinney.algorithms.losses",
    "spinney.model": "spinney.export",
    "spinney.optimize": "spinney.algorithms",
    "spinney.progress": "spinney.fitting.progress",
    "spinney.report": "spinney.inspection.report",
    "spinney.tables": "spinney.data.tables",
}
"""New names of modules and packages by their old ones."""


def new_name(old: str) -> str | None:
    """What a module is called now; None if it never had another name."""
    for moved, new in MOVED.items():
        if old == moved or old.startswith(f"{moved}."):
            return new + old.removeprefix(moved)
    return None


class MovedFinder(MetaPathFinder, Loader):
    """Finds modules by the names that they had."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Specification of a module that has moved, else None."""
        del path, target
        if new_name(fullname) is None:
            return None
        return ModuleSpec(fullname, self, is_package=True)  # its modules are looked for, too

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Leave it to Python."""
        del spec
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Look all names up in the module that this one has become."""
        found = new_name(module.__name__)
        assert found is not None, "others are not found here"
        try:
            target = import_module(found)
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(f"No module named {module.__name__!r}") from error

        def look_up(name: str) -> Any:
            return getattr(target, name)

        module.__getattr__ = look_up  # type: ignore[method-assign]


def find_moved_modules() -> None:
    """Let old names of modules be imported, from now on."""
    if not any(type(finder).__name__ == MovedFinder.__name__ for finder in sys.meta_path):
        sys.meta_path.append(MovedFinder())
