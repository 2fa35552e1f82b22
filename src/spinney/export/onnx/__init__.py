"""Fitted models as ONNX graphs: rows to leaves, leaves to answers."""

from spinney.export.onnx.convert import to_onnx

__all__ = ["to_onnx"]
