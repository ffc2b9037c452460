"""A writer of the race with another implementation: the same writes as ours (src/plan.rs), one line for each.

  python writer.py --with tensorstore|zarr-python|zarrs STORE WRITERS WRITER FIRST END
"""
import sys

SIDE = 64
MASK = 2**64 - 1


def mix(seed):
    z = (seed + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def write(writers, writer, number):
    """Rows, columns and value of one write."""
    random = mix(writer * 1_000_000 + number)
    own = SIDE // writers
    row = random % SIDE
    height = min(1 + (random >> 8) % 3, SIDE - row)
    first = (random >> 16) % own
    count = min(1 + (random >> 24) % 4, own - first)
    column = writer + first * writers
    columns = slice(column, column + (count - 1) * writers + 1, writers)
    return slice(row, row + height), columns, ((writer + 1) << 32) + number + 1


def with_tensorstore(store):
    import numpy
    import tensorstore

    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": store + "/"}}
    array = tensorstore.open(spec, write=True, read=True).result()
    return lambda rows, columns, value: array[rows, columns].write(numpy.int64(value)).result()


def with_zarr_python(store):
    import zarr

    array = zarr.open_array(store, mode="r+")

    def put(rows, columns, value):
        array[rows, columns] = value

    return put


def with_zarrs(store):
    import zarr
    import zarrs  # noqa: F401

    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    return with_zarr_python(store)


def main(kind, store, writers, writer, first, end):
    put = {"tensorstore": with_tensorstore, "zarr-python": with_zarr_python, "zarrs": with_zarrs}[kind](store)
    for number in range(int(first), int(end)):
        put(*write(int(writers), int(writer), number))
        print(number, flush=True)


if __name__ == "__main__":
    main(*sys.argv[2:])
