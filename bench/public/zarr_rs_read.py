"""Reads an array with `zarr_rs`, in the words of the public harness: `--read_all STORE`, or `--concurrent_chunks N STORE`."""
import itertools
import sys
from concurrent.futures import ThreadPoolExecutor

import zarr_rs


def main(option, *rest):
    store = rest[-1]
    array = zarr_rs.open_array(store, mode="r")
    if option == "--read_all":
        print(array[:].shape)
        return
    size = array.shards or array.chunks
    counts = (range(-(-length // chunk)) for length, chunk in zip(array.shape, size))
    regions = (
        tuple(slice(i * chunk, (i + 1) * chunk) for i, chunk in zip(index, size)) for index in itertools.product(*counts)
    )
    with ThreadPoolExecutor(int(rest[0])) as pool:
        for _ in pool.map(lambda region: array[region].shape, regions):
            pass


main(*sys.argv[1:])
