"""A file that is replaced as a whole or not at all.

The bytes go to a temporary file in the same folder, which takes the place of the old file when all
of it is on the disk. Whoever opens the path finds the old file or the new one, never a mixture.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

#: Answers of file systems that cannot flush a folder and need not.
CANNOT_SYNC_FOLDERS = (errno.EINVAL, errno.ENOTSUP)


def replace_file(path: str | os.PathLike[str], chunks: Iterable[bytes | memoryview]) -> None:
    """Write `chunks` one after the other as the new contents of `path`.

    Parameters
    ----------
    path : str or path
        A link is followed: the file it leads to is replaced.
    chunks : iterable of bytes or memoryview

    Raises
    ------
    OSError
        If the folder cannot be written, the disk is full, `path` is a device, and so on. The old
        file is as it was, and no temporary file is left.
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():  # the error of the temporary file would name that one
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
    if target.exists() and not (target.is_file() or target.is_dir()):
        # Taking the place of a device or a pipe would remove it for everybody.
        what = "is a device or a pipe, whose place a file must not take"
        raise OSError(errno.EINVAL, what, os.fspath(path))
    # The name does not grow with that of the file: some file systems allow 255 bytes only.
    temporary = target.with_name(f".spinney-{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException as error:  # Ctrl-C must not leave a file behind either
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            # In the name of the file that was asked for: nobody knows the temporary one.
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Have the new name on the disk too, so that it outlives a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in CANNOT_SYNC_FOLDERS:
            raise
    finally:
        os.close(descriptor)
