"""1,000 points of an array of 10 GiB: raw chunks, chunks of zstd, and shards.

  python3 points.py FOLDER NAME=PROGRAM…      (needs: pip install zarr zarrs tensorstore)

The first program writes the arrays, one after the other, and each is deleted when it was read: 11 GB of space are needed.
Each program is run as `PROGRAM read STORE` and prints seconds, the sum of the values, and the bytes that its process read (`rchar`
of /proc/self/io). The Python libraries run here, each in a process of its own. From the root of the project

  cargo build --release --locked -p bench-contender --bin points
  cargo build --release --locked --manifest-path bench/points/zarrs/Cargo.toml

make target/release/points and bench/points/zarrs/target/release/points-with-zarrs. Every contender takes its turn in each of
five rounds; the best seconds are printed, opening included. The page cache holds what it can of the array."""
import pathlib
import shutil
import subprocess
import sys
import time

SHAPE = (640, 2048, 2048)
ROUNDS = 5


def points():
    import numpy

    place = numpy.arange(1000, dtype="u8") * numpy.uint64(2654435761) % numpy.uint64(SHAPE[0] * SHAPE[1] * SHAPE[2] // 7)
    return numpy.unravel_index((place * numpy.uint64(7)).astype("i8"), SHAPE)


def bytes_read():
    return int(pathlib.Path("/proc/self/io").read_text().split()[1])


def with_tensorstore(store, at):
    import tensorstore

    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": store}}
    return lambda: tensorstore.open(spec, read=True).result().vindex[at].read().result()


def with_zarr(store, at):
    import zarr

    return lambda: zarr.open_array(store, mode="r").vindex[at]


def with_zarrs_python(store, at):
    import zarr
    import zarrs  # noqa: F401

    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    return lambda: zarr.open_array(store, mode="r").vindex[at]


LIBRARIES = {"tensorstore": with_tensorstore, "zarr-python": with_zarr, "zarrs-python": with_zarrs_python}


def one(library, store):
    """Reads with a library, in this process."""
    read = LIBRARIES[library](store, points())
    before, start = bytes_read(), time.perf_counter()
    values = read()
    seconds, read = time.perf_counter() - start, bytes_read() - before
    print(seconds, float(values.astype("f8").sum()), read)


def main(folder, programs):
    programs = dict(program.split("=", 1) for program in programs)
    commands = {name: [program, "read"] for name, program in programs.items()}
    commands |= {library: [sys.executable, __file__, "--library", library] for library in LIBRARIES}
    print(f"{'':>16} {'contender':>14} {'seconds':>9} {'MiB read':>9}")
    for kind in ("raw", "zstd", "shards"):
        store = str(pathlib.Path(folder) / kind)
        subprocess.run([next(iter(programs.values())), "write", kind, store], check=True)
        best, sums = {}, set()
        for _ in range(ROUNDS):
            for name, command in commands.items():
                out = subprocess.run([*command, store], check=True, capture_output=True, text=True).stdout
                seconds, total, read = map(float, out.split())
                sums.add(total)
                best[name] = min(best.get(name, (seconds, read)), (seconds, read))
        assert len(sums) == 1, sums
        for name, (seconds, read) in sorted(best.items(), key=lambda item: item[1]):
            print(f"{kind:>16} {name:>14} {seconds:9.3f} {read / 2**20:9.1f}")
        shutil.rmtree(store)


if sys.argv[1] == "--library":
    one(*sys.argv[2:])
else:
    main(sys.argv[1], sys.argv[2:])
