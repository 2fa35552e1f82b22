"""Wrong constructor values are refused by ``fit`` before any work, with a text that helps."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from spinney.algorithms.tao import optimize_tree
from spinney.estimators import RandomStructure, TAOTreeClassifier, TAOTreeRegressor
from tests.spies import replace_everywhere

X, Y = load_iris(return_X_y=True)

BAD_VALUES = [
    ({"split": "diagonal"}, r'split=\'diagonal\' is not known; give "oblique" or "axis"; try'),
    ({"leaf": "quadratic"}, r'leaf=\'quadratic\' is not known; give "constant" or "linear"; try'),
    ({"order": "sideways"}, r'order=\'sideways\' is not known; give "leaves_first" or'),
    ({"leaf_penalty": "l3"}, r'leaf_penalty=\'l3\' is not known; give "l1" or "l2"'),
    ({"leaf_alpha": -1, "leaf": "linear"}, r"leaf_alpha=-1 is too small; give a finite number >="),
    ({"leaf_alpha": 1.0}, r'leaf_alpha=1.0 with leaf="constant": .* labels, .* try leaf="linear"'),
    ({"loss": "hinge"}, r'loss=\'hinge\' is not known; give "zero_one" or "log_loss"; try'),
    ({"loss": "squared_error"}, r"is for numbers, .* try TAOTreeRegressor"),
    ({"alpha": -1}, r"alpha=-1 is too small; give a finite number >= 0; try alpha=0.1"),
    ({"alpha": float("nan")}, r"alpha=nan is not finite; give a finite number >= 0; try"),
    ({"alpha": float("inf")}, r"alpha=inf is not finite"),
    ({"ridge": -1}, r"ridge=-1 is too small; give a finite number >= 0; try ridge=0.01"),
    ({"max_weights": 0}, r"max_weights=0 is too small; give an integer >= 1; try max_weights=50"),
    ({"max_weights": 3, "split": "axis"}, r'max_weights=3 with split="axis", .* try split="obl'),
    ({"max_leaf_weights": 3}, r'max_leaf_weights=3 with leaf="constant", .* try leaf="linear"'),
    ({"max_leaf_weights": -2, "leaf": "linear"}, r"max_leaf_weights=-2 is too small; give an int"),
    (
        {"strict_descent": "node"},
        r"strict_descent='node'; give True, False or \"sweep\"; try strict_descent=True",
    ),
    (
        {"max_weights": 3, "strict_descent": "sweep"},
        r"max_weights=3 with strict_descent='sweep': .* try a larger",
    ),
    (
        {"max_weights": 3, "strict_descent": True},
        r"max_weights=3 with strict_descent=True: .* try a larger",
    ),
    ({"relax_leaves": True}, r'relax_leaves=True with leaf="constant", .* try leaf="linear"'),
    (
        {"relax_leaves": True, "leaf": "linear", "strict_descent": True},
        r"relax_leaves=True with strict_descent=True: .* try a smaller alpha",
    ),
    ({"tol": -1e-3}, r"tol=-0.001 is too small; give a finite number >= 0; try tol=1e-4"),
    ({"max_iter": 0}, r"max_iter=0 is too small; give an integer >= 1; try max_iter=20"),
    ({"max_depth": 0}, r"max_depth=0 is too small; give an integer >= 1; try max_depth=8"),
    ({"max_depth": None}, r'max_depth=None has no meaning .* try max_depth=8, or init="cart"'),
    ({"max_depth": 40}, r"2\*\*40 leaves; give an integer from 1 to 20; try max_depth=12"),
    ({"n_jobs": 0}, r"n_jobs=0 leaves no thread to work; give None, a positive integer, or -1"),
    ({"verbose": -1}, r"verbose=-1 is too small; give an integer >= 0; try verbose=1"),
    ({"random_state": "seven"}, r"'seven' cannot be used to seed"),
    (
        {"init": "middle"},
        r'init=\'middle\' is not known; give "supervised", .* try init="supervised"',
    ),
    ({"init": DecisionTreeClassifier()}, r"init=DecisionTreeClassifier is not fitted; .* try"),
    ({"init": TAOTreeClassifier()}, r"init=TAOTreeClassifier is not fitted; .*FrozenEstimator"),
    ({"init": RandomStructure(3, 2, 10)}, r"max_depth=2 of RandomStructure is below its min_depth"),
    ({"init": RandomStructure(0, 2, 7)}, r"min_depth=0 is too small"),
    ({"init": RandomStructure(2, 3, 99)}, r"expected_nodes=99 cannot .* from 7 to 15; try .*=11"),
    ({"class_weight": "even"}, r"class_weight='even' is not known; give None, \"balanced\""),
    ({"class_weight": {0: -1.0}}, r"class_weight\[0\]=-1.0 is not a weight; .* >= 0; try"),
    ({"class_weight": {0: np.nan}}, r"class_weight\[0\]=nan is not a weight"),
    ({"class_weight": {7: 2.0}}, r"names \[7\], which y does not hold; .* \[0, 1, 2\]; try"),
]
BAD_KINDS = [
    ({"split": 3}, r'split=3 is of type int; give a string, "oblique" or "axis"; try'),
    ({"loss": None}, r"loss=None is of type NoneType"),
    ({"alpha": "much"}, r"alpha='much' is of type str; give a finite number >= 0; try"),
    ({"alpha": True}, r"alpha=True is of type bool"),
    ({"relax_leaves": "yes"}, r"relax_leaves='yes' is of type str"),
    ({"max_weights": 0.5}, r"max_weights=0.5 is of type float; give an integer >= 1; try"),
    ({"ridge": "some"}, r"ridge='some' is of type str; give a finite number >= 0; try"),
    ({"max_iter": 2.5}, r"max_iter=2.5 is of type float; give an integer >= 1; try"),
    ({"max_depth": "deep"}, r"max_depth='deep' is of type str"),
    ({"max_depth": True}, r"max_depth=True is of type bool"),
    (
        {"strict_descent": 1},
        r'strict_descent=1 is of type int; give True, False or "sweep"; try strict_descent=True',
    ),
    ({"warm_start": "no"}, r"warm_start='no' is of type str; give True or False"),
    ({"n_jobs": 1.5}, r"n_jobs=1.5 is of type float; give None, a positive integer"),
    ({"init": 5}, r"init=5 is of type int; give .* a spinney Tree or a fitted tree estimator; try"),
    ({"init": LogisticRegression()}, r"init=LogisticRegression is not a tree estimator; .* try"),
    ({"init": RandomForestClassifier()}, r"init=RandomForestClassifier is not a tree estimator"),
    ({"class_weight": 3}, r"class_weight=3 is not known"),
    ({"class_weight": {0: "big"}}, r"class_weight\[0\]='big' is of type str"),
]


@pytest.fixture
def _no_optimiser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the test fail if ``fit`` starts to work before it has checked."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the optimiser was called")

    replace_everywhere(monkeypatch, optimize_tree, refuse)


@pytest.mark.usefixtures("_no_optimiser")
@pytest.mark.parametrize(("values", "text"), BAD_VALUES)
def test_bad_value_is_a_value_error(values: dict[str, object], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        TAOTreeClassifier(**values).fit(X, Y)


@pytest.mark.usefixtures("_no_optimiser")
@pytest.mark.parametrize(("values", "text"), BAD_KINDS)
def test_bad_kind_is_a_type_error(values: dict[str, object], text: str) -> None:
    with pytest.raises(TypeError, match=text):
        TAOTreeClassifier(**values).fit(X, Y)


@pytest.mark.usefixtures("_no_optimiser")
@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"loss": "log_loss"}, r"loss='log_loss' is for classes, .* try TAOTreeClassifier"),
        ({"loss": "cosine"}, r"loss='cosine' is not known; give \"squared_error\" or"),
        ({"huber_delta": 0}, r"huber_delta=0 is too small; give a finite number > 0; try"),
        ({"huber_delta": float("inf")}, r"huber_delta=inf is not finite"),
        ({"alpha": -0.5}, r"alpha=-0.5 is too small"),
    ],
)
def test_bad_value_of_the_regressor_is_a_value_error(values: dict[str, object], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        TAOTreeRegressor(**values).fit(X, Y)


@pytest.mark.usefixtures("_no_optimiser")
def test_start_of_another_task_is_refused() -> None:
    regressor = DecisionTreeRegressor(max_depth=2).fit(X, Y)
    with pytest.raises(ValueError, match=r"solves another task; give a fitted classifier; try"):
        TAOTreeClassifier(init=regressor).fit(X, Y)
    classifier = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    with pytest.raises(ValueError, match=r"solves another task; give a fitted regressor; try"):
        TAOTreeRegressor(init=classifier).fit(X, Y)


@pytest.mark.usefixtures("_no_optimiser")
def test_start_of_other_columns_or_outputs_is_refused() -> None:
    narrow = DecisionTreeClassifier(max_depth=2).fit(X[:, :2], Y)
    with pytest.raises(ValueError, match=r"a tree on 2 columns but X has 4; give .* try"):
        TAOTreeClassifier(init=narrow).fit(X, Y)
    other = DecisionTreeClassifier(max_depth=2).fit(X, Y + 1)
    with pytest.raises(ValueError, match=r"knows the classes \[1, 2, 3\] but y holds \[0, 1, 2\]"):
        TAOTreeClassifier(init=other).fit(X, Y)
    single = DecisionTreeRegressor(max_depth=2).fit(X, Y)
    with pytest.raises(ValueError, match=r"a tree with 1 outputs but y needs 2; give .* try"):
        TAOTreeRegressor(init=single).fit(X, np.column_stack([Y, Y]))


def test_numpy_scalars_are_as_good_as_python_numbers() -> None:
    tree = TAOTreeClassifier(
        max_depth=np.int64(2),
        max_iter=np.int32(2),
        alpha=np.float32(0.1),
        strict_descent=np.bool_(True),
        n_jobs=np.int16(1),
        random_state=np.int64(0),
        verbose=False,
    )
    assert tree.fit(X, Y).get_depth() <= 2


def test_constructor_stores_its_arguments_untouched() -> None:
    init = RandomStructure(1, 2, 5)
    tree = TAOTreeClassifier(init=init, alpha="unchecked")
    assert tree.init is init
    assert tree.alpha == "unchecked"
