"""The one error of a file that cannot be used."""

from __future__ import annotations


class DamagedFileError(ValueError):
    """A file that is cut short, changed, or not what it should be.

    The message says what is wrong and what to try. Errors of the system, such as a missing file or
    a full disk, are raised as they come, as ``OSError``.
    """
