"""Old names of parameters do what the new ones do, and say so; old models say nothing."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
import warnings
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import spinney
from spinney.estimators.renamed import RENAMED, Renamed, current_names, renamed_parameters
from tests.compat.make_files import FOLDER

X, Y = load_iris(return_X_y=True)
CLASSES = [
    found
    for name in spinney.estimators.__all__
    if isinstance(found := getattr(spinney.estimators, name), type)
    and issubclass(found, BaseEstimator)
]
# Every class with every one of its old names, and a value to give by it that is not the default.
PAIRS = [(kind, renamed) for kind in CLASSES for renamed in renamed_parameters(kind).values()]
of_every_pair = pytest.mark.parametrize(
    ("kind", "renamed"), PAIRS, ids=[f"{kind.__name__}-{of.old}" for kind, of in PAIRS]
)
TREE = spinney.TAOTreeClassifier
OLD = {"monotone": True}


def given(kind: type, name: str) -> object:
    """A value of a parameter that is not the default; no constructor looks at it."""
    return (kind.__name__, name)


def test_every_rename_is_of_some_class():
    assert {renamed for _, renamed in PAIRS} == set(RENAMED)


@pytest.mark.parametrize("renamed", RENAMED, ids=lambda of: of.old)
def test_whoever_knows_the_new_name_takes_the_old_one(renamed: Renamed):
    takes = {kind.__name__ for kind, of in PAIRS if of == renamed}
    assert takes == {of.__name__ for of in CLASSES if renamed.new in of._get_param_names()}


@of_every_pair
def test_a_constructor_takes_the_old_name_and_names_the_new_one(kind: type, renamed: Renamed):
    value = given(kind, renamed.old)
    with pytest.warns(FutureWarning, match=f"{kind.__name__}: .*{renamed.old} is called") as seen:
        model = kind(**{renamed.old: value})
    assert [of.filename for of in seen] == [__file__]
    assert f"give {renamed.new}" in str(seen[0].message)
    assert getattr(model, renamed.new) is value


def test_the_warning_tells_monotonic_constraints_apart():
    with pytest.warns(FutureWarning, match=r"strict_descent.*not about predictions.*monotonic_cst"):
        TREE(**OLD)


@of_every_pair
def test_introspection_sees_the_new_name_alone(kind: type, renamed: Renamed):
    assert renamed.new in inspect.signature(kind).parameters
    assert renamed.old not in inspect.signature(kind).parameters
    assert renamed.old not in kind().get_params()
    assert renamed.old not in vars(kind())


@of_every_pair
def test_attributes_and_set_params_take_the_old_name(kind: type, renamed: Renamed):
    model, values = kind(), [given(kind, "a"), given(kind, "b")]
    with pytest.warns(FutureWarning, match=renamed.new) as seen:
        assert model.set_params(**{renamed.old: values[0]}) is model
    assert [of.filename for of in seen] == [__file__]
    if renamed.is_attribute:
        with pytest.warns(FutureWarning, match=renamed.new):
            assert getattr(model, renamed.old) is values[0]
    else:
        with pytest.raises(AttributeError, match=rf"no {renamed.old}; it is called {renamed.new}"):
            getattr(model, renamed.old)
    with pytest.warns(FutureWarning, match=renamed.new):
        setattr(model, renamed.old, values[1])
    assert getattr(model, renamed.new) is values[1]
    assert renamed.old not in vars(model)


@of_every_pair
def test_both_names_at_once_are_refused(kind: type, renamed: Renamed):
    both = {renamed.old: 1, renamed.new: 2}
    for call in (lambda: kind(**both), lambda: kind().set_params(**both)):
        with pytest.raises(TypeError, match=rf"got {renamed.old}=1 and .*try {renamed.new} alone"):
            call()


@of_every_pair
def test_a_pickle_of_the_old_name_loads_without_a_word(kind: type, renamed: Renamed):
    model = kind(**{renamed.new: given(kind, "a")})
    state = dict(model.__getstate__())
    state[renamed.old] = state.pop(renamed.new)
    again = kind.__new__(kind)
    again.__setstate__(state)
    assert vars(again) == vars(model)
    assert list(vars(again)) == list(vars(model))


def test_a_pickle_without_a_parameter_gets_its_default():
    state = dict(TREE(alpha=3.0).__getstate__())
    del state["categorical_features"]
    again = TREE.__new__(TREE)
    again.__setstate__(state)
    assert again.get_params() == TREE(alpha=3.0).get_params()


def test_copies_clones_and_pickles_of_new_models_are_silent():
    model = TREE(max_depth=2, max_iter=2, strict_descent=True).fit(X, Y)
    for again in (
        copy.copy(model),
        copy.deepcopy(model),
        clone(model),
        pickle.loads(pickle.dumps(model)),
    ):
        assert again.strict_descent is True


def test_a_search_and_a_pipeline_take_the_old_name():
    with pytest.warns(FutureWarning, match="strict_descent"):
        search = GridSearchCV(TREE(max_depth=2, max_iter=2), {"monotone": [True]}, cv=2).fit(X, Y)
    assert search.best_estimator_.strict_descent is True
    pipe = make_pipeline(TREE())
    with pytest.warns(FutureWarning, match="strict_descent"):
        pipe.set_params(taotreeclassifier__monotone=True)
    assert pipe.get_params()["taotreeclassifier__strict_descent"] is True


def test_old_name_and_new_name_fit_the_same_tree():
    with pytest.warns(FutureWarning):
        old = TREE(max_depth=2, max_iter=3, random_state=0, **OLD).fit(X, Y)
    new = TREE(max_depth=2, max_iter=3, random_state=0, strict_descent=True).fit(X, Y)
    assert old.tree_.same_as(new.tree_)


def test_a_subclass_with_a_constructor_of_its_own_takes_the_old_name_too():
    class Mine(TREE):
        def __init__(self, *, depth: int = 2, strict_descent: bool = False) -> None:
            super().__init__(max_depth=depth, strict_descent=strict_descent)
            self.depth = depth

    with pytest.warns(FutureWarning, match="Mine: the parameter monotone"):
        mine = Mine(**OLD)
    assert mine.get_params() == {"depth": 2, "strict_descent": True}


def test_a_subclass_may_pass_the_old_name_on():
    class Mine(TREE):
        def __init__(self, extra: int = 1, left_: int = 2) -> None:
            super().__init__(max_depth=1, max_iter=1, **OLD)
            self.extra, self.left_ = extra, left_

    with pytest.warns(FutureWarning, match="Mine: the parameter monotone"):
        mine = Mine()
    assert mine.strict_descent is True
    assert mine.fit(X, Y).left_ == 2


def test_what_is_no_parameter_keeps_its_name():
    assert current_names(TREE, {"monotone": 1, "tree_": 2}) == {"strict_descent": 1, "tree_": 2}


# Files of version 1 were written when the old names were the only ones.


@pytest.mark.parametrize(
    "path", sorted(FOLDER.glob("v1/tao_*.spinney")), ids=lambda path: path.stem
)
def test_a_file_of_the_old_name_loads_without_a_word(path: Path):
    model = spinney.load(path)
    assert model.strict_descent is False
    assert "monotone" not in vars(model)


def dictionary_of(**parameters: object) -> dict[str, object]:
    stored = json.loads(json.dumps(spinney.to_dict(TREE(strict_descent=True))))
    del stored["model"]["parameters"]["strict_descent"]
    stored["model"]["parameters"] |= parameters
    return stored


def test_an_old_file_keeps_the_value_of_a_renamed_parameter():
    assert spinney.from_dict(dictionary_of(monotone=True) | {"library": "0.1.0"}).strict_descent


def test_a_file_with_both_names_is_refused():
    stored = dictionary_of(monotone=True, strict_descent=True) | {"library": "0.1.0"}
    with pytest.raises(spinney.DamagedFileError, match="which are one parameter"):
        spinney.from_dict(stored)


def test_a_new_file_with_an_old_name_is_refused():
    with pytest.raises(spinney.DamagedFileError, match="monotone"):
        spinney.from_dict(dictionary_of(monotone=True))


def test_warnings_are_shown_by_default():
    with warnings.catch_warnings(record=True) as seen:
        warnings.resetwarnings()
        warnings.simplefilter("default")
        TREE(**OLD)
    assert [of.category for of in seen] == [FutureWarning]
