"""Times of whole reads and writes: this package, zarr-python's own pipeline, and zarrs-python if it is installed.

Each round runs all pipelines one after the other on the same array, so that a busy machine slows all of them. The table
shows medians in milliseconds, and the median of the ratios to this package within a round.

usage: python bench.py [MEBIBYTES] [ROUNDS]
"""

from __future__ import annotations

import importlib.util
import pathlib
import shutil
import statistics
import sys
import tempfile
import time
from typing import Any

import numpy as np
import zarr
from zarr.codecs import BloscCodec, ZstdCodec

OURS = "zarr_rs.CodecPipeline"
PIPELINES = {"zarr_rs": OURS, "zarr-python": "zarr.core.codec_pipeline.BatchedCodecPipeline"}
if importlib.util.find_spec("zarrs") is not None:
    PIPELINES["zarrs-python"] = "zarrs.ZarrsCodecPipeline"

#: The length of chunks and of shards in both dimensions, and the compressor.
ARRAYS: dict[str, tuple[int, int | None, Any]] = {
    "raw": (512, None, None),
    "blosc": (512, None, BloscCodec(cname="lz4")),
    "zstd": (512, None, ZstdCodec(level=1)),
    "shards": (128, 1024, ZstdCodec(level=1)),
    "small chunks": (64, None, None),
}


def create(place: pathlib.Path, length: int, name: str) -> None:
    chunk, shard, compressor = ARRAYS[name]
    zarr.create_array(
        place,
        shape=(length, length),
        chunks=(chunk, chunk),
        shards=None if shard is None else (shard, shard),
        dtype="f4",
        compressors=compressor,
        overwrite=True,
    )


def opened(pipeline: str, place: pathlib.Path) -> Any:
    with zarr.config.set({"codec_pipeline.path": pipeline}):
        return zarr.open_array(place, mode="r+")


def timed(work: Any) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def compare(what: str, rounds: int, run: Any) -> None:
    """Prints a row. `run` takes the name of a pipeline and returns the time of its work."""
    times: dict[str, list[float]] = {name: [] for name in PIPELINES}
    for _ in range(rounds):
        for name in PIPELINES:
            times[name].append(run(PIPELINES[name]))
    row = [f"{what:20}"]
    for all_times in times.values():
        ratio = statistics.median(t / best for t, best in zip(all_times, times["zarr_rs"], strict=True))
        row.append(f"{statistics.median(all_times):9.0f} ({ratio:5.2f})")
    print(" ".join(row), flush=True)


def main() -> None:
    mebibytes, rounds = (int(n) for n in (*sys.argv[1:], "64", "5")[:2])
    length = int((mebibytes << 18) ** 0.5) // 1024 * 1024
    rng = np.random.default_rng(0)
    values = np.round(np.cumsum(rng.standard_normal((length, length)), axis=1), 1).astype("f4")
    print(f"{length} x {length} float32\n{'':20} " + " ".join(f"{name:>17}" for name in PIPELINES))
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        for name in ARRAYS:
            place = folder / name
            create(place, length, name)

            def write(pipeline: str, place: pathlib.Path = place, name: str = name) -> float:
                create(place, length, name)
                array = opened(pipeline, place)
                return timed(lambda: array.__setitem__(slice(None), values))

            def read(pipeline: str, place: pathlib.Path = place) -> float:
                array = opened(pipeline, place)
                return timed(lambda: array[:])

            def corner(pipeline: str, place: pathlib.Path = place) -> float:
                array = opened(pipeline, place)
                return timed(lambda: [array[i : i + 10, :10] for i in range(100)])

            compare(f"write {name}", rounds, write)
            compare(f"read {name}", rounds, read)
            compare(f"100 parts {name}", rounds, corner)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
