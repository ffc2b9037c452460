"""Stores of any package: each kind through the API of this package, the engine of xarray, and the pipeline."""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import importlib
import json
import os
import pathlib
import pickle
import threading
import uuid
import zipfile
from collections.abc import Callable
from typing import Any

import dask.array as da
import fsspec
import icechunk
import numpy as np
import obstore.store
import pytest
import upath
import xarray as xr
import zarr
import zarr_rs
import zarr_rs.dask
from conftest import OURS, no_fallback, ours, pipeline
from zarr.core.buffer import cpu
from zarr.core.sync import sync
from zarr.storage import (
    FsspecStore,
    LocalStore,
    LoggingStore,
    MemoryStore,
    ObjectStore,
    StorePath,
    WrapperStore,
    ZipStore,
)
from zarr_rs import stores

EXPECTED = np.arange(72, dtype="i4").reshape(9, 8)


@dataclasses.dataclass(frozen=True)
class Kind:
    """How a location is made, and the store that zarr-python has for it."""

    #: From a folder that is empty, or that has the data if the kind is only read.
    make: Callable[[pathlib.Path], Any]
    #: Whether the engine reads it itself. Otherwise it calls the store.
    is_native: bool = False
    is_written: bool = True
    formats: tuple[int, ...] = (2, 3)
    options: Callable[[pathlib.Path], dict[str, Any]] = lambda _: {}


class Session(zarr.abc.store.Store):
    """A store as that of a session of icechunk: asynchronous, bound to one event loop, without synchronous methods."""

    def __init__(self) -> None:
        super().__init__(read_only=False)
        self._values: dict[str, Any] = {}
        self._loop: Any = None

    async def _turn(self) -> None:
        await asyncio.sleep(0)
        self._loop = self._loop or asyncio.get_running_loop()
        assert self._loop is asyncio.get_running_loop(), "a session is used on one loop"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Session) and other._values == self._values

    supports_writes = supports_deletes = supports_listing = True
    supports_partial_writes = False

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        await self._turn()
        return await MemoryStore(self._values).get(key, prototype, byte_range)

    async def get_partial_values(self, prototype: Any, key_ranges: Any) -> Any:
        return [await self.get(key, prototype, byte_range) for key, byte_range in key_ranges]

    async def exists(self, key: str) -> bool:
        await self._turn()
        return key in self._values

    async def set(self, key: str, value: Any) -> None:
        await self._turn()
        self._values[key] = value

    async def set_partial_values(self, key_start_values: Any) -> None:
        raise NotImplementedError  # abstract in zarr-python 3.0

    async def delete(self, key: str) -> None:
        await self._turn()
        self._values.pop(key, None)

    async def list(self) -> Any:
        for key in list(self._values):
            yield key

    async def list_prefix(self, prefix: str) -> Any:
        async for key in MemoryStore(self._values).list_prefix(prefix):
            yield key

    async def list_dir(self, prefix: str) -> Any:
        async for name in MemoryStore(self._values).list_dir(prefix):
            yield name


def archive(place: pathlib.Path) -> pathlib.Path:
    path = place.parent / "a.zip"
    with zipfile.ZipFile(path, "w") as written:
        for file in sorted(place.rglob("*")):
            written.write(file, file.relative_to(place))
    return path


def references(place: pathlib.Path) -> dict[str, Any]:
    refs = {}
    for file in filter(pathlib.Path.is_file, place.rglob("*")):
        is_document = file.name.startswith(".z") or file.name == "zarr.json"
        refs[str(file.relative_to(place))] = file.read_text() if is_document else [str(file)]
    return {"version": 1, "refs": refs}


def session(place: pathlib.Path) -> Any:
    storage = icechunk.local_filesystem_storage(str(place / "repository"))
    return icechunk.Repository.create(storage).writable_session("main").store


def manifest(place: pathlib.Path) -> Any:
    """A store of virtualizarr whose chunks are those of a directory."""
    manifests, registries = map(importlib.import_module, ("virtualizarr.manifests", "obspec_utils.registry"))
    entries = {}
    for index in np.ndindex(5, 3):
        file = place / "a" / "c" / str(index[0]) / str(index[1])
        entries[".".join(map(str, index))] = {"path": file.as_uri(), "offset": 0, "length": file.stat().st_size}
    metadata = zarr.core.metadata.ArrayV3Metadata.from_dict(json.loads((place / "a" / "zarr.json").read_text()))
    array = manifests.ManifestArray(metadata=metadata, chunkmanifest=manifests.ChunkManifest(entries))
    group = manifests.ManifestGroup(arrays={"a": array}, attributes={})
    registry = registries.ObjectStoreRegistry({"file://": obstore.store.LocalStore()})
    return manifests.ManifestStore(group, registry=registry)


def name() -> str:
    return uuid.uuid4().hex


KINDS: dict[str, Kind] = {
    "path": Kind(lambda p: str(p), is_native=True),
    "URL": Kind(lambda p: p.as_uri(), is_native=True),
    "Store": Kind(lambda _: zarr_rs.Store("memory://"), is_native=True),
    "LocalStore": Kind(LocalStore, is_native=True),
    "StorePath of a LocalStore": Kind(lambda p: StorePath(LocalStore(p), "g"), is_native=True),
    "StorePath of memory": Kind(lambda _: StorePath(MemoryStore(), "g/h")),
    "MemoryStore": Kind(lambda _: MemoryStore()),
    "dict": Kind(lambda _: {}),
    "ZipStore": Kind(lambda p: ZipStore(archive(p), mode="r"), is_native=True, is_written=False),
    "new ZipStore": Kind(lambda p: ZipStore(p / "new.zip", mode="w")),
    "WrapperStore of a LocalStore": Kind(lambda p: WrapperStore(LocalStore(p))),
    "WrapperStore of memory": Kind(lambda _: WrapperStore(MemoryStore())),
    "LoggingStore": Kind(lambda p: LoggingStore(LocalStore(p), log_level="CRITICAL")),
    "store like a session": Kind(lambda _: Session()),
    "ObjectStore of files": Kind(lambda p: ObjectStore(obstore.store.LocalStore(p)), is_native=True, is_written=False),
    "ObjectStore of memory": Kind(lambda _: ObjectStore(obstore.store.MemoryStore())),
    "FsspecStore of memory": Kind(lambda _: FsspecStore.from_url(f"memory://{name()}")),
    "FsspecStore of files": Kind(
        lambda p: FsspecStore.from_url(f"file://{p}", storage_options={"auto_mkdir": True}), is_written=False, is_native=True
    ),
    "mapper of files": Kind(lambda p: fsspec.get_mapper(str(p)), is_native=True),
    "UPath of memory": Kind(lambda _: upath.UPath(f"memory://{name()}")),
    "UPath of files": Kind(lambda p: upath.UPath(p), is_native=True),
    "references": Kind(
        lambda _: "reference://", is_written=False, options=lambda p: {"fo": references(p), "remote_protocol": "file"}
    ),
    "cache": Kind(lambda p: f"simplecache::file://{p}", is_written=False),
    "archive of fsspec": Kind(lambda p: f"zip://::file://{archive(p)}", is_written=False),
    "icechunk": Kind(session, formats=(3,)),
}
if not zarr.__version__.startswith("3.0."):  # which knows no mappers, and virtualizarr has no store for it
    KINDS["mapper of memory"] = Kind(lambda _: fsspec.get_mapper(f"memory://{name()}"))
    KINDS["virtualizarr"] = Kind(manifest, is_written=False, formats=(3,))

CASES = [(kind, zarr_format) for kind, of in KINDS.items() for zarr_format in of.formats]


def written(location: Any, zarr_format: Any, **options: Any) -> None:
    """Writes a dataset of two arrays with the API of this package."""
    group = zarr_rs.create_group(location, zarr_format=zarr_format, attributes={"title": "t"}, **options)
    for array, values in (("a", EXPECTED), ("x", np.arange(8))):
        names = ("y", "x")[2 - values.ndim :]
        attributes = {"_ARRAY_DIMENSIONS": names} if zarr_format == 2 else {}
        made = group.create_array(
            array,
            shape=values.shape,
            chunks=(2, 3)[2 - values.ndim :],
            dtype=values.dtype,
            dimension_names=names if zarr_format == 3 else None,
            attributes=attributes,
        )
        made[...] = values


def stored(kind: Kind, place: pathlib.Path, zarr_format: Any) -> tuple[Any, dict[str, Any]]:
    """Returns the location of a kind with the data in it, and its options."""
    if not kind.is_written:
        written(place, zarr_format)
    location = kind.make(place)
    options = kind.options(place)
    if kind.is_written:
        written(location, zarr_format)
    return location, {"storage_options": options} if options else {}


@pytest.mark.parametrize(("kind", "zarr_format"), CASES)
def test_a_store_of_any_kind_is_read_and_written_everywhere(kind: str, zarr_format: Any, tmp_path: pathlib.Path) -> None:
    of, place = KINDS[kind], tmp_path / "data"
    place.mkdir()
    location, options = stored(of, place, zarr_format)

    # The API of this package.
    group = zarr_rs.open_group(location, zarr_format=zarr_format, **options)
    assert (group.store.storage() not in stores._foreign.values()) == of.is_native
    assert group.read_only and group.zarr_format == zarr_format
    if kind != "virtualizarr":
        assert sorted(group) == ["a", "x"] and group.attrs["title"] == "t"
    for path in ("a", "/a"):
        np.testing.assert_array_equal(zarr_rs.open_array(location, path, **options)[1::2, ::3], EXPECTED[1::2, ::3])
    array = zarr_rs.open_array(location, "a", **options)
    assert array[8, 7] == 71 and array.vindex[[0, 8], [1, 7]].tolist() == [1, 71]
    with pytest.raises(PermissionError):
        array[0, 0] = 1
    if kind != "virtualizarr":  # it answers with the root for any path
        with pytest.raises(FileNotFoundError):
            zarr_rs.open(location, "none", **options)

    # The engine of xarray.
    dataset = xr.open_dataset(location, engine="zarr_rs", mask_and_scale=False, **options)
    np.testing.assert_array_equal(dataset["a"].values, EXPECTED)

    # The pipeline, where zarr-python opens the location.
    store = group.store.wrapped or group.store
    below = location.path if isinstance(location, StorePath) else ""
    # zarr-python cannot make a view of every store that only reads.
    mode = "r+" if isinstance(store, Session | ZipStore) and not store.read_only else "r"
    with no_fallback():
        np.testing.assert_array_equal(ours(store, path=f"{below}/a", mode=mode)[2:7], EXPECTED[2:7])
    if isinstance(store, ZipStore):
        store.close()


@pytest.mark.parametrize("kind", [kind for kind, of in KINDS.items() if of.is_written and kind != "new ZipStore"])
def test_a_store_of_any_kind_is_changed(kind: str, tmp_path: pathlib.Path) -> None:
    location = KINDS[kind].make(tmp_path)
    written(location, 3)
    array = zarr_rs.open_array(location, "a", mode="r+")
    array[0, 1] = -1
    array.append(np.ones((2, 8), "i4"))
    array.attrs["units"] = "K"
    again = zarr_rs.open_array(location, "a")
    assert (again.shape, again[0, 1], again[10, 0], again.attrs["units"]) == ((11, 8), -1, 1, "K")
    group = zarr_rs.open_group(location, mode="r+")
    with pytest.raises(FileExistsError):
        group.create_array("a", shape=(1,), dtype="i4")
    group.consolidate()
    group.create_array("b/c", shape=(1,), dtype="i4")
    del group["x"]
    assert sorted(zarr_rs.open_group(location)) == ["a", "b"]
    copied: dict[str, Any] = {}
    zarr_rs.copy(group, copied)
    np.testing.assert_array_equal(zarr_rs.open_array(copied, "a")[:], again[:])
    if kind != "icechunk":  # it refuses keys that are not of documents or chunks
        assert zarr_rs.sync(group, copied).unchanged[0] > 0
        zarr_rs.copy(array, location, "d", chunks=(4, 4))
        np.testing.assert_array_equal(zarr_rs.open_array(location, "d")[:], again[:])


class Broken(WrapperStore[Any]):
    """A store that fails for chunks."""

    class Fire(Exception):
        pass

    async def get(self, key: str, *arguments: Any, **options: Any) -> Any:
        if "c/" in key:
            raise self.Fire("the disk burns")
        return await super().get(key, *arguments, **options)

    async def set(self, key: str, value: Any) -> None:
        if "c/" in key:
            raise self.Fire("the disk burns")
        await super().set(key, value)


class Synchronous(LocalStore):
    """A store that notes its synchronous calls."""

    def __init__(self, root: Any, **options: Any) -> None:
        super().__init__(root, **options)
        self.calls: list[str] = []

    def get_sync(self, key: str, **options: Any) -> Any:
        self.calls.append(f"get {key}")
        return super().get_sync(key, **options)

    def set_sync(self, key: str, value: Any) -> None:
        self.calls.append(f"set {key}")
        super().set_sync(key, value)

    def delete_sync(self, key: str) -> None:
        self.calls.append(f"delete {key}")
        super().delete_sync(key)


@pytest.mark.skipif(not hasattr(zarr.abc.store, "_store_supports_sync_io"), reason="no store is synchronous there")
def test_synchronous_methods_are_called_if_they_do_what_the_others_do(tmp_path: pathlib.Path) -> None:
    store = Synchronous(tmp_path / "a")
    for given, expected in [
        (store, True),
        (WrapperStore(store), True),
        (WrapperStore(MemoryStore()), True),
        (Broken(store), False),
        (WrapperStore(Broken(store)), False),
        (Session(), False),
    ]:
        assert stores._is_synchronous(given) == expected, given
    array = zarr_rs.create_array(WrapperStore(store), shape=(4,), chunks=(2,), dtype="i4")
    array[:] = [1, 2, 3, 4]
    array[1:] = [0, 0, 5]
    array[:2] = 0
    assert array[:].tolist() == [0, 0, 0, 5]
    chunks = [call for call in store.calls if "c/" in call]
    assert sorted(set(chunks)) == ["delete c/0", "get c/0", "get c/1", "set c/0", "set c/1"]
    with pytest.raises(zarr_rs.errors.NotFoundError):
        zarr_rs.open_array(store, "none")


def test_an_exception_of_the_store_is_raised_with_its_place() -> None:
    memory = MemoryStore()
    written(memory, 3)
    store = Broken(memory)
    calls: dict[str, Callable[[], Any]] = {
        "read": lambda: zarr_rs.open_array(store, "a")[3, 4],
        "write": lambda: zarr_rs.open_array(store, "a", mode="r+").__setitem__(slice(2, 4), 1),
        "xarray": lambda: xr.open_dataset(store, engine="zarr_rs", drop_variables="x")["a"][3, 4].values,
        "pipeline": lambda: ours(store, path="a", mode="r")[3, 4],
    }
    for call in calls.values():
        with pytest.raises(Broken.Fire, match="the disk burns") as raised:
            call()
        notes = "\n".join(raised.value.__notes__)
        assert 'array "/a"' in notes and "chunk [1, " in notes and 'key "a/c/1/' in notes
        assert f"wrapping-memory://{id(memory._store_dict)}" in notes or call is calls["pipeline"]


def test_metadata_that_a_store_cannot_read_closes_the_group() -> None:
    class Failing(WrapperStore[Any]):
        async def get(self, key: str, *arguments: Any, **options: Any) -> Any:
            if key == "a/zarr.json":
                raise Broken.Fire("the disk burns")
            return await super().get(key, *arguments, **options)

    memory = MemoryStore()
    written(memory, 3)
    store = Failing(memory)
    for call in (
        lambda: list(zarr_rs.open_group(store).arrays()),
        lambda: zarr_rs.open_group(store)["a"],
        lambda: xr.open_dataset(store, engine="zarr_rs"),
    ):
        with pytest.raises(Broken.Fire, match="the disk burns"):
            call()


def test_a_key_error_means_that_there_is_no_object() -> None:
    class Mapping(WrapperStore[Any]):
        async def get(self, key: str, *arguments: Any, **options: Any) -> Any:
            found = await super().get(key, *arguments, **options)
            if found is None:
                raise KeyError(key)
            return found

    store = Mapping(MemoryStore())
    zarr_rs.create_array(store, shape=(4,), chunks=(2,), dtype="i4", fill_value=9)[2:] = 1
    assert zarr_rs.open_array(store)[:].tolist() == [9, 9, 1, 1]
    with pytest.raises(FileNotFoundError, match="there is no"):
        zarr_rs.open(store, "none")


@pytest.mark.parametrize("make", [dict, lambda: WrapperStore(MemoryStore())])
def test_dask_reads_and_writes_a_store(make: Callable[[], Any]) -> None:
    location = make()
    values = da.from_array(EXPECTED, chunks=(4, 5))
    made = zarr_rs.dask.create(values, location, "a", chunks=(3, 4))
    zarr_rs.dask.store(values, made)
    read = zarr_rs.dask.from_array(location, "a")
    assert read.name == zarr_rs.dask.from_array(zarr_rs.open_array(location, "a")).name
    np.testing.assert_array_equal(read.compute(), EXPECTED)


@pytest.mark.parametrize("make", [MemoryStore, Session, lambda: zarr_rs.Store.wrap(Session())])
def test_xarray_writes_with_the_pipeline(make: Callable[[], Any]) -> None:
    store = make()
    dataset = xr.Dataset({"a": (("y", "x"), EXPECTED)}, {"x": np.arange(8)})
    with pipeline(OURS), no_fallback():
        dataset.to_zarr(store, encoding={"a": {"chunks": (2, 3)}}, consolidated=False)
        part = dataset[["a"]].isel(y=slice(3, 6)).drop_vars("x") * 0 - 1
        part.to_zarr(store, region={"y": slice(3, 6)}, safe_chunks=False, consolidated=False)
    expected = EXPECTED.copy()
    expected[3:6] = -1
    np.testing.assert_array_equal(xr.open_dataset(store, engine="zarr_rs")["a"], expected)


def test_a_dataset_of_a_store_without_consolidated_metadata_opens(tmp_path: pathlib.Path) -> None:
    versions = session(tmp_path)
    xr.Dataset({"a": ("x", [1, 2])}).to_zarr(versions, consolidated=False)
    for store in (versions, StorePath(versions), zarr_rs.Store.wrap(versions)):
        for asked in (None, True, False):
            assert xr.open_dataset(store, engine="zarr_rs", consolidated=asked)["a"].sum() == 3
    assert list(xr.open_groups(versions, engine="zarr_rs", consolidated=True)) == ["/"]


def test_names_and_passwords_are_not_shown() -> None:
    class Secret(MemoryStore):
        def __str__(self) -> str:
            return "<Secret(https://me:word@host/a?sig=token b)>"

    assert str(zarr_rs.Store.wrap(Secret())) == "<Secret(https://host/a b)>"
    with pytest.raises(FileNotFoundError) as raised:
        zarr_rs.open(Secret())
    assert "https://host/a" in str(raised.value) and "word" not in str(raised.value) and "sig" not in str(raised.value)


def test_a_call_that_would_block_the_loop_of_its_store_is_refused() -> None:
    store = Session()
    written(store, 3)
    array = zarr_rs.open_array(store, "a")
    other: dict[str, Any] = {}
    calls: list[Callable[[], Any]] = [
        lambda: zarr_rs.open_array(store, "a"),
        lambda: array[:],
        lambda: zarr_rs.copy(array, other),
        lambda: zarr_rs.sync(array, other),
    ]

    async def work() -> Any:
        for call in calls:
            with pytest.raises(RuntimeError, match="runs the store's event loop: use read_async"):
                call()
        opened = await zarr_rs.open_async(store, "a")
        wrapped = zarr_rs.Store.wrap(store)
        assert await wrapped.get("none") is None and await wrapped.exists("a/zarr.json")
        return await opened.read_async()

    np.testing.assert_array_equal(sync(work(), timeout=60), EXPECTED)

    async def elsewhere() -> Any:
        return zarr_rs.open_array(store, "a")[:]

    np.testing.assert_array_equal(asyncio.run(elsewhere()), EXPECTED)


def test_a_store_that_is_read_only_stays_so() -> None:
    memory = MemoryStore()
    written(memory, 3)
    for store in (memory, WrapperStore(memory)):
        wrapped = zarr_rs.Store.wrap(store, read_only=True)
        assert wrapped.read_only and not zarr_rs.Store.wrap(store).read_only
        with pytest.raises(ValueError, match="read-only"):
            zarr_rs.create_group(wrapped, "b")
    closed = MemoryStore(memory._store_dict, read_only=True)
    for store in (closed, WrapperStore(closed), StorePath(closed)):
        assert zarr_rs.open_array(store, "a")[8, 7] == 71
        with pytest.raises(ValueError, match="read-only"):
            zarr_rs.open_array(store, "a", mode="r+")
        with pytest.raises(ValueError, match="read-only"):
            zarr_rs.create_array(store, "b", shape=(1,), dtype="i4")


class Slow(WrapperStore[Any]):
    """A store that does not answer for keys with `held` in them."""

    def __init__(self, store: Any, held: str) -> None:
        super().__init__(store)
        self.held = held
        self.asked, self.cancelled = threading.Event(), threading.Event()

    async def get(self, key: str, *arguments: Any, **options: Any) -> Any:
        if self.held not in key:
            return await super().get(key, *arguments, **options)
        self.asked.set()
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


@pytest.mark.parametrize("call", ["open", "read", "xarray", "copy"])
def test_an_interrupt_cancels_the_requests_of_the_store(call: str) -> None:
    memory = MemoryStore()
    written(memory, 3)
    store = Slow(memory, "zarr.json" if call == "open" else "c/")
    reads: dict[str, Callable[[], Any]] = {
        "open": lambda: zarr_rs.open(store),
        "read": lambda: zarr_rs.open_array(store, "a")[:],
        "copy": lambda: zarr_rs.copy(store, {}),
        "xarray": lambda: xr.open_dataset(store, engine="zarr_rs", drop_variables="x")["a"].load(),
    }

    def interrupt() -> None:
        store.asked.wait(60)
        os.kill(os.getpid(), 2)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        reads[call]()
    thread.join()
    assert store.cancelled.wait(10), "the store goes on"


def test_requests_are_limited_and_bytes_are_not_copied() -> None:
    class Counting(WrapperStore[Any]):
        now = most = 0

        async def get(self, key: str, *arguments: Any, **options: Any) -> Any:
            self.now += 1
            self.most = max(self.now, self.most)
            await asyncio.sleep(0.002)
            self.now -= 1
            return await super().get(key, *arguments, **options)

    memory = MemoryStore()
    written(memory, 3)
    store = Counting(memory)
    with zarr.config.set({"async.concurrency": 4}):
        array = zarr_rs.open_array(store, "a")
    np.testing.assert_array_equal(array[:], EXPECTED)
    assert 2 <= store.most <= 4
    value = b"abcd"
    assert stores._content(cpu.Buffer.from_bytes(value)) is value
    assert stores._content(cpu.Buffer.from_bytes(value)[1:3]) == b"bc"
    assert stores._content(cpu.Buffer.from_array_like(np.frombuffer(value, "u1")[::-1])) == b"dcba"


class Changed(FsspecStore):
    """A store whose reads of one range do something else."""

    async def get(self, *arguments: Any, **options: Any) -> Any:
        return await super().get(*arguments, **options)


@pytest.mark.parametrize(
    ("kind", "fails", "calls"), [(FsspecStore, False, True), (FsspecStore, True, True), (Changed, False, False)]
)
def test_ranges_of_an_object_are_read_in_one_call(
    kind: type[FsspecStore], fails: bool, calls: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    async def noted(self: FsspecStore, prototype: Any, key_ranges: Any) -> Any:
        asked.append([key for key, _ in key_ranges])
        if fails:
            raise TypeError("no bytes")
        return await own(self, prototype, key_ranges)

    own = FsspecStore.get_partial_values
    monkeypatch.setattr(FsspecStore, "get_partial_values", noted)
    # Gaps of 80,000 bytes, which are not read.
    store = kind.from_url(f"memory://{name()}")
    shape, chunks = (8, 80_000), (1, 80_000)
    array = zarr_rs.create_array(store, shape=shape, shards=shape, chunks=chunks, dtype="u1", compressors=None)
    values = np.arange(8, dtype="u1")[:, None].repeat(80_000, axis=1)
    array[...] = values
    np.testing.assert_array_equal(array[::2], values[::2])
    assert bool(asked) == calls and all(len(keys) > 1 and set(keys) == {"c/0/0"} for keys in asked)


@pytest.mark.parametrize("make", [dict, MemoryStore, lambda: WrapperStore(MemoryStore()), Session])
def test_threads_that_write_one_chunk_lose_nothing(make: Callable[[], Any]) -> None:
    location = make()
    zarr_rs.create_array(location, shape=(24,), chunks=(24,), dtype="i4")[:] = -1

    def write(i: int) -> None:
        zarr_rs.open_array(location, mode="r+")[i] = i

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(24)))
    assert zarr_rs.open_array(location)[:].tolist() == list(range(24))


def test_a_wrapped_store_is_pickled_as_its_store(tmp_path: pathlib.Path) -> None:
    memory = MemoryStore()
    written(memory, 3)
    array = zarr_rs.open_array(memory, "a")
    again = pickle.loads(pickle.dumps(array))
    np.testing.assert_array_equal(again[:], EXPECTED)
    assert again.store == array.store and again.store.wrapped == memory
    assert zarr_rs.Store.wrap(memory) == zarr_rs.Store.wrap(memory) != zarr_rs.Store.wrap(MemoryStore())
    assert zarr_rs.Store.wrap(LocalStore(tmp_path)) == zarr_rs.Store(tmp_path)
    with pytest.raises(NotImplementedError, match="cannot join a copy"):
        zarr_rs.copy(array, memory, "b", join="job")


def test_an_object_of_another_type_is_refused_by_name(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.json").write_text('{"version": 1, "refs": {}}')
    for location, message in (
        (7, "cannot open an object of type int"),
        ({"zarr.json": b"{}"}, "the value of 'zarr.json' is of type bytes"),
        (tmp_path / "a.json", "these are references: open .*kerchunk:"),
        ("nonsense://a", "unknown scheme 'nonsense'"),
    ):
        with pytest.raises(NotImplementedError, match=message):
            zarr_rs.open(location)  # type: ignore[arg-type]
    for given in ({"anonymous": True}, {"storage_options": {"anon": True}}):
        with pytest.raises(TypeError, match="the store is given, so it takes no anon"):
            zarr_rs.open(MemoryStore(), **given)
