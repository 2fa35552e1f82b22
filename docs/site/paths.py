"""Where the pages come from and where the site goes."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
STAGE = ROOT / "build" / "docs-source"
SITE = ROOT / "build" / "docs"


def pages() -> list[Path]:
    """All pages that people read, in the repository: Markdown files that are part of the site."""
    found = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    found += sorted((ROOT / "docs").rglob("*.md"))
    found += [ROOT / "examples" / "README.md", ROOT / "benchmarks" / "README.md"]
    return found + sorted((ROOT / "benchmarks" / "results").glob("*.md"))
