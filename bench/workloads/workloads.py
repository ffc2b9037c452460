"""Workloads that the harness lacks: other data types, ranks, orders and chains of codecs. Whole arrays and random boxes.

  python3 workloads.py FOLDER NAME=COMMAND…      (needs: pip install zarr)

A command speaks the contract of the harness (`read-all` and `read-boxes`): target/release/bench-contender and the programs of
its rivals. The arrays are made with zarr-python in FOLDER, 0.6 GB in all. The contenders take turns in each of five rounds; the
best time of each is printed, and how many times longer it takes than the first contender. A contender that cannot read an
array says so, and one that reads other elements ends the run."""
import json
import pathlib
import subprocess
import sys

import numpy
import zarr
from numcodecs import Delta, Zstd
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec

ROUNDS = 5


def elements(shape, data_type):
    """Smooth, with noise in the low bits: it can be compressed to about half."""
    axes = numpy.ogrid[tuple(slice(n) for n in shape)]
    smooth = sum(numpy.sin(axis / (17.0 + 5 * at)) for at, axis in enumerate(axes))
    noise = numpy.random.default_rng(1).integers(0, 8, shape, dtype="u1")
    if numpy.dtype(data_type).kind == "f":
        return (smooth + noise / 1024).astype(data_type)
    return ((smooth + len(shape)) * 20).astype(data_type) + noise.astype(data_type)


# name: shape, data type, chunks, box, options
V3 = {
    "float64": ((256, 256, 256), "f8", (64, 64, 64), (32, 32, 32), {"compressors": ZstdCodec(level=1)}),
    "uint8 bitshuffle": (
        (512, 512, 512), "u1", (128, 128, 128), (32, 32, 32),
        {"compressors": BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle", typesize=1)},
    ),
    "int16 4-d transposed": (
        (32, 64, 256, 256), "i2", (8, 16, 64, 64), (8, 16, 16, 16),
        {"filters": TransposeCodec(order=(3, 1, 0, 2)), "compressors": ZstdCodec(level=1)},
    ),
    "shards gzip crc32c": (
        (256, 512, 512), "u2", (256, 256, 256), (32, 32, 32),
        {
            "serializer": ShardingCodec(
                chunk_shape=(32, 64, 64), codecs=[BytesCodec(), GzipCodec(level=1), Crc32cCodec()]
            ),
            "compressors": None,
        },
    ),
    "1-d of 40 million": ((40_000_000,), "f4", (1_000_000,), (32_768,), {"compressors": BloscCodec(cname="lz4", typesize=4)}),
    "odd shapes checksum": (
        (317, 411, 523), "u2", (50, 77, 91), (33, 31, 37),
        {"compressors": ZstdCodec(level=1, checksum=True)},
    ),
}
V2 = {
    "format 2 F order delta": (
        (256, 512, 512), "i4", (64, 128, 128), (32, 32, 32),
        {"order": "F", "filters": [Delta(dtype="i4")], "compressors": Zstd(level=1)},
    ),
}


def make(folder):
    for zarr_format, workloads in ((3, V3), (2, V2)):
        for name, (shape, data_type, chunks, box, options) in workloads.items():
            path = folder / name
            if not path.exists():
                unfinished = folder / "unfinished"
                array = zarr.create_array(
                    unfinished, shape=shape, dtype=data_type, chunks=chunks, zarr_format=zarr_format, overwrite=True, **options
                )
                array[...] = elements(shape, data_type)
                unfinished.rename(path)
            yield name, path, box, "shards" in name


def run(command, arguments):
    done = subprocess.run([*command.split(), *arguments, "--reps", "1"], capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["failed"]
        return None, next((line for line in lines if "rror" in line or "Err" in line), lines[-1])
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    return (None, answer["unsupported"]) if "unsupported" in answer else (answer, None)


def measure(name, contenders, arguments):
    best, why, sums = {}, {}, {}
    for _ in range(ROUNDS):
        for contender, command in contenders.items():
            if contender in why:
                continue
            answer, problem = run(command, arguments)
            if problem:
                why[contender] = problem
                continue
            sums[contender] = answer["crc32"]
            time = min(zip(answer["secs"], answer["cpu"]))
            best[contender] = min(best.get(contender, time), time)
    assert len(set(sums.values())) <= 1, f"{name}: different elements: {sums}"
    first = best.get(next(iter(contenders)), (float("nan"),))[0]
    for contender in contenders:
        if contender in best:
            wall, cpu = best[contender]
            print(f"{name:>34} {contender:>12} {wall * 1e3:9.1f} {cpu * 1e3:9.1f} {wall / first:7.2f}")
        else:
            print(f"{name:>34} {contender:>12} {why[contender][:70]}")


def main(folder, commands):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    contenders = dict(command.split("=", 1) for command in commands)
    print(f"{'':>34} {'contender':>12} {'ms':>9} {'CPU ms':>9} {'x first':>7}")
    for name, path, box, is_sharded in make(folder):
        measure(f"{name}, all", contenders, ["read-all", "--path", str(path)])
        size = ",".join(map(str, box))
        boxes = ["read-boxes", "--path", str(path), "--size", size, "--n", "64", "--sharded", str(int(is_sharded))]
        measure(f"{name}, boxes", contenders, boxes)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
