"""Files made by hand to do harm: each is whole as a container, and refused as a model."""

from __future__ import annotations

import json

import numpy as np
import pytest

import spinney
from spinney.export.document import encode_model
from spinney.storage import DamagedFileError, read_container, write_container
from tests.compat.models import small_model
from tests.fuzz.mutants import assemble, disassemble


def edited(name, place, value):
    """Header and arrays of a forest with one value exchanged."""
    header, arrays = encode_model(small_model("tao_forest_classifier"))
    array = arrays[name].copy()
    array[place] = value
    return header, {**arrays, name: array}


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("trees.left", 0, 0),  # its own child
        ("trees.left", 1, 0),  # a cycle through the root
        ("trees.left", 0, 2),  # two parents
        ("trees.left", 0, 2**31 - 1),  # far outside
        ("trees.left", 0, -(2**31)),
        ("trees.right", 0, 1),  # both children the same
        ("trees.right", 2, 1),  # child before parent
        ("trees.node_begin", 1, 2**62),
        ("trees.node_begin", 1, -1),
        ("trees.node_begin", -1, 2**62),  # more nodes than the file has bytes
        ("trees.split_begin", 1, -(2**63)),
        ("trees.split_row_begin", 1, 0),
        ("trees.value_begin", 1, 1),
        ("trees.split_indptr", 1, 2**62),
        ("trees.split_indptr", 1, -1),
        ("trees.split_indices", 0, 2**30),
        ("trees.split_indices", 0, -1),
        ("trees.split_weights", 0, np.nan),
        ("trees.split_weights", 0, np.inf),
        ("trees.split_weights", 0, 0.0),
        ("trees.bias", 0, np.inf),
        ("trees.leaf_values", 0, np.nan),
        ("trees.n_features", 0, 2**31),
        ("trees.n_features", 0, 2),
        ("trees.n_outputs", 0, 0),
        ("trees.n_outputs", 0, -1),
        ("trees.n_outputs", 0, 2**62),
        ("trees.is_linear", 0, True),
        ("traces.begin", 1, 2**62),
        ("model.feature_importances_", 0, np.nan),
    ],
)
def test_a_crafted_array_is_refused(tmp_path, name, place, value):
    write_container(tmp_path / "crafted", *edited(name, place, value))
    with pytest.raises(DamagedFileError):
        spinney.load(tmp_path / "crafted")


def rewritten(tmp_path, change):
    """A whole file whose outer header was changed, with a right checksum."""
    spinney.save(small_model("tao_tree_classifier"), tmp_path / "crafted")
    entries, data = disassemble((tmp_path / "crafted").read_bytes())
    (tmp_path / "crafted").write_bytes(assemble(*change(entries, data)))
    return tmp_path / "crafted"


def test_the_unchanged_file_loads(tmp_path):
    spinney.load(rewritten(tmp_path, lambda entries, data: (entries, data)))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("shape", [2**63]),
        ("shape", [2**32, 2**32]),
        ("shape", [-3]),
        ("shape", [0]),
        ("data_offsets", [0, 2**63]),
        ("data_offsets", [-8, 16]),
        ("data_offsets", [24, 0]),
        ("dtype", "F16"),
        ("dtype", "object"),
    ],
)
def test_a_crafted_entry_is_refused(tmp_path, key, value):
    def change(entries, data):
        entries["trees.bias"][key] = value
        return entries, data

    with pytest.raises(DamagedFileError):
        spinney.load(rewritten(tmp_path, change))


def test_a_name_that_comes_twice_is_refused(tmp_path):
    def change(entries, data):
        text = json.dumps(entries)
        entry = json.dumps(entries["trees.bias"])
        return text.replace("{", f'{{"trees.bias": {entry}, ', 1).encode(), data

    with pytest.raises(DamagedFileError, match="twice"):
        spinney.load(rewritten(tmp_path, change))


@pytest.mark.parametrize("depth", [100, 5_000, 1_000_000])
def test_deep_nesting_is_refused(tmp_path, depth):
    def change(entries, data):
        deep = '{"kind":"model","version":1,"model":' + "[" * depth + "]" * depth + "}"
        entries["__metadata__"]["header"] = deep
        return entries, data

    with pytest.raises(DamagedFileError):
        spinney.load(rewritten(tmp_path, change))


def test_a_file_cannot_name_code(tmp_path):
    header, arrays = encode_model(small_model("tao_tree_classifier"))
    for name in ("os.system", "builtins.eval", "__class__", "spinney.load", "BaseEstimator"):
        header["model"]["class"] = name
        write_container(tmp_path / "crafted", header, arrays)
        with pytest.raises(DamagedFileError, match="unknown class"):
            spinney.load(tmp_path / "crafted")


def test_a_fitted_attribute_cannot_shadow_a_method(tmp_path):
    for name in ("predict", "__class__", "fit", "_checked_rows"):
        header, arrays = encode_model(small_model("tao_tree_classifier"))
        header["model"]["fitted"][name] = 1
        write_container(tmp_path / "crafted", header, arrays)
        with pytest.raises(DamagedFileError, match="no fit makes"):
            spinney.load(tmp_path / "crafted")


def test_a_large_claim_in_a_small_file_takes_no_memory(tmp_path):
    """A gigabyte of labels would be asked for by a file of a few hundred bytes."""
    header, arrays = encode_model(small_model("tao_tree_classifier"))
    labels = {"type": "array", "dtype": "<U200000000", "values": ["a", "b", "c"]}
    header["model"]["fitted"]["classes_"] = labels
    arrays = {name: array for name, array in arrays.items() if name != "model.classes_"}
    write_container(tmp_path / "crafted", header, arrays)
    assert read_container(tmp_path / "crafted")
    with pytest.raises(DamagedFileError, match="bytes"):
        spinney.load(tmp_path / "crafted")
