"""Wall times and requests over a store that answers after 20 ms: zarr-xarray and xarray in one run.

network.py PROGRAM, where PROGRAM is the benchmark `network` of zarr-xarray; see README.md.
"""

import asyncio
import json
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import xarray as xr
import zarr
from zarr.storage import MemoryStore, WrapperStore

ROUND_TRIP = 0.020
REQUESTS = "get exists set set_if_not_exists delete delete_dir getsize".split()
LISTS = "list list_dir list_prefix".split()


class Far(WrapperStore):
    """A store whose requests take 20 ms."""

    count = 0

    async def wait(self):
        Far.count += 1
        await asyncio.sleep(ROUND_TRIP)

    async def get_partial_values(self, prototype, key_ranges):
        return await asyncio.gather(*(self.get(key, prototype, part) for key, part in key_ranges))


def request(name):
    async def call(self, *args, **kwargs):
        await self.wait()
        return await getattr(self._store, name)(*args, **kwargs)

    return call


def listing(name):
    async def call(self, *args):
        await self.wait()
        async for key in getattr(self._store, name)(*args):
            yield key

    return call


for name in REQUESTS:
    setattr(Far, name, request(name))
for name in LISTS:
    setattr(Far, name, listing(name))


def steps(first, count):
    """`count` days of 26 variables."""
    names = ("time", "level", "lat", "lon")
    values = np.full((count, 2, 40, 60), 1.5)
    time = pd.date_range("2000-01-01", periods=first + count)[first:]
    return xr.Dataset({f"v{n:02}": (names, values) for n in range(26)}, coords={"time": time})


def first():
    """The first four days, with a chunk for each day, and the axes."""
    dataset = steps(0, 4)
    for name, length in (("level", 2), ("lat", 40), ("lon", 60)):
        dataset = dataset.assign_coords({name: np.arange(length, dtype=float)})
    packed = {"dtype": "int16", "scale_factor": 0.5, "_FillValue": -1, "chunks": (1, 2, 40, 60)}
    for name in dataset.data_vars:
        dataset[name].encoding = dict(packed)
    return dataset


def measure(work, content):
    """The shortest time of five runs on copies, the requests, and the content after the last run."""
    best = float("inf")
    for _ in range(5):
        memory = MemoryStore(dict(content))
        Far.count, start = 0, time.perf_counter()
        work(Far(memory))
        best = min(best, time.perf_counter() - start)
    return best, Far.count, memory._store_dict


def select(store):
    dataset = xr.open_zarr(store, chunks=None)
    part = dataset.sel(time="2000-01-02", lat=slice(10.0, 20.0)).sel(lon=21.3, method="nearest")
    part["v07"].load()


def region(store):
    part = steps(2, 1)
    part.to_zarr(store, region="auto")


def theirs():
    for zarr_format in (3, 2):
        content = {}
        how = {"zarr_format": zarr_format, "consolidated": True}
        for name, work in (
            ("create", lambda store: first().to_zarr(store, mode="w-", **how)),
            ("open", lambda store: xr.open_zarr(store, chunks=None)),
            ("open, select, one chunk", select),
            ("append one step", lambda store: steps(4, 1).to_zarr(store, append_dim="time", **how)),
            ("region of one step", region),
        ):
            seconds, requests, content = measure(work, content)
            yield (name, zarr_format), (requests, seconds)


def main(program):
    warnings.simplefilter("ignore")
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    rows = (json.loads(line) for line in lines)
    ours = {(row["name"], row["format"]): (row["requests"], row["seconds"]) for row in rows}
    print(f"xarray {xr.__version__}, zarr-python {zarr.__version__}; {ROUND_TRIP * 1000:.0f} ms a request\n")
    print("| | format | requests: xarray | ours | ms: xarray | ours |")
    print("| --- | --- | --- | --- | --- | --- |")
    for key, (requests, seconds) in theirs():
        (our_requests, our_seconds), (name, zarr_format) = ours[key], key
        times = f"{seconds * 1000:.0f} | {our_seconds * 1000:.0f}"
        print(f"| {name} | {zarr_format} | {requests} | {our_requests} | {times} |")


main(*sys.argv[1:])
