"""Containers as files: written as a whole or not at all, read only if every byte is right."""

from __future__ import annotations

import mmap
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.storage.atomic import replace_file
from spinney.storage.errors import DamagedFileError
from spinney.storage.layout import Arrays, pack, unpack


def write_container(
    path: str | os.PathLike[str],
    header: Mapping[str, object],
    arrays: Mapping[str, NDArray[Any]],
) -> None:
    """Write a header and arrays to a file, which safetensors' own reader opens too.

    Parameters
    ----------
    path : str or path
        A file that exists is replaced in one step; a link is followed.
    header : mapping of str to JSON values
        Finite numbers, strings, booleans, None, lists and mappings of these.
    arrays : mapping of str to ndarray
        Boolean, integer, float32 or float64 arrays. Any name but ``__metadata__`` and
        ``checksum`` will do.

    Raises
    ------
    OSError
        If the file cannot be written. The old one is as it was.
    """
    replace_file(path, pack(header, arrays))


def read_container(
    path: str | os.PathLike[str], *, memory_map: bool = False
) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of a file of `write_container`.

    Parameters
    ----------
    path : str or path
    memory_map : bool, default=False
        Leave the arrays in the file and let the system bring in what is read. Several processes
        then share one copy. The file must not be overwritten in place as long as an array is in
        use; `write_container` never does that.

    Returns
    -------
    header : dict
    arrays : dict of str to ndarray
        Read-only and aligned.

    Raises
    ------
    DamagedFileError
        If a byte is not where it should be, or the version is not known.
    OSError
        If the file cannot be opened or read.
    """
    content = _mapped(path) if memory_map else _read(path)
    try:
        return unpack(content)
    except DamagedFileError as error:
        raise DamagedFileError(f"{os.fspath(path)}: {error}") from error.__cause__


def _read(path: str | os.PathLike[str]) -> NDArray[np.uint8]:
    _check_regular(path)
    with Path(path).open("rb", buffering=0) as file:
        content = np.empty(os.fstat(file.fileno()).st_size, dtype=np.uint8)
        n_read = 0
        while n_read < len(content) and (n_more := file.readinto(content[n_read:].data)):
            n_read += n_more
    content = content[:n_read]  # shorter if somebody cut the file meanwhile
    content.flags.writeable = False
    return content


def _mapped(path: str | os.PathLike[str]) -> NDArray[np.uint8]:
    _check_regular(path)
    with Path(path).open("rb") as file:
        if not os.fstat(file.fileno()).st_size:
            return np.empty(0, dtype=np.uint8)  # an empty file cannot be mapped
        # The map keeps the file open by itself.
        return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), dtype=np.uint8)


def _check_regular(path: str | os.PathLike[str]) -> None:
    """Raise for pipes and devices, which would be waited for or read without end."""
    found = Path(path)
    if found.exists() and not found.is_file() and not found.is_dir():
        raise DamagedFileError(f"{path} is a pipe or a device; give the path of a file.")
