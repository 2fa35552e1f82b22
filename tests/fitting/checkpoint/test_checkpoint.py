"""What a checkpoint belongs to, what it survives, and what is refused."""

from __future__ import annotations

import copy
import errno
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import spinney
from spinney import (
    FAOForestClassifier,
    GreedyForestClassifier,
    TAOBoostClassifier,
)
from spinney.fitting.checkpoint import checkpoint as module
from spinney.fitting.checkpoint.checkpoint import RunSaver
from spinney.storage import DamagedFileError
from spinney.storage import journal as journal_module
from spinney.storage.journal import Journal, Record
from tests.bits import differences, same
from tests.contracts.cases import FRAME, IRIS, VALIDATION
from tests.contracts.resumed import RESUMED as FITS
from tests.contracts.resumed import fit
from tests.kills import killed_before

# Small forests leave some rows in every bag, which is not what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore:.*were seen by every tree")


def test_a_path_of_penalties_depends_on_the_number_of_trees(tmp_path):
    path = tmp_path / "fit.checkpoint"
    fit("bagged path", path)
    with pytest.raises(ValueError, match="n_estimators was 3, is 4"):
        fit("bagged path", path, n_estimators=4)


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("bagged", {"alpha": 0.2}, "alpha was 0.1, is 0.2"),
        ("tree", {"max_iter": 10}, "max_iter was 9, is 10"),
        ("fao", {"max_iter": 4}, "max_iter was 3, is 4"),
        ("boosted", {"random_state": 1}, "random_state was 0, is 1"),
        (
            "greedy",
            {"class_weight": {0: 2.0, 1: 1.0, 2: 1.0}},
            r"class_weight was None, is \{0: 2.0, 1: 1.0, 2: 1.0\}",
        ),
        (
            "tree",
            {"init": DecisionTreeClassifier(max_depth=2, random_state=0).fit(*IRIS)},
            "init was 'supervised', is a fitted DecisionTreeClassifier",
        ),
    ],
)
def test_other_parameters_are_refused_by_name(name, parameters, words, tmp_path):
    path = tmp_path / "fit.checkpoint"
    fit(name, path)
    stored = path.read_bytes()
    with pytest.raises(ValueError, match=f"is of another fit: {words}; give the same"):
        fit(name, path, **parameters)
    assert path.read_bytes() == stored


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, RandomForestClassifier])
def test_fitted_trees_given_as_a_start_are_told_apart(kind, tmp_path):
    path = tmp_path / "fit.checkpoint"
    forest = FAOForestClassifier(2, 2, max_depth=2, max_iter=2, random_state=0)
    starts = [kind(max_depth=2, random_state=seed, max_features=1).fit(*IRIS) for seed in (0, 1)]
    forest.set_params(init=starts[0]).fit(*IRIS, checkpoint=path)
    forest.fit(*IRIS, checkpoint=path)
    with pytest.raises(ValueError, match=r"init was a fitted .*, is another"):
        forest.set_params(init=starts[1]).fit(*IRIS, checkpoint=path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y, w: (X[::-1], y, w), r"X has other values \(or row order\)"),
        (lambda X, y, w: (X + 1e-3, y, w), "X has other values"),
        (lambda X, y, w: (X[:, :3], y, w), r"X had shape \[150, 4\], has \[150, 3\]"),
        (lambda X, y, w: (X[:-1], y[:-1], w[:-1]), r"X had shape \[150, 4\], has \[149, 4\]"),
        (lambda X, y, w: (X, y[::-1], w), "y has other values"),
        (lambda X, y, w: (X, y + 1, w), "y has other classes"),
        (lambda X, y, w: (X, y, 2 * w), "sample_weight has other values"),
        (
            lambda X, y, w: (X, y, np.where(w == 1, 0, w)),
            "another fit: sample_weight or class_weight leaves out other rows; give",
        ),
    ],
)
def test_other_data_are_refused(change, words, tmp_path):
    X, y = IRIS
    weights = np.linspace(1, 2, len(y))
    path = tmp_path / "fit.checkpoint"
    forest = GreedyForestClassifier(2, random_state=0)
    forest.fit(X, y, weights, checkpoint=path)
    with pytest.raises(ValueError, match=words):
        forest.fit(*change(X, y, weights), checkpoint=path)


def with_a_new_level(X):
    return X.assign(few=X["few"].cat.add_categories("d").where(X.index != 7, "d"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y, w: (with_a_new_level(X), y, w), r"X has other values \(or row order\)"),
        (
            lambda X, y, w: (X[X.columns[[1, 0, 2, 3]]], y, w),
            "X has other column names; X has",
        ),
        (lambda X, y, w: (X.assign(more=1), y, w), r"X had shape \[90, 4\], has \[90, 5\]; X"),
        (lambda X, y, w: (X, y[::-1], w), "y has other values"),
        (lambda X, y, w: (X, y, w + np.arange(90)), "sample_weight has other values"),
        (lambda X, y, w: (X, y, w * (X.index > 0)), "sample_weight or class_weight leaves out"),
    ],
)
def test_other_frames_are_refused_by_what_was_given(change, words, tmp_path):
    X, y = FRAME
    path = tmp_path / "fit.checkpoint"
    forest = GreedyForestClassifier(2, random_state=0)
    forest.fit(X, y, np.ones(90), checkpoint=path)
    with pytest.raises(ValueError, match=f"is of another fit: {words}"):
        forest.fit(*change(X, y, np.ones(90)), checkpoint=path)


def test_other_validation_rows_are_refused(tmp_path):
    path = tmp_path / "fit.checkpoint"
    forest = TAOBoostClassifier(2, max_depth=1, random_state=0)
    forest.fit(*IRIS, **VALIDATION, checkpoint=path)
    for rows in ({}, {"X_val": IRIS[0][1::3], "y_val": IRIS[1][1::3]}):
        with pytest.raises(ValueError, match="the validation rows are others"):
            forest.fit(*IRIS, **rows, checkpoint=path)


def test_another_estimator_and_another_release_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "fit.checkpoint"
    fit("greedy", path)
    with pytest.raises(ValueError, match="of a GreedyForestClassifier, this is a CO2Forest"):
        fit("co2", path)
    monkeypatch.setattr(spinney, "__version__", "99.0")
    with pytest.raises(ValueError, match=r"was written by spinney .*, this is 99\.0"):
        fit("greedy", path)


def test_the_container_of_the_rows_does_not_matter(tmp_path):
    X, y = IRIS
    path = tmp_path / "fit.checkpoint"
    forest = GreedyForestClassifier(2, random_state=0)
    wanted = clone(forest).fit(X, y, checkpoint=path)
    for rows in (np.asfortranarray(X), sp.csr_matrix(X), X.tolist()):
        assert differences(wanted, clone(forest).fit(rows, y, checkpoint=path)) == []


@pytest.mark.usefixtures("always_due")
def test_a_drawn_seed_is_kept(tmp_path):
    path = tmp_path / "fit.checkpoint"
    forest = GreedyForestClassifier(4)
    killed_before(2, lambda: forest.fit(*IRIS, checkpoint=path))
    found = forest.fit(*IRIS, checkpoint=path)
    again = GreedyForestClassifier(4)
    again._own_seed = lambda _: found._seed
    again.fit(*IRIS)
    del again._own_seed
    assert differences(found, again) == []


@pytest.mark.usefixtures("always_due")
def test_a_generator_may_be_where_it_was_before_or_after_the_first_call(tmp_path):
    path = tmp_path / "fit.checkpoint"
    wanted = fit("greedy", random_state=np.random.RandomState(7))
    generator = np.random.RandomState(7)
    killed_before(2, lambda: fit("greedy", path, random_state=generator))
    assert differences(wanted, fit("greedy", path, random_state=generator)) == []
    anew = np.random.RandomState(7)
    assert differences(wanted, fit("greedy", path, random_state=anew)) == []
    assert anew.randint(1 << 30) == generator.randint(1 << 30)
    with pytest.raises(ValueError, match="random_state is a RandomState in another state"):
        fit("greedy", path, random_state=np.random.RandomState(8))
    with pytest.raises(ValueError, match="random_state was a RandomState, is 7"):
        fit("greedy", path, random_state=7)


def test_a_refit_of_other_forests_or_rows_and_a_warm_start_are_told_apart(tmp_path):
    path = tmp_path / "fit.checkpoint"
    known = fit("fao", warm_start=True)
    copy.deepcopy(known).refit(*IRIS, checkpoint=path)
    stored = path.read_bytes()
    with pytest.raises(ValueError, match="another fit: it is of a refit, this is a fit; give"):
        copy.deepcopy(known).fit(*IRIS, checkpoint=path)
    with pytest.raises(ValueError, match="X has other values"):
        copy.deepcopy(known).refit(IRIS[0] + 1, IRIS[1], checkpoint=path)
    with pytest.raises(ValueError, match="trees that warm_start or refit goes on from are others"):
        copy.deepcopy(known).refit(*IRIS).refit(*IRIS, checkpoint=path)
    copy.deepcopy(known).set_params(n_forests=3).fit(*IRIS, checkpoint=tmp_path / "warm")
    with pytest.raises(ValueError, match="another fit: it is of a fit, this is a refit; give"):
        copy.deepcopy(known).refit(*IRIS, checkpoint=tmp_path / "warm")
    assert path.read_bytes() == stored


@pytest.mark.usefixtures("always_due")
def test_a_killed_refit_leaves_the_forest_as_it_was(tmp_path):
    path = tmp_path / "fit.checkpoint"
    known = fit("fao")
    before = dict(vars(known))
    killed_before(2, lambda: known.refit(*IRIS, checkpoint=path))
    assert vars(known) == before
    assert differences(copy.deepcopy(known).refit(*IRIS), known.refit(*IRIS, checkpoint=path)) == []


@pytest.mark.usefixtures("always_due")
def test_a_warm_tree_is_resumed(tmp_path):
    def warm(path=None):
        known = fit("tree", warm_start=True, max_iter=3)
        return known.set_params(max_iter=5).fit(*IRIS, checkpoint=path)

    wanted = warm()
    path = tmp_path / "fit.checkpoint"
    assert killed_before(2, lambda: warm(path)) == 2
    assert differences(wanted, warm(path)) == []


def test_an_interrupt_writes_what_was_waiting(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "WRITING_SHARE", 1e-9)  # nothing but the first tree is due
    path = tmp_path / "fit.checkpoint"

    def interrupt(event):
        if event.number == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit("greedy", path, callback=interrupt)
    journal = Journal.open(path)
    assert [key for key in journal.keys if key.startswith("part")] == [
        "part 0",
        "part 1",
        "part 2",
    ]
    journal.close()
    assert differences(fit("greedy"), fit("greedy", path)) == []


@pytest.mark.parametrize("name", ["greedy", "fao early", "tree"])
@pytest.mark.usefixtures("always_due")
def test_a_full_disk_ends_neither_the_fit_nor_the_checkpoint(name, tmp_path):
    path = tmp_path / "fit.checkpoint"
    fit(name, tmp_path / "all")
    room = (tmp_path / "all").stat().st_size // 2
    real = os.pwrite

    def pwrite(descriptor, piece, offset):
        if offset >= room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, piece[: room - offset], offset)

    words = "No space left on device.*nothing has been saved since 20"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal_module.os, "pwrite", pwrite)
        with pytest.warns(UserWarning, match=words) as caught:
            found = fit(name, path)
    assert len([warning for warning in caught if "saved" in str(warning.message)]) == 1
    assert differences(fit(name), found) == []
    n_left = killed_before(10_000, lambda: fit(name, path))
    n_all = killed_before(10_000, lambda: fit(name, tmp_path / "anew"))
    assert 0 < n_left < n_all
    assert differences(found, fit(name, path)) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting needs root")
@pytest.mark.usefixtures("always_due")
def test_a_disk_that_is_really_full(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        with pytest.warns(UserWarning, match="No space left on device"):
            found = fit("fao", disk / "fit.checkpoint")
        assert differences(fit("fao"), found) == []
        (disk / "fit.checkpoint").rename(disk / "moved")
        saved = tmp_path / "fit.checkpoint"
        saved.write_bytes((disk / "moved").read_bytes())
    finally:
        subprocess.run(["umount", str(disk)], check=True)
    assert differences(fit("fao"), fit("fao", saved)) == []


@pytest.mark.usefixtures("always_due")
def test_a_removed_checkpoint_is_written_anew(tmp_path):
    path = tmp_path / "fit.checkpoint"
    real = Journal.write

    def write(journal, records):
        path.unlink()
        real(journal, records)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "write", write)
        wanted = fit("greedy", path)
    found = []
    assert killed_before(0, lambda: found.append(fit("greedy", path))) == 0
    assert differences(wanted, found[0]) == []


def test_bad_paths_are_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr(GreedyForestClassifier, "_fit", None)  # work would fail in another way
    with pytest.raises(TypeError, match="checkpoint=7 is of type int; give the path of a file"):
        fit("greedy", 7)
    with pytest.raises(FileNotFoundError, match="which does not exist"):
        fit("greedy", tmp_path / "missing" / "fit.checkpoint")
    with pytest.raises(ValueError, match="is no file"):
        fit("greedy", tmp_path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="cannot be written"):
        fit("greedy", tmp_path / "fit.checkpoint")


@pytest.mark.parametrize(
    ("write", "word"),
    [
        (lambda path: spinney.save(fit("greedy"), path), "model file"),
        (lambda path: path.write_bytes(pickle.dumps(IRIS)), "pickle"),
    ],
)
def test_another_file_at_the_path_is_named_and_left_alone(write, word, tmp_path):
    path = tmp_path / "fit.checkpoint"
    write(path)
    stored = path.read_bytes()
    words = f"fit.checkpoint: the file is a .*{word}.* Give another path, or delete the file"
    with pytest.raises(DamagedFileError, match=words):
        fit("greedy", path)
    assert path.read_bytes() == stored


def test_a_checkpoint_in_use_is_refused(tmp_path):
    path = tmp_path / "fit.checkpoint"
    fit("greedy", path)
    journal = Journal.open(path)
    with pytest.raises(ValueError, match="is in use by another fit"):
        fit("greedy", path)
    journal.close()


def test_parameters_that_cannot_be_compared_are_refused(tmp_path):
    forest = FITS["greedy"].new()
    forest.new_parameter = object()
    forest.get_params = lambda **_: {"new_parameter": forest.new_parameter, "random_state": 0}
    with pytest.raises(TypeError, match=r"new_parameter=.*cannot compare"):
        forest.fit(*IRIS, checkpoint=tmp_path / "fit.checkpoint")


@pytest.mark.parametrize(
    ("given", "other"),
    [
        (pd.Index(["a", "c"]), ["a", "c"]),
        (range(0, 3, 2), np.array([0, 2])),
        (pd.Series([True, False, True]), [True, False, True]),
        (("a", "c"), np.array(["a", "c"], dtype=object)),
    ],
)
def test_columns_may_be_named_in_any_container(given, other, tmp_path):
    frame = pd.DataFrame(np.round(IRIS[0][:, :3]), columns=["a", "b", "c"])
    path = tmp_path / "fit.checkpoint"
    forest = GreedyForestClassifier(2, random_state=0, categorical_features=given)
    wanted = forest.fit(frame, IRIS[1], checkpoint=path).forest_
    forest.set_params(categorical_features=other).fit(frame, IRIS[1], checkpoint=path)
    assert same(wanted, forest.forest_)
    shown = re.escape(repr(np.asarray(given).tolist()))
    with pytest.raises(ValueError, match=rf"categorical_features was {shown}, is \[1\]"):
        forest.set_params(categorical_features=range(1, 2)).fit(frame, IRIS[1], checkpoint=path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Checkpoints of whole fits, and their models."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "WRITING_SHARE", 1.0)
        names = ("tree", "greedy numbers", "fao early")
        models = {name: fit(name, folder / name) for name in names}
        return {name: ((folder / name).read_bytes(), models[name]) for name in names}


@settings(
    max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)
@given(data=st.data())
def test_mutants_give_an_error_or_the_same_model(data, finished, tmp_path):
    name = data.draw(st.sampled_from(sorted(finished)))
    whole, wanted = finished[name]
    begin = data.draw(st.integers(0, len(whole) - 1))
    end = data.draw(st.integers(begin, min(len(whole), begin + 40)))
    path = tmp_path / "fit.checkpoint"
    path.write_bytes(whole[:begin] + data.draw(st.binary(max_size=40)) + whole[end:])
    try:
        found = fit(name, path)
    except DamagedFileError:
        return
    assert differences(wanted, found) == []


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("tree", "run 0"),
        ("greedy numbers", "part 2"),
        ("fao early", "part 1"),
        ("fao early", "iteration 1 2"),
    ],
)
@pytest.mark.parametrize("header", [{}, [], {"value": {}, "n_spilled": 0}, {"trees": [7]}])
def test_records_that_are_whole_but_wrong_are_refused(name, key, header, finished, tmp_path):
    path = tmp_path / "fit.checkpoint"
    path.write_bytes(finished[name][0])
    journal = Journal.open(path)
    assert key in journal
    journal.write([Record(key, header, {})])
    journal.close()
    with pytest.raises(DamagedFileError, match="Try deleting the file"):
        fit(name, path)


def test_iterations_that_are_missing_are_refused(finished, tmp_path):
    path = tmp_path / "fit.checkpoint"
    path.write_bytes(finished["fao early"][0])
    journal = Journal.open(path)
    header, arrays = journal.read("part 0")
    journal.write([Record("part 0", {**header, "n_spilled": 10**12}, arrays)])
    journal.close()
    with pytest.raises(DamagedFileError, match=r"iteration 0 \d+ is missing"):
        fit("fao early", path)


def test_a_state_of_another_task_is_refused(finished, tmp_path):
    path = tmp_path / "fit.checkpoint"
    fit("tree", path, max_depth=2)
    journal = Journal.open(path)
    other = Record("run 0", *journal.read("run 0"))
    journal.close()
    path.write_bytes(finished["tree"][0])
    journal = Journal.open(path)
    journal.write([other])
    journal.close()
    with pytest.raises(ValueError, match="does not fit this task"):
        fit("tree", path)


def test_in_another_process_nothing_is_saved():
    saver = pickle.loads(pickle.dumps(RunSaver(None, 3)))
    saver(lambda: pytest.fail("nobody wants the state"))


def test_without_a_checkpoint_no_file_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fit("greedy")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_fits_that_are_killed_end_in_the_same_model(tmp_path):
    root = Path(__file__).resolve().parents[3]
    counts = tmp_path / "counts.json"
    command = [sys.executable, str(root / "benchmarks" / "kill_test.py"), "--fits", "4"]
    command += ["--models", "co2", "fao_early", "labeler", "table", "--json", str(counts)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=500)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    totals = json.loads(counts.read_text())["in all"]
    assert totals["n_kills"] >= totals["n_fits"] == totals["n_equal"] == 4
