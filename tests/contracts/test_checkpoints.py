"""A fit that was interrupted, wherever, ends in the model of a fit that was not."""

from __future__ import annotations

import copy

import pytest

from tests.bits import differences
from tests.contracts.cases import FRAME, IRIS, TWO_NUMBERS
from tests.contracts.resumed import RESUMED as FITS
from tests.contracts.resumed import fit
from tests.kills import killed_before

# Small forests leave some rows in every bag, which is not what is tested here.
pytestmark = pytest.mark.filterwarnings("ignore:.*were seen by every tree")


@pytest.mark.parametrize("name", FITS)
@pytest.mark.usefixtures("always_due")
def test_a_fit_killed_anywhere_ends_in_the_same_model(name, tmp_path):
    wanted = fit(name)
    n_all = killed_before(10_000, lambda: fit(name, tmp_path / "all"))
    assert n_all > 0
    for n_writes in range(n_all):
        path = tmp_path / str(n_writes)
        assert killed_before(n_writes, lambda path=path: fit(name, path)) == n_writes
        found = []
        n_left = killed_before(10_000, lambda path=path, found=found: found.append(fit(name, path)))
        assert differences(wanted, found[0]) == []
        assert n_left == n_all - n_writes, "what was saved is not done again"


@pytest.mark.parametrize("name", FITS)
@pytest.mark.usefixtures("always_due")
def test_the_same_call_again_returns_the_finished_model(name, tmp_path):
    path = tmp_path / "fit.checkpoint"
    wanted = fit(name, path)
    found = []
    assert killed_before(0, lambda: found.append(fit(name, str(path)))) == 0
    assert differences(wanted, found[0]) == []


@pytest.mark.parametrize("name", ["bagged", "fao", "greedy"])
@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2)])
@pytest.mark.usefixtures("always_due")
def test_a_fit_may_go_on_with_other_jobs(name, before, after, tmp_path):
    wanted = fit(name)
    for n_writes in (1, 2, 3):
        path = tmp_path / str(n_writes)
        killed_before(n_writes, lambda path=path: fit(name, path, n_jobs=before))
        assert differences(wanted, fit(name, path, n_jobs=after)) == []


@pytest.mark.parametrize("name", ["bagged", "boosted", "gradient", "greedy", "ho", "fao", "co2"])
def test_more_and_fewer_trees_are_those_of_a_fit_of_so_many(name, tmp_path):
    word = "n_forests" if name == "fao" else "n_estimators"
    path = tmp_path / "fit.checkpoint"
    fit(name, path, **{word: 2})
    for n_trees in (3, 1, 4):
        assert differences(fit(name, **{word: n_trees}), fit(name, path, **{word: n_trees})) == []


@pytest.mark.parametrize("name", ["bagged", "boosted", "gradient", "fao", "greedy"])
@pytest.mark.usefixtures("always_due")
def test_a_warm_start_is_resumed(name, tmp_path):
    word = "n_forests" if name == "fao" else "n_estimators"
    data = FITS[name].data

    def warm(path=None, before=1):
        known = fit(name, warm_start=True, **{word: before})
        return known.set_params(**{word: 3}).fit(*data, checkpoint=path)

    wanted = warm()
    path = tmp_path / "fit.checkpoint"
    assert killed_before(1, lambda: warm(path)) == 1
    assert differences(wanted, warm(path)) == []
    with pytest.raises(ValueError, match="trees that warm_start or refit goes on from are others"):
        warm(path, before=2)


REFITS = {
    "fao": (IRIS[0][::2], IRIS[1][::2]),
    "fao of mean hyperplanes": (IRIS[0] + 0.1, IRIS[1]),
    "fao early": (IRIS[0][20:], IRIS[1][20:], IRIS[0][:20], IRIS[1][:20]),
    "fao few weights": (TWO_NUMBERS[0][:60], TWO_NUMBERS[1][:60]),
    "fao frame": (FRAME[0][30:], FRAME[1][30:]),
}


@pytest.mark.parametrize("name", REFITS)
@pytest.mark.usefixtures("always_due")
def test_a_refit_killed_anywhere_ends_in_the_same_model(name, tmp_path):
    known = FITS[name].new().fit(*FITS[name].data)

    def refit(path=None):
        X, y, *judged = REFITS[name]
        validation = dict(zip(("X_val", "y_val"), judged, strict=False))
        return copy.deepcopy(known).refit(X, y, **validation, checkpoint=path)

    wanted = refit()
    n_all = killed_before(10_000, lambda: refit(tmp_path / "all"))
    assert n_all > 2
    for n_writes in range(n_all):
        path, found = tmp_path / str(n_writes), []
        assert killed_before(n_writes, lambda path=path: refit(path)) == n_writes
        n_left = killed_before(10_000, lambda path=path, found=found: found.append(refit(path)))
        assert differences(wanted, found[0]) == []
        assert n_left == n_all - n_writes, "what was saved is not done again"
