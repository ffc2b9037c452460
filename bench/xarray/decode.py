"""CPU time per element of decoding with xarray, beside a copy of the result. `cargo bench -p zarr-xarray --bench decode`
prints the same rows for zarr-xarray."""

import time
import warnings

import numpy as np
import xarray as xr

COUNT, RUNS = 1 << 22, 9


def seconds(work):
    start = time.thread_time()
    work()
    return time.thread_time() - start


def row(name, values, attributes):
    """Decodes a variable in memory, in pairs with a copy."""
    result = np.ones(COUNT)
    target = np.zeros(COUNT)
    pairs = []
    for _ in range(RUNS):
        copy = seconds(lambda: np.copyto(target, result))
        coded = xr.Dataset({"v": ("x", values, attributes)})
        pairs.append((seconds(lambda: xr.decode_cf(coded)["v"].load()), copy))
    work, copy = (1e9 / COUNT * np.median([pair[at] for pair in pairs]) for at in (0, 1))
    print(f"| {name} | {work:.2f} | {copy:.2f} | {np.median([a / b for a, b in pairs]):.2f} |")


warnings.simplefilter("ignore")
random = np.random.default_rng(7)
int16 = random.integers(-1000, 1000, COUNT, dtype="int16")
packed = {"scale_factor": 0.01, "add_offset": 200.0}
print(f"xarray {xr.__version__}, numpy {np.__version__}\n\n| | ns | copy ns | ratio |\n| --- | --- | --- | --- |")
row("int16, fill, scale, offset to float64", int16, {"_FillValue": np.int16(-9), **packed})
row("int16, two missing values to float64", int16, {"missing_value": np.array([-9, -8], "int16"), **packed})
row("int16, fill to float32", int16, {"_FillValue": np.int16(-9)})
row("float32, fill", int16.astype("float32"), {"_FillValue": np.float32(-9)})
days = random.integers(0, 40_000, COUNT, dtype="int32")
row("int32 to times, standard", days, {"units": "days since 1900-01-01"})
