"""The public harness github.com/LDeakin/zarr_benchmarks with this project beside the others: read all, chunk by chunk, round trip.

  python3 run.py --scripts DIR [--tools DIR] [--ours FILE] [--data DIR] [--shape Z,Y,X] [--rounds N] [--json FILE]

`--scripts` is a clone of the harness (commit 9679f36): its own programs are run for TensorStore, zarr-python and zarrs-python,
and the programs of zarrs_tools, in the folder `--tools`, for zarrs. `--ours` is the program `public` of `bench/contender`, which
makes the data as well. This Python needs the packages of the harness, and zarr_rs. A contender whose programs are not there is
left out, and named.

As in the harness a figure is the wall time of the whole process, imports included, the best of the rounds, and its peak memory;
CPU seconds are added. All contenders take their turn in each round,
which begins with the next of them. The array of the harness has 8 GiB (1024,2048,2048); the
default here is 1 GiB in chunks of the same size, and data that stays in the page cache, which is not emptied between runs. After a
round trip zarr-python compares the array with its source, and wrong data ends the run."""
import argparse
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from timing import timed  # noqa: E402

KINDS = ("raw", "blosc", "shards")
WORKERS = (1, 2, 4)


class Contender:
    """What a contender runs for each work, and the programs that must be there."""

    def __init__(self, name, read_all, read_chunks, round_trip):
        self.name, self.read_all, self.read_chunks, self.round_trip = name, read_all, read_chunks, round_trip

    def missing(self):
        commands = (self.read_all, self.read_chunks, self.round_trip)
        return [part for command in commands for part in command if "/" in part and not pathlib.Path(part).exists()]


def contenders(args):
    def script(name, folder):
        read = [sys.executable, str(folder / f"{name}_read.py")]
        return [*read, "--read_all"], [*read, "--concurrent_chunks"], [sys.executable, str(folder / f"{name}_roundtrip.py")]

    def of_harness(name):
        read, chunks, trip = script(f"{name}_python_benchmark", pathlib.Path(args.scripts, "scripts"))
        return read, chunks, trip

    reader = str(pathlib.Path(args.tools, "zarrs_benchmark_read_sync"))
    return [
        Contender("this project", [args.ours, "read"], [args.ours, "read"], [args.ours, "reencode"]),
        Contender(
            "zarrs",
            [reader, "--read-all"],
            [reader, "--concurrent-chunks"],
            [str(pathlib.Path(args.tools, "zarrs_reencode"))],
        ),
        Contender("zarr_rs", *script("zarr_rs", HERE)),
        Contender("TensorStore", *of_harness("tensorstore")),
        Contender("zarrs-python", *of_harness("zarrs")),
        Contender("zarr-python", *of_harness("zarr")),
    ]


# Compares two arrays with zarr-python, slab by slab. This is a program, because the peak memory of a process is at least
# that of the process that starts it, so this one imports nothing large.
CHECK = """
import sys, numpy, zarr
one, other = (zarr.open_array(store, mode="r") for store in sys.argv[1:])
slabs = (slice(first, first + 256) for first in range(0, one.shape[0], 256))
sys.exit(not (one.shape == other.shape and all(numpy.array_equal(one[slab], other[slab]) for slab in slabs)))
"""


def works(contender, store, out):
    """The works and their commands."""
    yield "read all", [*contender.read_all, store]
    for workers in WORKERS:
        yield f"chunks, {workers} at a time", [*contender.read_chunks, str(workers), store]
    yield "round trip", [*contender.round_trip, store, out]


def run(args, place):
    out = str(place / "out.zarr")
    taking_part, rows, failed = [], {}, {}
    for contender in contenders(args):
        missing = contender.missing()
        if missing:
            print(f"{contender.name} is left out, there is no {missing[0]}", file=sys.stderr)
        else:
            taking_part.append(contender)
    for kind in KINDS:
        store = str(place / f"{kind}.zarr")
        subprocess.run([args.ours, "write", kind, args.shape, store], check=True)
        for round_ in range(args.rounds):
            first = round_ % max(1, len(taking_part))
            for contender in taking_part[first:] + taking_part[:first]:
                for work, command in works(contender, store, out):
                    shutil.rmtree(out, ignore_errors=True)
                    result = timed(command)
                    print(f"{kind}, {work}, {contender.name}: {result}", file=sys.stderr, flush=True)
                    if "failed" in result:
                        failed[f"{kind}, {work}, {contender.name}"] = result["failed"]
                        continue
                    if work == "round trip" and round_ == 0:
                        if subprocess.run([sys.executable, "-c", CHECK, store, out]).returncode:
                            sys.exit(f"{contender.name}: {out} differs from {store}")
                    rows.setdefault(f"{kind}, {work}", {}).setdefault(contender.name, []).append(result)
        shutil.rmtree(store)
    return [contender.name for contender in taking_part], rows, failed


def table(names, rows, figure, digits):
    """Returns a table in Markdown: the best of the rounds, the best of each row in bold."""
    lines = ["| | " + " | ".join(names) + " |", "| --- |" + " ---: |" * len(names)]
    for work, of in rows.items():
        best = {name: min(result[figure] for result in results) for name, results in of.items()}
        cells = []
        for name in names:
            text = f"{best[name]:,.{digits}f}" if name in best else "–"
            cells.append(f"**{text}**" if name in best and best[name] == min(best.values()) else text)
        lines.append(f"| {work} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def versions():
    for package in ("zarr_rs", "zarr", "zarrs", "tensorstore", "numpy"):
        try:
            yield f"{package} {version(package)}"
        except PackageNotFoundError:
            yield f"no {package}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scripts", required=True)
    parser.add_argument("--tools", default="tools/bin")
    parser.add_argument("--ours", default="target/release/public")
    parser.add_argument("--data")
    parser.add_argument("--shape", default="512,1024,1024")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json")
    args = parser.parse_args()
    print(f"Python {platform.python_version()}, {', '.join(versions())}; {os.cpu_count()} CPUs; shape {args.shape}\n")
    with tempfile.TemporaryDirectory(dir=args.data) as place:
        names, rows, failed = run(args, pathlib.Path(place))
    for title, figure, digits in (("Wall seconds", "wall", 2), ("CPU seconds", "cpu", 2), ("Peak memory, MiB", "mib", 0)):
        print(f"{title}\n\n{table(names, rows, figure, digits)}\n")
    for what, message in failed.items():
        print(f"failed: {what}: {message}")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"rows": rows, "failed": failed}, indent=1))
    if failed:
        sys.exit(1)


main()
