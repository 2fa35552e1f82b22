"""An encoding as plain values comes back the same; anything else is refused by name."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.data.tables import TableEncoding, learn_matrix
from tests.data.tables.frames import Columns, as_arrow, columns
from tests.data.tables.test_encoding import learn


def example() -> dict[str, Any]:
    rows = [[1.0, "a", 7.0], [None, "b", 8.0], [2.0, "c", 9.0]]
    encoding = learn(np.array(rows, dtype=object), most_levels=2)
    return encoding.to_state()


def plain(value: Any) -> Any:
    """State as JSON has it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(of) for key, of in value.items()}
    return [plain(of) for of in value] if isinstance(value, list) else value


@settings(max_examples=40)
@given(columns(), st.sampled_from([0, 2, 30]))
def test_states_come_back_the_same(given: Columns, most_levels: int) -> None:
    encoding = learn(as_arrow(given), most_levels=most_levels)
    state = encoding.to_state()
    assert TableEncoding.from_state(state) == encoding
    assert TableEncoding.from_state(json.loads(json.dumps(plain(state)))) == encoding


def test_state_of_a_matrix_comes_back_the_same() -> None:
    X = np.array([[np.nan, 1.0], [2.0, 3.0]], np.float32)
    encoding = learn_matrix(X, np.eye(2), np.ones(2), ("a", "b"))
    found = TableEncoding.from_state(encoding.to_state())
    assert found == encoding
    assert found.names == ("a", "b")


def changed(path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    state = example()
    place: Any = state
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return state


LEVELS = ("levels", 0)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2),
        (("version",), True),
        (("version",), "1"),
        (("kinds",), np.array([0, 4, 9], np.uint8)),
        (("kinds",), np.array([0, 4], np.uint8)),
        (("kinds",), np.zeros(0, np.uint8)),
        (("kinds",), [0, 4, -1]),
        (("kinds",), [0, 4, 0.5]),
        (("kinds",), [0, 0, 0]),
        (("kinds",), [0, 3, 0]),
        (("kinds",), [0, 4, 5]),
        (("kinds",), "000"),
        (("kinds",), [[0, 4, 0]]),
        (("kinds",), [[0], [4, 0]]),
        (("kinds",), [0, 4, 2**70]),
        (("fill",), np.array([np.nan, 0, 0], np.float32)),
        (("fill",), [1e300, 0.0, 0.0]),
        (("fill",), [1.0, 0.0]),
        (("fill",), None),
        (("fill",), [None, 0.0, 0.0]),
        (("origin",), [np.inf, 0.0, 0.0]),
        (("origin",), [5.0, 0.0, 0.0]),  # not a date
        (("has_missing",), [2, 0, 0]),
        (("names",), ["a", "b"]),
        (("names",), ["a", "b", 3]),
        (("names",), "abc"),
        (("levels",), []),
        (("levels",), {}),
        ((*LEVELS, "column"), 0),
        ((*LEVELS, "column"), 1.0),
        ((*LEVELS, "own"), ["b", "a"]),
        ((*LEVELS, "own"), ["a", "a"]),
        ((*LEVELS, "own"), ["a", 1.0]),
        ((*LEVELS, "own"), ["z"]),
        ((*LEVELS, "own"), "ab"),
        ((*LEVELS, "known"), ["a", "b"]),
        ((*LEVELS, "known"), []),
        ((*LEVELS, "has_rest"), 1),
        ((*LEVELS, "means"), np.zeros((5, 0), np.float32)),
        ((*LEVELS, "means"), np.zeros(5, np.float32)),
        ((*LEVELS, "means"), np.full((5, 1), np.nan, np.float32)),
        ((*LEVELS, "extra"), 1),
        (("extra",), 1),
    ],
)
def test_broken_states_are_refused(path: tuple[Any, ...], value: Any) -> None:
    TableEncoding.from_state(example())
    with pytest.raises(
        ValueError, match=r"of a table encoding is .* is needed; the file is broken"
    ):
        TableEncoding.from_state(changed(path, value))


@pytest.mark.parametrize("state", [None, [], "state", {}, {"version": 1}, 7])
def test_what_is_no_state_is_refused(state: Any) -> None:
    with pytest.raises(ValueError, match="a dict with the keys"):
        TableEncoding.from_state(state)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@settings(max_examples=50)
@given(st.sampled_from(list(example())), json_values)
def test_any_value_in_any_field_is_taken_or_refused_with_a_value_error(
    key: str, value: Any
) -> None:
    try:
        encoding = TableEncoding.from_state(changed((key,), value))
    except ValueError:
        return
    assert encoding.n_coordinates == len(encoding.coordinates)


@settings(max_examples=50)
@given(st.sampled_from(list(example()["levels"][0])), json_values)
def test_any_value_in_any_field_of_levels_is_taken_or_refused(key: str, value: Any) -> None:
    try:
        encoding = TableEncoding.from_state(changed((*LEVELS, key), value))
    except ValueError:
        return
    assert encoding.n_coordinates == len(encoding.coordinates)
