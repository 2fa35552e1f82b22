"""Plots are drawn without a screen, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Close all figures; whatever was drawn, the settings are those of before."""
    plt.switch_backend("Agg")
    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before
