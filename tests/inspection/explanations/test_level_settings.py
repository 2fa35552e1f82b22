"""Combinations of levels in the order in which they are tried."""

from spinney.inspection.explanations import level_settings


def test_combinations_of_levels_come_in_the_order_of_changes(monkeypatch):
    spans = [range(-1, 2), range(-1, 3), range(-1, 1)]
    every = list(level_settings.in_order_of_changes(spans, 2))
    counts = [sum(level >= 0 for level in levels) for levels in every]
    assert counts == sorted(counts)
    assert max(counts) == 2
    monkeypatch.setattr(level_settings, "MOST_COMBINATIONS", 3)
    lazily = list(level_settings.in_order_of_changes(spans, 2))
    assert sorted(lazily) == sorted(every)
    assert lazily[0] == (-1, -1, -1)
