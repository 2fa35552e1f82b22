"""Which rows a page carries."""

import json
import re

import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse as sp

import spinney
from spinney.inspection.report.blocks import Block, unpack
from tests.compat.models import classes, numbers, rows


def document_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search('id="document">(.*?)</script>', text)[1])


def arrays_of(path, name):
    found = re.search(
        f'id="{name}" data-arrays="([^"]*)">([^<]*)<', path.read_text(encoding="utf-8")
    )
    return unpack(Block(found[1], found[2]))


@pytest.fixture(scope="module")
def stump():
    return spinney.TAOTreeClassifier(max_depth=1, max_iter=2, random_state=0).fit(rows(), classes())


def test_few_rows_are_all_carried(stump, tmp_path):
    path = stump.report(tmp_path / "r.html", rows(), classes())
    assert document_of(path)["rows"]["numbers"] == list(range(48))


@pytest.mark.parametrize("max_rows", [1, 4, 20, 40])
def test_half_of_a_sample_is_for_wrong_rows(stump, max_rows, tmp_path):
    path = stump.report(tmp_path / "r.html", rows(), classes(), max_rows=max_rows)
    kept = document_of(path)["rows"]["numbers"]
    is_wrong = stump.predict(rows()) != classes()
    assert len(kept) == len(set(kept)) == max_rows
    assert is_wrong[kept].sum() >= min(max_rows // 2, is_wrong.sum())
    assert document_of(path)["rows"]["nWrong"] == is_wrong.sum()
    assert document_of(path)["rows"]["nWrongKept"] == is_wrong[kept].sum()


def test_the_largest_residuals_are_among_the_sample(tmp_path):
    X, y = rows(), numbers()
    model = spinney.TAOTreeRegressor(max_depth=1, max_iter=2, random_state=0).fit(X, y)
    path = model.report(tmp_path / "r.html", X, y, max_rows=10)
    worst = np.argsort(-np.linalg.norm(model.predict(X) - y, axis=1))[:5]
    assert set(worst.tolist()) <= set(document_of(path)["rows"]["numbers"])


def test_the_same_rows_are_drawn_again(stump, tmp_path):
    one = stump.report(tmp_path / "1.html", rows(), classes(), max_rows=9).read_bytes()
    assert stump.report(tmp_path / "2.html", rows(), classes(), max_rows=9).read_bytes() == one


def test_values_of_rows_are_exact(stump, tmp_path):
    path = stump.report(tmp_path / "r.html", rows())
    np.testing.assert_array_equal(arrays_of(path, "rows")["x"], rows().astype(np.float32).ravel())


def test_whole_numbers_of_pictures_take_a_byte(tmp_path):
    X = np.random.default_rng(0).integers(0, 256, (60, 9))
    model = spinney.TAOTreeClassifier(max_depth=1, max_iter=1, random_state=0).fit(X, X[:, 0] > 99)
    values = arrays_of(model.report(tmp_path / "r.html", X), "rows")["x"]
    assert values.dtype == np.uint8
    np.testing.assert_array_equal(values, X.ravel())


def test_sparse_rows_are_carried_without_zeros(tmp_path):
    X = sp.random(50, 200, 0.05, "csr", random_state=0)
    y = np.asarray(X.sum(axis=1)).ravel() > 5
    model = spinney.TAOTreeClassifier(max_depth=1, max_iter=1, random_state=0).fit(X, y)
    found = arrays_of(model.report(tmp_path / "r.html", X, y), "rows")
    again = sp.csr_matrix((found["x"], found["xIndices"], found["xBegin"]), X.shape)
    assert abs(again - X.astype(np.float32)).max() == 0


def test_wide_rows_are_fewer(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 9000))
    model = spinney.TAOTreeClassifier(max_depth=1, max_iter=1, random_state=0)
    model.fit(X[:20], X[:20, 0] > 0)
    path = model.report(tmp_path / "r.html", X)
    assert 20 < len(document_of(path)["rows"]["numbers"]) < 100
    assert path.stat().st_size < 6_000_000


@pytest.mark.parametrize("frame", [pd.DataFrame, polars.DataFrame])
def test_tables_keep_their_values_as_text(frame, tmp_path):
    columns = {"kind": ["red", "blue", None, "red"] * 6, "size": [1.5, None, 2.0, 3.25] * 6}
    X, y = frame(columns), [0, 1, 1, 0] * 6
    model = spinney.TAOTreeClassifier(max_depth=2, max_iter=2, random_state=0).fit(X, y)
    found = document_of(model.report(tmp_path / "r.html", X, y))
    assert found["rows"]["raw"][:4] == [
        ["red", "1.5"],
        ["blue", "missing"],
        ["missing", "2"],
        ["red", "3.25"],
    ]
    assert found["coordinates"] == model.get_coordinate_names().tolist()


def test_rows_of_numbers_have_no_second_text(stump, tmp_path):
    assert document_of(stump.report(tmp_path / "r.html", rows()))["rows"]["raw"] is None
