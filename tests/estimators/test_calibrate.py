"""Probabilities that can be believed: every forest's, with its defaults."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_score

import spinney
from spinney import (
    CO2ForestClassifier,
    FAOForestClassifier,
    GreedyForestClassifier,
    RandomDecisionForestClassifier,
    TAOBoostClassifier,
    TAOForestClassifier,
    TAOGradientBoostingClassifier,
)

IRIS, KINDS = load_iris(return_X_y=True)
NOISY, LABELS = make_classification(
    1500, 8, n_informative=4, n_redundant=0, flip_y=0.3, class_sep=0.8, random_state=0
)

FORESTS = {
    "bagged": TAOForestClassifier(10, max_depth=5, max_iter=5),
    "bagged on all rows": TAOForestClassifier(6, max_depth=5, max_iter=5, max_samples=1.0),
    "hard votes": TAOForestClassifier(10, max_depth=5, max_iter=5, voting="hard"),
    "linear leaves": TAOForestClassifier(5, max_depth=2, max_iter=5, leaf="linear"),
    "boosted": TAOBoostClassifier(8, max_depth=4, max_sweeps=5),
    "gradient, hinge": TAOGradientBoostingClassifier(
        5, max_depth=3, max_sweeps=3, loss="squared_hinge"
    ),
    "fao": FAOForestClassifier(2, n_trees=4, max_depth=4, max_iter=4),
    "co2": CO2ForestClassifier(10, max_epochs=10),
    "greedy": GreedyForestClassifier(15),
    "ho": RandomDecisionForestClassifier(6),
}
MADE = [pytest.param(clone(forest), id=name) for name, forest in FORESTS.items()]


def seeded(forest):
    return clone(forest).set_params(random_state=0)


@pytest.mark.parametrize("forest", MADE)
def test_predictions_do_not_depend_on_the_map(forest) -> None:
    with_map = seeded(forest).fit(NOISY[:800], LABELS[:800])
    without = seeded(forest).set_params(calibrate=False).fit(NOISY[:800], LABELS[:800])
    rows = NOISY[800:]
    assert (with_map.predict(rows) == without.predict(rows)).all()
    assert not hasattr(without, "probability_slope_")
    order = [
        np.argsort(model.predict_proba(rows)[:, 1], kind="stable") for model in (with_map, without)
    ]
    shares = without.predict_proba(rows)[:, 1]
    assert (np.diff(shares[order[0]]) >= -1e-12).all()  # the map is monotone


@pytest.mark.parametrize("forest", MADE)
def test_the_map_lowers_the_loss_of_unseen_rows(forest) -> None:
    model = seeded(forest).fit(NOISY[:1000], LABELS[:1000])
    found = log_loss(LABELS[1000:], model.predict_proba(NOISY[1000:]))
    assert found < np.log(2)
    raw = model.set_params(calibrate=False).predict_proba(NOISY[1000:])
    assert found < log_loss(LABELS[1000:], raw) + 0.002


@pytest.mark.parametrize("forest", MADE)
def test_no_seen_class_is_impossible(forest) -> None:
    model = seeded(forest).fit(IRIS, KINDS)
    shares = model.predict_proba(IRIS)
    assert (shares > 0).all()
    assert np.isfinite(model.predict_log_proba(IRIS)).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    assert (model.classes_[shares.argmax(axis=1)] == model.predict(IRIS)).all()


@pytest.mark.slow
@pytest.mark.parametrize("forest", MADE)
def test_scores_of_probabilities_work_in_cross_validation(forest) -> None:
    """With a class of 3 %, as where people ask for probabilities."""
    rare = (NOISY[:, 0] + NOISY[:, 1] > np.quantile(NOISY[:, 0] + NOISY[:, 1], 0.97)).astype(int)
    loss = -cross_val_score(seeded(forest), NOISY, rare, cv=3, scoring="neg_log_loss")
    area = cross_val_score(seeded(forest), NOISY, rare, cv=3, scoring="roc_auc")
    base = log_loss(rare, np.full(len(rare), rare.mean()))
    assert loss.mean() < base
    assert area.mean() > 0.8


@pytest.mark.parametrize("forest", MADE)
def test_the_map_is_the_same_for_any_number_of_jobs(forest) -> None:
    one = seeded(forest).fit(NOISY[:500], LABELS[:500])
    two = seeded(forest).set_params(n_jobs=2).fit(NOISY[:500], LABELS[:500])
    assert one.probability_slope_ == two.probability_slope_
    assert one.probability_votes_ == two.probability_votes_


@pytest.mark.parametrize("forest", MADE)
def test_the_map_is_saved_and_compiled(forest, tmp_path) -> None:
    model = seeded(forest).fit(IRIS, KINDS)
    spinney.save(model, tmp_path / "model.spinney")
    loaded = spinney.load(tmp_path / "model.spinney")
    expected = model.predict_proba(IRIS)
    assert (loaded.predict_proba(IRIS) == expected).all()
    assert (model.compile().predict_proba(IRIS) == expected).all()


def test_validation_rows_make_the_map_without_further_trees(monkeypatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("there are unseen rows already")

    monkeypatch.setattr("spinney.estimators.boost.cross_fitted", never)
    monkeypatch.setattr("spinney.estimators.additive.cross_fitted", never)
    held = {"X_val": NOISY[1000:], "y_val": LABELS[1000:]}
    for name in ("boosted", "gradient, hinge", "fao"):
        model = seeded(FORESTS[name]).fit(NOISY[:1000], LABELS[:1000], **held)
        assert model.probability_slope_ > 0
    stopping = seeded(FORESTS["boosted"]).set_params(early_stopping=True).fit(NOISY, LABELS)
    assert stopping.probability_slope_ > 0


def test_stages_end_in_the_prediction() -> None:
    for name in ("boosted", "gradient, hinge"):
        model = seeded(FORESTS[name]).fit(NOISY[:500], LABELS[:500])
        *_, last = model.staged_predict_proba(NOISY[500:])
        assert (last == model.predict_proba(NOISY[500:])).all()


def test_refit_keeps_the_map() -> None:
    forest = seeded(FORESTS["fao"]).fit(NOISY[:700], LABELS[:700])
    slope = forest.probability_slope_
    assert forest.refit(NOISY[700:], LABELS[700:]).probability_slope_ == slope


def test_a_warm_start_on_other_rows_has_no_map() -> None:
    forest = seeded(FORESTS["bagged"]).set_params(n_estimators=5, warm_start=True)
    forest.fit(NOISY[:500], LABELS[:500])
    assert forest.probability_slope_ > 0
    with pytest.warns(UserWarning, match="probabilities are shares of the votes"):
        forest.set_params(n_estimators=8).fit(NOISY[:600], LABELS[:600])
    assert not hasattr(forest, "probability_slope_")


def test_a_log_loss_needs_no_map() -> None:
    for forest in (
        TAOGradientBoostingClassifier(3, max_depth=2, max_sweeps=2, random_state=0),
        FAOForestClassifier(1, n_trees=3, max_depth=2, max_iter=2, loss="log_loss", random_state=0),
    ):
        assert not hasattr(forest.fit(IRIS, KINDS), "probability_slope_")


def test_calibrate_must_be_true_or_false() -> None:
    for forest in FORESTS.values():
        with pytest.raises(TypeError, match="calibrate='yes'"):
            seeded(forest).set_params(calibrate="yes").fit(IRIS, KINDS)


def test_a_bad_word_is_refused_after_the_fit_too() -> None:
    model = seeded(FORESTS["greedy"]).fit(IRIS, KINDS).set_params(calibrate="bogus")
    with pytest.raises(TypeError, match="calibrate='bogus'"):
        model.predict_proba(IRIS)


def test_one_class_is_certain() -> None:
    for name in ("bagged", "fao", "greedy"):
        model = seeded(FORESTS[name]).fit(IRIS, np.zeros(150))
        assert (model.predict_proba(IRIS) == 1).all()
