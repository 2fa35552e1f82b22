"""Every example runs, with smaller numbers than its own."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.datasets import load_digits

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
NEEDS = {"tune_with_optuna": "optuna"}


def loaded(name: str) -> ModuleType:
    """An example as a module; it is not run."""
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    specification = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def few_digits(**_: object) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(n_class=3, return_X_y=True)
    return X[:200], y[:200]


def smaller_digits(module: ModuleType, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(module, "load_digits", few_digits)


def smaller_islands(module: ModuleType, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(module, "N_ROWS", 50)
    patch.setattr(module, "N_FORESTS", 4)


def smaller_faces(module: ModuleType, patch: pytest.MonkeyPatch) -> None:
    for name, value in {"N_TRAIN": 12, "N_TEST": 4, "N_WINDOWS": 300, "N_TREES": (2,)}.items():
        patch.setattr(module, name, value)


# An example that is in neither runs as it is.
SMALLER: dict[str, Callable[[ModuleType, pytest.MonkeyPatch], None]] = {
    "boosting_early_stop": smaller_digits,
    "fao_islands": smaller_islands,
    "forest_over_lambda": smaller_digits,
    "pixel_labelling": smaller_faces,
    "plots": smaller_digits,
}

ARGUMENTS = {"tune_with_optuna": ["--trials", "3", "--rows", "600"]}


@pytest.mark.slow
@pytest.mark.parametrize("name", [script.stem for script in SCRIPTS])
def test_example_runs_prints_and_draws_what_it_promises(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module = loaded(name)
    if name in SMALLER:
        SMALLER[name](module, monkeypatch)
    monkeypatch.chdir(tmp_path)
    module.main(*([ARGUMENTS[name]] if name in ARGUMENTS else []))
    assert len(capsys.readouterr().out.splitlines()) >= 3
    promised = set(re.findall(r"\w+\.png", module.__doc__ or ""))
    assert {picture.name for picture in tmp_path.glob("*.png")} == promised


@pytest.mark.slow
def test_plots_of_every_kind_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = loaded("plots")
    smaller_digits(module, monkeypatch)
    module.main(tmp_path)
    drawn = sorted(tmp_path.iterdir())
    assert len(drawn) == 16
    assert all(path.stat().st_size > 12_000 for path in drawn)  # empty axes have 9,000 bytes


@pytest.mark.slow
def test_tuning_finds_nothing_worse_than_guessing(capsys: pytest.CaptureFixture[str]) -> None:
    loaded("tune_with_optuna").main(ARGUMENTS["tune_with_optuna"])
    printed = capsys.readouterr().out
    untuned, tuned = map(float, re.findall(r"test AUC ([0-9.]+)", printed))
    [best] = map(float, re.findall(r"best of 3 trials, AUC ([0-9.]+) in the folds", printed))
    assert min(untuned, tuned, best) > 0.65  # guessing has 0.5
    assert "town" in printed


def test_every_example_is_in_the_list_that_people_read() -> None:
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [script.name for script in SCRIPTS if f"({script.name})" not in page] == []
