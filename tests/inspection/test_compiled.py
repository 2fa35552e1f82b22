"""compile(): the bits of the estimator for plain rows, from any number of threads."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import load_iris

from spinney import MissingValuesWarning, TAOForestClassifier
from tests.contracts.served import fitted, rows_for


def test_layout_and_type_of_rows_change_nothing():
    model, X = fitted("soft forest"), rows_for("soft forest")
    predictor, wanted = model.compile(), model.predict_proba(X)
    wide = np.zeros((len(X), 2 * X.shape[1]), dtype=np.float32)
    wide[:, ::2] = X
    for rows in (np.asfortranarray(X), X.astype(np.float64), wide[:, ::2], X.tolist()):
        assert np.array_equal(predictor.predict_proba(rows), wanted)
    assert predictor(X[0].tolist()) == predictor(X[0])
    assert predictor(X[0].astype(int)) == model.predict(X[:1].astype(int))[0]


def test_threads_agree_bit_for_bit():
    model, X = fitted("soft linear forest"), rows_for("soft linear forest")
    predictor, wanted = model.compile(), model.predict_proba(X)
    with ThreadPoolExecutor(8) as pool:
        batches = pool.map(predictor.predict_proba, [X] * 16)
        assert all(np.array_equal(found, wanted) for found in batches)
        rows = pool.map(predictor.predict_proba, X[:500])
        assert np.array_equal(np.array(list(rows)), wanted[:500])
        public = pool.map(model.predict_proba, [X] * 16)
        assert all(np.array_equal(found, wanted) for found in public)


def test_later_fits_leave_a_compiled_model_as_it_was():
    X = rows_for("tree")[:100]
    model = TAOForestClassifier(n_estimators=2, max_depth=2, max_iter=2, random_state=0)
    model.fit(X, X[:, 0] > 0)
    predictor, before = model.compile(), model.predict(X)
    model.fit(X, X[:, 0] < 0)
    assert (predictor(X) == before).all()


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (np.zeros(4), "4 columns; give a row of 5"),
        (np.zeros((2, 3)), "3 columns"),
        (np.zeros((1, 1, 5)), "3 dimensions"),
        (np.full((3, 5), 1e39), "too large for float32"),
    ],
)
def test_rows_that_are_wrong_are_refused(rows, text):
    with pytest.raises(ValueError, match=text):
        fitted("tree").compile()(rows)


def test_no_rows_give_no_predictions():
    assert fitted("tree").compile()(np.zeros((0, 5))).shape == (0,)


def test_numbers_with_holes_are_filled_as_by_the_estimator():
    X = np.random.default_rng(0).normal(size=(80, 4))
    y = X[:, 0] > X[:, 1]
    X[::3, 0] = np.nan
    forest = TAOForestClassifier(3, max_depth=3, random_state=0).fit(X, y)
    predict = pickle.loads(pickle.dumps(forest.compile()))
    assert predict.n_features_in_ == 4
    np.testing.assert_array_equal(predict.predict_proba(X), forest.predict_proba(X))
    assert [predict(row) for row in X[:9]] == forest.predict(X[:9]).tolist()
    with pytest.raises(ValueError, match=r"x has shape \(3,\); give a row of 4"):
        predict([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="too large for float32"):
        predict([1.0, 2.0, 3.0, 1e39])


def test_frames_in_another_order_are_refused():
    frame, y = load_iris(return_X_y=True, as_frame=True)
    predict = TAOForestClassifier(2, max_depth=2, random_state=0).fit(frame, y).compile()
    assert predict(frame.iloc[0]) == predict(frame)[0] == predict(frame.to_numpy())[0]
    for wrong in (frame[frame.columns[::-1]], frame.iloc[0][::-1]):
        with pytest.raises(ValueError, match="columns of the model in another order"):
            predict(wrong)


def test_texts_are_no_numbers():
    predict = TAOForestClassifier(1, max_depth=1, random_state=0).fit([[0], [1]], [0, 1]).compile()
    with pytest.raises(ValueError, match=r"column 0 of X holds text \('1' in row 0\) but held"):
        predict(["1"])


def test_missing_numbers_are_filled_as_by_the_estimator():
    model, X = fitted("soft forest"), rows_for("soft forest")[:50].copy()
    X[::3, 1] = np.nan
    predict = model.compile()
    with pytest.warns(MissingValuesWarning):
        wanted = model.predict_proba(X)
    for rows in (X, X.astype(np.float64), X.tolist(), np.asfortranarray(X)):
        with pytest.warns(MissingValuesWarning, match=r"column 1 of X in 17 rows") as told:
            found = predict.predict_proba(rows)
        assert np.array_equal(found, wanted)
        assert [warning.filename for warning in told] == [__file__]
    with pytest.warns(MissingValuesWarning):
        assert predict(X[0]) == model.classes_[wanted[0].argmax()]


def test_missing_error_holds_in_compiled_models_too():
    X = rows_for("tree")[:100]
    model = TAOForestClassifier(2, max_depth=2, max_iter=2, random_state=0, missing="error")
    predict = model.fit(X, X[:, 0] > 0).compile()
    for row in (np.full(5, np.nan), [None, 1.0, 2.0, 3.0, 4.0]):
        with pytest.raises(
            ValueError, match=r"X\[0, 0\] is missing, but no value of column 0 of X"
        ):
            predict(row)
