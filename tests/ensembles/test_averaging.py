"""Averaged forests: what sets them apart."""

from __future__ import annotations

from spinney.ensembles.averaging import AveragingPlan


def test_seeds_of_forests_do_not_meet() -> None:
    plan = AveragingPlan(0, 5, 10)
    seeds = [seed for forest in range(5) for seed in plan.seeds(forest)]
    assert len(set(seeds)) == 50
