"""The command beside the tools that people use for the same: CPU and wall time of whole processes, and their peak memory.

  python3 command.py [--zarr FILE] [--data DIR] [--rounds N] [--only WORDS]

This Python needs zarr, numpy, xarray and pandas. The data is made first, about 1 GB. In each round every command of a task takes its
turn; the best of the rounds is printed."""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from timing import timed  # noqa: E402

MAKE = """
import numpy as np, xarray as xr, zarr
rng = np.random.default_rng(0)
floats = zarr.create_array("floats.zarr", shape=(10_000, 10_000), chunks=(1000, 1000), dtype="f4")
for row in range(0, 10_000, 1000):
    floats[row : row + 1000] = (np.linspace(0, 9, 10_000) + rng.integers(0, 1000, (1000, 10_000)) / 8).astype("f4")
times = xr.date_range("2020-01-01", periods=366)
field = 270 + 10 * rng.random((366, 121, 240))
era = xr.Dataset({"t2m": (("time", "lat", "lon"), field)})
era = era.assign_coords(time=times, lat=np.linspace(60, 30, 121), lon=np.linspace(-10, 49.75, 240))
packed = {"dtype": "int16", "scale_factor": 0.01, "add_offset": 270.0, "_FillValue": -32767}
era.to_zarr("era.zarr", encoding={"t2m": packed | {"chunks": (31, 121, 240)}})
era.to_zarr("series.zarr", encoding={"t2m": packed | {"chunks": (366, 11, 24)}})
small = zarr.create_array("small.zarr", shape=(50_000, 256), chunks=(1, 256), dtype="f4", compressors=None)
small[...] = np.arange(50_000 * 256, dtype="f4").reshape(50_000, 256)
group = zarr.open_group("group.zarr", mode="w")
for number in range(5000):
    group.create_array(f"v{number}", shape=(4,), dtype="f4", dimension_names=["x"])
zarr.consolidate_metadata("group.zarr")
blocks = zarr.create_array("blocks.zarr", shape=(200, 500, 500), chunks=(10, 500, 250), dtype="f4")
blocks[...] = rng.integers(0, 1000, (200, 500, 500)) / 8
"""


def python(code):
    return [sys.executable, "-c", code]


def tasks(zarr):
    """Yields tasks: a name, and the commands by name. `OUT` is a path that does not exist."""
    read = "import zarr; a = zarr.open_array('floats.zarr', mode='r')[...]"
    yield "stats", {
        "zarr": [zarr, "stats", "floats.zarr"],
        "NumPy": python(read + "; print(a.min(), a.max(), a.mean(dtype='f8'), a.std(dtype='f8'))"),
    }
    yield "cat to nothing", {"zarr": [zarr, "cat", "floats.zarr", "-f", "npy"], "zarr-python": python(read)}
    yield "checksum --stored", {
        "zarr": [zarr, "checksum", "--stored", "floats.zarr"],
        "sha256sum": ["sh", "-c", "find floats.zarr -type f | sort | xargs sha256sum"],
    }
    yield "validate --data", {"zarr": [zarr, "validate", "--data", "floats.zarr"], "zarr-python": python(read)}
    same = "import zarr; a, b = (zarr.open_array(f'{s}.zarr/t2m', mode='r')[...] for s in ('era', 'series')); assert (a == b).all()"
    yield "diff of other chunks", {"zarr": [zarr, "diff", "era.zarr/t2m", "series.zarr/t2m"], "NumPy": python(same)}
    month = "import xarray as xr; xr.open_zarr('era.zarr').t2m.sel(time='2020-07').to_dataframe().to_csv('OUT')"
    yield "a month to CSV", {
        "zarr": [zarr, "cat", "era.zarr/t2m", "-f", "csv", "-s", "time=2020-07", "-o", "OUT"],
        "xarray": python(month),
    }
    yield "du of 50,000 chunks", {"zarr": [zarr, "du", "small.zarr"], "du": ["du", "-sb", "small.zarr"]}
    opened = "import zarr; print(len(list(zarr.open_group('group.zarr', mode='r').members())))"
    yield "tree of 5,000 arrays", {"zarr": [zarr, "tree", "group.zarr"], "zarr-python": python(opened)}
    yield "info of 5,000 arrays", {
        "zarr": [zarr, "info", "group.zarr"],
        "xarray": python("import xarray as xr; print(xr.open_zarr('group.zarr', chunks=None))"),
    }
    rechunked = "import zarr; a = zarr.open_array('blocks.zarr', mode='r')[...]; "
    rechunked += "zarr.create_array('OUT', data=a, chunks=(200, 50, 50))"
    yield "other chunks", {
        "zarr": [zarr, "copy", "--quiet", "blocks.zarr", "OUT", "--chunks", "200,50,50"],
        "NumPy": python(rechunked),
    }
    yield "copy as it is", {
        "zarr": [zarr, "copy", "--quiet", "blocks.zarr", "OUT"],
        "cp, sync": ["sh", "-c", "cp -r blocks.zarr OUT && sync -f OUT"],
    }
    yield "copy of 50,000 chunks", {
        "zarr": [zarr, "copy", "--quiet", "small.zarr", "OUT"],
        "cp, sync": ["sh", "-c", "cp -r small.zarr OUT && sync -f OUT"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zarr", default="target/release/zarr")
    parser.add_argument("--data")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    zarr = str(pathlib.Path(args.zarr).resolve())
    print("| task | command | CPU s | wall s | peak MiB |\n| --- | --- | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory(dir=args.data) as folder:
        subprocess.run(python(MAKE), cwd=folder, check=True)
        out = pathlib.Path(folder, "out")
        for task, commands in tasks(zarr):
            if args.only not in task:
                continue
            results = {}
            for _ in range(args.rounds):
                for name, command in commands.items():
                    shutil.rmtree(out, ignore_errors=True)
                    out.unlink(missing_ok=True)
                    result = timed([part.replace("OUT", str(out)) for part in command], cwd=folder)
                    if "failed" in result:
                        sys.exit(f"{task}, {name}: {result['failed']}")
                    results.setdefault(name, []).append(result)
            for name, runs in results.items():
                best = {figure: min(run[figure] for run in runs) for figure in ("cpu", "wall", "mib")}
                print(f"| {task} | {name} | {best['cpu']:.2f} | {best['wall']:.2f} | {best['mib']:.0f} |", flush=True)


main()
