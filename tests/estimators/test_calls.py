"""Wrong arguments are reported by the user's class, with what it takes and what to try."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris

import spinney
from spinney import (
    CO2ForestClassifier,
    FAOForestClassifier,
    RefinedForestClassifier,
    TAOForestClassifier,
    TAOGradientBoostingClassifier,
    TAOTreeClassifier,
)

X, Y = load_iris(return_X_y=True)
CLASSES = [
    found
    for name in spinney.estimators.__all__
    if isinstance(found := getattr(spinney.estimators, name), type)
    and issubclass(found, BaseEstimator)
]
TREE = TAOTreeClassifier(max_depth=2, max_iter=1)


def bare(kind: type) -> BaseEstimator:
    """An estimator without looking at what its constructor asks for."""
    return kind(TREE) if "forest" in kind._get_param_names() else kind()


def own_methods(kind: type) -> list[str]:
    """Public methods that are written in this library."""
    return [
        name
        for name in dir(kind)
        if name[0] != "_"
        and inspect.isfunction(method := inspect.getattr_static(kind, name))
        and method.__module__.startswith("spinney")
    ]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_no_method_names_an_internal_class(kind: type) -> None:
    model = bare(kind)
    assert {"fit", "predict", "compile"} <= set(own_methods(kind))
    for name in set(own_methods(kind)) - {"set_params"}:
        n_needed = len(inspect.signature(getattr(model, name)).parameters)
        calls: list[Callable[[], object]] = [
            lambda name=name: getattr(model, name)(no_such_word=1),
            lambda name=name, n=n_needed: getattr(model, name)(*range(n + 1)),
        ]
        for call in calls:
            with pytest.raises(TypeError) as caught:
                call()
            assert str(caught.value).startswith(f"{kind.__name__}.{name}()"), str(caught.value)
            assert "it takes " in str(caught.value)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_no_constructor_takes_an_unknown_word(kind: type) -> None:
    with pytest.raises(TypeError, match=rf"^{kind.__name__}\(\) got no_such_word, which it does"):
        kind(no_such_word=1)


STOP = (
    r"early_stopping=True and n_iter_no_change=10 in the constructor, and fit\(X, y, X_val=\.\.\."
)
KEEP = r"early_stopping=True in the constructor, and fit\(X, y, X_val=\.\.\., y_val=\.\.\.\)"
NEVER = r"cross_val_score, as it is not judged while it is fitted and does not stop early"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: TAOGradientBoostingClassifier().fit(X, Y, eval_set=[(X, Y)]), STOP),
        (lambda: TAOGradientBoostingClassifier().fit(X, Y, early_stopping_rounds=9), STOP),
        (lambda: TAOGradientBoostingClassifier(early_stopping_rounds=9), STOP),
        (lambda: FAOForestClassifier().fit(X, Y, eval_set=[(X, Y)]), KEEP),
        (lambda: FAOForestClassifier(n_iter_no_change=9), KEEP),
        (lambda: TAOForestClassifier().fit(X, Y, eval_set=[(X, Y)]), NEVER),
        (lambda: TAOForestClassifier(early_stopping=True), NEVER),
        (lambda: TAOForestClassifier(num_boost_round=9), "try n_estimators in the constructor"),
        (lambda: TAOForestClassifier(n_estimator=9), "try n_estimators; it takes"),
        (lambda: TAOTreeClassifier(monotonic_cst=[1]), "no estimator of spinney constrains"),
        (lambda: CO2ForestClassifier(monotone=[1]), "no estimator of spinney constrains"),
        (
            lambda: TREE.fit(X, Y, random_state=0),
            r"try it in the constructor, as in TAOTreeClassif",
        ),
        (lambda: FAOForestClassifier(X_val=X), r"try it in fit, as in fit\(X, y, X_val=\.\.\.\)"),
        (
            lambda: TREE.fit(X, Y, weights=Y),
            r"try sample_weight; it takes X, y, sample_weight, che",
        ),
        (lambda: TREE.fit(X, Y, no_word=Y), r"try help\(TAOTreeClassifier\.fit\); it takes X, y"),
        (lambda: TREE.fit(X), r"TAOTreeClassifier\.fit\(\) missing 1 required positional argument"),
        (RefinedForestClassifier, r"RefinedForestClassifier\(\) missing 1 required"),
        (lambda: TAOTreeClassifier(3), r"TAOTreeClassifier\(\) takes 1 positional argument but 2"),
    ],
)
def test_a_wrong_argument_gets_an_answer(call: Callable[[], object], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        call()


def test_errors_from_inside_a_method_are_as_they_were() -> None:
    with pytest.raises(TypeError, match=r"^max_iter='many' is of type str") as caught:
        TAOTreeClassifier(max_iter="many").fit(X, Y)
    assert "it takes" not in str(caught.value)


def test_the_error_of_a_subclass_names_the_subclass() -> None:
    class Mine(TAOTreeClassifier):
        pass

    with pytest.raises(TypeError, match=r"^Mine\.fit\(\) got eval_set"):
        Mine().fit(X, Y, eval_set=[(X, Y)])


def test_signatures_and_documentation_are_those_of_the_method() -> None:
    assert list(inspect.signature(TREE.fit).parameters) == [
        *("X", "y", "sample_weight", "checkpoint", "callback")
    ]
    assert re.match("Fit the model", TREE.fit.__doc__ or "")


@pytest.mark.parametrize(
    ("make", "tried"),
    [
        (lambda: spinney.TAOForestClassifier(min_samples_leaf=3), "try max_depth or alpha in"),
        (
            lambda: spinney.GreedyForestClassifier(max_leaf_nodes=4),
            "max_depth or min_samples_split",
        ),
        (lambda: spinney.FAOForestClassifier(n_estimator=5), "try n_forests and n_trees"),
        (lambda: spinney.GreedyForestClassifier(max_iter=5), "try help"),
    ],
)
def test_words_of_other_libraries_are_not_taken_for_any_other(make, tried: str) -> None:
    with pytest.raises(TypeError, match=tried):
        make()


def test_losses_of_other_libraries_are_understood() -> None:
    for word, meant in (("deviance", "log_loss"), ("hinge", "squared_hinge")):
        with pytest.raises(ValueError, match=f'try loss="{meant}"'):
            spinney.TAOGradientBoostingClassifier(loss=word).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match='try loss="squared_error"'):
        spinney.TAOTreeRegressor(loss="mse").fit([[0.0], [1.0]], [0.0, 1.0])
