"""Fits that end in the middle, as if the process had been killed."""

from __future__ import annotations

import pytest

from spinney.storage.journal import Journal


class KilledError(BaseException):
    """What a test raises in the place of a kill."""


def killed_before(n_writes, call):
    """Run `call` and let nothing reach the disk from write number `n_writes` on; number written."""
    done = 0
    real = Journal.write

    def write(journal, records):
        nonlocal done
        if done >= n_writes:
            raise KilledError
        real(journal, records)
        done += 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "write", write)
        try:
            call()
        except KilledError:
            return done
    return done
