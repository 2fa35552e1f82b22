"""Fitted models for people and other programs: text, files, dicts, ONNX, C, scikit-learn."""

from spinney.model.c import CSource, to_c
from spinney.model.dictionary import from_dict, to_dict
from spinney.model.file import load, save
from spinney.model.onnx import to_onnx
from spinney.model.sklearn_trees import to_sklearn
from spinney.model.text import export_text

__all__ = [
    "CSource",
    "export_text",
    "from_dict",
    "load",
    "save",
    "to_c",
    "to_dict",
    "to_onnx",
    "to_sklearn",
]
