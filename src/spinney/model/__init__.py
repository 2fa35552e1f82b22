"""Fitted models for people and for other programs: text, ONNX, C, scikit-learn."""

from spinney.model.c import CSource, to_c
from spinney.model.onnx import to_onnx
from spinney.model.sklearn_trees import to_sklearn
from spinney.model.text import export_text

__all__ = ["CSource", "export_text", "to_c", "to_onnx", "to_sklearn"]
