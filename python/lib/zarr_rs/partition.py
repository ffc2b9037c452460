"""Divides an array into parts that share no chunk and no shard, for any scheduler."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_rs.array import Array

#: The size of a block if none is given, in bytes.
TARGET_BYTES = 128 << 20


def blocks(array: Array, target_bytes: int = TARGET_BYTES) -> tuple[tuple[int, ...], ...]:
    """Returns the lengths of blocks in each dimension: the chunks of an array of Dask or cubed.

    A block consists of whole shards, or of whole chunks without shards, up to `target_bytes` of elements. It is never
    smaller than one of them: with `target_bytes=0` each block is one shard. The blocks of a dimension are about equally
    long. A string of any length counts as the bytes that it takes in an array of NumPy.

    Parameters
    ----------
    array
        The array.
    target_bytes
        The size of the largest block, in bytes of elements.

    Examples
    --------
    >>> a = zarr_rs.create_array("memory://", shape=(100, 90), chunks=(5, 30), shards=(10, 30), dtype="float64")
    >>> zarr_rs.blocks(a, target_bytes=0)
    ((10, 10, 10, 10, 10, 10, 10, 10, 10, 10), (30, 30, 30))
    >>> zarr_rs.blocks(a, target_bytes=40_000)
    ((50, 50), (90,))
    """
    stored = array.chunk_lengths
    longest = [max(lengths, default=1) for lengths in stored]
    room = target_bytes // max(1, array.dtype.itemsize)  # how many of the longest chunks fit into a block
    for length in longest:
        room //= length
    limits = list(longest)
    # A dimension with few chunks leaves the rest of its share to those with more.
    order = sorted(range(array.ndim), key=lambda dim: len(stored[dim]))
    for place, dim in enumerate(order):
        share = max(1, int(room ** (1 / (len(order) - place)) + 1e-9))
        count = max(1, len(stored[dim]))
        merged = _ceil(count, _ceil(count, share))
        limits[dim] = merged * longest[dim]
        room //= merged
    return tuple(_merged(lengths, limit) for lengths, limit in zip(stored, limits, strict=True))


def partitions(array: Array, target_bytes: int = TARGET_BYTES) -> list[tuple[slice, ...]]:
    """Returns selections that together cover the array, of which no two share a chunk or a shard.

    They are the `blocks` of the array in C order. Tasks that write one each need no locks, with any program.

    Parameters
    ----------
    array
        The array.
    target_bytes
        The size of the largest part, in bytes of elements.

    Examples
    --------
    >>> a = zarr_rs.create_array("memory://", shape=(4, 6), chunks=(2, 6), dtype="int32")
    >>> zarr_rs.partitions(a, target_bytes=0)
    [(slice(0, 2, None), slice(0, 6, None)), (slice(2, 4, None), slice(0, 6, None))]
    >>> for part in zarr_rs.partitions(a):
    ...     a[part] = 7
    """
    if array.size == 0:
        return []
    return list(itertools.product(*(_slices(lengths) for lengths in blocks(array, target_bytes))))


def _merged(lengths: Sequence[int], limit: int) -> tuple[int, ...]:
    """Returns the sums of neighbours, as many of them as do not exceed a limit together."""
    sums: list[int] = []
    for length in lengths:
        if sums and sums[-1] + length <= limit:
            sums[-1] += length
        else:
            sums.append(length)
    return tuple(sums or [0])


def _slices(lengths: Sequence[int]) -> list[slice]:
    ends = list(itertools.accumulate(lengths))
    return [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]


def _ceil(count: int, parts: int) -> int:
    return -(-count // parts)
