"""Parameters come in groups: constructors, docstrings and the type checker all know them."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import spinney

ESTIMATORS = [
    kind
    for kind in (getattr(spinney, name) for name in spinney.__all__)
    if isinstance(kind, type) and hasattr(kind, "fit")
]
ROOT = Path(__file__).parents[2]
MOST_CLASSES = 6
MOST_BASES = 12


def own_classes(kind: type) -> list[type]:
    return [base for base in kind.__mro__ if base.__module__.startswith("spinney.")]


def documented(kind: type) -> dict[str, str]:
    """Text of each parameter in the docstring of a class, as one line.

    Where a group has but the beginning of a sentence, each family ends it in its own way.
    """
    text = inspect.getdoc(kind) or ""
    section = re.search(r"Parameters\n-+\n(.*?)(\n\n[A-Z][\w ]+\n-+\n|\Z)", text, re.S)
    entries = re.split(r"\n(?=\w)", section.group(1)) if section else []
    found = {}
    for entry in entries:
        head, *lines = entry.splitlines()
        for name in head.split(" :")[0].split(", "):
            found[name] = " ".join(line.strip() for line in lines)
    return found


def test_no_estimator_stands_on_many_classes() -> None:
    lengths = {kind.__name__: len(own_classes(kind)) for kind in ESTIMATORS}
    assert {name: n for name, n in lengths.items() if n > MOST_CLASSES} == {}
    assert len({base for kind in ESTIMATORS for base in own_classes(kind)[1:]}) <= MOST_BASES


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_parameter_is_told_in_the_words_of_its_group(kind: Any) -> None:
    own = documented(kind)
    redeclared = inspect.get_annotations(kind)
    others = {}
    for name in set(inspect.signature(kind).parameters) - set(redeclared):
        texts = [documented(base)[name] for base in kind.__mro__[1:] if name in documented(base)]
        if texts and texts[0] and not own[name].startswith(texts[0]):
            others[name] = (own[name], texts[0])
    assert others == {}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_constructor_stores_its_arguments_untouched(kind: Any) -> None:
    names = list(inspect.signature(kind).parameters)
    values = {name: object() for name in names}
    model = kind(**values)
    assert vars(model) == values
    assert model.get_params(deep=False) == values


def test_what_is_fixed_is_no_parameter() -> None:
    tree = spinney.TAOTreeClassifier()
    assert tree.calibrate is False
    assert "calibrate" not in vars(tree)
    with pytest.raises(TypeError, match="got calibrate, which it does not know"):
        spinney.TAOTreeClassifier(calibrate=True)


@pytest.mark.parametrize(
    ("group", "line", "error"),
    [
        ("spinney.estimators.forest.TAOForestClassifier", "self.no_such_parameter", "attr-defined"),
        ("spinney.estimators.model.Model", "self.no_such_parameter", "attr-defined"),
        ("spinney.estimators.co2.CO2TreeRegressor", "len(self.max_norm)", "arg-type"),
        ("spinney.estimators.fao.FAOForestRegressor", "self.n_forests.upper()", "attr-defined"),
    ],
)
def test_the_type_checker_sees_what_is_behind_self(
    tmp_path: Path, group: str, line: str, error: str
) -> None:
    module, name = group.rsplit(".", 1)
    source = tmp_path / "misspelt.py"
    source.write_text(
        f"from {module} import {name}\n\n\n"
        f"class Mine({name}):\n    def method(self) -> None:\n        {line}\n"
    )
    options = ["--strict", "--config-file", str(ROOT / "pyproject.toml")]
    told = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(source)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "misspelt.py:6: error: " in told.stdout
    assert f"[{error}]" in told.stdout
    assert "Found 1 error in 1 file" in told.stdout
