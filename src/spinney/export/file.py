"""Models as files: ``save`` and ``load``.

A ``.spinney`` file holds numbers and names, and no code: loading one runs nothing that the file
brings along. ``docs/model_format/index.md`` specifies every field.
"""

from __future__ import annotations

import os
from typing import Any

from spinney.export.document import decode_model, encode_model
from spinney.storage import DamagedFileError, read_container, write_container


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file that `load` reads, here or on any other machine.

    Parameters
    ----------
    model : estimator of spinney, RegularizationPath or Tree
        Fitted or not. What it was built with and what it has learned are kept, to the last bit,
        also what only a warm start needs.
    path : str or path
        By custom it ends in ``.spinney``. A file that exists is replaced in one step: whoever
        opens it finds the old model or the new one.

    Raises
    ------
    TypeError
        If the model holds something that is not stored, as a function or an estimator of another
        library.
    OSError
        If the file cannot be written. The old one is as it was.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import spinney
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = spinney.TAOTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "tree.spinney"
    ...     spinney.save(tree, path)
    ...     loaded = spinney.load(path)
    >>> bool((loaded.predict_proba(X) == tree.predict_proba(X)).all())
    True
    """
    header, arrays = encode_model(model)
    write_container(path, header, arrays)


def load(path: str | os.PathLike[str], *, memory_map: bool = False) -> Any:
    """Read a model that `save` wrote.

    Everything is checked before the model is returned: the checksum, all sizes against the length
    of the file, every tree, and that trees, classes, columns and weights agree. Nothing in the
    file is executed, whoever wrote it.

    Parameters
    ----------
    path : str or path
    memory_map : bool, default=False
        Leave the arrays in the file and let the system bring in what is read. It saves memory if
        several processes load one large model. The file must not be overwritten in place while
        the model is in use; `save` never does that.

    Returns
    -------
    model
        Predicts, clones, pickles and warm starts as the one that was saved.

    Raises
    ------
    DamagedFileError
        If the file is damaged, cut short, not a model, or of a version that is not known. It is a
        ValueError.
    OSError
        If the file cannot be opened or read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import spinney
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "notes.txt"
    ...     n_bytes = path.write_text("a letter, not a model")
    ...     try:
    ...         spinney.load(path)
    ...     except spinney.DamagedFileError:
    ...         print("refused")
    refused
    """
    header, arrays = read_container(path, memory_map=memory_map)
    try:
        return decode_model(header, arrays)
    except DamagedFileError as error:
        raise DamagedFileError(f"{os.fspath(path)}: {error}") from error.__cause__
