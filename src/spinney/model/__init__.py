"""Fitted models for people and for other programs: text, ONNX."""

from spinney.model.onnx import to_onnx
from spinney.model.text import export_text

__all__ = ["export_text", "to_onnx"]
