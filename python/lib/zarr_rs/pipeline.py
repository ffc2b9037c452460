"""The codec pipeline: reads and writes of chunks for zarr-python's arrays."""

from __future__ import annotations

import asyncio
import functools
import os
import weakref
from typing import TYPE_CHECKING, Any

import zarr.abc.codec
from zarr.core.codec_pipeline import BatchedCodecPipeline
from zarr.core.config import config
from zarr.storage import StorePath

from zarr_rs import elements, places, stores, threads
from zarr_rs._native import Array, Storage, forget
from zarr_rs.errors import UnsupportedError
from zarr_rs.metadata import (
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

#: The most bytes of a first read that does not wait until its place is verified.
_SMALL = 16 << 20


class _Handles:
    """What a pipeline opened in this process, each with the key that it was opened for."""

    array: tuple[object, Storage, Array] | None = None
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
        self._own = BatchedCodecPipeline.from_codecs(codecs or () if metadata is None else codecs_of(metadata))
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
        """Whether zarr-python's own pipeline of these codecs reads parts of a chunk."""
        return self._own.supports_partial_decode

    @property
    def supports_partial_encode(self) -> bool:
        """Whether zarr-python's own pipeline of these codecs writes parts of a chunk."""
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
        except Unknown as unknown:
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
        except Unknown as unknown:
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
        array, source = await self._open(batch, writes=False)
        memory = elements.memory_of(array, batch, out)
        if source is None or source.is_verified:
            await self._read_from(array, batch, memory, drop_axes)
        elif not await self._read_and_verify(array, source, batch, memory, drop_axes):
            array, _ = await self._open(batch, writes=False)
            await self._read_from(array, batch, memory, drop_axes)

    async def _read_and_verify(
        self, array: Array, source: Source, batch: list[Entry], memory: Any, drop_axes: tuple[int, ...]
    ) -> bool:
        """Reads from a place if that is the one of the store; returns whether it is.

        A small read runs beside the comparison, so it takes no round trip more. It has memory of its own, because it
        may go on after a comparison that failed.
        """
        if memory.nbytes > _SMALL:
            verified = await self._verify(source)
            if verified:
                await self._read_from(array, batch, memory, drop_axes)
            return verified
        values = memory.copy()
        reading = asyncio.ensure_future(self._read_from(array, batch, values, drop_axes))
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

    async def _read_from(self, array: Array, batch: list[Entry], memory: Any, drop_axes: tuple[int, ...]) -> None:
        plan = await threads.run(elements.read_whole, array, batch, memory)
        if plan.shape is None:
            read = functools.partial(elements.read_item, array, plan, batch, memory, drop_axes)
            await threads.run_each(read, len(batch))

    async def _write(self, batch: list[Entry], value: Any, drop_axes: tuple[int, ...]) -> None:
        array, source = await self._open(batch, writes=True)
        if source is not None and not await self._verify(source):
            array, source = await self._open(batch, writes=True)
        try:
            await self._write_to(array, batch, value, drop_axes)
        except UnsupportedError:
            if source is None:
                raise
            # The service has no conditional writes. The store's own calls do without.
            self._handles.refused = source.place
            array, _ = await self._open(batch, writes=True)
            await self._write_to(array, batch, value, drop_axes)
        if source is not None:
            places.written(batch[0][0].store)

    async def _write_to(self, array: Array, batch: list[Entry], value: Any, drop_axes: tuple[int, ...]) -> None:
        memory = elements.memory_of(array, batch, value)
        plan = await threads.run(elements.write_whole, array, batch, memory)
        if not elements.is_whole(plan, memory):
            write = functools.partial(elements.write_item, array, plan, batch, memory, drop_axes)
            await threads.run_each(write, len(batch))

    async def _open(self, batch: list[Entry], *, writes: bool) -> tuple[Array, Source | None]:
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
        node = node_of(path.path, depth_of(self._metadata))
        storage, source = await self._storage(path.store, node, self._metadata.zarr_format, writes=writes)
        write_empty = batch[0][1].config.write_empty_chunks
        key = (id(storage), node, write_empty)
        opened = self._handles.array
        if opened is None or opened[0] != key:
            try:
                array = Array(
                    storage,
                    node,
                    document_of(self._metadata),
                    self._metadata.zarr_format,
                    write_empty_chunks=write_empty,
                    is_foreign=self._handles.foreign is storage,
                    inner_order=inner_order_of(self._metadata),
                    threads=config.get("threading.max_workers"),
                )
            except (NotImplementedError, ValueError) as refused:
                self._refused = f"metadata that the engine refuses: {refused}"
                raise Unknown(self._refused) from refused
            # The entry keeps the storage alive, which the key names by its identity.
            opened = self._handles.array = (key, storage, array)
        return opened[2], source

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


def _forget_parent() -> None:
    """Forgets everything that the parent process opened: its threads are not in this process."""
    for handles in list(_all_handles):
        forget((handles.array, handles.foreign))
        handles.array = handles.foreign = None
    stores.forget_parent()
    threads.forget_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)
