"""The arrays of the package's own API, judged by NumPy and by zarr-python."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rs
from conftest import own
from packaging.version import Version
from zarr_rs import errors

RNG = np.random.default_rng(7)


@pytest.fixture
def place(tmp_path: Any) -> str:
    return str(tmp_path / "d")


def filled(place: Any, **options: Any) -> tuple[zarr_rs.Array, np.ndarray[Any, Any]]:
    options = {"shape": (7, 5, 6), "chunks": (2, 5, 4), "dtype": "int32"} | options
    array = zarr_rs.create_array(place, **options)
    expected = np.arange(array.size, dtype=array.dtype).reshape(array.shape)
    array[...] = expected
    return array, expected


BASIC = [
    *(..., (), 3, -1, slice(None), slice(2, 5), slice(5, 2), slice(-3, 100), slice(None, None, -1), slice(6, 1, -2)),
    *((2, 3, 4), (slice(1, 6, 2), 0), (..., -1), (0, ..., slice(None, None, 3)), (None, 1, ..., None)),
    *(([3, 0, 0],), (slice(1, 3), [4, 1, 4]), (1, [0, 2]), [True, False] * 3 + [True], np.array([5, -1])),
    *((slice(0, 0),), (np.int64(2), np.uint8(1)), np.arange(210).reshape(7, 5, 6) % 3 == 0),
]


@pytest.mark.parametrize("key", BASIC, ids=repr)
@pytest.mark.parametrize("shards", [None, (4, 5, 8)])
def test_a_selection_means_what_it_means_in_numpy(key: Any, shards: Any) -> None:
    array, expected = filled("memory://", shards=shards)
    wanted = expected[key]
    np.testing.assert_array_equal(array[key], wanted)
    assert np.shape(array[key]) == wanted.shape
    out = np.full(wanted.shape, -1, "int32", order="F")
    assert array.read(key, out=out) is out
    np.testing.assert_array_equal(out, wanted)
    values = RNG.integers(0, 1000, wanted.shape, "int32")
    if str(key) not in ("([3, 0, 0],)", "(slice(1, 3, None), [4, 1, 4])"):  # they select an element twice
        array[key] = values
        expected[key] = values
        np.testing.assert_array_equal(array[...], expected)


@pytest.mark.parametrize("seed", range(30))
def test_random_orthogonal_and_point_selections_agree_with_zarr_python(seed: int, place: str) -> None:
    rng = np.random.default_rng(seed)
    array, expected = filled(place)
    judge = own(place, mode="r+")

    def along(length: int) -> Any:
        match rng.integers(4):
            case 0:
                return int(rng.integers(-length, length))
            case 1:
                return slice(*sorted(rng.integers(0, length + 1, 2).tolist()), int(rng.integers(1, 4)))
            case 2:
                return np.sort(rng.integers(0, length, rng.integers(1, 6)))
            case _:
                return rng.random(length) < 0.5

    key = tuple(along(length) for length in array.shape)
    np.testing.assert_array_equal(array.oindex[key], judge.oindex[key])
    points = tuple(rng.integers(-length, length, (2, 3)) for length in array.shape)
    np.testing.assert_array_equal(array.vindex[points], expected[points])
    array.oindex[key] = 7
    judge.oindex[key] = 7
    np.testing.assert_array_equal(array[...], judge[...])


def test_points_keep_slices_and_broadcast() -> None:
    array, expected = filled("memory://")
    np.testing.assert_array_equal(array.vindex[[[1], [6]], :, [0, 2, 5]], expected[[[1], [6]], :, [0, 2, 5]])
    mask = expected % 7 == 0
    np.testing.assert_array_equal(array.vindex[mask], expected[mask])
    array.vindex[mask] = 0
    expected[mask] = 0
    array.vindex[[[0, 1, 2], [3, 4, 5]], 0, 0] = [7, 8, 9]
    expected[[[0, 1, 2], [3, 4, 5]], 0, 0] = [7, 8, 9]
    np.testing.assert_array_equal(array[...], expected)


def test_blocks_are_whole_chunks() -> None:
    array, expected = filled("memory://")
    np.testing.assert_array_equal(array.blocks[-1], expected[6:7])
    np.testing.assert_array_equal(array.blocks[1:3, 0, 1], expected[2:6, :, 4:6])
    assert array.blocks[2:2].shape == array[[]].shape == (0, 5, 6)
    with pytest.raises(errors.SelectionError, match="step"):
        array.blocks[::2]


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (7, "index 7 of dimension 0 is not inside its length 7"),
        ((0, [5]), "index 5 of dimension 1"),
        ((0, 0, 0, 0), "4 dimensions"),
        ((..., ...), "ellipsis"),
        (([0], [1]), "oindex"),
        (([0], slice(None), 1), "slice between"),
        ("a", "no field 'a'"),
        (True, "expected integers"),
        (1.5, "expected integers"),
        (slice("a"), "not one of integers"),
        ([True, False], "mask of dimension 0 has shape"),
        ([[0, 1], [2, 3]], "2 dimensions"),
        (np.ones((7, 4), bool), "mask has shape"),
    ],
)
def test_a_wrong_selection_is_an_index_error_with_the_reason(key: Any, reason: str) -> None:
    array, _ = filled("memory://")
    with pytest.raises(IndexError, match=reason) as raised:
        array[key]
    assert isinstance(raised.value, zarr_rs.ZarrError)


DTYPES = [
    *("bool", "i1", "u2", "<i8", ">i4", "f2", "f4", "f8", "c8", "c16", "M8[s]", "m8[10us]", "S5", "U3", "V4"),
    [("a", "<i2"), ("b", "S3")],
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_every_type_of_numpy_is_written_and_read(dtype: Any, zarr_format: Any, place: str) -> None:
    dtype = np.dtype(dtype)
    if zarr_format == 2 and dtype.kind == "V" and dtype.names is None:
        pytest.skip("no fill value")
    array = zarr_rs.create_array(place, shape=(5, 4), chunks=(2, 3), dtype=dtype, zarr_format=zarr_format)
    assert array.dtype == dtype.newbyteorder("=") and array.zarr_format == zarr_format
    bits = RNG.integers(0, 2 if dtype.kind == "b" else 100, 20 * max(dtype.itemsize, 1), "u1")
    expected = np.array(["ab", "", "c"] * 7, dtype)[:20] if dtype.kind in "SU" else np.frombuffer(bits, dtype)[:20]
    expected = expected.reshape(5, 4)
    array[...] = expected
    np.testing.assert_array_equal(array[...], expected)
    np.testing.assert_array_equal(array[::-2, 1], expected[::-2, 1])
    array[1] = expected[0]
    np.testing.assert_array_equal(array[1], expected[0])
    # The fill value of times is that of zarr-python.
    assert np.isnat(array.fill_value) if dtype.kind in "mM" else array.fill_value == np.zeros((), dtype)[()]
    if dtype.kind != "V" and Version(zarr.__version__) >= Version("3.1"):
        np.testing.assert_array_equal(own(place)[2:], expected[2:])


@pytest.mark.parametrize("dtype", ["string", str])
def test_strings_are_written_and_read(dtype: Any, place: str) -> None:
    array = zarr_rs.create_array(place, shape=(5,), chunks=(2,), dtype=dtype, fill_value="none")
    array[1:4] = ["a", "", "längere"]
    assert array[:].tolist() == ["none", "a", "", "längere", "none"]
    assert (array[3], array.fill_value) == ("längere", "none")
    array[:2] = "x"
    array.append(np.array(["y", "z"]))
    assert array.oindex[[6, 0]].tolist() == ["z", "x"]
    if Version(zarr.__version__) >= Version("3.1"):
        assert own(place)[:].tolist() == array[:].tolist()


def test_bytes_of_any_length_are_written_and_read() -> None:
    array = zarr_rs.create_array("memory://", shape=(3,), chunks=(2,), dtype="bytes")
    array[:] = np.array([b"\xff\0", b"", b"abc"], object)
    assert array[:].tolist() == [b"\xff\0", b"", b"abc"]


def test_out_is_filled_in_place_with_any_strides() -> None:
    array, expected = filled("memory://")
    memory = np.zeros((14, 5, 12), "int32")
    for out in (memory[::2, :, ::2], memory[::-2, :, 11::-2], np.empty((6, 5, 7), "int32").T):
        array.read(out=out)
        np.testing.assert_array_equal(out, expected)
    fixed = np.empty((7, 5, 6), "int32")
    fixed.flags.writeable = False
    for wrong in (np.empty((7, 5), "int32"), np.empty((7, 5, 6)), fixed):
        with pytest.raises(ValueError, match="expected a writable array"):
            array.read(out=wrong)


def test_values_are_broadcast_without_memory() -> None:
    array = zarr_rs.create_array("memory://", shape=(1 << 40, 1 << 20), chunks=(1000, 1000), dtype="u1")
    array[: 1 << 11, : 1 << 11] = 3
    assert array[2047, 2047] == 3 and array[2048, 0] == 0
    array[:2, :4] = [1, 2, 3, 4]
    assert array[:2, :4].tolist() == [[1, 2, 3, 4]] * 2
    with pytest.raises(ValueError, match="do not fit the shape"):
        array[:2, :4] = [1, 2, 3]


@pytest.mark.parametrize(
    ("dtype", "values", "error"),
    [
        ("u1", [1, 256], "from 1 to 256"),
        ("u1", np.array([-1, 0]), "from -1 to 0"),
        ("i4", 1.5, "convert them first"),
        ("i4", np.array([1.0, 2.0]), "convert them first"),
        ("f4", 1j, "convert them first"),
        ("f4", ["a", "b"], "convert them first"),
        ("u1", np.array([1, 255]), None),
        ("u8", [2**64 - 1, 2**63], None),
        ("f2", [True, 2], None),
        ("c8", [1, 2.5], None),
        ("bool", [True, False], None),
        ("M8[D]", ["2020-01-01", "2021-02-03"], None),
        ([("a", "i2"), ("b", "S2")], [(1, b"x"), (2, b"yz")], None),
    ],
)
def test_values_that_do_not_fit_are_refused(dtype: Any, values: Any, error: str | None) -> None:
    array = zarr_rs.create_array("memory://", shape=(2,), chunks=(2,), dtype=np.dtype(dtype))
    if error is None:
        array[:] = values
        np.testing.assert_array_equal(array[:], np.asarray(values, dtype))
    else:
        with pytest.raises((TypeError, ValueError), match=error):
            array[:] = values


def test_several_selections_read_shared_chunks_once() -> None:
    array, expected = filled("memory://")
    keys: list[Any] = [slice(0, 2), (1, ..., 3), (0, 0, 0), ([5, 2],)]
    for found, key in zip(array.read_many(keys), keys, strict=True):
        np.testing.assert_array_equal(found, expected[key])
    texts = zarr_rs.create_array("memory://", shape=(2,), chunks=(1,), dtype="string")
    assert [t.tolist() for t in texts.read_many([slice(1), slice(2)])] == [[""], ["", ""]]


def test_a_read_is_explained_before_it_is_made() -> None:
    array, _ = filled("memory://", shards=(4, 5, 8))
    cost = array.explain[:3, 0]
    assert (cost.chunks, cost.chunks_stored, cost.inner_chunks, cost.bytes_result) == (1, 1, 4, 3 * 6 * 4)


def test_an_array_grows_and_shrinks(place: str) -> None:
    array, expected = filled(place)
    assert array.append(np.full((7, 5, 1), -5, "int32"), axis=-1) == (7, 5, 7)
    assert array.append(np.zeros((2, 5, 7), "i4")) == (9, 5, 7)
    np.testing.assert_array_equal(array[:7, :, :6], expected)
    assert (array[:7, :, 6] == -5).all()
    array.resize((2, 3, 4))
    assert zarr_rs.open_array(place).shape == (2, 3, 4)
    with pytest.raises(ValueError, match="do not fit along dimension"):
        array.append(np.zeros((2, 3), "i4"))
    times = zarr_rs.create_array("memory://", shape=(1,), chunks=(4,), dtype="M8[D]")
    times.append(np.array(["2020-01-01"], "M8[D]"))
    assert times[1] == np.datetime64("2020-01-01")


def test_other_libraries_take_the_array() -> None:
    array, expected = filled("memory://")
    np.testing.assert_array_equal(np.asarray(array), expected)
    np.testing.assert_array_equal(np.asarray(array, "f4"), expected.astype("f4"))
    np.testing.assert_array_equal(np.from_dlpack(array), expected)
    assert len(array) == 7 and array.nbytes == 840


def test_a_picture_has_the_chunk_grid() -> None:
    array, _ = filled("memory://")
    assert array._repr_html_().count("<line") == 5  # three borders of columns, two of rows
    assert "1 x 2 chunks" in array._repr_html_()
    many = zarr_rs.create_array("memory://", shape=(10**6,), chunks=(10,), dtype="i1")
    assert many._repr_html_().count("<line") < 100
    assert "memory://" in repr(array) and "int32" in repr(array)


def test_chunks_of_different_lengths_are_described() -> None:
    store = zarr_rs.Store("memory://")
    array = zarr_rs.create_array(store, shape=(7, 4), chunks=(3, 2), dtype="i1")
    assert (array.chunks, array.shards, array.chunk_lengths) == ((3, 2), None, ((3, 3, 1), (2, 2)))


def test_a_program_with_an_event_loop_waits() -> None:
    async def work() -> Any:
        array = zarr_rs.create_array("memory://loop", shape=(10,), chunks=(1,), dtype="i4")
        await asyncio.gather(*(array.write_async(i, i) for i in range(10)))
        opened = await zarr_rs.open_async("memory://loop")
        assert isinstance(opened, zarr_rs.Array)
        return await opened.read_async(slice(2, 5))

    assert asyncio.run(work()).tolist() == [2, 3, 4]


def test_an_error_is_one_of_python_and_has_its_place(place: str) -> None:
    array, _ = filled(place, codecs=["zstd", "crc32c"])
    (file,) = (f for f in os.listdir(f"{place}/c/0/0") if f == "1")
    with open(f"{place}/c/0/0/{file}", "r+b") as chunk:
        chunk.write(b"broken")
    with pytest.raises(ValueError, match='chunk .0, 0, 1. .*"c/0/0/1".*crc32c') as raised:
        array[...]
    e: Any = raised.value
    assert isinstance(e, errors.CorruptError) and (e.kind, e.chunk, e.key) == ("Checksum", [0, 0, 1], "c/0/0/1")
    with pytest.raises(FileExistsError):
        zarr_rs.create_array(place, shape=1, dtype="i4")
    for kind in (FileNotFoundError, KeyError, errors.NotFoundError):
        with pytest.raises(kind, match="node"):
            zarr_rs.open(place, "none")
    with pytest.raises(PermissionError, match="reading only"):
        zarr_rs.open_array(place)[0] = 1
    with pytest.raises(NotImplementedError, match="unknown codec"):
        zarr_rs.create_array(place, "b", shape=1, dtype="i4", codecs=["none"])
    with pytest.raises(ValueError, match="mode is 'x'"):
        zarr_rs.open(place, mode="x")


def test_an_interrupt_ends_a_long_read(place: str) -> None:
    """The signal comes when the first of very many chunks are read."""
    code = """
        import os, signal, sys, threading, time, zarr_rs
        array = zarr_rs.create_array(sys.argv[1], shape=(10**9,), chunks=(100,), dtype="i1")
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            array[...]
        except KeyboardInterrupt:
            print("interrupted", array[:3].tolist())
        """
    command = [sys.executable, "-c", textwrap.dedent(code), place]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "interrupted [0, 0, 0]\n", done.stderr


def in_structs(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns the same elements in the fields of structs: 24 bytes apart for elements of 16 bytes."""
    structs = np.zeros(values.shape, [("before", "f8"), ("here", values.dtype)])
    structs["here"] = values
    return structs["here"]


def in_bytes(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns the same elements as they come in a message: behind a byte, so that they are not aligned."""
    message = bytearray(b"x" + values.tobytes())
    return np.frombuffer(message, values.dtype, offset=1).reshape(values.shape)


@pytest.mark.parametrize("dtype", ["complex128", "float64", "int16", "datetime64[s]"])
@pytest.mark.parametrize("placed", [in_structs, in_bytes])
def test_memory_may_lie_anyhow(dtype: str, placed: Any) -> None:
    values = np.arange(35).reshape(7, 5).astype(dtype)
    array = zarr_rs.create_array("memory://", shape=(7, 5), chunks=(2, 5), dtype=dtype)
    array[...] = placed(values)
    np.testing.assert_array_equal(array[...], values)
    out = placed(np.zeros_like(values))
    array.read(..., out=out)
    np.testing.assert_array_equal(out, values)
    assert out.base is None or out.base.dtype.names is None or not out.base["before"].any()
    array.append(placed(values[:2]))
    np.testing.assert_array_equal(array[7:], values[:2])
    np.testing.assert_array_equal(array.vindex[placed(np.array([1, 3])), [0, 4]], values[[1, 3], [0, 4]])


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("string", ["Oslo", "", "Qu\u00efto"]),
        ("int16", [1, -2, 3]),
        ("datetime64[s]", ["2020-01-01", "1969-12-31T23:59:59", "NaT"]),
        ([("a", "<i4"), ("b", "<f8")], [(1, 2.5), (3, -1.0), (0, 0.0)]),
    ],
)
def test_arrow_reads_what_numpy_reads(dtype: Any, values: Any) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    array = zarr_rs.create_array("memory://", shape=(3,), chunks=(2,), dtype=dtype)
    array[:] = values if dtype == "string" else np.array(values, dtype)
    wanted = [None if item != item else item for item in np.asarray(array[:]).tolist()]
    wanted = [dict(zip("ab", item, strict=True)) if isinstance(item, tuple) else item for item in wanted]
    if dtype == "datetime64[s]":
        wanted = np.array(values, dtype).tolist()
    for found, expected in [(array, wanted), (array.arrow[::-1], wanted[::-1]), (array.arrow[1:2], wanted[1:2])]:
        assert pyarrow.array(found).to_pylist() == expected


#: A data type, its values in Arrow, and what is read back.
FROM_ARROW: dict[str, Any] = {
    "numbers": ("int32", lambda pa: pa.array([1, 2, 3], pa.int64()), [1, 2, 3]),
    "booleans": ("bool", lambda pa: pa.array([True, False, True]), [True, False, True]),
    "strings": ("string", lambda pa: pa.array(["a", "", "Grüße"]), ["a", "", "Grüße"]),
    "views": ("string", lambda pa: pa.array(["a", "b", "c"], pa.string_view()), ["a", "b", "c"]),
    "categories": ("string", lambda pa: pa.array(["b", "a", "b"]).dictionary_encode(), ["b", "a", "b"]),
    "chunks": ("string", lambda pa: pa.chunked_array([["a"], [], ["b", "c"]]), ["a", "b", "c"]),
    "a part": ("string", lambda pa: pa.array(["x", "a", "b", "c"])[1:], ["a", "b", "c"]),
    "fixed strings": ("U2", lambda pa: pa.array(["ab", "c", ""]), ["ab", "c", ""]),
    "bytes": ("bytes", lambda pa: pa.array([b"a", b"\xff", b""]), [b"a", b"\xff", b""]),
    "times": ("datetime64[s]", lambda pa: pa.array([1, None, 3], pa.timestamp("s")), [1, None, 3]),
    "days": ("datetime64[s]", lambda pa: pa.array([1, None, 2], pa.date32()), [86400, None, 172800]),
    "structs": (
        [("a", "<i4"), ("b", "<f8")],
        lambda pa: pa.array([(1, 2.5), (3, 4.5), (5, 6.5)], pa.struct([("a", pa.int32()), ("b", pa.float64())])),
        [(1, 2.5), (3, 4.5), (5, 6.5)],
    ),
}


@pytest.mark.parametrize(("dtype", "values", "wanted"), FROM_ARROW.values(), ids=FROM_ARROW)
def test_values_of_arrow_are_written(dtype: Any, values: Any, wanted: Any) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    array = zarr_rs.create_array("memory://", shape=(2, 3), chunks=(1, 2), dtype=dtype)
    array[1] = values(pyarrow)
    array.write((0, slice(None, None, -1)), values(pyarrow))
    for found, expected in ((array[1], wanted), (array[0, ::-1], wanted)):
        found = np.where(np.isnat(found), None, found.astype("i8")) if array.dtype.kind == "M" else found
        assert found.tolist() == expected


class Capsules:
    """A source that has nothing but an interface of Arrow."""

    def __init__(self, values: Any) -> None:
        name = "__arrow_c_stream__" if hasattr(values, "__arrow_c_stream__") else "__arrow_c_array__"
        setattr(type(self), name, lambda _, schema=None: getattr(values, name)(schema))


@pytest.mark.parametrize("is_stream", [False, True])
def test_values_of_any_library_of_arrow_are_written_in_the_order_of_c(is_stream: bool) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    values = pyarrow.array(list("abcdef"))
    source = type("Source", (Capsules,), {})(pyarrow.chunked_array([values]) if is_stream else values)
    array = zarr_rs.create_array("memory://", shape=(2, 3), chunks=(2, 2), dtype="string")
    array[...] = source
    assert array[...].tolist() == [["a", "b", "c"], ["d", "e", "f"]]
    other = zarr_rs.create_array("memory://", shape=(3,), dtype="string")
    other[...] = array.arrow[1]
    assert other[...].tolist() == ["d", "e", "f"]


def test_strings_of_arrow_need_no_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    monkeypatch.setattr(zarr_rs.Array, "_given", None)
    array = zarr_rs.create_array("memory://", shape=(3,), dtype="string")
    array[...] = pyarrow.array(["a", "b", "c"])
    assert array[...].tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("dtype", "values", "error", "text"),
    [
        ("string", ["a", None, "c"], errors.ArgumentError, "null"),
        ("int32", [1, None, 3], errors.ArgumentError, "value 1 is null, but the type int32 has no null"),
        ("float64", [1.0, 2.0, None], errors.ArgumentError, "value 2 is null"),
        ("string", [1, 2, 3], errors.ArgumentError, "data type is string, not Int64"),
        ("string", ["a", "b"], errors.ArgumentError, "there are 2 values"),
        ("int32", [0.5, 1.5, 2.5], TypeError, "float64"),
        ([("a", "<i4")], [{"a": 1}, {"a": 2}, {"a": 3}], errors.ArgumentError, "Int64"),
    ],
)
def test_values_of_arrow_that_do_not_fit_are_an_error(dtype: Any, values: Any, error: Any, text: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    array = zarr_rs.create_array("memory://", shape=(3,), dtype=dtype)
    before = array[...].tolist()
    with pytest.raises(error, match=text):
        array[...] = pyarrow.array(values)
    assert array[...].tolist() == before


def test_a_table_is_for_numpy_unless_elements_are_structs() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": [3, 4]})
    numbers = zarr_rs.create_array("memory://", shape=(2, 2), dtype="int64")
    numbers[...] = frame
    assert numbers[...].tolist() == [[1, 3], [2, 4]]
    structs = zarr_rs.create_array("memory://", shape=(2,), dtype=[("a", "<i8"), ("b", "<i8")])
    structs[...] = frame
    assert structs[...].tolist() == [(1, 3), (2, 4)]


@pytest.mark.filterwarnings("ignore:.*generic.*:DeprecationWarning")
@pytest.mark.parametrize("dtype", ["m8", "M8", "M8[us]"])
def test_times_of_another_byte_order_are_swapped(dtype: str) -> None:
    """NumPy takes those without a unit for equal, and does not swap them."""
    counts = np.array([0, 1, -2, 100], ">i8")
    array = zarr_rs.create_array("memory://", shape=(4,), chunks=(2,), dtype=f"<{dtype}")
    array[...] = counts.view(f">{dtype}")
    assert array[...].view("i8").tolist() == counts.tolist()
    array.append(counts.view(f">{dtype}"))
    assert array[4:].view("i8").tolist() == counts.tolist()
