"""One benchmark run: cached fits over seeds, and the averages that the figures report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from cells import CellStore, Result
from datasets import Dataset, load
from measure import measure
from models import Settings, build, name_of
from tune import tune_alpha
from worker import run_cell


@lru_cache(maxsize=1)
def load_cached(name: str) -> Dataset:
    """Data set `name`; the last one used stays in memory."""
    return load(name)


@dataclass(frozen=True)
class Bench:
    """Where cells are kept and which seeds are run."""

    store: CellStore
    seeds: tuple[int, ...]

    def fit(self, data_name: str, settings: Settings, seed: int) -> Result:
        """Measurements of one fit."""

        def compute() -> Result:
            data = load_cached(data_name)
            return measure(build(settings, data, seed), settings, data)

        key = {"data": data_name, "seed": seed, **settings}
        return self.store.get(f"{data_name}-{name_of(settings)}-s{seed}", key, compute)

    def compare(self, data_name: str, models: dict[str, Settings]) -> dict[str, list[Result]]:
        """Measurements of several models; the models take turns, so load hits all alike."""
        results: dict[str, list[Result]] = {name: [] for name in models}
        for seed in self.seeds:
            for name, settings in models.items():
                results[name].append(self.fit(data_name, settings, seed))
        return results

    def tune(
        self, data_name: str, settings: Settings, alphas: Sequence[float], n_repeats: int = 1
    ) -> Result:
        """Choice of `alpha` for our tree by validation inside the training rows."""

        def fit(part: Dataset, alpha: float, seed: int) -> Any:
            chosen = settings | {"params": {**settings["params"], "alpha": alpha}}
            return build(chosen, part, seed).fit(part.X_train, part.y_train)

        def compute() -> Result:
            return tune_alpha(load_cached(data_name), alphas, fit, n_repeats)

        grid = {"data": data_name, "alphas": list(alphas), "n_repeats": n_repeats}
        return self.store.get(
            f"{data_name}-tune-{name_of(settings)}", {"tune": grid, **settings}, compute
        )

    def memory(self, data_name: str, settings: Settings) -> Result:
        """Memory of one fit in a process of its own."""
        seed = self.seeds[0]
        key = {"data": data_name, "seed": seed, "memory": True, **settings}
        label = f"{data_name}-memory-{name_of(settings)}"

        def compute() -> Result:
            result = run_cell({"data": data_name, "settings": settings, "seed": seed})
            if "failed" in result:
                raise RuntimeError(f"the fit of {label} failed:\n{result['details']}")
            return result

        return self.store.get(label, key, compute)


def column(results: Sequence[Result], key: str) -> np.ndarray:
    """One measurement over the seeds; not a number where a model has none."""
    return np.array([np.nan if r.get(key) is None else r[key] for r in results], dtype=float)


def mean(results: Sequence[Result], key: str) -> float:
    """Mean of one measurement over the seeds."""
    return float(column(results, key).mean())


def ratios(over: Sequence[Result], under: Sequence[Result], key: str) -> np.ndarray:
    """Ratio of one measurement, seed by seed."""
    return np.asarray(column(over, key) / column(under, key))


def same_run(*groups: Sequence[Result]) -> bool:
    """Whether all cells were measured in one run, as a ratio of seconds should be."""
    return len({result["run"] for group in groups for result in group}) == 1
