"""A writer of `conformance-race` with another implementation. It has the same protocol and cells as src/writer.rs and
src/plan.rs. The program starts it, see README.md."""
import argparse
import sys
import time

SIDE, SQUARE, MASK = 64, 2, (1 << 64) - 1


class Random:
    """splitmix64"""

    def __init__(self, state):
        self.state = state

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return (z ^ z >> 31) % n


def part(seed, writers, writer, number):
    """Returns the rows and columns of a write."""
    random = Random(seed << 48 | writer << 32 | number)
    squares = SIDE // SQUARE
    row = random.below(squares)
    first = (writer - row) % writers
    column = first + writers * random.below((squares - 1 - first) // writers + 1)
    row, column = SQUARE * row, SQUARE * column
    r, c = row + random.below(SQUARE), column + random.below(SQUARE)
    step = SQUARE * writers
    one = lambda at: slice(at, at + 1, 1)
    side = lambda at: slice(at, at + SQUARE, 1)
    some = lambda at: slice(at, min(SIDE, at + 3 * step + 1), step)
    shapes = (one(r), one(c)), (one(r), side(column)), (side(row), side(column)), (one(r), some(c)), (some(r), one(c))
    return shapes[random.below(5)]


def with_tensorstore(path):
    import tensorstore

    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": path + "/"}}
    array = tensorstore.open(spec, open=True).result()
    return lambda part, value: array[part].write(value).result()


def with_zarr_python(path):
    import zarr

    return zarr.open_array(path, mode="r+").__setitem__


def with_zarrs(path):
    import zarr
    import zarrs  # registers its pipeline

    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    return zarr.open_array(path, mode="r+").__setitem__


WITH = {"tensorstore": with_tensorstore, "zarr-python": with_zarr_python, "zarrs": with_zarrs}


def main():
    import numpy

    parser = argparse.ArgumentParser()
    parser.add_argument("--with", dest="library", choices=WITH, required=True)
    parser.add_argument("--store", required=True)
    for name in ("--seed", "--writers", "--writer"):
        parser.add_argument(name, type=int, required=True)
    args = parser.parse_args()
    write = WITH[args.library](args.store)
    print("ready", flush=True)
    for line in sys.stdin:
        first, last = map(int, line.split())
        for number in range(first, last + 1):
            cells = part(args.seed, args.writers, args.writer, number)
            begun = time.perf_counter()
            try:
                write(cells, numpy.uint32(args.writer << 24 | number))
                print("done", int((time.perf_counter() - begun) * 1e6), flush=True)
            except Exception as error:
                print("failed", type(error).__name__, *str(error).split(), flush=True)


if __name__ == "__main__":
    main()
