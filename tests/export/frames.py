"""Rows of frames as exported programs take them."""

from __future__ import annotations

import ctypes

import numpy as np
import onnxruntime

from tests.export.programs import addresses


def run_onnx(exported, frame):
    """All outputs of an exported model for the rows of a frame."""
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    given = {}
    for place, described in enumerate(session.get_inputs()):
        column = frame.iloc[:, place]
        if described.type == "tensor(string)":
            values = column.astype(object).where(column.notna(), "").to_numpy(dtype=object)
        else:
            values = numbers(column)
            values = values.astype("f4" if described.type == "tensor(float)" else "f8")
        given[described.name] = values[:, None]
    return session.run(None, given)


def encoded_by_c(library, encoding, frame):
    """Coordinates of the rows of a frame, made by an exported program."""
    level = library.model_level
    level.argtypes = [ctypes.c_int, ctypes.c_char_p]
    raw = np.empty(frame.shape)
    for place, name in enumerate(frame.columns):
        if encoding.kind(place) == "text_levels":
            raw[:, place] = [
                np.nan if not isinstance(text, str) else level(place, text.encode())
                for text in frame[name]
            ]
        else:
            raw[:, place] = numbers(frame[name])
    rows = np.empty((len(raw), encoding.n_coordinates), dtype=np.float32)
    library.model_encode.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    for row, x in zip(addresses(raw), addresses(rows), strict=True):
        library.model_encode(row, x)
    return rows


def numbers(column):
    """Numbers of a column; days of dates and durations."""
    if column.dtype.kind not in "mM":
        return column.astype(float).to_numpy()
    units = column.to_numpy().astype(f"{column.dtype.kind}8[us]")
    return np.where(column.isna(), np.nan, units.astype("int64") / 86_400_000_000)
