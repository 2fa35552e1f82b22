"""Fitted models for people and other programs: text, files, dicts, ONNX, C, scikit-learn."""

from spinney.export.c import CSource, to_c
from spinney.export.dictionary import from_dict, to_dict
from spinney.export.file import load, save
from spinney.export.onnx import to_onnx
from spinney.export.sklearn_trees import to_sklearn
from spinney.inspection.tree_text import export_text

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
