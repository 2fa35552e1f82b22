"""One writer a file: the system's own lock, which ends with the process that holds it."""

from __future__ import annotations

import errno

try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None  # type: ignore[assignment]

#: Answers of file systems that have no locks.
CANNOT_LOCK = (errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS)


def lock_file(descriptor: int) -> None:
    """Lock an open file for this descriptor alone, until it is closed.

    Raises
    ------
    BlockingIOError
        If another descriptor holds the lock, of this process or another.
    """
    if fcntl is None:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in CANNOT_LOCK:
            raise
