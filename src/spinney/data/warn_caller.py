"""Warnings that point at the line of the user, however deep in the library they arise."""

from __future__ import annotations

import sys
import warnings

#: Frames of the library, apart from its program, which is a user of it.
OURS, PROGRAM = "spinney.", "spinney.cli."


def warn_caller(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn of something in the call by which the library was entered."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.startswith(OURS) and not module.startswith(PROGRAM)
