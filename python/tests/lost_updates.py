"""Counts the elements that Dask's workers lose when their blocks cut chunks and shards, and workers are killed.

Two processes write blocks of 32 x 32 elements into chunks of 200 x 200, and into shards of 256 x 256 with chunks of
64 x 64, without locks. In each round a worker is killed while it writes, and Dask runs its tasks again.

usage: python tests/lost_updates.py [ROUNDS] [URL]

The pipelines are those of zarr-python, of zarrs-python if it is installed, and of this package, and last the arrays of
this package. URL is a bucket or folder for the arrays, such as `s3://bucket`; the environment has the keys and the service.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import dask
import dask.array as da
import numpy as np
import zarr
import zarr_rs
from distributed import Client, LocalCluster

SIDE = 384
BLOCK = 32
LAYOUTS: dict[str, dict[str, Any]] = {
    "chunks": {"chunks": (200, 200)},
    "shards": {"chunks": (64, 64), "shards": (256, 256)},
}
PIPELINES = {
    "zarr-python": "zarr.core.codec_pipeline.BatchedCodecPipeline",
    "zarrs-python": "zarrs.ZarrsCodecPipeline",
    "zarr_rs pipeline": "zarr_rs.CodecPipeline",
    "zarr_rs arrays": "zarr_rs.CodecPipeline",
}


@contextlib.contextmanager
def cluster(pipeline: str) -> Iterator[Client]:
    """Two processes with two threads each, in which zarr-python has a pipeline."""
    settings = {"distributed.logging.distributed": "critical", "distributed.scheduler.allowed-failures": 10}
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2,
            threads_per_worker=2,
            processes=True,
            dashboard_address=None,
            env={"ZARR_CODEC_PIPELINE__PATH": PIPELINES[pipeline]},
        ) as workers,
        Client(workers) as client,
    ):
        yield client


def target(pipeline: str, store: Any, layout: str) -> Any:
    """Creates an array of -1."""
    options = {"shape": (SIDE, SIDE), "dtype": "int32", "fill_value": -1, **LAYOUTS[layout]}
    if pipeline == "zarr_rs arrays":
        return zarr_rs.create_array(store, overwrite=True, **options)
    with zarr.config.set({"codec_pipeline.path": PIPELINES[pipeline]}):
        return zarr.create_array(store, overwrite=True, **options)


def lost(client: Client, array: Any, *, kill: bool) -> int | str:
    """Writes all elements, and returns how many of them are not there, or the error."""
    values = np.arange(SIDE * SIDE, dtype="int32").reshape(SIDE, SIDE)
    blocks = da.from_array(values, chunks=BLOCK)
    pids = client.run(os.getpid)
    future = client.compute(da.store(blocks, array, lock=False, compute=False), retries=10)
    if kill:
        time.sleep(0.05)
        os.kill(next(iter(pids.values())), signal.SIGKILL)
    try:
        future.result(timeout=120)
        return int((np.asarray(array[...]) != values).sum())
    except Exception as e:
        return f"({type(e).__name__})"


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    is_there = [name for name in PIPELINES if name != "zarrs-python" or importlib.util.find_spec("zarrs")]
    print(f"elements lost of {SIDE * SIDE}, in {rounds} rounds")
    for name in is_there:
        with tempfile.TemporaryDirectory() as place:
            for layout in LAYOUTS:
                if len(sys.argv) > 2:
                    store: Any = zarr_rs.Store(f"{sys.argv[2]}/{name.replace(' ', '-')}-{layout}.zarr")
                elif name.startswith("zarr_rs"):
                    store = zarr_rs.Store(f"{place}/{layout}.zarr")
                else:
                    store = f"{place}/{layout}.zarr"
                print(f"{name:18} {layout:8}", end="", flush=True)
                for _ in range(rounds):
                    with cluster(name) as client:
                        print(f" {lost(client, target(name, store, layout), kill=True)}", end="", flush=True)
                print()


if __name__ == "__main__":
    main()
