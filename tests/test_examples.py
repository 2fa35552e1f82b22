"""The example of a search runs, and finds nothing worse than where it began."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def main_of(name):
    """The function that an example runs."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


def test_tuning_with_optuna(capsys):
    pytest.importorskip("optuna", reason="the example needs optuna")
    main_of("tune_with_optuna")(["--trials", "3", "--rows", "600"])
    printed = capsys.readouterr().out
    untuned, tuned = map(float, re.findall(r"test AUC ([0-9.]+)", printed))
    [best] = map(float, re.findall(r"best of 3 trials, AUC ([0-9.]+) in the folds", printed))
    assert min(untuned, tuned, best) > 0.65  # guessing has 0.5
    assert "town" in printed
