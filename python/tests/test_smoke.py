"""What must work on every system, also where the engine has no store for directories."""

from __future__ import annotations

from typing import Any

import numpy as np
import zarr
import zarr_rs

EXPECTED = np.arange(100).reshape(10, 10)


def test_arrays_of_zarr_python_in_a_directory(tmp_path: Any) -> None:
    with zarr.config.set({"codec_pipeline.path": "zarr_rs.CodecPipeline"}):
        array = zarr.create_array(tmp_path / "d", shape=(10, 10), chunks=(2, 5), shards=(4, 10), dtype="i8")
        before = zarr_rs.counts()
        array[:] = EXPECTED
        np.testing.assert_array_equal(array[::2, 3:], EXPECTED[::2, 3:])
        after = zarr_rs.counts()
    assert (after.reads - before.reads, after.writes - before.writes) == (1, 1)
    assert (after.fallback_reads, after.fallback_writes) == (before.fallback_reads, before.fallback_writes)


def test_arrays_of_the_package_in_memory() -> None:
    array = zarr_rs.create_array("memory://", shape=(10, 10), chunks=(2, 5), shards=(4, 10), dtype="i8")
    array[:] = EXPECTED
    np.testing.assert_array_equal(array[::-2, [7, 1]], EXPECTED[::-2, [7, 1]])
