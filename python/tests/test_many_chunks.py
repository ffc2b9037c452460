"""Arrays of a million chunks are shown, described and read without an object of Python for each."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
import zarr_rs


def seconds(work: Callable[[], object]) -> float:
    """Returns the CPU seconds of the fastest of some calls."""
    found = []
    for _ in range(20):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


@pytest.fixture
def many() -> zarr_rs.Array:
    return zarr_rs.create_array("memory://", shape=(10**6,), chunks=1, dtype="u1", compressors=None)


def test_pictures_of_many_chunks_take_no_longer(many: zarr_rs.Array) -> None:
    few = zarr_rs.create_array("memory://", shape=(10,), chunks=1, dtype="u1", compressors=None)
    assert seconds(many.__repr__) <= 5 * seconds(few.__repr__)
    assert seconds(many._repr_html_) <= 5 * seconds(few._repr_html_) + 0.001
    assert many._repr_html_().count("<line") <= 66 and "1 x 1000000 chunks" in many._repr_html_()


def test_lengths_of_many_chunks_are_arithmetic(many: zarr_rs.Array) -> None:
    assert seconds(lambda: many.chunk_lengths) <= 0.05
    assert many.chunk_lengths == ((1,) * 10**6,)
    assert many.nchunks == 10**6


@pytest.mark.parametrize("chunks", [(3, 4), [[1, 4, 2], 5], [[7], [3, 3, 2]]])
def test_lengths_are_those_of_the_grid(chunks: object) -> None:
    array = zarr_rs.create_array("memory://", shape=(7, 8), chunks=chunks, dtype="i2")
    for dim, lengths in enumerate(array.chunk_lengths):
        spans = [array._handle.span(dim, index) for index in range(len(lengths))]
        assert [min(span[1], array.shape[dim]) - span[0] for span in spans if span] == list(lengths)
        assert sum(lengths) == array.shape[dim]
    array[...] = np.arange(56).reshape(7, 8)
    assert array[6, 7] == 55 and array.nchunks == array.nchunks_initialized
    assert array._repr_html_().count("<line") == sum(len(lengths) + 1 for lengths in array.chunk_lengths)
