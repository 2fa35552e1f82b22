"""Fitted models as C files."""

from spinney.export.c.convert import CSource, to_c

__all__ = ["CSource", "to_c"]
