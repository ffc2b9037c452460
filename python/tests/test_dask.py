"""Dask with several processes: nothing is lost, blocks are shards, and arrays travel to the workers."""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import zarr_rs

pytest.importorskip("distributed")

import dask.array as da
import lost_updates
from dask.base import tokenize
from distributed import Client


@pytest.fixture(scope="module")
def service() -> Iterator[dict[str, str]]:
    """The environment for a bucket of moto."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
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
