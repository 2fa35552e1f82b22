"""Threads, processes and neighbours change no bit of a fitted model; the seed alone does."""

from __future__ import annotations

import joblib
import numpy as np
import pytest

from tests.bits import differences
from tests.contracts.cases import Case, named, same_trees, says_the_same, trees_of
from tests.contracts.registry import REFINED
from tests.contracts.ways import EACH, WAYS

SEEDED = {name: case for name, case in EACH.items() if name not in REFINED}


@named(WAYS)
@pytest.mark.parametrize(
    "n_jobs", [2, *(pytest.param(n_jobs, marks=pytest.mark.slow) for n_jobs in (9, -1))]
)
def test_the_number_of_jobs_changes_nothing(case: Case, n_jobs: int) -> None:
    one, other = case.fit(n_jobs=1), case.fit(n_jobs=n_jobs)
    assert differences(one, other) == []
    assert says_the_same(one, other, case.data[0])


@named(EACH)
@pytest.mark.parametrize("backend", ["threading", "sequential", "loky"])
def test_the_backend_of_joblib_changes_nothing(case: Case, backend: str) -> None:
    with joblib.parallel_config(backend=backend, n_jobs=2):
        found = case.fit(n_jobs=None)
    assert differences(case.fit(), found) == []


@pytest.mark.parametrize("backend", ["threading", "loky"])
@pytest.mark.parametrize(
    "name",
    [
        "TAOForestClassifier start=same",
        "TAOForestClassifier start=previous",
        "TAOForestClassifier init=cart",
        "TAOForestClassifier bootstrap=True",
        "TAOForestClassifier max_features=3",
        "TAOForestClassifier leaf=linear, max_depth=2",
        "CO2ForestClassifier max_epochs=10, relabel_epochs=5, choice=oob",
        "GreedyForestClassifier split=oc1",
        "GreedyForestClassifier feature_sampling=global, max_features=4",
        "RandomDecisionForestClassifier split=perceptron, max_epochs=5",
        "TAOGradientBoostingClassifier subsample=0.5",
        "TAOGradientBoostingRegressor subsample=0.5",
    ],
)
def test_what_sets_trees_apart_is_the_same_in_any_backend(name: str, backend: str) -> None:
    case = WAYS[name]
    with joblib.parallel_config(backend=backend, n_jobs=2):
        found = case.fit(n_jobs=None)
    assert differences(case.fit(), found) == []


@named(SEEDED)
def test_fits_side_by_side_do_not_meet(case: Case) -> None:
    together = joblib.Parallel(n_jobs=2, prefer="threads")(
        joblib.delayed(case.fit)(random_state=seed, n_jobs=2) for seed in (0, 1)
    )
    for seed, found in enumerate(together):
        assert differences(case.fit(random_state=seed), found) == []


@named(SEEDED)
def test_the_seed_decides_the_trees(case: Case) -> None:
    zero = case.fit(random_state=0)
    assert differences(zero, case.fit(random_state=0)) == []
    assert same_trees(zero, case.fit(random_state=np.random.RandomState(0)))
    other = case.fit(random_state=1)
    assert not any(a.same_as(b) for a, b in zip(trees_of(zero), trees_of(other), strict=True))
