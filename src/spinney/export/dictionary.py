"""Models as plain dictionaries: the same header and arrays as in a file, all of it JSON.

For people who want to look at a model, to send it where only JSON goes, or to read it in another
language. It is several times as long as a file.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.export.document import check_version, decode_model, encode_model
from spinney.export.refusal import checked_list, checked_object, checked_text, refuse
from spinney.export.values import WORDS, word_of
from spinney.storage.layout import DTYPES, MOST_DIMENSIONS, NAMES

#: Of an empty array; other sides are bounded by the number of values.
LARGEST_SIDE = 2**31 - 1

#: Python's type of the numbers of each kind of array.
ITEMS = {"b": bool, "i": int, "u": int, "f": float}


def to_dict(model: Any) -> dict[str, Any]:
    """A model as a dictionary that ``json.dumps`` can write.

    Parameters
    ----------
    model : estimator of spinney, RegularizationPath or Tree

    Returns
    -------
    dict
        The header of a model file, and under ``"arrays"`` its arrays: type, shape and values, in
        C order. Numbers come back to the last bit.

    Examples
    --------
    >>> import json
    >>> import spinney
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = spinney.TAOTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> text = json.dumps(spinney.to_dict(tree))
    >>> loaded = spinney.from_dict(json.loads(text))
    >>> bool((loaded.predict_proba(X) == tree.predict_proba(X)).all())
    True
    """
    header, arrays = encode_model(model)
    return {**header, "arrays": {name: _lists(array) for name, array in arrays.items()}}


def from_dict(dictionary: dict[str, Any]) -> Any:
    """The model of a dictionary of `to_dict`, checked as `load` does.

    Parameters
    ----------
    dictionary : dict
        Possibly through JSON. It is not changed.

    Returns
    -------
    model

    Raises
    ------
    DamagedFileError
        If anything in it is not as the format says. It is a ValueError.

    Examples
    --------
    >>> import json
    >>> from sklearn.datasets import load_iris
    >>> from spinney import TAOTreeClassifier, from_dict, to_dict
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = TAOTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> again = from_dict(json.loads(json.dumps(to_dict(tree))))
    >>> bool((again.predict_proba(X) == tree.predict_proba(X)).all())
    True
    """
    header = dict(checked_object(dictionary, "the dictionary"))
    check_version(header)
    stored = checked_object(header.pop("arrays", None), "arrays")
    arrays = {checked_text(name, "arrays"): _array_of(stored[name], name) for name in stored}
    return decode_model(header, arrays)


def _lists(array: NDArray[Any]) -> dict[str, Any]:
    values = array.reshape(-1).tolist()
    if array.dtype.kind == "f":
        values = [value if math.isfinite(value) else word_of(value) for value in values]
    return {
        "dtype": NAMES[array.dtype.newbyteorder("<")],
        "shape": list(array.shape),
        "values": values,
    }


def _array_of(state: Any, name: str) -> NDArray[Any]:
    entry = checked_object(state, f"array {name[:80]!r}", ["dtype", "shape", "values"])
    where = f"array {name[:80]!r}"
    word = checked_text(entry["dtype"], where)
    if word not in DTYPES:
        refuse(f"{where} has the unknown type {word[:40]!r}")
    values = checked_list(entry["values"], where)
    shape = checked_list(entry["shape"], where)
    is_shape = all(type(side) is int and 0 <= side <= LARGEST_SIDE for side in shape)
    if not is_shape or len(shape) > MOST_DIMENSIONS or math.prod(shape) != len(values):
        refuse(f"{where} has {len(values)} values, which do not fill its shape")
    dtype = DTYPES[word]
    if dtype.kind == "f":
        values = [WORDS.get(value, value) if type(value) is str else value for value in values]
    wanted = ITEMS[dtype.kind]
    if not all(type(value) is wanted for value in values):
        refuse(f"{where} holds values that are not of type {wanted.__name__}")
    try:
        with np.errstate(over="ignore"):  # an infinite number is for others to refuse
            array = np.array(values, dtype=dtype).reshape(shape)
    except (OverflowError, ValueError) as error:
        refuse(f"{where} holds a number beyond {word}, or has too large a shape", error)
    array.flags.writeable = False
    return array
