"""How an array is stored: its codecs and its chunks, by the names of zarr-python."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from zarr_rs._native import ArrayHandle
from zarr_rs.errors import UnsupportedError
from zarr_rs.info import Info
from zarr_rs.nodes import Node

if TYPE_CHECKING:
    import numpy as np


class Layout(Node[ArrayHandle]):
    """The part of an array that says how it is stored."""

    if TYPE_CHECKING:

        @property
        @abstractmethod
        def shape(self) -> tuple[int, ...]: ...
        @property
        @abstractmethod
        def nbytes(self) -> int: ...
        @property
        @abstractmethod
        def dtype(self) -> np.dtype[Any]: ...
        @property
        @abstractmethod
        def fill_value(self) -> Any: ...
        @property
        @abstractmethod
        def explain(self) -> Any: ...
        @property
        @abstractmethod
        def metadata(self) -> dict[str, Any]: ...
        @property
        @abstractmethod
        def _document(self) -> dict[str, Any]: ...

    @property
    def chunks(self) -> tuple[int, ...] | None:
        """The shape of a chunk, in shards that of an inner chunk. `None` if chunks have different shapes."""
        return self._inner_chunks or self._outer_chunks

    @property
    def shards(self) -> tuple[int, ...] | None:
        """The shape of a shard, or `None` without shards or if they have different shapes."""
        return self._outer_chunks if self._inner_chunks else None

    @property
    def _outer_chunks(self) -> tuple[int, ...] | None:
        shape = self._document["chunk_grid"].get("configuration", {}).get("chunk_shape")
        return None if shape is None else tuple(shape)

    @property
    def _inner_chunks(self) -> tuple[int, ...] | None:
        for codec in self._document["codecs"]:
            if isinstance(codec, dict) and codec["name"] == "sharding_indexed":
                return tuple(codec["configuration"]["chunk_shape"])
        return None

    @property
    def chunk_lengths(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of all stored chunks, or of shards, in each dimension: the chunks of an array of Dask."""
        outer = self._outer_chunks
        if outer is None:
            return tuple(tuple(self._handle.chunk_lengths(dim)) for dim in range(len(self.shape)))
        return tuple(_cut(length, chunk) for length, chunk in zip(self.shape, outer, strict=True))

    @property
    def _sides(self) -> list[tuple[int, int | tuple[int, ...]]]:
        """The length of each dimension, and that of its chunks, or all their lengths if they differ."""
        return list(zip(self.shape, self._outer_chunks or self.chunk_lengths, strict=True))

    @property
    def write_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of what is written whole, chunks or shards, in each dimension: `chunk_lengths`."""
        return self.chunk_lengths

    @property
    def read_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """The lengths of what is read whole, chunks or the chunks in shards, in each dimension."""
        inner = self._inner_chunks
        if inner is None:
            return self.chunk_lengths
        parts = zip(self.chunk_lengths, inner, strict=True)
        return tuple(tuple(piece for length in lengths for piece in _cut(length, chunk)) for lengths, chunk in parts)

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """The number of chunks, those in shards included, in each dimension."""
        chunks = self.chunks
        if chunks is None:
            return tuple(len(lengths) for lengths in self.chunk_lengths)
        return tuple(-(-length // chunk) for length, chunk in zip(self.shape, chunks, strict=True))

    @property
    def nchunks(self) -> int:
        """The number of chunks, those in shards included."""
        return math.prod(self.cdata_shape)

    @property
    def nchunks_initialized(self) -> int:
        """The number of stored chunks. All chunks of a stored shard count, those outside of the array included."""
        stored: int = self.explain[...].chunks_stored
        shards, inner = self.shards, self._inner_chunks
        if inner is None or shards is None:
            return stored
        return stored * math.prod(shard // chunk for shard, chunk in zip(shards, inner, strict=True))

    def nbytes_stored(self) -> int:
        """Returns the size of the stored objects of the array, its metadata included, in bytes."""
        size: int = self._store.storage().size_below(self.path).wait()
        return size

    @property
    def order(self) -> str:
        """The order of elements in memory, `"C"` or `"F"`: in format 2 that of stored chunks, otherwise of `config`."""
        return str(self.metadata["order"]) if self.zarr_format == 2 else self._config.order

    @property
    def compressors(self) -> tuple[Any, ...]:
        """The codecs of bytes, as objects of zarr-python, or of numcodecs in format 2."""
        return tuple(self._codecs["compressors"])

    @property
    def filters(self) -> tuple[Any, ...]:
        """The codecs of elements, as objects of zarr-python, or of numcodecs in format 2."""
        return tuple(self._codecs["filters"])

    @property
    def serializer(self) -> Any:
        """The codec from elements to bytes, as an object of zarr-python. `None` in format 2."""
        return self._codecs.get("serializer")

    @property
    def compressor(self) -> Any:
        """The compressor of format 2, or `None`. A `TypeError` in format 3, which has `compressors`."""
        if self.zarr_format == 3:
            raise TypeError("an array of format 3 has compressors, not one compressor")
        return next(iter(self.compressors), None)

    @property
    def _codecs(self) -> dict[str, Any]:
        from zarr_rs.encoding import codecs_of

        try:
            return codecs_of(self)
        except Exception as e:  # of any codec that is registered
            raise UnsupportedError(f"array {self.name!r}: zarr-python does not know its codecs: {e}") from e

    @property
    def info(self) -> Info:
        """What the metadata says of the array, as lines."""
        return Info(
            {
                "Type": "Array",
                "Zarr format": self.zarr_format,
                "Data type": self._document["data_type"],
                "Fill value": self.fill_value,
                "Shape": self.shape,
                "Shard shape": self.shards,
                "Chunk shape": self.chunks or "<variable>",
                "Order": self.order,
                "Read-only": self.read_only,
                "Store": self._store,
                "Codecs": ", ".join(c if isinstance(c, str) else c["name"] for c in self._document["codecs"]),
                "No. bytes": self.nbytes,
            }
        )

    def info_complete(self) -> Info:
        """Returns `info`, with the number and the size of stored chunks. The store is asked for each chunk."""
        stored = self.nbytes_stored()
        more = {"No. bytes stored": stored, "Storage ratio": round(self.nbytes / stored, 1) if stored else None}
        return Info(self.info | more | {"Chunks Initialized": self.nchunks_initialized})


def _cut(length: int, chunk: int) -> tuple[int, ...]:
    """Returns the lengths of chunks, the last of which may be shorter."""
    count, rest = divmod(length, chunk)
    return (chunk,) * count + ((rest,) if rest else ())
