"""Dask with several processes: nothing is lost, blocks are shards, and arrays travel to the workers."""

from __future__ import annotations

import math
import pickle
import threading
import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import zarr_rs

pytest.importorskip("distributed")

import dask
import dask.array as da
import lost_updates
import zarr_rs.dask
from dask.base import tokenize
from dask.blockwise import Blockwise
from distributed import Client


@pytest.fixture(scope="module")
def service() -> Iterator[dict[str, str]]:
    """The environment for a bucket of moto, which answers one request at a time: it checks a condition and puts without a
    lock around both, so it may tell two writers that each was the first."""
    moto = pytest.importorskip("moto.moto_server.threaded_moto_server")
    lock = threading.Lock()

    class OneAtATime(moto.DomainDispatcherApplication):
        def __call__(self, *request: Any) -> Any:
            with lock:
                return super().__call__(*request)

    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moto, "DomainDispatcherApplication", OneAtATime)
        server.start()
    host, port = server.get_host_and_port()
    names = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
    yield names | {"AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ALLOW_HTTP": "true"}
    server.stop()


@pytest.fixture
def bucket(service: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in service.items():
        monkeypatch.setenv(name, value)
    boto3 = pytest.importorskip("boto3")
    name = uuid.uuid4().hex
    boto3.client("s3", endpoint_url=service["AWS_ENDPOINT_URL"], region_name="us-east-1").create_bucket(Bucket=name)
    return f"s3://{name}"


@pytest.mark.parametrize("layout", lost_updates.LAYOUTS)
@pytest.mark.parametrize("pipeline", ["zarr_rs pipeline", "zarr_rs arrays"])
def test_blocks_that_cut_chunks_lose_nothing_when_a_worker_is_killed(layout: str, pipeline: str, tmp_path: Any) -> None:
    with lost_updates.cluster(pipeline) as client:
        array = lost_updates.target(pipeline, zarr_rs.Store(tmp_path / "d"), layout)
        assert lost_updates.lost(client, array, kill=True) == 0


@pytest.mark.parametrize("layout", lost_updates.LAYOUTS)
def test_blocks_that_cut_chunks_lose_nothing_on_s3(layout: str, bucket: str) -> None:
    store = zarr_rs.Store(f"{bucket}/a")
    array = lost_updates.target("zarr_rs arrays", store, layout)
    # The keys are in the environment of the workers, and not in what travels.
    assert b"secret" not in pickle.dumps(array)
    with lost_updates.cluster("zarr_rs arrays") as client:
        assert lost_updates.lost(client, array, kill=True) == 0


def test_workers_read_shards(tmp_path: Any) -> None:
    array = zarr_rs.create_array(tmp_path / "d", shape=(400, 300), shards=(200, 300), chunks=(20, 30), dtype="f4")
    values = np.random.default_rng(1).random((400, 300), dtype="f4")
    array[:] = values
    blocks = da.from_array(array, chunks=array.chunk_lengths)
    assert blocks.chunks == ((200, 200), (300,))
    # The same array has the same name, in another process as well; a changed one has another.
    assert tokenize(array) == tokenize(zarr_rs.open_array(tmp_path / "d", mode="r+"))
    with lost_updates.cluster("zarr_rs arrays") as client:
        assert isinstance(client, Client)
        np.testing.assert_allclose(blocks.sum(axis=0).compute(), values.sum(axis=0), rtol=1e-5)
    before = tokenize(array)
    array.append(values[:200])
    assert tokenize(array) != before


@pytest.mark.parametrize(
    ("shape", "stored", "target_bytes", "expected"),
    [
        ((6, 4), {"chunks": (2, 2)}, 0, ((2, 2, 2), (2, 2))),
        ((7, 3), {"chunks": (2, 2)}, 0, ((2, 2, 2, 1), (2, 1))),
        ((6, 4), {"chunks": (2, 2)}, 32, ((4, 2), (2, 2))),
        ((6, 4), {"chunks": (2, 2)}, 96, ((6,), (4,))),
        ((20,), {"chunks": (2,)}, 4 * 12, ((10, 10),)),  # equally long, and not 12 and 8
        ((20, 8), {"chunks": (1, 8)}, 4 * 8 * 7, ((7, 7, 6), (8,))),
        ((24, 8), {"chunks": (2, 2), "shards": (4, 8)}, 0, ((4,) * 6, (8,))),
        ((24, 8), {"chunks": (2, 2), "shards": (4, 8)}, 4 * 8 * 9, ((8, 8, 8), (8,))),
        ((0, 3), {"chunks": (2, 2)}, 1000, ((0,), (3,))),
        ((), {}, 1000, ()),
    ],
)
def test_blocks_are_whole_shards_up_to_a_size(
    shape: tuple[int, ...], stored: dict[str, Any], target_bytes: int, expected: tuple[tuple[int, ...], ...]
) -> None:
    array = zarr_rs.create_array("memory://", shape=shape, dtype="i4", **stored)
    assert zarr_rs.blocks(array, target_bytes) == expected
    blocks = zarr_rs.dask.from_array(array, target_bytes=target_bytes)
    assert blocks.chunks == expected
    parts = zarr_rs.partitions(array, target_bytes)
    assert len(parts) == (math.prod(map(len, expected)) if array.size else 0)
    for number, part in enumerate(parts, 1):
        assert (array[part] == 0).all()
        array[part] = number
    np.testing.assert_array_equal(blocks, array[...])
    assert (array[...] > 0).all()


def test_a_process_opens_the_array_of_many_tasks_once(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    array = zarr_rs.create_array(tmp_path / "d", shape=(1000, 4), chunks=(10, 4), dtype="f4", fill_value=1)
    blocks = zarr_rs.dask.from_array(tmp_path / "d", target_bytes=0)
    assert blocks.numblocks == (100, 1) and blocks.name == zarr_rs.dask.from_array(tmp_path / "d", target_bytes=0).name
    assert [type(layer) for layer in blocks.dask.layers.values()] == [Blockwise]
    opens = []
    open_node = zarr_rs._native.open_node
    monkeypatch.setattr(zarr_rs._native, "open_node", lambda *a, **o: opens.append(a) or open_node(*a, **o))
    sent = pickle.dumps(list(dict(blocks.dask).values()))
    with dask.config.set(scheduler="synchronous"):
        for _ in range(3):
            assert sum(task()[0, 0] for task in pickle.loads(sent)) == 100
        assert len(opens) == 1
        # Only the needed part of a block is read, also by a list of positions.
        np.testing.assert_array_equal(blocks[[5, 3, 999], 1], [1, 1, 1])
        # A changed array is opened again.
        array.resize((500, 4))
        array[...] = 2
        assert zarr_rs.dask.from_array(tmp_path / "d").sum().compute() == 4000
        assert zarr_rs.dask.from_array(tmp_path / "d").name != blocks.name


def test_keys_of_a_service_are_in_no_name(tmp_path: Any) -> None:
    store = zarr_rs.Store(tmp_path / "d", environment={"AWS_SECRET_ACCESS_KEY": "secret"})
    array = zarr_rs.create_array(store, shape=(4,), chunks=(2,), dtype="i4")
    blocks = zarr_rs.dask.from_array(array)
    assert "secret" not in f"{blocks!r}{blocks.name}{dict(blocks.dask)!r}"


def test_a_region_that_cuts_chunks_is_written_whole_and_again(tmp_path: Any) -> None:
    values = np.arange(300 * 250, dtype="int32").reshape(300, 250)
    source = da.from_array(values, chunks=(70, 90))
    region = (slice(33, 333), slice(101, 351))
    with lost_updates.cluster("zarr_rs arrays"):
        for layout in lost_updates.LAYOUTS:
            target = lost_updates.target("zarr_rs arrays", zarr_rs.Store(tmp_path / layout), layout)
            block = zarr_rs.dask.store(source, target, region, compute=False)
            column = zarr_rs.dask.store(source[:, 0], target, (slice(33, 333), 5), compute=False)
            assert (target[...] == -1).all()
            dask.compute(block, column)
            dask.compute(block)
            expected = np.full(target.shape, -1, "int32")
            expected[region] = values
            expected[33:333, 5] = values[:, 0]
            np.testing.assert_array_equal(target[...], expected)


def test_a_region_must_fit() -> None:
    target = zarr_rs.create_array("memory://", shape=(6, 4), chunks=(4, 4), dtype="i4")
    for shape, region in (((6, 3), ...), ((1, 4), slice(0, 2)), ((2, 4), slice(1, None, -1)), ((2, 4), [3, 1])):
        with pytest.raises(zarr_rs.errors.ArgumentError):
            zarr_rs.dask.store(da.ones(shape, chunks=2), target, region)
    with pytest.raises(PermissionError):
        zarr_rs.dask.store(da.ones((6, 4)), zarr_rs.open_array(target.store))
    assert (target[...] == 0).all()
    zarr_rs.dask.store(da.ones((3, 4), chunks=2, dtype="i4"), target, slice(0, 6, 2))
    np.testing.assert_array_equal(target[:, 0], [1, 0, 1, 0, 1, 0])


def test_an_array_is_created_for_an_array_of_dask() -> None:
    source = da.arange(10, chunks=4, dtype="i2").reshape(5, 2)
    created = zarr_rs.dask.create(source, "memory://", "/a", fill_value=-1, dimension_names=["y", "x"])
    assert (created.shape, created.dtype, created.chunks) == ((5, 2), np.dtype("i2"), source.chunksize)
    zarr_rs.dask.store(source, created)
    np.testing.assert_array_equal(created[...], np.arange(10).reshape(5, 2))


def test_cubed_reads_blocks_and_writes_regions(tmp_path: Any) -> None:
    cubed = pytest.importorskip("cubed")
    array = zarr_rs.create_array(tmp_path / "a", shape=(60, 50), shards=(20, 50), chunks=(5, 5), dtype="i8")
    array[...] = np.arange(3000).reshape(60, 50)
    spec = cubed.Spec(work_dir=str(tmp_path), allowed_mem="200MB", executor_name="processes")
    x = cubed.from_array(array, chunks=zarr_rs.blocks(array, target_bytes=0), spec=spec)
    assert x.chunks == ((20, 20, 20), (50,))
    cubed.to_zarr(x.rechunk((7, 50)) + 1, zarr_rs.Store(tmp_path / "b"))
    np.testing.assert_array_equal(zarr_rs.open_array(tmp_path / "b")[...], array[...] + 1)

    # Blocks of 7 rows cut the shards of 20: a function writes them itself.
    target = zarr_rs.create_array(tmp_path / "c", shape=(60, 50), shards=(20, 50), chunks=(5, 5), dtype="i8")

    def write(block: Any, block_id: Any = None) -> Any:
        target[block_id[0] * 7 : block_id[0] * 7 + len(block)] = block
        return np.zeros((1, 1), bool)

    cubed.map_blocks(write, x.rechunk((7, 50)), dtype=bool, chunks=((1,) * 9, (1,))).compute()
    np.testing.assert_array_equal(target[...], array[...])
