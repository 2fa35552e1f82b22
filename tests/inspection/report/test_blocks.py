"""Arrays in text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spinney.inspection.report.blocks import TYPES, pack, smallest_unsigned, unpack

any_array = st.sampled_from(TYPES).flatmap(
    lambda kind: arrays(
        np.dtype(kind),
        st.integers(0, 20),
        elements={"allow_nan": False} if kind[0] == "f" else None,
    )
)


@given(any_array, any_array)
def test_a_block_holds_the_bits_of_its_arrays(one, two):
    found = unpack(pack({"one": one, "two": two}))
    for name, array in (("one", one), ("two", two)):
        assert found[name].dtype == array.dtype
        assert found[name].tobytes() == array.tobytes()


def test_arrays_of_several_dimensions_are_flattened():
    table = np.arange(6, dtype=np.int32).reshape(2, 3)
    np.testing.assert_array_equal(unpack(pack({"table": table}))["table"], table.ravel())


def test_a_block_is_text_that_cannot_end_its_element():
    block = pack({"noise": np.random.default_rng(0).integers(0, 256, 5000).astype(np.uint8)})
    assert not set("<>&\"'") & set(block.text + block.arrays)


@pytest.mark.parametrize("array", [np.zeros(2, np.int64), np.array(["a"]), np.zeros(2, bool)])
def test_types_that_the_page_cannot_read_are_refused(array):
    with pytest.raises(TypeError, match="give one of"):
        pack({"array": array})


@given(st.lists(st.integers(0, 2**32 - 1), max_size=10))
def test_whole_numbers_are_kept_in_the_smallest_type(values):
    small = smallest_unsigned(np.array(values, dtype=np.int64))
    assert small.tolist() == values
    assert small.dtype.itemsize == (
        1 if max(values, default=0) < 256 else 2 if max(values) < 65536 else 4
    )
