"""CPU time per element of decoding with xarray, and wall time of reading, beside a copy of the result. `cargo bench -p
zarr-xarray --bench decode` prints the same rows for zarr-xarray."""

import time
import warnings

import numpy as np
import xarray as xr
import zarr

COUNT, RUNS = 1 << 22, 9


def seconds(work, clock):
    start = clock()
    work()
    return clock() - start


def row(name, prepare, work, clock=time.thread_time):
    """Prints the time of `work` on what `prepare` returns, in pairs with a copy."""
    result = np.ones(COUNT)
    target = np.zeros(COUNT)
    pairs = []
    for _ in range(RUNS):
        copy = seconds(lambda: np.copyto(target, result), clock)
        prepared = prepare()
        pairs.append((seconds(lambda: work(prepared), clock), copy))
    work, copy = (1e9 / COUNT * np.median([pair[at] for pair in pairs]) for at in (0, 1))
    print(f"| {name} | {work:.2f} | {copy:.2f} | {np.median([a / b for a, b in pairs]):.2f} |")


def decoding(name, values, attributes):
    """Decodes a variable in memory."""
    row(name, lambda: xr.Dataset({"v": ("x", values, attributes)}), lambda coded: xr.decode_cf(coded)["v"].load())


def reading(name, compressors):
    """Reads packed elements in 256 chunks from a store in memory."""
    store = zarr.storage.MemoryStore()
    coded = xr.Dataset({"v": (("y", "x"), (np.arange(COUNT) % 1009).astype("int16").reshape(2048, 2048))})
    coded["v"].attrs = {"missing_value": np.int16(-9), **packed}
    coded.to_zarr(store, encoding={"v": {"chunks": (128, 128), "compressors": compressors}}, zarr_format=3)
    row(name, lambda: xr.open_zarr(store, chunks=None), lambda dataset: dataset["v"].load(), time.perf_counter)


warnings.simplefilter("ignore")
random = np.random.default_rng(7)
int16 = random.integers(-1000, 1000, COUNT, dtype="int16")
packed = {"scale_factor": 0.01, "add_offset": 200.0}
print(f"xarray {xr.__version__}, numpy {np.__version__}\n\n| | ns | copy ns | ratio |\n| --- | --- | --- | --- |")
decoding("int16, fill, scale, offset to float64", int16, {"_FillValue": np.int16(-9), **packed})
decoding("int16, two missing values to float64", int16, {"missing_value": np.array([-9, -8], "int16"), **packed})
decoding("int16, fill to float32", int16, {"_FillValue": np.int16(-9)})
decoding("float32, fill", int16.astype("float32"), {"_FillValue": np.float32(-9)})
days = random.integers(0, 40_000, COUNT, dtype="int32")
decoding("int32 to times, standard", days, {"units": "days since 1900-01-01"})
reading("read to float64, uncompressed", None)
reading("read to float64, zstd", [zarr.codecs.ZstdCodec(level=1)])
