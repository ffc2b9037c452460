"""The codec pipeline: reads and writes of chunks for zarr-python's arrays."""

from __future__ import annotations

import asyncio
import functools
import json
import math
import os
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import zarr.abc.codec
from zarr.codecs._v2 import V2Codec
from zarr.core.buffer import default_buffer_prototype
from zarr.core.buffer.cpu import Buffer, NDBuffer
from zarr.core.codec_pipeline import BatchedCodecPipeline
from zarr.core.config import config
from zarr.core.metadata import ArrayV2Metadata, ArrayV3Metadata
from zarr.storage import LocalStore, StorePath

from zarr_rs import stores
from zarr_rs._native import Array, Plan, Storage, forget
from zarr_rs.report import count, fall_back

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from zarr.abc.codec import Codec
    from zarr.abc.store import Store
    from zarr.core.array_spec import ArraySpec

    ArrayMetadata = ArrayV2Metadata | ArrayV3Metadata
    #: A chunk of a call: its key, its specification, the selection of its elements, their place in the result, and
    #: whether they are all elements of the chunk.
    Entry = tuple[Any, ArraySpec, Any, Any, bool]

#: The packages whose codecs and data types the engine implements.
_KNOWN = ("zarr", "numcodecs")

#: A scalar is repeated in memory of at most this many bytes, or of one chunk.
_REPEATED_BYTES = 64 << 20

#: The number of tasks that share the chunks of a call that is not one selection.
_TASKS = 32


class _Handles:
    """What a pipeline opened in this process, each with the key that it was opened for."""

    array: tuple[object, Storage, Array] | None = None
    foreign: tuple[object, Store, Storage] | None = None


_all_handles: weakref.WeakSet[_Handles] = weakref.WeakSet()


class CodecPipeline(zarr.abc.codec.CodecPipeline):
    """Reads and writes chunks with the engine of this package.

    Arrays and calls that the engine does not know are left to zarr-python's own pipeline. Then a `FallbackWarning` says
    the reason, once, and `zarr_rs.counts()` counts the call.
    """

    def __init__(
        self, metadata: ArrayMetadata | None, store: Store | None, codecs: tuple[Codec, ...] | None = None
    ) -> None:
        self._metadata = metadata
        self._store = store
        self._codecs = codecs
        self._own = BatchedCodecPipeline.from_codecs(codecs or () if metadata is None else _codecs_of(metadata))
        self._refused: str | None = None
        self._handles = _Handles()
        _all_handles.add(self._handles)

    @classmethod
    def from_array_metadata_and_store(cls, array_metadata: ArrayMetadata, store: Store) -> Self:
        return cls(array_metadata, store)

    @classmethod
    def from_codecs(cls, codecs: Iterable[Codec]) -> Any:
        """Returns a pipeline of codecs without an array, such as the inner codecs of shards.

        That is zarr-python's own. Before version 3.1, zarr-python makes the pipelines of arrays here, too: such a
        pipeline finds the metadata of its array in the store.
        """
        if hasattr(zarr.abc.codec.CodecPipeline, "from_array_metadata_and_store"):
            return BatchedCodecPipeline.from_codecs(codecs)
        return cls(None, None, tuple(codecs))

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        if self._codecs is None:
            return self
        return type(self)(None, None, tuple(codec.evolve_from_array_spec(array_spec) for codec in self._codecs))

    @property
    def supports_partial_decode(self) -> bool:
        return self._own.supports_partial_decode

    @property
    def supports_partial_encode(self) -> bool:
        return self._own.supports_partial_encode

    def validate(self, **arguments: Any) -> None:
        self._own.validate(**arguments)

    def compute_encoded_size(self, byte_length: int, array_spec: ArraySpec) -> int:
        return self._own.compute_encoded_size(byte_length, array_spec)

    async def decode(self, chunk_bytes_and_specs: Iterable[Any]) -> Any:
        return await self._own.decode(chunk_bytes_and_specs)

    async def encode(self, chunk_arrays_and_specs: Iterable[Any]) -> Any:
        return await self._own.encode(chunk_arrays_and_specs)

    async def read(self, batch_info: Iterable[Entry], out: Any, drop_axes: tuple[int, ...] = ()) -> Any:
        batch = list(batch_info)
        if not batch:
            return ()
        if self._is_inner(batch):
            return await self._own.read(batch, out, drop_axes)
        try:
            await self._read(batch, out, drop_axes)
        except _Unknown as unknown:
            fall_back(str(unknown))
            count("fallback_reads")
            return await self._own.read(batch, out, drop_axes)
        count("reads")
        return ({"status": "present"},) * len(batch)

    async def write(self, batch_info: Iterable[Entry], value: Any, drop_axes: tuple[int, ...] = ()) -> None:
        batch = list(batch_info)
        if not batch:
            return
        if self._is_inner(batch):
            return await self._own.write(batch, value, drop_axes)
        try:
            await self._write(batch, value, drop_axes)
        except _Unknown as unknown:
            fall_back(str(unknown))
            count("fallback_writes")
            return await self._own.write(batch, value, drop_axes)
        count("writes")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CodecPipeline):
            return NotImplemented
        return self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash((type(self), None if self._metadata is None else self._metadata.shape))

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        state = (self._metadata, self._store) if self._codecs is None else (None, None, self._codecs)
        return type(self), state

    def _is_inner(self, batch: list[Entry]) -> bool:
        """Whether this is the pipeline of the inner codecs of a shard."""
        return self._codecs is not None and type(batch[0][0]) is not StorePath

    async def _read(self, batch: list[Entry], out: Any, drop_axes: tuple[int, ...]) -> None:
        array = await self._open(batch, writes=False)
        memory = _memory(array, batch, out)
        plan = await asyncio.to_thread(_read_whole, array, batch, memory)
        if plan.shape is None:
            await _each(functools.partial(_read_item, array, plan, batch, memory, drop_axes), len(batch))

    async def _write(self, batch: list[Entry], value: Any, drop_axes: tuple[int, ...]) -> None:
        array = await self._open(batch, writes=True)
        memory = _memory(array, batch, value)
        plan = await asyncio.to_thread(_write_whole, array, batch, memory)
        if not _is_whole(plan, memory):
            await _each(functools.partial(_write_item, array, plan, batch, memory, drop_axes), len(batch))

    async def _open(self, batch: list[Entry], *, writes: bool) -> Array:
        """Returns the array of a batch in the engine."""
        path = batch[0][0]
        if type(path) is not StorePath:
            raise _Unknown("chunks that are not in a store")
        if self._metadata is None:
            self._metadata = await _stored_metadata(path, len(batch[0][1].shape))
        if self._refused is None and self._handles.array is None:
            self._refused = _unknown(self._metadata, self._codecs or ())
        if self._refused is not None:
            raise _Unknown(self._refused)
        if writes:
            path.store._check_writable()
        storage = self._storage(path.store)
        node = _node(path.path, _depth(self._metadata))
        write_empty = batch[0][1].config.write_empty_chunks
        key = (id(storage), node, write_empty)
        opened = self._handles.array
        if opened is None or opened[0] != key:
            try:
                array = Array(
                    storage,
                    node,
                    _document(self._metadata),
                    self._metadata.zarr_format,
                    write_empty_chunks=write_empty,
                    is_foreign=type(path.store) is not LocalStore,
                    threads=config.get("threading.max_workers"),
                )
            except (NotImplementedError, ValueError) as refused:
                self._refused = f"metadata that the engine refuses: {refused}"
                raise _Unknown(self._refused) from refused
            # The entry keeps the storage alive, which the key names by its identity.
            opened = self._handles.array = (key, storage, array)
        return opened[2]

    def _storage(self, store: Store) -> Storage:
        if type(store) is LocalStore:
            storage = stores.directory(store)
            if storage is None:
                raise _Unknown("a directory that does not exist")
            return storage
        loop = asyncio.get_running_loop()
        key = (id(store), id(loop))
        known = self._handles.foreign
        if known is None or known[0] != key:
            known = self._handles.foreign = (key, store, stores.foreign(store, loop))
        return known[2]


class _Unknown(Exception):
    """The engine does not know an array or a call. The text says what it does not know."""


def _forget_parent() -> None:
    """Forgets everything that the parent process opened: its threads are not in this process."""
    for handles in list(_all_handles):
        forget((handles.array, handles.foreign))
        handles.array = handles.foreign = None
    stores.forget_parent()


os.register_at_fork(after_in_child=_forget_parent)


async def _each(work: Callable[[int], None], count: int) -> None:
    """Does the work for each item of a batch, in the threads of the event loop."""

    def some(first: int) -> None:
        for item in range(first, count, _TASKS):
            work(item)

    await asyncio.gather(*(asyncio.to_thread(some, first) for first in range(min(count, _TASKS))))


def _memory(array: Array, batch: list[Entry], buffer: Any) -> npt.NDArray[Any]:
    """Returns the elements of a buffer as an array of NumPy."""
    spec = batch[0][1]
    if type(buffer) is not NDBuffer or spec.prototype.buffer is not Buffer:
        raise _Unknown("buffers of another kind")
    if not getattr(spec.config, "read_missing_chunks", True):
        raise _Unknown("missing chunks that are errors (array.read_missing_chunks)")
    memory = buffer.as_ndarray_like()
    dtype = _dtype(spec)
    if dtype.kind not in ("OT" if array.is_text else "biufcmMSUV") or dtype.itemsize == 0:
        raise _Unknown(f"the data type {dtype}")
    if not isinstance(memory, np.ndarray) or _native(memory.dtype) != _native(dtype):
        raise _Unknown("elements of another type than the array")
    return memory


def _plan(array: Array, batch: list[Entry]) -> Plan:
    plan = array.plan(batch)
    if plan is None:
        raise _Unknown("a selection of an unknown kind")
    return plan


def _read_whole(array: Array, batch: list[Entry], memory: npt.NDArray[Any]) -> Plan:
    """Reads a batch that is one selection. Otherwise only returns the plan."""
    plan = _plan(array, batch)
    if plan.shape is None:
        return plan
    if plan.is_points:
        points = _read(array, plan, plan.shape, memory.dtype)
        for place, span in _places(batch):
            memory[place] = points[span]
        return plan
    if plan.shape != memory.shape:
        raise ValueError(f"the selection has shape {plan.shape}, the result has shape {memory.shape}")
    if memory.flags.c_contiguous and memory.flags.writeable and memory.dtype.isnative and not array.is_text:
        array.read(plan, _flat(memory))
    else:
        memory[...] = _read(array, plan, plan.shape, memory.dtype)
    return plan


def _read_item(
    array: Array, plan: Plan, batch: list[Entry], memory: npt.NDArray[Any], drop_axes: tuple[int, ...], item: int
) -> None:
    values = _read(array, plan, plan.shape_of(item), memory.dtype, item)
    memory[batch[item][3]] = values.squeeze(axis=drop_axes) if drop_axes else values


def _read(
    array: Array, plan: Plan, shape: tuple[int, ...], dtype: np.dtype[Any], item: int | None = None
) -> npt.NDArray[Any]:
    """Reads an item of a plan, or all of them, into new memory."""
    values: npt.NDArray[Any] = np.empty(shape, _native(dtype))
    if array.is_text:
        values.reshape(-1)[:] = array.read_text(plan, item)
    else:
        array.read(plan, _flat(values), item)
    return values


def _write_whole(array: Array, batch: list[Entry], values: npt.NDArray[Any]) -> Plan:
    """Writes a batch that is one selection. Otherwise only returns the plan."""
    plan = _plan(array, batch)
    if not _is_whole(plan, values):
        return plan
    if plan.is_points and values.ndim > 0:
        values = np.concatenate([values[place] for place, _ in _places(batch)])
    assert plan.shape is not None
    _write(array, plan, values, plan.shape)
    return plan


def _is_whole(plan: Plan, values: npt.NDArray[Any]) -> bool:
    """Whether values are written at once. A scalar that would take much memory is written chunk by chunk."""
    if plan.shape is None or plan.is_points:
        return plan.shape is not None
    small = math.prod(plan.shape) * values.itemsize <= _REPEATED_BYTES
    return plan.shape == values.shape or (values.ndim == 0 and small)


def _write_item(
    array: Array, plan: Plan, batch: list[Entry], values: npt.NDArray[Any], drop_axes: tuple[int, ...], item: int
) -> None:
    if values.ndim > 0:
        values = values[batch[item][3]]
        values = np.expand_dims(values, drop_axes) if drop_axes else values
    _write(array, plan, values, plan.shape_of(item), item)


def _write(array: Array, plan: Plan, values: npt.NDArray[Any], shape: tuple[int, ...], item: int | None = None) -> None:
    """Writes values, or copies of a single one, to an item of a plan, or to all of them."""
    values = np.broadcast_to(values, shape)
    if not array.is_text:
        array.write(plan, _flat(np.ascontiguousarray(values, _native(values.dtype))), item)
        return
    texts = values.reshape(-1).tolist()
    if not all(isinstance(text, str | bytes) for text in texts):
        raise _Unknown("objects that are neither strings nor bytes")
    array.write_text(plan, texts, item)


def _places(batch: list[Entry]) -> Iterable[tuple[Any, slice]]:
    """Yields, for the points of each chunk, their place in the result and among the points of the batch."""
    start = 0
    for _, _, points, place, _ in batch:
        end = start + len(points[0])
        yield place, slice(start, end)
        start = end


def _flat(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns the memory of a dense array as the engine takes it: one dimension, of numbers or of bytes."""
    flat = values.reshape(-1)
    if flat.dtype.kind in "mM":
        return flat.view(np.int64)
    return flat if flat.dtype.kind in "biufc" else flat.view(np.uint8)


def _native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.kind in "OT" else dtype.newbyteorder("=")


def _dtype(spec: ArraySpec) -> np.dtype[Any]:
    """Returns the type of the elements in NumPy. Before zarr-python 3.1 a specification has just that."""
    dtype: Any = spec.dtype
    native: np.dtype[Any] = dtype if isinstance(dtype, np.dtype) else dtype.to_native_dtype()
    return native


def _codecs_of(metadata: ArrayMetadata) -> Iterable[Codec]:
    if isinstance(metadata, ArrayV2Metadata):
        return [V2Codec(filters=metadata.filters, compressor=metadata.compressor)]
    return metadata.codecs


async def _stored_metadata(path: StorePath, rank: int) -> ArrayMetadata:
    """Returns the metadata of the array that the key of a chunk belongs to."""
    for depth in dict.fromkeys((rank + 1, max(rank, 1), 1)):
        for name, kind in (("zarr.json", ArrayV3Metadata), (".zarray", ArrayV2Metadata)):
            key = f"{_node(path.path, depth)}/{name}".lstrip("/")
            document = await path.store.get(key, default_buffer_prototype())
            if document is None:
                continue
            members = json.loads(document.to_bytes())
            if kind is ArrayV2Metadata or members["node_type"] == "array":
                metadata: ArrayMetadata = kind.from_dict(members)
                if _depth(metadata) == depth:
                    return metadata
    raise _Unknown("a key without the metadata of an array above it")


def _node(key: str, depth: int) -> str:
    """Returns the path of the array whose chunk has this key."""
    return "/".join(key.split("/")[:-depth])


def _depth(metadata: ArrayMetadata) -> int:
    """Returns the number of segments of the keys of chunks, below the path of the array."""
    return metadata.encode_chunk_key((0,) * len(metadata.shape)).count("/") + 1


def _document(metadata: ArrayMetadata) -> bytes:
    """Returns the metadata document without its attributes."""
    documents = metadata.to_buffer_dict(default_buffer_prototype())
    if isinstance(metadata, ArrayV2Metadata):
        return documents[".zarray"].to_bytes()
    document = json.loads(documents["zarr.json"].to_bytes())
    document.pop("attributes", None)
    return json.dumps(document).encode()


def _unknown(metadata: ArrayMetadata, codecs: Iterable[Codec]) -> str | None:
    """Returns why the engine must not be used for an array, or for these codecs of it, or `None`.

    A codec or data type that a user registered is never replaced, even if it has a known name.
    """
    if isinstance(metadata, ArrayV2Metadata):
        parts = [metadata.dtype, metadata.compressor, *(metadata.filters or ())]
    else:
        if metadata.chunk_grid.to_dict()["name"] != "regular":
            return "a chunk grid that is not regular"
        parts = [metadata.data_type, *_codecs(metadata.codecs)]
    for part in (*parts, *_codecs(codecs)):
        package = type(part).__module__.split(".")[0]
        if part is not None and package not in (*_KNOWN, "numpy"):
            return f"{type(part).__name__} of the package {package}"
    return None


def _codecs(codecs: Iterable[Any]) -> Iterable[Any]:
    """Yields codecs, and those inside of shards."""
    for codec in codecs:
        yield codec
        yield from _codecs(getattr(codec, "codecs", ()))
        yield from _codecs(getattr(codec, "index_codecs", ()))
