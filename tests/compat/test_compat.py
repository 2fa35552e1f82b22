"""Files of every version of the format load, and so do pickles; both predict the bits of then."""

from __future__ import annotations

import gzip
import importlib
import pickle

import numpy as np
import pytest

import spinney
from spinney._moved import MOVED
from spinney.export.document import VERSION
from tests.compat.make_files import FOLDER, judged_rows
from tests.compat.models import MAKERS, answers, table

FILES = sorted(FOLDER.glob("v*/*.spinney"))
PICKLES = sorted(FOLDER.glob("pickles/*.pickle.gz"))


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
    for name, values in wanted.items():  # a model may say more today
        said = found[name.removeprefix(f"{path.stem}/")]
        np.testing.assert_array_equal(said, values)
        assert said.dtype == values.dtype


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_stays_small(path):
    assert path.stat().st_size < 12_000


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_importances_of_its_time_are_called_what_they_are(path):
    model = spinney.load(path)
    has_none = ("refined", "pixel", "neighbor", "bare_tree", "regularization_path")
    assert hasattr(model, "feature_importances_") != path.stem.startswith(has_none)
    if hasattr(model, "feature_importances_"):
        assert model.importance_type == "weight"


def test_there_is_a_pickle_of_every_family():
    assert {path.name.removesuffix(".pickle.gz") for path in PICKLES} >= set(MAKERS)


@pytest.mark.parametrize("path", PICKLES, ids=lambda path: path.name.removesuffix(".pickle.gz"))
def test_a_pickle_of_before_modules_moved_predicts_the_bits_of_its_time(path):
    name = path.name.removesuffix(".pickle.gz")
    model = pickle.loads(gzip.decompress(path.read_bytes()))
    if name.startswith("predictor_of_"):
        rows = judged_rows()
        found = {"call": model(table(rows) if name.endswith("of_a_table") else rows)}
    else:
        found = answers(model, judged_rows())
    with np.load(path.parent / "answers.npz") as said:
        wanted = {key: said[key] for key in said.files if key.startswith(f"{name}/")}
    assert wanted
    for key, values in wanted.items():
        np.testing.assert_array_equal(found[key.removeprefix(f"{name}/")], values)


@pytest.mark.parametrize("old", MOVED)
def test_modules_are_found_by_the_names_they_had(old):
    new = importlib.import_module(MOVED[old])
    kinds = {name: value for name, value in vars(new).items() if isinstance(value, type)}
    assert all(getattr(importlib.import_module(old), name) is kinds[name] for name in kinds)


def test_modules_that_never_were_are_not_found():
    with pytest.raises(ModuleNotFoundError, match=r"spinney\.tables\.chairs"):
        importlib.import_module("spinney.tables.chairs")
