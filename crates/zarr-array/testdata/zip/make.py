"""Writes zarr_python.zip with the ZipStore of zarr-python 3.4.2.

python make.py
"""

import numpy
import zarr

with zarr.storage.ZipStore("zarr_python.zip", mode="w") as store:
    group = zarr.create_group(store)
    array = group.create_array("a", shape=(4, 6), chunks=(2, 3), dtype="<i4", compressors=None)
    array[:] = numpy.arange(24).reshape(4, 6)
    # The document is in the archive twice; the last one is meant.
    array.attrs["units"] = "K"
