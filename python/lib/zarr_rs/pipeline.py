"""The codec pipeline: reads and writes of chunks for zarr-python's arrays."""

from __future__ import annotations

import asyncio
import functools
import math
import os
import time
import weakref
from typing import TYPE_CHECKING, Any

import zarr.abc.codec
from zarr.core import codec_pipeline
from zarr.storage import StorePath

from zarr_rs import elements, places, settings, stores, waiting
from zarr_rs._native import Array, Storage, forget
from zarr_rs.errors import NotFoundError, StoreError, UnsupportedError
from zarr_rs.metadata import (
    chunk_spec_of,
    codecs_of,
    depth_of,
    document_of,
    inner_order_of,
    node_of,
    stored_metadata,
    unknown_part,
)
from zarr_rs.report import Unknown, count, fall_back
from zarr_rs.store import Store as OwnStore

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from zarr.abc.codec import Codec
    from zarr.abc.store import Store
    from zarr.core.array_spec import ArraySpec

    from zarr_rs.elements import Entry
    from zarr_rs.metadata import ArrayMetadata
    from zarr_rs.places import Place, Source

#: The best of zarr-python's own pipelines: since version 3.3 one that makes no coroutine for each chunk.
_OwnPipeline = getattr(codec_pipeline, "FusedCodecPipeline", codec_pipeline.BatchedCodecPipeline)

#: The most bytes of a first read that does not wait until its place is verified.
_SMALL = 16 << 20

#: The most chunks of a call on the thread of the event loop.
_INLINE_CHUNKS = 4

#: The time after which a call on the thread of the event loop was slow, in seconds.
_SLOW = 0.001

#: The number of calls that are made in threads after a slow one.
_AFTER_SLOW = 64

#: The most arrays of a storage whose handles are kept.
_KEPT = 256


class _Pace:
    """Whether calls on a storage are made on the thread of the event loop."""

    #: The number of calls that are still to be made in threads.
    in_threads = 0

    def took(self, seconds: float) -> None:
        """Makes the next calls in threads if one took long, such as one on a network file system."""
        if seconds >= _SLOW:
            self.in_threads = _AFTER_SLOW


class _Opened:
    """An array in the engine, without its storage, which `_shared` keeps it for."""

    def __init__(self, array: Array, shared: _Shared, inline_bytes: int) -> None:
        self.array = array
        self.pace = shared.pace
        self.pace_of_updates = shared.pace_of_updates
        #: The most bytes of the chunks of a call on the thread of the event loop.
        self.inline_bytes = inline_bytes


class _Shared:
    """What the pipelines of this process share about a storage."""

    def __init__(self) -> None:
        self.pace = _Pace()
        #: That of writes of parts of chunks, which may wait for the disk: a power cut must not destroy the other parts.
        self.pace_of_updates = _Pace()
        #: Arrays by their node and settings, with the metadata document that they were opened with.
        self.arrays: dict[tuple[object, ...], tuple[bytes, _Opened]] = {}


_shared: weakref.WeakKeyDictionary[Storage, _Shared] = weakref.WeakKeyDictionary()


class _Handles:
    """What a pipeline opened in this process, each with the key that it was opened for."""

    array: tuple[object, Storage, _Opened] | None = None
    foreign: Storage | None = None
    #: A place where the engine's own client cannot do what the store does.
    refused: Place | None = None


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
        # Checks the order of the codecs, and warns of codecs that do not fit together, as zarr-python does.
        self._unevolved = _OwnPipeline.from_codecs(codecs or () if metadata is None else codecs_of(metadata))
        self._refused: str | None = None
        self._depth = 0
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
            return _OwnPipeline.from_codecs(codecs)
        return cls(None, None, tuple(codecs))

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        if self._codecs is None:
            return self
        return type(self)(None, None, tuple(codec.evolve_from_array_spec(array_spec) for codec in self._codecs))

    @functools.cached_property
    def _own(self) -> Any:
        """zarr-python's own pipeline for the chunks of the array, as zarr-python makes it."""
        if self._metadata is None or _OwnPipeline is codec_pipeline.BatchedCodecPipeline:
            return self._unevolved
        return self._unevolved.evolve_from_array_spec(chunk_spec_of(self._metadata))

    @property
    def supports_partial_decode(self) -> bool:
        """Whether zarr-python's own pipeline of these codecs reads parts of a chunk."""
        found: bool = self._unevolved.supports_partial_decode
        return found

    @property
    def supports_partial_encode(self) -> bool:
        """Whether zarr-python's own pipeline of these codecs writes parts of a chunk."""
        found: bool = self._unevolved.supports_partial_encode
        return found

    def validate(self, **arguments: Any) -> None:
        self._unevolved.validate(**arguments)

    def compute_encoded_size(self, byte_length: int, array_spec: ArraySpec) -> int:
        size: int = self._unevolved.compute_encoded_size(byte_length, array_spec)
        return size

    async def decode(self, chunk_bytes_and_specs: Iterable[Any]) -> Any:
        return await self._own.decode(chunk_bytes_and_specs)

    async def encode(self, chunk_arrays_and_specs: Iterable[Any]) -> Any:
        return await self._own.encode(chunk_arrays_and_specs)

    async def read(self, batch_info: Iterable[Entry], out: Any, drop_axes: tuple[int, ...] = ()) -> Any:
        batch = batch_info if isinstance(batch_info, list) else list(batch_info)
        if not batch:
            return ()
        if self._is_inner(batch):
            return await self._own.read(batch, out, drop_axes)
        try:
            missing = await self._read_or_miss(batch, out, drop_axes)
        except Unknown as unknown:
            fall_back(str(unknown))
            count("fallback_reads")
            return await self._own.read(batch, out, drop_axes)
        count("reads")
        if missing is None:
            return ({"status": "present"},) * len(batch)
        return tuple({"status": "missing" if is_missing else "present"} for is_missing in missing)

    async def write(self, batch_info: Iterable[Entry], value: Any, drop_axes: tuple[int, ...] = ()) -> None:
        batch = batch_info if isinstance(batch_info, list) else list(batch_info)
        if not batch:
            return
        if self._is_inner(batch):
            await self._own.write(batch, value, drop_axes)
            return
        try:
            await self._write(batch, value, drop_axes)
        except Unknown as unknown:
            fall_back(str(unknown))
            count("fallback_writes")
            await self._own.write(batch, value, drop_axes)
            return
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

    async def _read_or_miss(self, batch: list[Entry], out: Any, drop_axes: tuple[int, ...]) -> list[bool] | None:
        """Reads a batch. Returns which chunks are missing if the array must have all of them, and one is missing."""
        if getattr(batch[0][1].config, "read_missing_chunks", True):
            await self._read(batch, out, drop_axes)
            return None
        try:
            await self._read(batch, out, drop_axes, needs_all=True)
            return None
        except NotFoundError:
            opened, _ = await self._open(batch, writes=False)
            missing = await waiting.run(elements.missing, opened.array, batch)
        if not any(missing):
            # An inner chunk of a shard is missing, which is no error for zarr-python.
            await self._read(batch, out, drop_axes)
        return missing

    async def _read(
        self, batch: list[Entry], out: Any, drop_axes: tuple[int, ...], *, needs_all: bool = False
    ) -> None:
        opened, source = await self._open(batch, writes=False, needs_all=needs_all)
        memory = elements.memory_of(opened.array, batch, out)
        if source is None or source.is_verified:
            await self._read_from(opened, batch, memory, drop_axes)
        elif not await self._read_and_verify(opened, source, batch, memory, drop_axes):
            opened, _ = await self._open(batch, writes=False, needs_all=needs_all)
            await self._read_from(opened, batch, memory, drop_axes)

    async def _read_and_verify(
        self, opened: _Opened, source: Source, batch: list[Entry], memory: Any, drop_axes: tuple[int, ...]
    ) -> bool:
        """Reads from a place if that is the one of the store; returns whether it is.

        A small read runs beside the comparison, so it takes no round trip more. It has memory of its own, because it
        may go on after a comparison that failed.
        """
        if memory.nbytes > _SMALL:
            verified = await self._verify(source)
            if verified:
                await self._read_from(opened, batch, memory, drop_axes)
            return verified
        values = memory.copy()
        reading = asyncio.ensure_future(self._read_from(opened, batch, values, drop_axes))
        # If nobody waits for it, its exception is of no interest.
        reading.add_done_callback(lambda task: task.cancelled() or task.exception())
        if not await self._verify(source):
            return False
        await reading
        memory[...] = values
        return True

    async def _verify(self, source: Source) -> bool:
        """Whether a place is the one of the store. If not, the store's own calls are used from now on."""
        verified = await source.verify()
        if not verified:
            self._handles.refused = source.place
        return verified

    async def _read_from(self, opened: _Opened, batch: list[Entry], memory: Any, drop_axes: tuple[int, ...]) -> None:
        array = opened.array
        if _is_small(opened, opened.pace, batch, memory):
            start = time.perf_counter()
            try:
                plan = elements.read_whole(array, batch, memory)
                for item in range(len(batch) if plan.shape is None else 0):
                    elements.read_item(array, plan, batch, memory, drop_axes, item)
            finally:
                opened.pace.took(time.perf_counter() - start)
            return
        plan = await waiting.run(elements.read_whole, array, batch, memory)
        if plan.shape is None:
            read = functools.partial(elements.read_item, array, plan, batch, memory, drop_axes)
            await waiting.run_each(read, len(batch))

    async def _write(self, batch: list[Entry], value: Any, drop_axes: tuple[int, ...]) -> None:
        opened, source = await self._open(batch, writes=True)
        if source is not None and not await self._verify(source):
            opened, source = await self._open(batch, writes=True)
        try:
            await self._write_to(opened, batch, value, drop_axes)
        except UnsupportedError:
            if source is None:
                raise
            # The service has no conditional writes. The store's own calls do without.
            self._handles.refused = source.place
            opened, _ = await self._open(batch, writes=True)
            await self._write_to(opened, batch, value, drop_axes)
        if source is not None:
            places.written(batch[0][0].store)

    async def _write_to(self, opened: _Opened, batch: list[Entry], value: Any, drop_axes: tuple[int, ...]) -> None:
        array = opened.array
        memory = elements.memory_of(array, batch, value)
        pace = opened.pace if all(entry[4] for entry in batch) else opened.pace_of_updates
        if _is_small(opened, pace, batch, memory):
            start = time.perf_counter()
            try:
                plan = elements.write_whole(array, batch, memory, wait=False)
                for item in range(0 if elements.is_whole(plan, memory) else len(batch)):
                    elements.write_item(array, plan, batch, memory, drop_axes, item, wait=False)
                return
            except StoreError:
                # Perhaps another writer holds a chunk. A thread waits for it, or meets the same error.
                pass
            finally:
                pace.took(time.perf_counter() - start)
        plan = await waiting.run(elements.write_whole, array, batch, memory)
        if not elements.is_whole(plan, memory):
            write = functools.partial(elements.write_item, array, plan, batch, memory, drop_axes)
            await waiting.run_each(write, len(batch))

    async def _open(
        self, batch: list[Entry], *, writes: bool, needs_all: bool = False
    ) -> tuple[_Opened, Source | None]:
        """Returns the array of a batch in the engine, and its source if the store is one of another package."""
        path = batch[0][0]
        if type(path) is not StorePath:
            raise Unknown("chunks that are not in a store")
        if self._metadata is None:
            self._metadata = await stored_metadata(path, len(batch[0][1].shape))
        if self._refused is None and self._handles.array is None:
            self._refused = unknown_part(self._metadata, self._codecs or ())
        if self._refused is not None:
            raise Unknown(self._refused)
        if writes:
            path.store._check_writable()
        self._depth = self._depth or depth_of(self._metadata)
        node = node_of(path.path, self._depth)
        storage, source = await self._storage(path.store, node, self._metadata.zarr_format, writes=writes)
        write_empty = batch[0][1].config.write_empty_chunks
        key = (id(storage), node, write_empty, needs_all)
        known = self._handles.array
        if known is None or known[0] != key:
            # The entry keeps the storage alive, which the key names by its identity.
            opened = self._opened(storage, node, write_empty=write_empty, needs_all=needs_all)
            known = self._handles.array = (key, storage, opened)
        return known[2], source

    def _opened(self, storage: Storage, node: str, *, write_empty: bool, needs_all: bool) -> _Opened:
        """Returns the array at a node of a storage. Pipelines with equal metadata share it."""
        metadata = self._metadata
        assert metadata is not None
        settings.pool()
        shared = _shared.setdefault(storage, _Shared())
        inner_order = inner_order_of(metadata)
        inline_bytes = settings.inline_bytes()
        key = (node, write_empty, needs_all, inner_order, inline_bytes)
        document = document_of(metadata)
        found = shared.arrays.get(key)
        if found is not None and found[0] == document:
            return found[1]
        is_foreign = self._handles.foreign is storage
        try:
            array = Array(
                storage,
                node,
                document,
                metadata.zarr_format,
                write_empty_chunks=write_empty,
                is_foreign=is_foreign,
                inner_order=inner_order,
                missing_is_error=needs_all,
            )
        except (NotImplementedError, ValueError) as refused:
            self._refused = f"metadata that the engine refuses: {refused}"
            raise Unknown(self._refused) from refused
        # A store of zarr-python may need the event loop, and nobody knows the size of strings before they are read.
        may_be_inline = storage.is_inline and not is_foreign and not array.is_text
        opened = _Opened(array, shared, inline_bytes if may_be_inline else 0)
        while len(shared.arrays) >= _KEPT:
            shared.arrays.pop(next(iter(shared.arrays)))
        shared.arrays[key] = (document, opened)
        return opened

    async def _storage(
        self, store: Store, node: str, zarr_format: int, *, writes: bool
    ) -> tuple[Storage, Source | None]:
        """Returns the storage of a store, which may make the store's own calls, and its source if it is recognised."""
        if type(store) is OwnStore:
            await store._ensure_open()
            return store.storage(), None
        if places.is_directory(store):
            storage = stores.directory(store.root, create=not store.read_only)
            if storage is None:
                raise Unknown("a directory that does not exist")
            return storage, None
        place = await places.place_of(store)
        if place is not None and place != self._handles.refused:
            document = f"{node}/{'.zarray' if zarr_format == 2 else 'zarr.json'}".lstrip("/")
            source = places.source_of(store, place, document)
            if source is None:
                self._handles.refused = place
            elif source.storage.can_write or not writes:
                return source.storage, source
        self._handles.foreign = stores.foreign(store, asyncio.get_running_loop())
        return self._handles.foreign, None


def _is_small(opened: _Opened, pace: _Pace, batch: list[Entry], memory: Any) -> bool:
    """Whether a call is over so soon that the event loop may wait for it."""
    if len(batch) > _INLINE_CHUNKS:
        return False
    size = sum(math.prod(entry[1].shape) for entry in batch) * memory.itemsize
    if size > opened.inline_bytes:
        return False
    if pace.in_threads > 0:
        pace.in_threads -= 1
        return False
    return True


def _forget_parent() -> None:
    """Forgets everything that the parent process opened: its threads are not in this process."""
    for handles in list(_all_handles):
        forget((handles.array, handles.foreign))
        handles.array = handles.foreign = None
    forget(list(_shared.items()))
    _shared.clear()
    stores.forget_parent()
    waiting.forget_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)
