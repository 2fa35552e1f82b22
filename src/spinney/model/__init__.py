"""Fitted models for people and for other programs: as text, as files, as dictionaries."""

from spinney.model.dictionary import from_dict, to_dict
from spinney.model.file import load, save
from spinney.model.text import export_text

__all__ = ["export_text", "from_dict", "load", "save", "to_dict"]
