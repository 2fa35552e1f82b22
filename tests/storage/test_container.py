"""A container comes back as it was written, or is refused."""

from __future__ import annotations

import json
import os
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spinney.storage import DamagedFileError, read_container, write_container
from spinney.storage.layout import DTYPES, pack, unpack

names = st.text(max_size=6).filter(lambda name: name not in ("__metadata__", "checksum"))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
arrays = st.sampled_from(list(DTYPES.values())).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0))
)


def content_of(header, arrays):
    return np.frombuffer(b"".join(pack(header, arrays)), dtype=np.uint8)


def with_checksum(body: bytes) -> np.ndarray:
    """Bytes whose checksum is right, so that the checks behind it are met."""
    return np.frombuffer(body + zlib.crc32(body).to_bytes(4, "little"), dtype=np.uint8)


def container_of(entries: object, data: bytes = b"") -> np.ndarray:
    """A file with any outer header at all, and a right checksum."""
    text = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    text += b" " * (-(8 + len(text)) % 64)
    return with_checksum(len(text).to_bytes(8, "little") + text + data)


METADATA = {"format": "spinney", "version": "1", "header": "{}"}


def entry(dtype="F64", shape=(1,), begin=0, end=8):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def checksum_entry(begin):
    return entry("U8", (4,), begin, begin + 4)


@given(st.dictionaries(st.text(), json_values), st.dictionaries(names, arrays, max_size=4))
def test_header_and_arrays_come_back_bit_for_bit(header, arrays):
    found_header, found = unpack(content_of(header, arrays))
    assert found_header == header
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()


@given(st.dictionaries(names, arrays, max_size=4))
def test_arrays_are_aligned_and_read_only(arrays):
    for array in unpack(content_of({}, arrays))[1].values():
        assert array.flags.aligned
        assert not array.flags.writeable


@pytest.mark.parametrize("memory_map", [False, True])
def test_file_comes_back(tmp_path, memory_map):
    path = tmp_path / "file"
    values = np.arange(12.0).reshape(3, 4)
    write_container(path, {"a": [1, "ä"]}, {"values": values, "none": np.zeros(0, np.int32)})
    header, found = read_container(str(path), memory_map=memory_map)
    assert header == {"a": [1, "ä"]}
    np.testing.assert_array_equal(found["values"], values)
    assert len(found["none"]) == 0


def test_safetensors_opens_the_file(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "file"
    stored = {name: np.zeros((2, 3), dtype) for name, dtype in DTYPES.items()}
    stored["empty"] = np.zeros((0, 3), np.float32)
    write_container(path, {"kind": "test"}, stored)
    found = safetensors.load_file(path)
    assert found.keys() == {*stored, "checksum"}
    for name, array in stored.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_arrays_of_any_memory_order_and_byte_order_are_stored_alike():
    values = np.arange(6, dtype=np.int32).reshape(2, 3)
    plain = content_of({}, {"a": values})
    for other in (np.asfortranarray(values), values.astype(">i4"), np.repeat(values, 2, 0)[::2]):
        np.testing.assert_array_equal(content_of({}, {"a": other}), plain)


@pytest.mark.parametrize("name", ["__metadata__", "checksum"])
def test_reserved_names_are_refused(name):
    with pytest.raises(ValueError, match="choose a name"):
        pack({}, {name: np.zeros(1)})


@pytest.mark.parametrize("array", [np.array(["a"]), np.zeros(1, complex), np.array([None])])
def test_other_types_are_refused(array):
    with pytest.raises(ValueError, match="has type"):
        pack({}, {"a": array})


def test_numbers_that_are_no_json_are_refused():
    with pytest.raises(ValueError, match="JSON"):
        pack({"a": float("nan")}, {})


def test_every_cut_is_refused():
    content = content_of({"a": 1}, {"values": np.arange(3.0)})
    for length in range(len(content)):
        with pytest.raises(DamagedFileError):
            unpack(content[:length])


def test_every_flipped_bit_is_refused():
    content = content_of({"a": 1}, {"values": np.arange(3.0)})
    for place in range(len(content)):
        changed = content.copy()
        changed[place] ^= 1 << (place % 8)
        with pytest.raises(DamagedFileError):
            unpack(changed)


def test_bytes_after_the_end_are_refused():
    content = content_of({"a": 1}, {"values": np.arange(3.0)})
    with pytest.raises(DamagedFileError):
        unpack(np.append(content, np.uint8(0)))
    with pytest.raises(DamagedFileError):
        unpack(with_checksum(content.tobytes()))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (np.zeros(0, np.uint8), "has 0 bytes"),
        (with_checksum(b"\xff" * 8 + b"{}"), "claims 18446744073709551615"),
        (with_checksum((2**63).to_bytes(8, "little") + b"{}"), "claims"),
        (container_of(b"[]"), "brace"),
        (container_of(b"{" * 200_000), "no JSON"),
        (container_of(b'{"a":' + b"[" * 200_000), "no JSON"),
        (container_of(b'{"a": NaN}'), "NaN"),
        (container_of(b'{"a": 1, "a": 1}'), "twice"),
        (container_of(b'{"a": ' + b"9" * 5000 + b"}"), "no JSON"),
        (container_of(b'{"\xff": 1}'), "no JSON"),
        (container_of({}), "not that of a spinney file"),
        (container_of({"__metadata__": {**METADATA, "format": "pt"}}), "'pt'"),
        (container_of({"__metadata__": {**METADATA, "version": 1}}), "spinney file"),
        (container_of({"__metadata__": {**METADATA, "version": "2"}}), "newer release"),
        (container_of({"__metadata__": METADATA}), "4 bytes of data"),
        (container_of({"__metadata__": METADATA, "a": checksum_entry(0)}), "last array is not"),
        (
            container_of({"__metadata__": METADATA, "checksum": entry("U8", (5,), 0, 5)}),
            "from 0 to 4",
        ),
    ],
)
def test_broken_headers_are_refused(content, message):
    with pytest.raises(DamagedFileError, match=message):
        unpack(content)


@pytest.mark.parametrize("header", ["[]", "1", "{", '{"a": Infinity}', '{"a":1,"a":2}'])
def test_broken_inner_headers_are_refused(header):
    entries = {"__metadata__": {**METADATA, "header": header}, "checksum": checksum_entry(0)}
    with pytest.raises(DamagedFileError):
        unpack(container_of(entries))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (entry("F16"), "unknown type"),
        (entry(["F64"]), "unknown type"),
        (entry(shape=(2,)), "does not take"),
        (entry(shape=(-1,)), "are accepted"),
        (entry(shape=(2**63,)), "are accepted"),
        (entry(shape=(2**40,)), "bytes there are"),
        (entry(shape=(0, 2**63), end=0), "are accepted"),
        (entry(shape=(0, 2**47, 2**47), end=0), "bytes there are"),
        (entry(shape=(True,)), "whole numbers"),
        (entry(shape=(1.0,)), "whole numbers"),
        (entry(shape=[1] * 9), "9 dimensions"),
        (entry("I32", (1,), 8, 12), "instead of 0"),
        (entry(begin=-8, end=0), "are accepted"),
        (entry(begin=8, end=0), "does not take"),
        (entry("F32", (2,), 2, 10), "instead of"),
        (entry("BOOL", (8,)), "truth value"),
        ({**entry(), "more": 1}, "more than these"),
        ({"dtype": "F64"}, "lacks"),
        (None, "lacks"),
        (entry("I32", (1,), 0, 4), "instead of 4"),
    ],
)
def test_broken_entries_are_refused(changed, message):
    entries = {"__metadata__": METADATA, "a": changed, "checksum": checksum_entry(8)}
    with pytest.raises(DamagedFileError, match=message):
        unpack(container_of(entries, b"\x02" * 8))


def test_overlapping_arrays_are_refused():
    entries = {
        "__metadata__": METADATA,
        "a": entry(),
        "b": entry("F32", (1,), 4, 8),
        "checksum": checksum_entry(8),
    }
    with pytest.raises(DamagedFileError, match="instead of 8"):
        unpack(container_of(entries, bytes(8)))


def test_an_array_out_of_line_is_refused():
    entries = {
        "__metadata__": METADATA,
        "a": entry("U8", (1,), 0, 1),
        "b": entry("F64", (1,), 1, 9),
        "checksum": checksum_entry(9),
    }
    with pytest.raises(DamagedFileError, match="multiple"):
        unpack(container_of(entries, bytes(9)))


@pytest.mark.parametrize("memory_map", [False, True])
def test_an_empty_file_is_refused_by_name(tmp_path, memory_map):
    path = tmp_path / "empty"
    path.touch()
    with pytest.raises(DamagedFileError, match="empty: the file"):
        read_container(path, memory_map=memory_map)


def test_errors_of_the_system_pass(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_container(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        read_container(tmp_path)


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DamagedFileError, match="pipe"):
        read_container(tmp_path / "pipe")
