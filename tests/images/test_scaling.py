"""Columns of windows are scaled in place, with bits that depend on no release of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import config_context
from sklearn.preprocessing import StandardScaler

from spinney.images.scaling import scale_columns, standardize


def windows(seed=0, n_rows=50):
    return np.random.default_rng(seed).normal(3, 9, (n_rows, 4)).astype(np.float32)


@pytest.mark.parametrize("batch_size", [7, 50, 1000])
def test_columns_get_mean_0_and_variance_1_in_place(batch_size):
    rows, scaled = windows(), windows()
    scaler = standardize(scaled, batch_size)
    assert scaled == pytest.approx(StandardScaler().fit_transform(rows), abs=1e-5)
    again = rows.copy()
    scale_columns(scaler, again)
    assert again.tobytes() == scaled.tobytes()


def test_numbers_are_those_of_arithmetic_in_float32():
    rows = windows()
    scaler = standardize(rows.copy(), 50)
    wanted = (rows - np.float32(scaler.mean_)) / np.float32(scaler.scale_)
    scale_columns(scaler, rows)
    assert rows.dtype == wanted.dtype == np.float32
    assert rows.tobytes() == wanted.tobytes()


def test_a_column_without_spread_stays_finite():
    rows = np.full((9, 2), 5.0, dtype=np.float32)
    standardize(rows, 4)
    assert np.all(rows == 0)


def test_frames_as_output_elsewhere_change_nothing():
    rows, other = windows(), windows()
    standardize(rows, 20)
    with config_context(transform_output="pandas"):
        standardize(other, 20)
    assert rows.tobytes() == other.tobytes()
