"""Decodes an array and encodes it again with `zarr_rs`, in the words of the public harness: `STORE OUT`."""
import sys

import zarr_rs


def main(store, out):
    array = zarr_rs.open_array(store, mode="r")
    new = zarr_rs.create_array(
        out,
        shape=array.shape,
        dtype=array.dtype,
        chunks=array.chunks,
        shards=array.shards,
        compressors=array.compressors,
        overwrite=True,
    )
    new[:] = array[:]


main(*sys.argv[1:])
