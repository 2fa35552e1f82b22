"""Fitted models for people and for other programs; so far, as text."""

from spinney.model.text import export_text

__all__ = ["export_text"]
