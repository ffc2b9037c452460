"""The store: zarr-python's own tests of stores, on each kind of place, and what goes beyond them."""

from __future__ import annotations

import asyncio
import fcntl
import http.server
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time
import uuid
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rs
from conftest import no_fallback, ours, own
from zarr.abc.store import RangeByteRequest
from zarr.core.buffer import Buffer, cpu, default_buffer_prototype
from zarr.storage import LocalStore, MemoryStore, WrapperStore
from zarr.testing.store import StoreTests

SECRET = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}


class Common(StoreTests[zarr_rs.Store, cpu.Buffer]):
    """The objects are set and read through another handle on the same place."""

    store_cls = zarr_rs.Store
    buffer_cls = cpu.Buffer

    async def set(self, store: zarr_rs.Store, key: str, value: Buffer) -> None:
        store.storage().put(key, np.frombuffer(value.to_bytes(), "u1"), False).wait()

    async def get(self, store: zarr_rs.Store, key: str) -> Buffer:
        return cpu.Buffer.from_bytes(store.storage().get(key, [None]).wait()[0])

    def test_store_repr(self, store: zarr_rs.Store) -> None:
        assert repr(store) == f"Store('{store.location}')"

    def test_store_supports_writes(self, store: zarr_rs.Store) -> None:
        assert store.supports_writes

    def test_store_supports_listing(self, store: zarr_rs.Store) -> None:
        assert store.supports_listing

    async def test_a_range_is_cut_at_the_end_of_the_value(self, store: zarr_rs.Store) -> None:
        await self.set(store, "a", cpu.Buffer.from_bytes(b"abc"))
        for start, expected in ((1, b"bc"), (3, b""), (4, b"")):
            found = await store.get("a", default_buffer_prototype(), RangeByteRequest(start, 9))
            assert found is not None and found.to_bytes() == expected

    async def test_a_wrong_key_is_a_value_error(self, store: zarr_rs.Store) -> None:
        with pytest.raises(ValueError, match="segment"):
            await store.get("a/../b", default_buffer_prototype())

    async def test_values_of_several_keys_are_in_the_order_of_the_call(self, store: zarr_rs.Store) -> None:
        for key in ("a", "b"):
            await self.set(store, key, cpu.Buffer.from_bytes(key.encode() * 9))
        wanted = [("b", RangeByteRequest(0, 1)), ("none", None), ("a", None), ("b", RangeByteRequest(4, 6))]
        found = await store.get_partial_values(default_buffer_prototype(), wanted)
        assert [None if f is None else f.to_bytes() for f in found] == [b"b", None, b"a" * 9, b"bb"]

    def test_arrays_are_read_and_written_by_the_engine(self, store: zarr_rs.Store) -> None:
        zarr.create_array(store, name="a", shape=(9, 9), chunks=(2, 4), shards=(4, 8), dtype="i4")
        expected = np.arange(81).reshape(9, 9)
        with no_fallback():
            ours(store, path="a", mode="r+")[...] = expected
            np.testing.assert_array_equal(ours(store, path="a")[1::3, ::2], expected[1::3, ::2])
        np.testing.assert_array_equal(own(store, path="a")[...], expected)


class TestMemory(Common):
    @pytest.fixture
    def store_kwargs(self) -> dict[str, Any]:
        return {"location": f"memory://{uuid.uuid4().hex}"}


class TestDirectory(Common):
    @pytest.fixture
    def store_kwargs(self, tmp_path: Any) -> dict[str, Any]:
        (tmp_path / "d").mkdir()
        return {"location": str(tmp_path / "d")}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = pytest.importorskip("moto.server")
    service = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    service.start()
    host, port = service.get_host_and_port()
    yield f"http://{host}:{port}"
    service.stop()


class TestS3(Common):
    @pytest.fixture
    def store_kwargs(self, endpoint: str) -> dict[str, Any]:
        names = {"aws_access_key_id": "id", "aws_secret_access_key": "secret", "region_name": "us-east-1"}
        bucket = uuid.uuid4().hex
        boto3 = pytest.importorskip("boto3")
        boto3.client("s3", endpoint_url=endpoint, **names).create_bucket(Bucket=bucket)
        environment = SECRET | {"AWS_ALLOW_HTTP": "true"}
        return {"location": f"s3://{bucket}/a/b", "endpoint": endpoint, "environment": environment}

    async def test_a_pickle_has_the_credentials_that_were_given(self, store: zarr_rs.Store) -> None:
        assert b"secret" in pickle.dumps(store)
        assert "secret" not in repr(store)
        assert b"secret" not in pickle.dumps(zarr_rs.Store("s3://bucket/a"))

    def test_sends_many_requests_at_once_on_one_event_loop(self, store: zarr_rs.Store) -> None:
        async def work() -> int:
            await asyncio.gather(*(store.set(str(i), cpu.Buffer.from_bytes(b"x")) for i in range(20)))
            before = threading.active_count()
            found = await asyncio.gather(*(store.get(str(i), default_buffer_prototype()) for i in range(20)))
            assert threading.active_count() == before or not store.storage().is_inline
            return sum(value is not None for value in found)

        assert asyncio.run(work()) == 20


class OfMemory(zarr_rs.Store):
    """A store of zarr-python by its own calls."""

    def __init__(self, values: dict[str, Any], *, read_only: bool = False) -> None:
        wrapped = WrapperStore(MemoryStore(values))
        self.__setstate__({"wrapped": wrapped, "node": "", "read_only": read_only})


class TestWrapped(Common):
    store_cls = OfMemory

    async def set(self, store: zarr_rs.Store, key: str, value: Buffer) -> None:
        assert store.wrapped is not None
        await store.wrapped.set(key, value)

    async def get(self, store: zarr_rs.Store, key: str) -> Buffer:
        assert store.wrapped is not None
        found = await store.wrapped.get(key, default_buffer_prototype())
        assert found is not None
        return found

    @pytest.fixture
    def store_kwargs(self) -> dict[str, Any]:
        return {"values": {}}


def written(place: Any) -> np.ndarray[Any, Any]:
    zarr.create_array(LocalStore(place), name="a", shape=(9,), chunks=(2,), dtype="i4")
    array = own(LocalStore(place), path="a", mode="r+")
    array[:] = np.arange(9)
    return np.arange(9)


def test_a_zip_archive_is_read(tmp_path: Any) -> None:
    expected = written(tmp_path / "d")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for file in sorted((tmp_path / "d").rglob("*")):
            archive.write(file, file.relative_to(tmp_path))
    for location in (f"{tmp_path}/a.zip|zip:d", f"file://{tmp_path}/a.zip|zip:d/"):
        store = zarr_rs.Store(location)
        with no_fallback():
            np.testing.assert_array_equal(ours(store, path="a", mode="r")[:], expected)
        assert not store.supports_writes
        with pytest.raises(ValueError, match="can only be read"):
            asyncio.run(store.set("a", cpu.Buffer.from_bytes(b"")))
    assert zarr_rs.Store(tmp_path / "a.zip").location == f"{tmp_path}/a.zip|zip:"


def test_a_web_server_is_read(tmp_path: Any) -> None:
    expected = written(tmp_path / "d")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(tmp_path))

    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    store = zarr_rs.Store(f"http://127.0.0.1:{web.server_port}/d")
    with no_fallback():
        np.testing.assert_array_equal(ours(store, path="a", mode="r")[2:5], expected[2:5])
    assert not store.supports_listing
    assert not asyncio.run(store.exists("none"))
    web.shutdown()


def test_a_directory_is_made_unless_the_store_is_read_only(tmp_path: Any) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist"):
        asyncio.run(zarr_rs.Store.open(tmp_path / "d", read_only=True))
    asyncio.run(zarr_rs.Store.open(f"file://{tmp_path}/d"))
    assert zarr_rs.Store(f"file://{tmp_path}/d") == zarr_rs.Store(tmp_path / "d")
    assert zarr_rs.Store(tmp_path / "d").storage() is zarr_rs.Store(tmp_path / "d").storage()


def test_memory_is_shared_by_name_while_a_store_uses_it() -> None:
    first = zarr_rs.Store("memory://")
    assert first != zarr_rs.Store("memory://")
    zarr.create_array(first, name="a", shape=(1,), chunks=(1,), dtype="i4")
    again = zarr_rs.Store(first.location)
    assert again == first and ours(again, path="a").shape == (1,)
    state = pickle.dumps(first)
    assert pickle.loads(state).storage() is first.storage()
    del first, again
    with pytest.raises(RuntimeError, match="another process"):
        # The event loop of zarr-python lets its last call go a moment later.
        for _ in range(500):
            pickle.loads(state).storage()
            time.sleep(0.01)


@pytest.mark.parametrize("location", ["foo://a", "file://host/a", "s3://"])
def test_a_wrong_location_is_an_error_with_the_reason(location: str) -> None:
    with pytest.raises((ValueError, NotImplementedError), match="scheme|machine|bucket|container"):
        zarr_rs.Store(location).storage()


def test_a_conditional_write_has_one_winner(tmp_path: Any) -> None:
    store = zarr_rs.Store(tmp_path / "d")

    async def work() -> bytes:
        values = [cpu.Buffer.from_bytes(bytes([i])) for i in range(8)]
        await asyncio.gather(*(store.set_if_not_exists("k", value) for value in values))
        first = await store.get("k", default_buffer_prototype())
        await asyncio.gather(*(store.set_if_not_exists("k", value) for value in values))
        assert first is not None and await store.get("k", default_buffer_prototype()) == first
        return first.to_bytes()

    assert asyncio.run(work())[0] < 8


def test_a_single_writer_needs_no_lock_files(tmp_path: Any) -> None:
    array = zarr_rs.create_array(zarr_rs.Store(tmp_path, single_writer=True), shape=(4,), chunks=(2,), dtype="i4")
    array[:] = [1, 2, 3, 4]
    with open(tmp_path / "c/0.__lock", "w") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)  # another writer would wait for its end
        array[:3] = 7
    assert array[:].tolist() == [7, 7, 7, 4]
    assert zarr_rs.Store(tmp_path).storage() is not array.store.storage()


@pytest.mark.parametrize("in_place", [False, True])
def test_updates_in_place_keep_the_file(tmp_path: Any, in_place: bool) -> None:
    store = zarr_rs.Store(tmp_path, updates_in_place=in_place)
    array = zarr_rs.create_array(store, shape=(4,), chunks=(4,), dtype="i4", codecs=["bytes"])
    array[:] = [1, 2, 3, 4]
    before = os.stat(tmp_path / "c/0").st_ino
    array[1:3] = 7
    assert array[:].tolist() == [1, 7, 7, 4]
    assert (os.stat(tmp_path / "c/0").st_ino == before) == in_place
    assert pickle.loads(pickle.dumps(store)) == store
    assert (store == zarr_rs.Store(tmp_path)) != in_place


@pytest.mark.parametrize("durability", ["atomic", "deferred", "durable"])
@pytest.mark.parametrize("is_url", [False, True])
def test_what_a_power_cut_may_do_is_chosen(tmp_path: Any, is_url: bool, durability: Any) -> None:
    store = zarr_rs.Store(tmp_path.as_uri() if is_url else tmp_path, durability=durability)
    array = zarr_rs.create_array(store, shape=(4,), chunks=(4,), dtype="i4")
    array[1:3] = 7
    array.attrs["units"] = "K"
    store.flush()
    assert array[:].tolist() == [0, 7, 7, 0]
    assert pickle.loads(pickle.dumps(store)) == store != zarr_rs.Store(tmp_path)


def test_a_durability_that_does_not_exist_is_an_error(tmp_path: Any) -> None:
    with pytest.raises(ValueError, match='"sometimes", it must be atomic, deferred or durable'):
        zarr_rs.Store(tmp_path, durability="sometimes").storage()  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="sometimes"):
        zarr_rs.open(tmp_path.as_uri(), durability="sometimes")


def test_a_file_that_is_kept_open_is_read_again_after_another_writer(tmp_path: Any) -> None:
    array = zarr_rs.create_array(
        zarr_rs.Store(tmp_path, open_files=1), shape=(8,), chunks=(4,), dtype="i4", codecs=["bytes"]
    )
    array[:] = 1
    assert array[0] == array[5] == 1
    if os.path.isdir("/proc/self/fd"):
        opened = {os.path.realpath(f"/proc/self/fd/{file}") for file in os.listdir("/proc/self/fd")}
        assert os.path.realpath(tmp_path / "c/1") in opened
    zarr_rs.open_array(tmp_path, mode="r+")[4:] = 2
    assert array[0] == 1 and array[5] == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_store_of_the_parent_works_in_a_child(tmp_path: Any) -> None:
    code = """
        import os, sys, zarr, zarr_rs
        zarr.config.set({"codec_pipeline.path": "zarr_rs.CodecPipeline"})
        store, memory = zarr_rs.Store(sys.argv[1]), zarr_rs.Store("memory://")
        array = zarr.create_array(store, name="a", shape=(400,), chunks=(2,), dtype="i4")
        array[:] = 7
        memory.storage()
        child = os.fork()
        if child == 0:
            try:
                memory.storage()
            except RuntimeError:
                os._exit(0 if array[:].sum() == 2800 else 1)
            os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        print(array[:].sum(), type(memory.storage()).__name__)
        """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "d")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "2800 Storage\n", done.stderr


def test_a_wrapped_store_answers_while_calls_wait(tmp_path: Any) -> None:
    """The calls wait in the threads of the pipeline; the store that is wrapped answers in others."""
    store = zarr.storage.WrapperStore(zarr_rs.Store(tmp_path / "d"))
    zarr.create_array(store, name="a", shape=(100, 4), chunks=(1, 4), dtype="i4")
    array = ours(store, path="a", mode="r+")
    with no_fallback():
        array[:] = 1
        array.oindex[[3, 50], :] = 2
        assert array[:].sum() == 408


def test_the_same_place_can_be_used_by_stores_of_zarr_python(tmp_path: Any) -> None:
    zarr.create_group(zarr_rs.Store(tmp_path / "d")).create_group("b")
    assert list(zarr.open_group(LocalStore(tmp_path / "d")).group_keys()) == ["b"]
    zarr.consolidate_metadata(zarr_rs.Store(tmp_path / "d"))
