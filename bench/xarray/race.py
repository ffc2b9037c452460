"""Four processes append to one dataset with xarray, and a reader of consolidated metadata looks at it.

race.py [READS]. The test `race` of zarr-xarray is the same with zarr-xarray as the writer.
"""

import collections
import multiprocessing
import pathlib
import sys
import tempfile
import warnings

import numpy as np
import xarray as xr


def steps(numbers):
    """Steps that all have the same number in each variable."""
    numbers = np.array(numbers)
    rows = np.stack([numbers, numbers], axis=1).astype(float)
    return xr.Dataset({"a": (("step", "x"), rows), "b": ("step", numbers)}, coords={"step": numbers})


def write(folder, number, stop):
    warnings.simplefilter("ignore")
    number <<= 32
    while not stop.is_set():
        number += 1
        try:
            steps([number]).to_zarr(folder, append_dim="step", consolidated=True)
        except Exception:  # Another writer has changed the store meanwhile.
            pass


def look(folder):
    """What is wrong with the end of the dataset, or "good"."""
    try:
        dataset = xr.open_zarr(folder, chunks=None, consolidated=True).isel(step=-1).load()
    except Exception as error:
        return type(error).__name__
    a, b, step = dataset.a.values, int(dataset.b), int(dataset.step)
    return "good" if (a == b).all() and b == step else "variables disagree"


def main(reads=1000):
    warnings.simplefilter("ignore")
    seen = collections.Counter()
    with tempfile.TemporaryDirectory() as parent:
        folder = str(pathlib.Path(parent) / "race.zarr")
        first = steps([0])
        first.a.encoding, first.b.encoding = {"chunks": (16, 2)}, {"chunks": (64,)}
        first.to_zarr(folder, consolidated=True)
        stop = multiprocessing.Event()
        writers = [multiprocessing.Process(target=write, args=(folder, n, stop)) for n in range(1, 5)]
        for writer in writers:
            writer.start()
        for _ in range(int(reads)):
            seen[look(folder)] += 1
        stop.set()
        for writer in writers:
            writer.join()
    print(f"xarray {xr.__version__}, {reads} reads: {dict(seen)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
