"""A file is replaced as a whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import threading

import pytest

from spinney.storage.atomic import replace_file


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_chunks_become_the_contents(tmp_path):
    replace_file(tmp_path / "file", [b"ab", memoryview(b"cd"), b""])
    assert (tmp_path / "file").read_bytes() == b"abcd"
    assert names_in(tmp_path) == ["file"]


def test_an_old_file_is_replaced(tmp_path):
    (tmp_path / "file").write_bytes(b"a long old file")
    replace_file(str(tmp_path / "file"), [b"new"])
    assert (tmp_path / "file").read_bytes() == b"new"


def failing_chunks(error):
    yield b"half"
    raise error


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_a_failure_keeps_the_old_file_and_leaves_nothing(tmp_path, error):
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(type(error)):
        replace_file(tmp_path / "file", failing_chunks(error))
    assert (tmp_path / "file").read_bytes() == b"old"
    assert names_in(tmp_path) == ["file"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_disk_that_fails_late_keeps_the_old_file(tmp_path, monkeypatch, step):
    (tmp_path / "file").write_bytes(b"old")

    def fail(*_):
        raise OSError(errno.EIO, "disk")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="disk") as caught:
        replace_file(tmp_path / "file", [b"new"])
    monkeypatch.undo()
    assert caught.value.filename == str(tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"old"
    assert names_in(tmp_path) == ["file"]


def test_a_full_disk_keeps_the_old_file(tmp_path):
    """The limit on the size of files stands for the disk; the system fails as it would there."""
    resource = pytest.importorskip("resource")
    signal = pytest.importorskip("signal")
    (tmp_path / "file").write_bytes(b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        with pytest.raises(OSError, match="large"):
            replace_file(tmp_path / "file", [bytes(1_000_000)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert (tmp_path / "file").read_bytes() == b"old"
    assert names_in(tmp_path) == ["file"]


def test_a_missing_folder_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "missing" / "file", [b""])


def test_a_folder_is_not_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        replace_file(tmp_path / "folder", [b""])
    assert caught.value.filename == str(tmp_path / "folder")  # not the temporary file
    assert names_in(tmp_path) == ["folder"]


def test_a_pipe_is_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="device or a pipe"):
        replace_file(path, [b"new"])
    assert path.is_fifo()
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_followed(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "inner" / "file")
    replace_file(tmp_path / "link", [b"new"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "inner" / "file").read_bytes() == b"new"


def test_others_may_read_the_file_as_the_umask_says(tmp_path):
    mask = os.umask(0o022)
    try:
        replace_file(tmp_path / "file", [b""])
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o644


def test_the_longest_name_can_be_written(tmp_path):
    replace_file(tmp_path / ("x" * 255), [b"new"])
    assert (tmp_path / ("x" * 255)).read_bytes() == b"new"


def test_writers_at_once_leave_one_whole_file(tmp_path):
    contents = [bytes([number]) * 100_000 for number in range(8)]
    threads = [
        threading.Thread(target=replace_file, args=(tmp_path / "file", [content]))
        for content in contents
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "file").read_bytes() in contents
    assert names_in(tmp_path) == ["file"]
