"""Small tables of all kinds, and the same table in every container."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

Columns = dict[str, list[Any]]

ARROW_TYPES = {
    "number": pa.float64(),
    "integer": pa.int64(),
    "truth": pa.bool_(),
    "text": pa.string(),
    "moment": pa.timestamp("us"),
    "span": pa.duration("us"),
}


def as_arrow(columns: Columns) -> pa.Table:
    return pa.table({name: pa.array(columns[name], ARROW_TYPES[name]) for name in columns})


def as_polars(columns: Columns) -> pl.DataFrame:
    return pl.from_arrow(as_arrow(columns))


def as_pandas(columns: Columns) -> pd.DataFrame:
    return as_arrow(columns).to_pandas()


def as_nullable_pandas(columns: Columns) -> pd.DataFrame:
    frame = as_pandas(columns).astype({"integer": "Int64", "truth": "boolean", "text": "string"})
    return frame.astype({"number": "Float64"})


def as_categories(columns: Columns) -> pd.DataFrame:
    return as_pandas(columns).astype({"text": "category"})


def as_objects(columns: Columns) -> Any:
    array = np.empty((len(columns["number"]), len(columns)), dtype=object)
    for place, values in enumerate(columns.values()):
        array[:, place] = values
    return array


CONTAINERS: dict[str, Callable[[Columns], Any]] = {
    "pandas": as_pandas,
    "nullable pandas": as_nullable_pandas,
    "pandas categories": as_categories,
    "polars": as_polars,
    "arrow": as_arrow,
    "arrow batch": lambda columns: as_arrow(columns).to_batches()[0],
    "objects": as_objects,
    "lists": lambda columns: as_objects(columns).tolist(),
}

moments = st.datetimes(datetime.datetime(1950, 1, 1), datetime.datetime(2050, 1, 1))
spans = st.timedeltas(datetime.timedelta(-999), datetime.timedelta(999))
VALUES = {
    "number": st.integers(-40, 40).map(lambda k: k / 8),
    "integer": st.integers(-5, 5),
    "truth": st.booleans(),
    "text": st.sampled_from(["a", "b", "c", "é", "", "a = b"]),
    "moment": moments,
    "span": spans,
}


@st.composite
def columns(draw: Any, min_rows: int = 2, max_rows: int = 12) -> Columns:
    """One column of each kind, with holes."""
    n_rows = draw(st.integers(min_rows, max_rows))
    return {
        name: draw(st.lists(st.none() | values, min_size=n_rows, max_size=n_rows))
        for name, values in VALUES.items()
    }
