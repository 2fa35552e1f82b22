"""What can go wrong, by who has to act: the data, or the words on the command line."""

from __future__ import annotations

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class CommandError(Exception):
    """The data or the model cannot be used; the message says what and what to try."""

    exit_code = FAILED


class UsageError(CommandError):
    """The command line asks for something that is not there."""

    exit_code = USAGE
