"""Records of a journal are there as a whole or not at all, whatever happens to the file."""

from __future__ import annotations

import contextlib
import errno
import os
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spinney.storage import DamagedFileError
from spinney.storage import journal as module
from spinney.storage.journal import Journal, Record
from spinney.storage.layout import pack


def record(key, *values):
    return Record(key, {"n": len(values)}, {"values": np.array(values, dtype=np.float64)})


def contents(path):
    """All records that a reader finds, by key."""
    journal = Journal.open(path)
    try:
        return {key: journal.read(key)[1]["values"].tolist() for key in journal.keys}
    finally:
        journal.close()


@pytest.fixture
def path(tmp_path):
    """A journal of four records, one of which replaces another."""
    path = tmp_path / "journal"
    journal = Journal.create(path, record("first", 0.0))
    journal.write([record("a", 1.0), record("b", 2.0)])
    journal.write([record("a", 3.0, 4.0)])
    journal.close()
    return path


STAGES = [
    {"first": [0.0]},
    {"first": [0.0], "a": [1.0]},
    {"first": [0.0], "a": [1.0], "b": [2.0]},
    {"first": [0.0], "a": [3.0, 4.0], "b": [2.0]},
]


def test_the_latest_record_of_a_key_counts(path):
    assert contents(path) == STAGES[-1]


def test_a_file_cut_anywhere_holds_the_records_before_the_cut(path):
    whole = path.read_bytes()
    n_first = len(whole)
    seen = []
    for size in range(len(whole), -1, -3):
        path.write_bytes(whole[:size])
        try:
            found = contents(path)
        except DamagedFileError:
            n_first = size
            break
        assert found in STAGES
        seen.append(STAGES.index(found))
    assert sorted(set(seen)) == [0, 1, 2, 3]
    assert seen == sorted(seen, reverse=True)
    for size in range(0, n_first, 7):  # without its first record it is no journal
        path.write_bytes(whole[:size])
        with pytest.raises(DamagedFileError, match="journal"):
            contents(path)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_changed_byte_is_noticed_or_costs_the_last_record(path, data):
    whole = path.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole)
    changed[place] ^= data.draw(st.integers(1, 255))
    path.write_bytes(changed)
    with contextlib.suppress(DamagedFileError):
        assert contents(path) == STAGES[2]
    path.write_bytes(whole)


@pytest.mark.parametrize("junk", [b"", b"no journal", os.urandom(4096), bytes(4096)])
def test_other_files_are_refused(tmp_path, junk):
    path = tmp_path / "other"
    path.write_bytes(junk)
    with pytest.raises(DamagedFileError, match=r"journal|damaged"):
        Journal.open(path)
    assert path.read_bytes() == junk


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (pickle.dumps(list(range(99))), "the file is a pickle, no journal"),
        (b"".join(pack({}, {"a": np.arange(9)})), "the file is a container, such as a model file"),
        (b"x,y,z\n1,2,3\n4,5,6\n", r"the file begins with b'x,y,z\\n1,', which begins no journal"),
    ],
)
def test_what_was_found_instead_of_a_journal_is_said(tmp_path, content, words):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(DamagedFileError, match=words):
        Journal.open(path)


def test_a_tail_of_zeros_as_after_a_loss_of_power_is_dropped(path):
    with path.open("ab") as file:
        file.write(bytes(1000))
    assert contents(path) == STAGES[-1]


def test_what_follows_a_torn_record_takes_its_place(path):
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    journal = Journal.open(path)
    journal.write([record("c", 5.0)])
    journal.close()
    assert contents(path) == {**STAGES[2], "c": [5.0]}


def test_a_write_that_fails_leaves_the_records_there_are(path, monkeypatch):
    journal = Journal.open(path)
    real = os.pwrite

    def full_disk(descriptor, piece, offset):
        if offset > path_size + 20:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, piece[:9], offset)  # and writes come in small parts

    path_size = path.stat().st_size
    with monkeypatch.context() as patch:
        patch.setattr(module.os, "pwrite", full_disk)
        with pytest.raises(OSError, match="No space"):
            journal.write([record("c", 5.0)])
    assert path.stat().st_size > path_size
    assert "c" not in journal
    journal.write([record("d", 6.0)])
    journal.close()
    assert contents(path) == {**STAGES[-1], "d": [6.0]}


def test_replaced_records_do_not_pile_up(path):
    journal = Journal.open(path)
    large = Record("state", {}, {"values": np.zeros(50_000)})
    for _ in range(20):
        journal.write([large])
    assert path.stat().st_size < 5 * 400_000
    journal.close()
    assert contents(path) == {**STAGES[-1], "state": [0.0] * 50_000}


def test_a_dropped_record_goes_when_the_file_is_written_anew(path, monkeypatch):
    monkeypatch.setattr(module, "LEAST_GARBAGE", 0)
    journal = Journal.open(path)
    journal.write([record("state", *range(1000))])
    journal.drop("state")
    journal.write([record("a", 9.0)])
    journal.close()
    assert contents(path) == {"first": [0.0], "b": [2.0], "a": [9.0]}


def test_without_room_for_two_files_the_long_one_is_kept(path, monkeypatch):
    def no_room(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    journal = Journal.open(path)
    monkeypatch.setattr(module, "replace_file", no_room)
    for number in range(10):
        journal.write([Record("state", {}, {"values": np.full(50_000, float(number))})])
    journal.close()
    assert contents(path)["state"][0] == 9.0


@pytest.mark.parametrize("is_moved", [True, False])
def test_a_file_that_was_moved_or_removed_is_written_anew(path, is_moved):
    journal = Journal.open(path)
    if is_moved:
        path.rename(path.with_name("elsewhere"))
    else:
        path.unlink()
    journal.write([record("c", 5.0)])
    journal.close()
    assert contents(path) == {**STAGES[-1], "c": [5.0]}


def test_a_journal_has_one_writer(path):
    journal = Journal.open(path)
    with pytest.raises(BlockingIOError):
        Journal.open(path)
    journal.close()
    assert contents(path) == STAGES[-1]
