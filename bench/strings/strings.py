"""Names of a million cities: written, read at once, and read ten rows at a time at 200 places; in chunks of 10,000, and in
shards of 250,000 with chunks of 2,500 inside; zstd of level 3.

  python3 strings.py OUT NAME=PROGRAM…      (needs: pip install zarr)

Each program is run as `PROGRAM NAMES OUT SHARDED` and prints lines of a cell and its milliseconds; zarr-python runs here.
From the root of the project

  cargo build --release --locked -p bench-contender --bin strings
  cargo build --release --locked --manifest-path bench/strings/zarrs/Cargo.toml --bin strings

make that of this implementation in target/release, and that of zarrs in bench/strings/zarrs/target/release.
Every contender takes its turn in each of five rounds; the best time of each cell is printed, in milliseconds."""
import pathlib
import random
import shutil
import subprocess
import sys
import time

N = 1_000_000


def names(path):
    chance = random.Random(4)
    starts = ["San ", "New ", "St. ", "Bad ", "", "", "", "", "", ""]
    middles = ["lo", "ber", "ka", "mi", "ü", "no", "ra", "ston", "vi", "ham", "å", "de", "京", "or", "li", "que", "sk"]
    ends = ["ton", "burg", "ville", "grad", "pur", "o", "a", "", "shire", "-am-See"]
    made = []
    for _ in range(N):
        word = "".join(chance.choices(middles, k=chance.randint(1, 4)))
        made.append(chance.choice(starts) + word.capitalize() + chance.choice(ends))
    path.write_text("\n".join(made), encoding="utf8")
    return made


def with_zarr(made, out, sharded):
    import numpy
    import zarr

    values = numpy.array(made, dtype=object)
    sizes = {"shards": (250_000,), "chunks": (2_500,)} if sharded else {"chunks": (10_000,)}
    codec = zarr.codecs.ZstdCodec(level=3)
    array = zarr.create_array(str(out), shape=(N,), dtype="str", compressors=[codec], **sizes)
    times = {}
    start = time.perf_counter()
    array[:] = values
    times["write"] = time.perf_counter() - start
    array = zarr.open_array(str(out), mode="r")
    start = time.perf_counter()
    read = array[:]
    times["all"] = time.perf_counter() - start
    assert read.tolist() == made
    start = time.perf_counter()
    for i in range(200):
        at = i * 7919 * 617 % (N - 10)
        assert array[at : at + 10].tolist() == made[at : at + 10]
    times["rows"] = time.perf_counter() - start
    return {cell: seconds * 1e3 for cell, seconds in times.items()}


def with_program(program, path, out, sharded):
    run = subprocess.run([program, path, out, str(sharded).lower()], check=True, capture_output=True, text=True)
    return {cell: float(ms) for cell, ms in map(str.split, run.stdout.splitlines())}


def main(out, programs):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    made = names(out / "names.txt")
    contenders = {"zarr-python": None, **dict(program.split("=", 1) for program in programs)}
    best = {}
    for _ in range(5):
        for name, program in contenders.items():
            for sharded in (False, True):
                store = out / f"{name}-{sharded}"
                shutil.rmtree(store, ignore_errors=True)
                run = with_program(program, out / "names.txt", store, sharded) if program else with_zarr(made, store, sharded)
                for cell, ms in run.items():
                    key = (("shards" if sharded else "chunks") + ", " + cell, name)
                    best[key] = min(ms, best.get(key, ms))
    print("cell", *contenders, sep="\t")
    for cell in dict.fromkeys(cell for cell, _ in best):
        print(cell, *(f"{best[cell, name]:.1f}" for name in contenders), sep="\t")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
