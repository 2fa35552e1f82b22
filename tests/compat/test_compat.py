"""Files of every version of the format load, and predict the bits they predicted when written."""

from __future__ import annotations

import numpy as np
import pytest

import spinney
from spinney.model.document import VERSION
from tests.compat.make_files import FOLDER, judged_rows
from tests.small_models import MAKERS, answers

FILES = sorted(FOLDER.glob("v*/*.spinney"))


def test_every_version_has_its_files():
    assert {path.parent.name for path in FILES} == {f"v{n}" for n in range(1, VERSION + 1)}
    present = {path.stem for path in FILES if path.parent.name == f"v{VERSION}"}
    assert present == set(MAKERS)


@pytest.mark.parametrize("memory_map", [False, True])
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_predicts_the_bits_of_its_time(path, memory_map):
    model = spinney.load(path, memory_map=memory_map)
    with np.load(path.parent / "answers.npz") as said:
        wanted = {name: said[name] for name in said.files if name.startswith(f"{path.stem}/")}
    found = answers(model, judged_rows())
    assert {f"{path.stem}/{method}" for method in found} == set(wanted)
    for method, values in found.items():
        np.testing.assert_array_equal(values, wanted[f"{path.stem}/{method}"])
        assert values.dtype == wanted[f"{path.stem}/{method}"].dtype


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_stays_small(path):
    assert path.stat().st_size < 12_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_importances_of_its_time_are_called_what_they_are(path):
    model = spinney.load(path)
    if hasattr(model, "feature_importances_"):
        assert model.importance_type == "weight"
