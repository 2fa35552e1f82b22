"""Three seeds of what decides a sentence: errors alone, which need no quiet machine.

    python benchmarks/repeats.py [samples columns lambda weights depth_held_out]

Each claim compares a few forests on the same rows and seeds; all other figures of the tables
`bagged_tables` and `boosted_figures` are of one seed. Errors are kept in ``results/repeats.json``
as they come; remove an entry to measure it anew. Forests that are to be chosen from are judged on
held-out training rows, the others on the test rows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset, load
from models import as_in_papers
from tune import TUNING_SEED, hold_out

from spinney import TAOBoostClassifier, TAOForestClassifier

STORE = Path(__file__).resolve().parent / "results" / "repeats.json"
SEEDS = (0, 1, 2)

#: The papers' complete trees, as in the tables, and their vote.
BAGGED: dict[str, dict[str, Any]] = {
    "letter": {"max_depth": 11, "alpha": 0.03, "voting": "hard"},
    "mnist10k": {"max_depth": 8, "alpha": 0.3, "voting": "hard"},
}
BOOSTED: dict[str, Any] = {"max_depth": 11, "alpha": 0.1, "learning_rate": 0.1}
OVER_LAMBDA: dict[str, Any] = {"alpha": (0.002, 200.0), "max_samples": 1.0}


@dataclass(frozen=True)
class Case:
    """A forest of a claim: its name there, the data, the class and its parameters."""

    name: str
    data: str
    kind: type[Any]
    params: dict[str, Any]
    is_held_out: bool = False

    def error(self, seed: int) -> float:
        """Error in per cent with one seed."""
        params = as_in_papers(self.kind) | self.params
        forest = self.kind(**params, init="balanced", random_state=seed)
        data = load(self.data)
        if self.is_held_out:
            data = hold_out(data, TUNING_SEED + seed)
        return error_of(forest, data)


def error_of(forest: Any, data: Dataset) -> float:
    """Error of a forest on the rows that it is not fitted to."""
    forest.fit(data.X_train, data.y_train)
    return 100.0 * float(np.mean(forest.predict(data.X_test) != data.y_test))


def samples() -> Iterator[Case]:
    """Bagged TAO, section 6.1 and 6.2: 90 % samples, bootstrap, all rows; the same start."""
    drawn: dict[str, dict[str, Any]] = {
        "90 %": {"max_samples": 0.9},
        "bootstrap": {"bootstrap": True},
        "all rows": {"max_samples": 1.0},
        "90 %, same start": {"max_samples": 0.9, "start": "same"},
    }
    for data, params in BAGGED.items():
        for name, of in drawn.items():
            yield Case(name, data, TAOForestClassifier, {"n_estimators": 30, **params, **of})


def columns() -> Iterator[Case]:
    """Bagged TAO, table 7: all columns against nearly all of them, by node or by tree."""
    subsets: dict[str, dict[str, Any]] = {
        "all columns": {},
        "D**0.9 local": {"max_features": "D**0.9", "feature_sampling": "local"},
        "D**0.9 global": {"max_features": "D**0.9", "feature_sampling": "global"},
    }
    for data, params in BAGGED.items():
        for name, of in subsets.items():
            shared = {"n_estimators": 20, "bootstrap": True, **params}
            yield Case(name, data, TAOForestClassifier, {**shared, **of})


def over_lambda() -> Iterator[Case]:
    """Bagged TAO, table 8: a forest over λ, each tree from the one before or from its own start."""
    for data, params in BAGGED.items():
        shared = {"n_estimators": 20, **params}
        yield Case("bootstrap", data, TAOForestClassifier, {**shared, "bootstrap": True})
        for start in ("previous", "own"):
            of = {**shared, **OVER_LAMBDA, "start": start}
            yield Case(f"over λ, {start} start", data, TAOForestClassifier, of)


def weights() -> Iterator[Case]:
    """Boosted TAO, fig. 4: exact weights against resampling."""
    for name, resample in (("weights", False), ("resampling", True)):
        params = {"n_estimators": 100, **BOOSTED, "resample": resample}
        yield Case(name, "letter", TAOBoostClassifier, params)


def depth_held_out() -> Iterator[Case]:
    """Boosted TAO, fig. 2: the depth that held-out training rows prefer."""
    for depth in (7, 9, 11, 13):
        params = {"n_estimators": 100, **BOOSTED, "max_depth": depth}
        yield Case(f"depth {depth}", "letter", TAOBoostClassifier, params, is_held_out=True)


CLAIMS = {
    "samples": samples,
    "columns": columns,
    "lambda": over_lambda,
    "weights": weights,
    "depth_held_out": depth_held_out,
}


def main(names: list[str]) -> None:
    """Measure what is missing, seed by seed, and print means and seeds."""
    store: dict[str, Any] = json.loads(STORE.read_text()) if STORE.exists() else {}
    for claim in names or list(CLAIMS):
        for seed in SEEDS:
            for case in CLAIMS[claim]():
                kept = store.setdefault(claim, {}).setdefault(case.data, {})
                errors = kept.setdefault(case.name, {})
                if str(seed) not in errors:
                    errors[str(seed)] = round(case.error(seed), 4)
                    STORE.write_text(json.dumps(store, indent=1, ensure_ascii=False) + "\n")
        for data, cases in store[claim].items():
            for name, errors in cases.items():
                found = list(errors.values())
                each = ", ".join(f"{error:.2f}" for error in found)
                text = f"{np.mean(found):.2f} ± {np.std(found, ddof=1):.2f} ({each})"
                print(f"{claim}  {data}  {name:22}  {text}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
