"""Rows of text in columns, and sizes of files."""

from __future__ import annotations

from collections.abc import Sequence


def align(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """A table of text: the first `left` columns to the left, all others to the right."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def bytes_text(n_bytes: float) -> str:
    """A size with its unit."""
    for unit in ("B", "KB", "MB"):
        if n_bytes < 999.5:
            return f"{n_bytes:.0f} {unit}" if unit == "B" else f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"
