"""What the pipeline does itself, what it leaves to zarr-python, and how both agree about what is stored."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rs
from conftest import OURS, OWN, no_fallback, ours, own, pipeline
from packaging.version import Version
from zarr.abc.codec import BytesBytesCodec
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import LocalStore, MemoryStore, WrapperStore
from zarr_rs import metadata, report


@pytest.fixture(autouse=True)
def nothing_said() -> None:
    """Every test gets the warnings that are given once."""
    report._said.clear()


def keys(store: Any) -> set[str]:
    async def listed() -> set[str]:
        return {key async for key in store.list()}

    return asyncio.run(listed())


def test_the_name_of_the_pipeline_is_found_without_an_import() -> None:
    with pipeline("zarr_rs.CodecPipeline"):
        assert zarr.registry.get_pipeline_class() is zarr_rs.CodecPipeline


FILL_VALUES = [
    *[("f4", value) for value in (0.0, -0.0, 1.5, float("nan"), float("inf"))],
    *[("i8", 2**60 + 1), ("u1", 7), ("?", True), ("c8", -0.0 + 1j), (">f8", -0.0), ("<f2", 0.5)],
    *[("M8[s]", np.datetime64(5, "s")), ("M8[ns]", np.datetime64("NaT", "ns")), ("m8[ms]", np.timedelta64(5, "ms"))],
    *[("U3", "abc"), ("S3", b"abc"), ("V2", b"ab"), ([("a", "i4"), ("b", "f8")], (1, 2.5)), (str, "x")],
]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_the_document_for_the_engine_is_that_of_zarr_python(zarr_format: Any) -> None:
    """Twice, because forms of fill values are kept."""
    layouts: list[dict[str, Any]] = [{"chunks": (2, 3)}]
    if zarr_format == 3:
        layouts += [{"chunks": (2, 3), "shards": (4, 6)}]
        layouts += [{"chunks": (4, 6), "dimension_names": ("y", None), "attributes": {"a": 1}}]
        layouts[-1]["chunk_key_encoding"] = {"name": "v2", "separator": "."}
    for dtype, fill_value in FILL_VALUES * 2:
        for layout in layouts:
            layout |= {"dtype": dtype, "fill_value": fill_value, "zarr_format": zarr_format}
            array = zarr.create_array({}, shape=(8, 6), **layout)
            name = ".zarray" if zarr_format == 2 else "zarr.json"
            expected = json.loads(array.metadata.to_buffer_dict(default_buffer_prototype())[name].to_bytes())
            expected.pop("attributes", None)
            found = json.loads(metadata.document_of(array.metadata))
            # As texts, in which -0.0 is not 0.0, and NaN is NaN.
            assert json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True), (dtype, fill_value)


@pytest.mark.parametrize("write_empty", [False, True])
def test_stores_the_same_chunks_as_zarr_python(write_empty: bool, store: Any) -> None:
    judge = MemoryStore()
    config = {"write_empty_chunks": write_empty}
    for place, opened in ((store, ours), (judge, own)):
        zarr.create_array(place, name="a", shape=(10, 10), chunks=(4, 4), dtype="i4", fill_value=3)
        array = opened(place, path="a", mode="r+", config=config)
        array[:] = np.arange(100).reshape(10, 10)
        array[0:6, 0:4] = 3
        array[8:, 8:] = 3
    assert keys(store) == keys(judge)


def test_reads_what_is_missing_as_the_fill_value(store: Any) -> None:
    zarr.create_array(store, name="a", shape=(10,), chunks=(4,), dtype="f4", fill_value="NaN")
    with no_fallback():
        assert np.isnan(ours(store, path="a")[...]).all()


@pytest.mark.skipif(Version(zarr.__version__) < Version("3.2"), reason="missing chunks are never errors there")
@pytest.mark.parametrize("shards", [None, (4,)])
def test_missing_chunks_may_be_errors(shards: Any, store: Any) -> None:
    zarr.create_array(store, name="a", shape=(12,), chunks=(2,) if shards else (4,), shards=shards, dtype="i4")
    ours(store, path="a", mode="r+")[4:6] = [1, 2]
    with zarr.config.set({"array.read_missing_chunks": False}), no_fallback():
        array = ours(store, path="a")
        # An inner chunk that is missing in a shard is none of these errors.
        np.testing.assert_array_equal(array[4:8], [1, 2, 0, 0])
        with pytest.raises(zarr.errors.ChunkNotFoundError, match=r"2 chunk\(s\)") as raised:
            array[...]
        assert "c/0" in str(raised.value) and "c/2" in str(raised.value) and "c/1" not in str(raised.value)


def test_a_write_after_a_resize_keeps_the_elements_that_were_beyond_the_edge(store: Any) -> None:
    zarr.create_array(store, name="a", shape=(6,), chunks=(4,), dtype="i4")
    array = ours(store, path="a", mode="r+")
    with no_fallback():
        array[:] = np.arange(6)
        array.resize((8,))
        array[6:] = [6, 7]
        array[4:6] = [40, 50]
        np.testing.assert_array_equal(array[:], [0, 1, 2, 3, 40, 50, 6, 7])
        array.append(np.arange(8, 13))
        np.testing.assert_array_equal(array[8:], np.arange(8, 13))
        array.resize((3,))
        np.testing.assert_array_equal(array[:], [0, 1, 2])


@pytest.mark.parametrize("inner", [(1,), (2,), (4,)])
def test_a_write_keeps_what_a_shard_has_outside_of_the_array(inner: Any) -> None:
    for opened in (ours, own):
        store = MemoryStore()
        zarr.create_array(store, name="a", shape=(4,), chunks=inner, shards=(4,), dtype="i2")
        array = opened(store, path="a", mode="r+")
        with no_fallback() if opened is ours else contextlib.nullcontext():
            array[:] = [1, 2, 3, 4]
            array.resize((2,))
            array[:] = [9, 9]
            array.resize((4,))
            assert array[:].tolist() == [9, 9, 3, 4]


@pytest.mark.parametrize("order", [None, "morton", "lexicographic", "colexicographic"])
def test_a_shard_has_the_bytes_of_zarr_python(order: str | None) -> None:
    if order is not None and Version(zarr.__version__) < Version("3.3"):
        pytest.skip("the order of inner chunks is no setting there")
    setting = {} if order is None else {"subchunk_write_order": order}
    codec = zarr.codecs.ShardingCodec(chunk_shape=(2, 2), codecs=[zarr.codecs.BytesCodec()], **setting)
    shards = []
    for name, check in ((OURS, no_fallback()), (OWN, contextlib.nullcontext())):
        store = MemoryStore()
        with pipeline(name), check:
            array = zarr.create_array(
                store, name="a", shape=(6, 10), chunks=(6, 10), serializer=codec, compressors=None, dtype="u1"
            )
            array[...] = np.arange(1, 61).reshape(6, 10)
        shards.append(asyncio.run(store.get("a/c/0/0", zarr.core.buffer.default_buffer_prototype())).to_bytes())
    assert shards[0] == shards[1]


@pytest.mark.skipif(Version(zarr.__version__) < Version("3.4"), reason="all chunks have one shape there")
def test_chunks_of_different_shapes_are_read_and_written(store: Any) -> None:
    with zarr.config.set({"array.rectilinear_chunks": True}), pipeline("zarr_rs.CodecPipeline"), no_fallback():
        array = zarr.create_array(store, name="a", shape=(12, 6), chunks=[[3, 4, 5], [2, 4]], dtype="i4")
        expected = np.arange(72, dtype="i4").reshape(12, 6)
        array[...] = expected
        array[2:8, 1:3] = expected[2:8, 1:3] = -1
        np.testing.assert_array_equal(array[1:11, ::2], expected[1:11, ::2])
        np.testing.assert_array_equal(array.oindex[[0, 3, 11], [5, 1]], expected[np.ix_([0, 3, 11], [5, 1])])
        array.resize((4, 6))
        array.resize((14, 6))
        expected = np.concatenate([expected[:4], np.zeros((10, 6), "i4")])
    with zarr.config.set({"array.rectilinear_chunks": True}):
        array = ours(store, path="a", mode="r+")
        read = own(store, path="a")[...]
        np.testing.assert_array_equal(array[...], read)
        array[4:] = np.arange(60).reshape(10, 6)
        np.testing.assert_array_equal(own(store, path="a")[4:], np.arange(60).reshape(10, 6))


def test_results_may_have_any_strides_and_byte_order(store: Any) -> None:
    zarr.create_array(store, name="a", shape=(6, 8), chunks=(4, 3), dtype="<i4")
    array = ours(store, path="a", mode="r+")
    expected = np.arange(48, dtype="i4").reshape(6, 8)
    with no_fallback():
        array[...] = np.asfortranarray(expected)
        array[::2, 1:7:3] = expected[::2, 1:7:3].astype(">i4")
        for memory in (np.empty((6, 8), "i4", order="F"), np.empty((6, 16), "i4")[:, ::2], np.empty((6, 8), ">i4")):
            out = zarr.core.buffer.cpu.NDBuffer(memory)
            array.get_basic_selection(..., out=out)
            np.testing.assert_array_equal(memory, expected)


def test_values_need_not_be_aligned(store: Any) -> None:
    """A message of Dask has its elements anywhere."""
    values = np.frombuffer(b"x" + np.arange(24.0).tobytes(), "f8", offset=1).reshape(6, 4)
    zarr.create_array(store, name="a", shape=(6, 4), chunks=(4, 4), dtype="f8")
    array = ours(store, path="a", mode="r+")
    with no_fallback():
        array[...] = values
        array[1:3] = values[1:3]
    np.testing.assert_array_equal(own(store, path="a")[...], values)


def test_a_scalar_of_a_struct_is_written() -> None:
    store = MemoryStore()
    dtype = np.dtype([("a", "<i4"), ("b", "<f8")])
    zarr.create_array(store, name="a", shape=(5,), chunks=(2,), dtype=dtype, zarr_format=2)
    with no_fallback():
        array = ours(store, path="a", mode="r+", zarr_format=2)
        array[1:4] = np.array((7, 0.5), dtype)
        assert array[:].tolist() == [(0, 0.0), (7, 0.5), (7, 0.5), (7, 0.5), (0, 0.0)]


def test_a_large_scalar_is_written_chunk_by_chunk(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zarr_rs.elements, "_REPEATED_BYTES", 8)
    zarr.create_array(store, name="a", shape=(90, 7), chunks=(2, 3), dtype="i4")
    array = ours(store, path="a", mode="r+")
    with no_fallback():
        array[...] = 7
        array[1:89, 1:] = 8
        assert array[...].sum() == 90 * 7 * 7 + 88 * 6


@pytest.mark.parametrize("threads", [1, 3])
def test_the_setting_of_the_number_of_threads_is_used(threads: int, tmp_path: Any) -> None:
    with zarr.config.set({"threading.max_workers": threads}):
        zarr.create_array(tmp_path / "d", name="a", shape=(64, 64), chunks=(8, 8), dtype="f8")
        array = ours(tmp_path / "d", path="a", mode="r+")
        array[...] = np.arange(4096).reshape(64, 64)
        assert array[...].sum() == np.arange(4096).sum()


@pytest.mark.skipif(Version(zarr.__version__) < Version("3.3"), reason="there is one pipeline there")
@pytest.mark.filterwarnings("ignore::zarr_rs.FallbackWarning")
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("shards", [None, (4, 4)])
def test_calls_that_are_left_use_the_pipeline_without_coroutines(zarr_format: Any, shards: Any, tmp_path: Any) -> None:
    if shards is not None and zarr_format == 2:
        pytest.skip("format 2 has no shards")
    array = zarr.create_array(
        tmp_path / "a", shape=(8, 8), chunks=(2, 2), shards=shards, dtype="i4", zarr_format=zarr_format
    )
    array[...] = np.arange(64).reshape(8, 8)
    array = ours(tmp_path / "a", mode="r+", zarr_format=zarr_format)
    pipeline = array._async_array.codec_pipeline
    assert "_own" not in vars(pipeline), "it is made when it is needed"
    pipeline._refused = "a test"
    before = zarr_rs.counts()
    array[1:3, 1:] = array[1:3, 1:] + 1
    after = zarr_rs.counts()
    assert (after.fallback_reads - before.fallback_reads, after.fallback_writes - before.fallback_writes) == (1, 1)
    assert pipeline._own.sync_transform is not None
    expected = np.arange(64).reshape(8, 8)
    expected[1:3, 1:] += 1
    np.testing.assert_array_equal(own(tmp_path / "a", zarr_format=zarr_format)[...], expected)


class Unknown(BytesBytesCodec):  # type: ignore[misc]
    """A codec that a user registered under a known name."""

    is_fixed_size = True
    calls = 0

    def to_dict(self) -> Any:
        return {"name": "crc32c"}

    def compute_encoded_size(self, input_byte_length: int, _: Any) -> int:
        return input_byte_length

    async def _decode_single(self, chunk_data: Any, _: Any) -> Any:
        type(self).calls += 1
        return chunk_data

    async def _encode_single(self, chunk_data: Any, _: Any) -> Any:
        return chunk_data


def test_a_codec_of_a_user_is_never_replaced() -> None:
    store = MemoryStore()
    with pipeline("zarr_rs.CodecPipeline"), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        array = zarr.create_array(store, name="a", shape=(4,), chunks=(2,), dtype="i4", compressors=[Unknown()])
        before = zarr_rs.counts()
        array[:] = [1, 2, 3, 4]
        assert array[1:3].tolist() == [2, 3]
        after = zarr_rs.counts()
    assert Unknown.calls > 0
    assert [w.category for w in said if w.category is zarr_rs.FallbackWarning] == [zarr_rs.FallbackWarning]
    assert (after.fallback_reads, after.fallback_writes) == (before.fallback_reads + 1, before.fallback_writes + 1)
    assert (after.reads, after.writes) == (before.reads, before.writes)


@pytest.mark.skipif(Version(zarr.__version__) < Version("3.1"), reason="the type has no name there")
@pytest.mark.parametrize("shards", [None, (4,)])
def test_bytes_of_variable_length_are_read_and_written(shards: Any, store: Any) -> None:
    dtype = zarr.dtype.VariableLengthBytes()
    zarr.create_array(store, name="a", shape=(5,), chunks=(2,), shards=shards, dtype=dtype)
    array = ours(store, path="a", mode="r+")
    expected = np.array([b"", b"a", b"\xff\x00", b"bc", b""], dtype=object)
    with no_fallback():
        array[:] = expected
        assert array[:].tolist() == own(store, path="a")[:].tolist() == expected.tolist()
        assert array.oindex[[0, 3]].tolist() == [b"", b"bc"]


@pytest.mark.skipif(Version(zarr.__version__) < Version("3.1"), reason="zarr-python cannot write them there")
@pytest.mark.filterwarnings("ignore::zarr_rs.FallbackWarning")
def test_objects_that_are_not_text_are_left_to_zarr_python() -> None:
    store = MemoryStore()
    dtype = np.dtype("O")
    zarr.create(store=store, path="a", shape=(3,), chunks=(2,), dtype=str, zarr_format=2)
    array = ours(store, path="a", mode="r+", zarr_format=2)
    before = zarr_rs.counts()
    array[:] = np.array(["a", None, "c"], dtype=dtype) if array.dtype == dtype else np.array(["a", "", "c"])
    assert array[:].tolist() == ["a", "", "c"]
    left = zarr_rs.counts().fallback_writes - before.fallback_writes
    assert left == (1 if array.dtype == dtype else 0)


def test_an_error_names_the_array_the_chunk_the_key_and_the_codec(tmp_path: Any) -> None:
    array = zarr.create_array(tmp_path / "d", name="a/b", shape=(4, 4), chunks=(2, 2), dtype="i4", compressors="auto")
    array[:] = 1
    (tmp_path / "d/a/b/c/1/0").write_bytes(b"no frame")
    with pytest.raises(ValueError, match='array "/a/b" of .*, chunk .1, 0. .*"a/b/c/1/0".*"zstd"') as raised:
        ours(tmp_path / "d", path="a/b")[...]
    e: Any = raised.value
    assert (e.array, e.chunk, e.key) == ("/a/b", [1, 0], "a/b/c/1/0")


class Broken(WrapperStore):  # type: ignore[misc,type-arg]
    """A store whose chunks cannot be read or written."""

    async def get(self, key: str, *arguments: Any, **options: Any) -> Any:
        if "/c/" in key:
            raise ConnectionError("no route")
        return await super().get(key, *arguments, **options)

    async def set(self, key: str, value: Any, *arguments: Any) -> None:
        if "/c/" in key:
            raise ConnectionError("no route")
        await super().set(key, value, *arguments)


def test_the_exception_of_a_store_passes_through() -> None:
    store = Broken(MemoryStore())
    zarr.create_array(store, name="a", shape=(4,), chunks=(2,), dtype="i4")
    array = ours(store, path="a", mode="r+")
    with pytest.raises(ConnectionError, match="no route") as raised:
        array[:]
    assert 'array "/a"' in raised.value.__notes__[0]
    with pytest.raises(ConnectionError, match="no route"):
        array[:] = 5


def test_a_read_only_store_is_not_written(tmp_path: Any) -> None:
    zarr.create_array(tmp_path / "d", name="a", shape=(4,), chunks=(2,), dtype="i4")
    for store in (LocalStore(tmp_path / "d", read_only=True), MemoryStore(read_only=True)):
        if isinstance(store, MemoryStore):
            zarr.create_array(MemoryStore(store._store_dict), name="a", shape=(4,), chunks=(2,), dtype="i4")
        before = keys(store)
        with pytest.raises(ValueError, match="read-only"):
            ours(store, path="a", mode="r")[:] = 1
        assert keys(store) == before


class Counting(WrapperStore):  # type: ignore[misc,type-arg]
    """A store that counts the reads and writes of chunks."""

    gets = 0
    sets = 0

    async def get(self, key: str, *arguments: Any, **options: Any) -> Any:
        self.gets += "/c/" in key
        return await super().get(key, *arguments, **options)

    async def set(self, key: str, value: Any, *arguments: Any) -> None:
        self.sets += "/c/" in key
        await super().set(key, value, *arguments)


def test_a_chunk_is_one_request() -> None:
    store = Counting(MemoryStore())
    zarr.create_array(store, name="a", shape=(7, 7), chunks=(2, 2), dtype="i4")
    array = ours(store, path="a", mode="r+")
    array[:] = np.arange(49).reshape(7, 7)
    assert (store.gets, store.sets) == (0, 16), "whole chunks are written without a read, also at the edge"
    array[1:3, 1:3]
    assert (store.gets, store.sets) == (4, 16)


def test_pickles_as_metadata_and_store(tmp_path: Any) -> None:
    zarr.create_array(tmp_path / "d", name="a", shape=(4,), chunks=(2,), dtype="i4")
    with pipeline("zarr_rs.CodecPipeline"):
        array = zarr.open_array(tmp_path / "d", path="a", mode="r+")
        array[:] = [1, 2, 3, 4]
        again = pickle.loads(pickle.dumps(array))
        assert again == array
        with no_fallback():
            assert again[1:3].tolist() == [2, 3]


def test_a_directory_that_is_replaced_is_read_anew(tmp_path: Any) -> None:
    place = tmp_path / "d"
    for value in (1, 2):
        zarr.create_array(place, name="a", shape=(4,), chunks=(2,), dtype="i4", overwrite=True)
        ours(place, path="a", mode="r+")[:] = value
        assert ours(place, path="a")[:].tolist() == [value] * 4
        place.rename(tmp_path / f"old{value}")


def test_calls_of_an_event_loop_of_the_user_run_there(store: Any) -> None:
    zarr.create_array(store, name="a", shape=(20,), chunks=(3,), dtype="i4")

    async def work() -> Any:
        array = await zarr.api.asynchronous.open_array(store=store, path="a", mode="r+")
        await asyncio.gather(*(array.setitem(slice(i, i + 3), i) for i in range(0, 18, 3)))
        return await asyncio.gather(*(array.getitem(slice(i, i + 2)) for i in range(18)))

    with pipeline("zarr_rs.CodecPipeline"), no_fallback():
        parts = asyncio.run(work())
    assert [part.tolist()[0] for part in parts] == [i // 3 * 3 for i in range(18)]


def test_a_system_without_directories_uses_the_store_of_zarr_python(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zarr_rs.places.HAS_DIRECTORIES", False)
    zarr.create_array(tmp_path / "d", name="a", shape=(5,), chunks=(2,), dtype="i4")
    array = ours(tmp_path / "d", path="a", mode="r+")
    with no_fallback():
        array[1:] = [1, 2, 3, 4]
        assert array[:].tolist() == [0, 1, 2, 3, 4]
    assert array._async_array.codec_pipeline._handles.foreign is not None


@pytest.mark.filterwarnings("ignore:.*generic.*:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", [">m8", ">M8[2generic]", "<M8[2generic]", ">M8[us]"])
def test_times_of_any_byte_order(dtype: str, zarr_format: Any) -> None:
    """NumPy does not swap those without a unit."""
    if "us" not in dtype and tuple(map(int, zarr.__version__.split(".")[:2])) < (3, 4):
        pytest.skip("zarr-python swaps times without a unit since version 3.4")
    counts = np.array([0, 1, -2, 100], f"{dtype[0]}i8")
    store: dict[str, Any] = {}
    with pipeline(OURS), no_fallback():
        options: Any = {"chunks": 4, "zarr_format": zarr_format, "compressors": None}
        array = zarr.create_array(store, data=counts.view(dtype), **options)
        for selection in (slice(None), slice(1, 3), [0, 2], 1):
            found: Any = np.asarray(array[selection])
            np.testing.assert_array_equal(found.view(f"{found.dtype.byteorder}i8"), counts[selection])
    # The codec of format 3 has the byte order, the data type of format 2.
    stored = counts.tobytes() if zarr_format == 2 else counts.astype("<i8").tobytes()
    assert store["0" if zarr_format == 2 else "c/0"].to_bytes() == stored
