"""Losses of sums of trees."""

from __future__ import annotations

import numpy as np
import pytest

from spinney import losses
from spinney.algorithms.losses import ForestLoss


def test_cross_entropy_by_pieces_has_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    scores, codes = rng.normal(size=(100, 4)), rng.integers(4, size=100).astype(np.int32)
    loss, wanted = ForestLoss("log_loss"), np.zeros((100, 4))

    def answers() -> tuple[float, bytes]:
        total = loss.total(wanted, scores, codes, np.ones(100))
        return total, loss.downhill(wanted, scores, codes).tobytes()

    whole = answers()
    monkeypatch.setattr(losses, "ROWS_AT_ONCE", 7)
    assert answers() == whole
