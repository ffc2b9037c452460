"""Arrays of Dask: blocks that follow shards, and writes into any region.

Plain `dask.array.from_array` and `dask.array.store` take a `zarr_rs.Array` as well. These functions choose the blocks, and
a process of a worker opens the array once for all of its tasks.

>>> import dask.array as da, zarr_rs.dask
>>> source = zarr_rs.create_array("memory://", shape=(100, 90), chunks=(5, 30), shards=(10, 30), dtype="float64")
>>> source[:] = 1
>>> x = zarr_rs.dask.from_array(source, target_bytes="40 kB")
>>> x.chunks
((50, 50), (90,))
>>> mean = zarr_rs.dask.create(x.mean(axis=0), "memory://", chunks=(40,))
>>> zarr_rs.dask.store(x.mean(axis=0), mean)
>>> mean[:3]
array([1., 1., 1.])
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import dask.array as da
import numpy as np
from dask import config
from dask.utils import parse_bytes

from zarr_rs import selections
from zarr_rs.array import Array
from zarr_rs.errors import ArgumentError
from zarr_rs.opening import create_array, open_array
from zarr_rs.partition import blocks, partitions

if TYPE_CHECKING:
    from zarr_rs._native import Storage
    from zarr_rs.opening import Location

__all__ = ["blocks", "create", "from_array", "partitions", "store"]


def from_array(
    array: Array | Location, path: str = "/", *, blocks: Any = None, target_bytes: int | str = "auto", **access: Any
) -> da.Array:
    """Returns an array of Dask that reads an array lazily.

    `array` is an array, or the location of one, opened as `zarr_rs.open_array(array, path, **access)`. `blocks` are the
    chunks in terms of Dask. By default a block is whole shards of at most `target_bytes`, such as `"64 MiB"`; `"auto"` is
    Dask's setting `array.chunk-size`, 128 MiB unless it was changed.

    The array of Dask has the same name in each process, and another one when shape or metadata of the array have changed.
    Elements that were written since do not change the name: a result that Dask still holds is used again.
    """
    opened = array if isinstance(array, Array) else open_array(array, path, **access)
    if blocks is None:
        asked = config.get("array.chunk-size", "128 MiB") if target_bytes == "auto" else target_bytes
        blocks = _blocks(opened, parse_bytes(asked))
    meta = np.empty((0,) * opened.ndim, opened.dtype)
    shared = _Shared(opened)
    made: da.Array = da.from_array(shared, chunks=blocks, inline_array=True, meta=meta)  # type: ignore[no-untyped-call]
    return made


_blocks = blocks


def store(source: da.Array, target: Array, region: Any = ..., *, compute: bool = True) -> Any:
    """Writes an array of Dask to `target[region]`, without locks of Dask.

    `region` has slices forwards, positions and `...`. Blocks may cut chunks and shards: writers of parts of a chunk lose
    nothing, in threads, processes and on several machines, as far as the store keeps them apart. A task that runs twice
    writes the same elements again. Blocks of whole shards (`zarr_rs.blocks`) are the fastest.

    With `compute=False` nothing is written before the result is computed.
    """
    target._check_writable()
    selected = selections.basic(region, target.shape)
    if selected.shape != source.shape:
        raise ArgumentError(f"values of shape {source.shape} do not fit the region of shape {selected.shape}")
    places = tuple(_place(entry) for entry in selected.entries)
    return da.store(source, _Shared(target), lock=False, regions=places, compute=compute)  # type: ignore[arg-type]


def create(source: da.Array, location: Location, path: str = "/", **options: Any) -> Array:
    """Creates an array with the shape and type of an array of Dask, for `store`.

    `options` are those of `zarr_rs.create_array`. Chunks are the largest block of Dask unless `chunks` are given.
    """
    options.setdefault("chunks", source.chunksize)
    return create_array(location, path, shape=source.shape, dtype=source.dtype, **options)


def _place(entry: selections.Entry) -> int | slice:
    if isinstance(entry, int):
        return entry
    if not isinstance(entry, tuple) or entry[2] < 0:
        raise ArgumentError("a region has slices forwards, positions and '...' only")
    return slice(*entry)


class _Shared:
    """An array in the tasks of Dask. A process opens it once, however many tasks bring it."""

    def __init__(self, array: Array, version: str | None = None) -> None:
        self._array = array
        self._version = array._handle.metadata if version is None else version

    def __reduce__(self) -> tuple[Any, ...]:
        return _Shared, (self._array, self._version)

    def __repr__(self) -> str:
        return f"<array {self._array._path!r} in {self._array.store}>"

    def __dask_tokenize__(self) -> Any:
        return self._array.__dask_tokenize__()

    @property
    def shape(self) -> tuple[int, ...]:
        return self._array.shape

    @property
    def ndim(self) -> int:
        return self._array.ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._array.dtype

    def __getitem__(self, key: Any) -> Any:
        return self._opened[key]

    def __setitem__(self, key: Any, values: Any) -> None:
        self._opened[key] = values

    @property
    def _opened(self) -> Array:
        return _first(self._array.store.storage(), self._array, self._version)


@functools.lru_cache(maxsize=64)
def _first(storage: Storage, array: Array, version: str) -> Array:
    """Returns the first array of this process that is equal, with its handle.

    A directory that was replaced has another storage, and an array that was changed another version.
    """
    return array
