"""A forest grown in parts is the forest grown at once; what cannot go on is refused."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import is_classifier

from tests.bits import differences
from tests.contracts.cases import IRIS, NOISY_NUMBERS, VALIDATION, Case, named, same_trees
from tests.contracts.ways import EACH, WAYS


def word_of(case: Case) -> str:
    """The parameter that says how many parts a forest has; nothing if it does not grow."""
    names = case.estimator.get_params(deep=False)
    return next((word for word in ("n_forests", "n_estimators") if word in names), "")


GROWING = {
    name: case
    for name, case in WAYS.items()
    if "warm_start" in case.estimator.get_params(deep=False) and word_of(case)
}
# The penalties of a path depend on how many trees share it.
IN_PARTS = {
    name: case
    for name, case in GROWING.items()
    if not isinstance(case.estimator.get_params(deep=False).get("alpha"), tuple)
}
EACH_GROWING = {type(case.estimator).__name__: case for case in reversed(GROWING.values())}
JUDGED = {
    name: case._replace(data=IRIS)
    for name, case in IN_PARTS.items()
    if "n_iter_no_change" in case.estimator.get_params(deep=False)
}


@named(IN_PARTS, in_a_hurry=EACH)
def test_grown_in_parts_is_grown_at_once(case: Case) -> None:
    word = word_of(case)
    parts = case.new(warm_start=True)
    for number in (1, 3, 5):
        parts.set_params(**{word: number}).fit(*case.data)
    with pytest.warns(UserWarning, match=rf"{word}=5 .* so that nothing is; give .* try"):
        parts.fit(*case.data)
    assert differences(case.fit(**{word: 5}), parts) == ["warm_start"]


@named(JUDGED)
def test_validation_rows_do_not_stand_in_the_way(case: Case) -> None:
    word = word_of(case)
    parts = case.new(warm_start=True)
    for number in (1, 3, 5):
        parts.set_params(**{word: number}).fit(*case.data, **VALIDATION)
    whole = case.new(**{word: 5}).fit(*case.data, **VALIDATION)
    assert differences(whole, parts) == ["warm_start"]


@named(GROWING, in_a_hurry=EACH)
def test_more_trees_keep_the_first_ones(case: Case) -> None:
    word = word_of(case)
    first = case.fit(warm_start=True, **{word: 2})
    trees = first.trees_
    grown = first.set_params(**{word: 4}).fit(*case.data)
    assert all(a is b or a.same_as(b) for a, b in zip(grown.trees_, trees, strict=False))
    assert len(grown.trees_) > len(trees)


@named(EACH_GROWING)
def test_without_a_seed_a_forest_goes_on_from_its_own(case: Case) -> None:
    word = word_of(case)
    first = case.fit(warm_start=True, random_state=None, **{word: 1})
    at_once = copy.deepcopy(first).set_params(**{word: 4}).fit(*case.data)
    parts = copy.deepcopy(first)
    for number in (3, 4):
        parts.set_params(**{word: number}).fit(*case.data)
    assert same_trees(at_once, parts)


@named(EACH_GROWING)
def test_a_copy_is_grown_on_without_the_original(case: Case) -> None:
    word = word_of(case)
    first = case.fit(warm_start=True, **{word: 2})
    grown = pickle.loads(pickle.dumps(first)).set_params(**{word: 4}).fit(*case.data)
    assert same_trees(grown, case.fit(**{word: 4}))
    assert same_trees(first, case.fit(**{word: 2}))


@named(EACH)
def test_without_a_warm_start_a_second_fit_starts_afresh(case: Case) -> None:
    model = case.fit()
    assert differences(case.fit(), model.fit(*case.data)) == []
    fewer = {word_of(case): 1} if word_of(case) else {}
    assert differences(case.fit(**fewer), model.set_params(**fewer).fit(*case.data)) == []


@named(EACH_GROWING)
def test_what_a_warm_start_cannot_go_on_from_is_refused(case: Case) -> None:
    X, y = case.data
    word = word_of(case)
    model = case.fit(warm_start=True, **{word: 3})
    model.set_params(**{word: 2})
    before = dict(vars(model))
    with pytest.raises(ValueError, match=rf"{word}=2 .* 3 .*; give at least .*; try"):
        model.fit(X, y)
    assert vars(model) == before
    model.set_params(**{word: 5})
    before = dict(vars(model))
    n_columns = X.shape[1]
    with pytest.raises(ValueError, match=rf"X has 2 features, but .* is expecting {n_columns}"):
        model.fit(X[:, :2], y)
    if is_classifier(model):
        other = np.where(y == "ash", "yew", y)
        text = r"classes \[.*ash.*\] but y holds .*; give .* try warm_start=False"
    else:
        other, text = NOISY_NUMBERS[1][:, 0], r"trees of 2 outputs but y has 1; give as many; try"
    with pytest.raises(ValueError, match=text):
        model.fit(X, other)
    assert vars(model) == before
