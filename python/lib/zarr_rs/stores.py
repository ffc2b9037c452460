"""The storages of the engine that this process has opened: for stores of zarr-python, and for locations."""

from __future__ import annotations

import asyncio
import os
import weakref
from typing import TYPE_CHECKING, Any

from zarr.abc.store import RangeByteRequest, Store, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import MemoryStore

from zarr_rs import settings
from zarr_rs._native import Reply, Storage, forget, split_location

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from zarr.abc.store import ByteRequest

#: The whole object, from start to end, or the last -start bytes.
Range = tuple[int, int | None] | None

#: The largest number of requests at once that a store of zarr-python gets, as by zarr-python's default.
_IN_FLIGHT = 10

#: The options of a directory. All other options are for services.
DIRECTORY = ("single_writer", "updates_in_place", "open_files", "durability")

#: The storages of directories by path and options, with the identity of the directory.
_directories: dict[tuple[str, tuple[tuple[str, Any], ...]], tuple[tuple[int, int], Storage]] = {}

#: The storages of all other locations, by location and options.
_others: weakref.WeakValueDictionary[tuple[str, Any], Storage] = weakref.WeakValueDictionary()


class Opened:
    """What a store has opened in this process."""

    def __init__(self, storage: Storage | None = None) -> None:
        self.storage = storage
        _all_opened.add(self)


_all_opened: weakref.WeakSet[Opened] = weakref.WeakSet()


def directory(
    path: str | os.PathLike[str], *, create: bool, options: tuple[tuple[str, Any], ...] = ()
) -> Storage | None:
    """Returns the storage of a directory, or `None` if it does not exist and must not be made.

    All arrays in a directory that have the same options share one storage, and with it locks and threads. A directory that
    was replaced by another one has a new storage: the storage holds the old one open, so their inodes differ.
    """
    return _directory(os.path.abspath(path), create, options)


def _directory(root: str, create: bool, options: tuple[tuple[str, Any], ...]) -> Storage | None:
    """As `directory`, of an absolute path."""
    known = _directories.get((root, options))
    now = _identity(root)
    if known is not None and known[0] == now:
        return known[1]
    if now is None and not create:
        return None
    storage = _shared(Storage.directory(root, create, **dict(options)))
    now = _identity(root)
    if now is not None:
        _directories[root, options] = (now, storage)
    return storage


def absolute(location: str) -> str:
    """Returns a location with an absolute path, if it has a path. The path of a ZIP archive gets its adapter."""
    if _is_plain(location):
        return os.path.abspath(location)
    root, adapters, is_path = split_location(location)
    if adapters and os.path.exists(location):
        root, adapters, is_path = location, "", True  # the name of a directory may look like one with an adapter
    if not is_path:
        return location
    if root.endswith(".zip") and not adapters and os.path.isfile(root):
        adapters = "|zip:"
    return os.path.abspath(root) + adapters


def memory(location: str) -> Storage:
    """Returns the storage in memory of this name. Makes it if no store of this process uses it."""
    return _others.setdefault((location, ()), _shared(Storage.memory()))


def opened(location: str, options: tuple[tuple[str, Any], ...], *, create: bool) -> Storage:
    """Returns the storage at an absolute location. Stores with the same location and options share it.

    Raises `FileNotFoundError` for a directory that does not exist and must not be made.
    """
    _, adapters, is_path = (location, "", True) if _is_plain(location) else split_location(location)
    if is_path and (not adapters or os.path.exists(location)):
        of_directory = tuple((name, value) for name, value in options if name in DIRECTORY)
        storage = _directory(location, create, of_directory)
        if storage is None:
            raise FileNotFoundError(f"{location} does not exist")
        return storage
    in_flight = settings.in_flight()
    if in_flight is not None and "in_flight" not in dict(options) and not location.startswith("memory://"):
        options += (("in_flight", in_flight),)
    storage = _others.get((location, options))
    if storage is None:
        if location.startswith("memory://"):
            raise RuntimeError(f"{location} belongs to another process, or no store uses it any more")
        arguments = {name: value for name, value in options if name not in DIRECTORY}
        arguments["environment"] = dict(arguments.get("environment", os.environ))
        storage = _others.setdefault((location, options), _shared(Storage.at(location, **arguments)))
    return storage


def _is_plain(location: str) -> bool:
    """Whether a location is certainly the path of a directory: it has neither a scheme nor an adapter."""
    return not (":" in location or "|" in location or location.endswith(".zip"))


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def foreign(store: Store, loop: asyncio.AbstractEventLoop) -> Storage:
    """Returns a storage that sends its requests to a store of zarr-python, on its event loop."""
    helper = _InMemory(store) if type(store) is MemoryStore else _OnLoop(store, loop)
    return _shared(Storage.foreign(helper, settings.in_flight() or _IN_FLIGHT))


def _shared(storage: Storage) -> Storage:
    """Makes a new storage use the threads of the process."""
    storage.use_threads(settings.pool())
    return storage


def forget_parent() -> None:
    """Forgets the storages after a fork: their threads are not in this process, and their locks may be held forever."""
    for store in list(_all_opened):
        forget(store.storage)
        store.storage = None
    settings.forget_parent()
    forget(dict(_directories))
    _directories.clear()
    _others.clear()


class _InMemory:
    """The requests of a store in memory, which are answered at once."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._prototype = default_buffer_prototype()

    def get(self, key: str, ranges: Sequence[Range], reply: Reply) -> None:
        value = self._store._store_dict.get(key)
        if value is None:
            reply.done(None)
            return
        # Buffers may lie on another device; a slice of one copies no more than is asked for.
        spans = (slice(None) if r is None else slice(*r) for r in ranges)
        size = len(value)
        reply.done([value[slice(*span.indices(size))].to_bytes() for span in spans])

    def size(self, key: str, reply: Reply) -> None:
        value = self._store._store_dict.get(key)
        reply.done(None if value is None else len(value))

    def put(self, key: str, value: bytes, reply: Reply) -> None:
        self._store._check_writable()
        self._store._store_dict[key] = self._prototype.buffer.from_bytes(value)
        reply.done(None)

    def delete(self, key: str, reply: Reply) -> None:
        self._store._check_writable()
        self._store._store_dict.pop(key, None)
        reply.done(None)


class _OnLoop:
    """The requests of any other store, as coroutines on its event loop."""

    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._loop = loop
        self._prototype = default_buffer_prototype()

    def get(self, key: str, ranges: Sequence[Range], reply: Reply) -> None:
        self._start(self._get(key, ranges), reply)

    def size(self, key: str, reply: Reply) -> None:
        self._start(self._size(key), reply)

    def put(self, key: str, value: bytes, reply: Reply) -> None:
        self._start(self._store.set(key, self._prototype.buffer.from_bytes(value)), reply)

    def delete(self, key: str, reply: Reply) -> None:
        self._start(self._store.delete(key), reply)

    def _start(self, request: Coroutine[Any, Any, object], reply: Reply) -> None:
        asyncio.run_coroutine_threadsafe(_answer(request, reply), self._loop)

    async def _get(self, key: str, ranges: Sequence[Range]) -> list[bytes] | None:
        requests = (self._store.get(key, self._prototype, _asked(r)) for r in ranges)
        values = await asyncio.gather(*requests)
        # An object that is deleted between two ranges is missing.
        present = [value.to_bytes() for value in values if value is not None]
        return present if len(present) == len(values) else None

    async def _size(self, key: str) -> int | None:
        try:
            return await self._store.getsize(key)
        except FileNotFoundError:
            return None


async def _answer(request: Coroutine[Any, Any, object], reply: Reply) -> None:
    try:
        reply.done(await request)
    except BaseException as raised:
        reply.failed(raised)
        if not isinstance(raised, Exception):
            raise


def _asked(span: Range) -> ByteRequest | None:
    if span is None:
        return None
    start, end = span
    return SuffixByteRequest(-start) if end is None else RangeByteRequest(start, end)
