"""A short run of the fuzzer, and a proof that it would see what it looks for."""

from __future__ import annotations

import argparse
import os
import signal
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import spinney
from spinney.export.document import decode_model, encode_model
from spinney.storage.layout import DTYPES
from tests.compat.models import answers, small_model
from tests.fuzz import __main__ as fuzz
from tests.fuzz.judge import LOADED, REFUSED, check_slowly, judge
from tests.fuzz.mutants import kind_of, mutant

N_SHORT = 400


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    return fuzz._bases(tmp_path_factory.mktemp("bases"))


def options(tmp_path, **changes):
    given = {"seed": 0, "timeout": 20.0, "memory": 0, "keep": tmp_path / "keep", **changes}
    return argparse.Namespace(**given)


def test_mutants_are_refused_or_whole(tmp_path, bases):
    """Other mutants than those of the long run, which starts from seed 0."""
    counts = Counter()
    for number in range(N_SHORT):
        path = tmp_path / "mutant"
        path.unlink(missing_ok=True)
        path.write_bytes(mutant(bases[number % len(bases)], number, seed=1))
        counts[judge(path, memory_map=number % 2 == 1)] += 1
    assert counts[REFUSED] > N_SHORT / 2
    assert counts[LOADED] > 0  # else mutants are too wild to meet the later checks


def test_the_same_number_is_the_same_mutant(bases):
    assert mutant(bases[0], 5) == mutant(bases[0], 5)
    assert mutant(bases[0], 5) != mutant(bases[0], 5, seed=1)


def test_every_kind_of_mutant_is_drawn():
    assert {kind_of(number) for number in range(50)} == {kind.__name__ for _, kind in fuzz_kinds()}


def fuzz_kinds():
    from tests.fuzz.mutants import KINDS

    return KINDS


def run(monkeypatch, tmp_path, bases, act, **changes):
    """Counts of six mutants, of which the judge treats the fourth as `act` says."""
    seen = Counter()

    def strange_judge(path, memory_map):
        del path, memory_map
        seen["n"] += 1
        if seen["n"] == 4:
            act()
        return REFUSED

    monkeypatch.setattr(fuzz, "judge", strange_judge)
    counts = Counter()
    fuzz._run(bases, 0, 6, options(tmp_path, **changes), counts, tmp_path)
    said = Counter()
    for key, count in counts.items():
        said[key.split(": ", 1)[1]] += count
    return said


def test_a_crash_is_counted_and_kept_and_the_rest_goes_on(monkeypatch, tmp_path, bases):
    # The second child begins to count anew and lives.
    said = run(monkeypatch, tmp_path, bases, lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert said == {REFUSED: 5, "crash -9": 1}
    assert [path.name for path in (tmp_path / "keep").iterdir()] == ["0-3.spinney"]


def test_a_hang_is_counted_and_ended(monkeypatch, tmp_path, bases):
    said = run(monkeypatch, tmp_path, bases, lambda: time.sleep(600), timeout=1.0)
    assert said == {REFUSED: 5, "hang": 1}


def test_an_undocumented_error_is_counted(monkeypatch, tmp_path, bases):
    def fail():
        raise KeyError("x")

    assert run(monkeypatch, tmp_path, bases, fail) == {REFUSED: 5, "KeyError 'x'": 1}


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("left", 0, 0),
        ("left", 0, 99),
        ("right", 0, 1),
        ("bias", 0, np.nan),
        ("split_indices", 0, 3),
        ("split_indices", 0, -1),
        ("split_indptr", 1, -1),
        ("split_indptr", -1, 0),
        ("split_weights", 0, np.inf),
        ("leaf_values", (0, 0), np.nan),
    ],
)
def test_the_judge_sees_a_broken_tree(name, place, value):
    tree = small_model("tao_tree_classifier").tree_
    check_slowly(tree)
    array = getattr(tree, name).copy()
    array[place] = value
    with pytest.raises(AssertionError):
        check_slowly(replace(tree, **{name: array}))


header, whole_arrays = encode_model(small_model("tao_forest_classifier"))
any_array = st.sampled_from(list(DTYPES.values())).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=2, min_side=0))
)


@given(st.dictionaries(st.sampled_from(sorted(whole_arrays)), any_array, min_size=1, max_size=2))
@settings(max_examples=60)
def test_any_array_in_place_of_another_is_refused_or_harmless(changed):
    try:
        model = decode_model(header, {**whole_arrays, **changed})
    except spinney.DamagedFileError:
        return
    for tree in model.forest_.trees:
        check_slowly(tree)
    answers(model)


@given(st.data())
@settings(max_examples=60)
def test_any_value_in_an_array_is_refused_or_harmless(data):
    name = data.draw(st.sampled_from(sorted(n for n in whole_arrays if whole_arrays[n].size)))
    array = whole_arrays[name].copy()
    place = data.draw(st.integers(0, array.size - 1))
    array.reshape(-1)[place] = data.draw(hnp.from_dtype(array.dtype))
    try:
        model = decode_model(header, {**whole_arrays, name: array})
    except spinney.DamagedFileError:
        return
    for tree in model.forest_.trees:
        check_slowly(tree)
    with np.errstate(over="ignore", invalid="ignore"):
        answers(model)
