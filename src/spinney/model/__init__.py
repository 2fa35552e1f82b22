"""Fitted models for people and for other programs: text, files, dictionaries, ONNX."""

from spinney.model.dictionary import from_dict, to_dict
from spinney.model.file import load, save
from spinney.model.onnx import to_onnx
from spinney.model.text import export_text

__all__ = ["export_text", "from_dict", "load", "save", "to_dict", "to_onnx"]
