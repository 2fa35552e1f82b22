"""Whether a file can be written at a path, asked before hours of work."""

from __future__ import annotations

import os
from pathlib import Path


def checked_path(path: object) -> Path:
    """The path, if a file there can be written; raises otherwise."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"checkpoint={path!r} is of type {type(path).__name__}; give the path of a file; try "
            'checkpoint="fit.checkpoint".'
        )
    found = Path(path).absolute()  # wherever the process goes meanwhile
    folder = found.parent
    if not folder.is_dir():
        raise FileNotFoundError(
            f"checkpoint={str(path)!r} lies in the folder {str(folder)!r}, which does not exist; "
            "give a path in a folder that does; try creating it."
        )
    if found.exists() and not found.is_file():
        raise ValueError(
            f"checkpoint={str(path)!r} is no file; give the path of a file; try "
            f"{str(found / 'fit.checkpoint')!r}."
        )
    if not os.access(found if found.exists() else folder, os.W_OK) or not os.access(
        folder, os.W_OK
    ):
        raise PermissionError(
            f"checkpoint={str(path)!r} cannot be written; give a file in a folder that you may "
            "write to; try another folder."
        )
    return found
