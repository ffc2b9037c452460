"""The storages of the engine that this process has opened: for stores of zarr-python, and for locations."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import re
import weakref
from typing import TYPE_CHECKING, Any

import zarr.abc.store
from zarr.abc.store import RangeByteRequest, Store, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import _get_loop
from zarr.storage import MemoryStore, WrapperStore

from zarr_rs import settings, waiting
from zarr_rs._native import Reply, Storage, forget, split_location
from zarr_rs.errors import of_kind

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from zarr.abc.store import ByteRequest
    from zarr.core.buffer import Buffer

#: The whole object, from start to end, or the last -start bytes.
Range = tuple[int, int | None] | None

#: Says whether a store has synchronous methods, as for zarr-python's own pipeline. Older versions have no such stores.
_supports_sync_io: Callable[[Store], bool] | None = getattr(zarr.abc.store, "_store_supports_sync_io", None)

#: The largest number of requests at once that a store of zarr-python gets, as by zarr-python's default.
_IN_FLIGHT = 10

#: The options of a directory. All other options are for services.
DIRECTORY = ("single_writer", "updates_in_place", "open_files", "durability")

#: The storages of directories by path and options, with the identity of the directory.
_directories: dict[tuple[str, tuple[tuple[str, Any], ...]], tuple[tuple[int, int], Storage]] = {}

#: The storages of all other locations, by location and options.
_others: weakref.WeakValueDictionary[tuple[str, Any], Storage] = weakref.WeakValueDictionary()

#: The storages of stores of zarr-python, by the identities of store and event loop. A storage keeps both alive.
_foreign: weakref.WeakValueDictionary[tuple[int, ...], Storage] = weakref.WeakValueDictionary()

#: Variables that decide who sends a request. If one of them is given, those of the environment are not used.
_CREDENTIALS = {
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_PROFILE",
    "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AZURE_STORAGE_ACCOUNT_KEY",
    "AZURE_STORAGE_CONNECTION_STRING",
    "AZURE_STORAGE_SAS_KEY",
    "AZURE_CLIENT_ID",
    "AZURE_CLIENT_SECRET",
    "AZURE_TENANT_ID",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
}

#: Stores whose `get_partial_values` takes less than a call of `get` for each range, by package and class. Others have none, or
#: read one range after another.
_READ_RANGES = {("zarr", "FsspecStore"), ("icechunk", "IcechunkStore")}

#: The documents of nodes. Everything else that a store lists may be the folder of a node.
_DOCUMENTS = {"zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"}

#: Names of users, passwords and queries of URLs in a text.
_SECRETS = re.compile(r"(?<=://)[^/@\s]*@|\?[^\s)>\]'\"]*")

_logger = logging.getLogger("zarr_rs.store")


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
    return _others.setdefault((location, ()), _shared(Storage.memory(location)))


def opened(location: str, options: tuple[tuple[str, Any], ...], *, create: bool) -> Storage:
    """Returns the storage at an absolute location. Stores with the same location and options share it.

    Raises `FileNotFoundError` for a directory that does not exist and must not be made.
    """
    _, adapters, is_path = (location, "", True) if _is_plain(location) else split_location(location)
    if is_path and (not adapters or os.path.exists(location)):
        of_directory = tuple((name, value) for name, value in options if name in DIRECTORY)
        storage = _directory(location, create, of_directory)
        if storage is None:
            raise of_kind("NotFound", f"{location} does not exist", None, None, None, (None, location, location))
        return storage
    in_flight = settings.in_flight()
    if in_flight is not None and "in_flight" not in dict(options) and not location.startswith("memory://"):
        options += (("in_flight", in_flight),)
    storage = _others.get((location, options))
    if storage is None:
        if location.startswith("memory://"):
            raise RuntimeError(f"{location} belongs to another process, or no store uses it any more")
        arguments = {name: value for name, value in options if name not in DIRECTORY}
        variables = dict(arguments.pop("variables", ()))
        others = dict(arguments.get("environment", os.environ))
        if variables.keys() & _CREDENTIALS:
            others = {name: value for name, value in others.items() if name not in _CREDENTIALS}
        arguments["environment"] = others | variables
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


def foreign(store: Store, loop: asyncio.AbstractEventLoop | None = None) -> Storage:
    """Returns the storage that sends its requests to a store of zarr-python, on an event loop.

    Without a loop it is that of zarr-python, to which the sessions of its stores belong. Storages of the same store and
    loop are the same, and so are those of one `dict` in memory: writers in threads lose no updates of each other.
    """
    can_write = store.supports_writes and not store.read_only
    if type(store) is MemoryStore:
        key: tuple[int, ...] = (id(store._store_dict), can_write)
    else:
        loop = loop or _get_loop()
        key = (id(store), id(loop))
    storage = _foreign.get(key)
    if storage is None:
        if type(store) is MemoryStore:
            helper: _InMemory | _OnLoop = _InMemory(store)
        else:
            helper = (_InThreads if _is_synchronous(store) else _OnLoop)(store, loop or _get_loop())
        made = Storage.foreign(
            helper,
            shown(store),
            in_flight=None if type(store) is MemoryStore else settings.in_flight() or _IN_FLIGHT,
            can_list=store.supports_listing,
            can_write=can_write,
        )
        storage = _foreign.setdefault(key, _shared(made))
        _logger.debug("%s is used by its own calls: writers in other processes are not kept apart", shown(store))
    return storage


def shown(store: Store) -> str:
    """Returns the name of a store for messages, without secrets."""
    return _SECRETS.sub("", " ".join(str(store).split()))


def _is_synchronous(store: Store) -> bool:
    """Whether a store has synchronous methods that do the same as its coroutines.

    Many wrappers override only the coroutines, to count or to change all requests.
    """
    if _supports_sync_io is None or not _supports_sync_io(store):
        return False

    def depth(name: str) -> int:
        """The number of classes above the one that defines a method."""
        return next(depth for depth, kind in enumerate(type(store).__mro__) if name in vars(kind))

    if any(depth(name) < depth(f"{name}_sync") for name in ("get", "set", "delete")):
        return False
    return not isinstance(store, WrapperStore) or _is_synchronous(store._store)


def _reads_ranges(kind: type[Store]) -> bool:
    """Whether ranges of a value are read at once. A class that overrides `get` must get each of them."""
    found = next(part for part in kind.__mro__ if {"get", "get_partial_values"} & vars(part).keys())
    return (found.__module__.partition(".")[0], found.__name__) in _READ_RANGES


def check_caller(loop: asyncio.AbstractEventLoop | None = None) -> None:
    """Refuses a call that would wait forever: one that blocks the event loop on which it waits for a store."""
    if asyncio._get_running_loop() is (loop or _get_loop()):
        raise RuntimeError("this thread runs the store's event loop: use read_async, write_async or open_async")


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
    _foreign.clear()


class _InMemory:
    """The requests of a store in memory, which are answered at once."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._values = store._store_dict
        self._prototype = default_buffer_prototype()

    def get(self, key: str, ranges: Sequence[Range], reply: Reply) -> None:
        value = self._values.get(key)
        if value is None:
            reply.done(None)
            return
        # Buffers may lie on another device; a slice of one copies no more than is asked for.
        spans = (slice(None) if r is None else slice(*r) for r in ranges)
        size = len(value)
        reply.done([_content(value[slice(*span.indices(size))]) for span in spans])

    def size(self, key: str, reply: Reply) -> None:
        value = self._values.get(key)
        reply.done(None if value is None else len(value))

    def put(self, key: str, value: bytes, create: bool, reply: Reply) -> None:
        self._store._check_writable()
        buffer = self._prototype.buffer.from_bytes(value)
        if create:
            reply.done(self._values.setdefault(key, buffer) is buffer)
        else:
            self._values[key] = buffer
            reply.done(True)

    def delete(self, key: str, reply: Reply) -> None:
        self._store._check_writable()
        self._values.pop(key, None)
        reply.done(None)

    def list_prefix(self, prefix: str, reply: Reply) -> None:
        reply.done(self._below(prefix))

    def list_dir(self, prefix: str, reply: Reply) -> None:
        names = [key[len(prefix) :].partition("/") for key in self._below(prefix)]
        objects = [name for name, slash, _ in names if not slash]
        reply.done((objects, sorted({name for name, slash, _ in names if slash})))

    def delete_prefix(self, prefix: str, reply: Reply) -> None:
        self._store._check_writable()
        for key in self._below(prefix):
            self._values.pop(key, None)
        reply.done(None)

    def _below(self, prefix: str) -> list[str]:
        # A list is made at once, so other threads may change the dict.
        return [key for key in list(self._values) if key.startswith(prefix)]


class _OnLoop:
    """The requests of any other store, as coroutines on its event loop."""

    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop) -> None:
        self._store = store
        self._loop = loop
        self._prototype = default_buffer_prototype()
        self._opening = asyncio.Lock()
        self._reads_ranges = _reads_ranges(type(store))

    def get(self, key: str, ranges: Sequence[Range], reply: Reply) -> None:
        self._start(reply, self._get, key, ranges)

    def size(self, key: str, reply: Reply) -> None:
        self._start(reply, self._size, key)

    def put(self, key: str, value: bytes, create: bool, reply: Reply) -> None:
        self._start(reply, self._put, key, value, create)

    def delete(self, key: str, reply: Reply) -> None:
        self._start(reply, self._store.delete, key)

    def list_prefix(self, prefix: str, reply: Reply) -> None:
        self._start(reply, self._list, prefix)

    def list_dir(self, prefix: str, reply: Reply) -> None:
        self._start(reply, self._list_dir, prefix)

    def delete_prefix(self, prefix: str, reply: Reply) -> None:
        self._start(reply, self._store.delete_dir, prefix.rstrip("/"))

    def _start(self, reply: Reply, work: Callable[..., Coroutine[Any, Any, object]], *arguments: Any) -> None:
        if not reply.is_awaited:
            check_caller(self._loop)
        asyncio.run_coroutine_threadsafe(self._answer(reply, work, *arguments), self._loop)

    async def _answer(self, reply: Reply, work: Callable[..., Coroutine[Any, Any, object]], *arguments: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            reply.cancel_with(functools.partial(self._loop.call_soon_threadsafe, task.cancel))
            if not self._store._is_open:
                async with self._opening:
                    await self._store._ensure_open()
            reply.done(await work(*arguments))
        except BaseException as raised:
            reply.failed(raised)
            if not isinstance(raised, Exception):
                raise

    async def _get(self, key: str, ranges: Sequence[Range]) -> list[bytes] | None:
        if self._reads_ranges and len(ranges) > 1 and all(span is None or span[0] != span[1] for span in ranges):
            found = await self._get_at_once(key, ranges)
            if found is not None:
                return found
        values = await asyncio.gather(*(self._range(key, r) for r in ranges))
        # An object that is deleted between two ranges is missing.
        return _present(values)

    async def _get_at_once(self, key: str, ranges: Sequence[Range]) -> list[bytes] | None:
        """Reads ranges in one call. Returns `None` if the object is missing or the call failed: `get` then says which."""
        try:
            values = await self._store.get_partial_values(self._prototype, [(key, _asked(span)) for span in ranges])
        except Exception:  # icechunk raises a TypeError for an object that is missing
            return None
        return _present([None if value is None else _content(value) for value in values])

    async def _range(self, key: str, span: Range) -> bytes | None:
        if span is not None and span[0] == span[1]:
            # Many stores refuse an empty range.
            return b"" if await self._store.exists(key) else None
        try:
            value = await self._store.get(key, self._prototype, _asked(span))
        except (FileNotFoundError, KeyError):
            return None
        return None if value is None else _content(value)

    async def _size(self, key: str) -> int | None:
        try:
            return await self._store.getsize(key)
        except (FileNotFoundError, KeyError):
            return None

    async def _put(self, key: str, value: bytes, create: bool) -> bool:
        buffer = self._prototype.buffer.from_bytes(value)
        if not create:
            await self._store.set(key, buffer)
        elif await self._store.exists(key):
            return False
        else:
            await self._store.set_if_not_exists(key, buffer)
        return True

    async def _list(self, prefix: str) -> list[str]:
        try:
            return [key async for key in self._store.list_prefix(prefix)]
        except Exception as raised:
            await self._check_absent(prefix, raised)
            return []

    async def _list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """Returns the documents, and everything else: a store does not say which names are those of folders."""
        try:
            names = {name.strip("/") async for name in self._store.list_dir(prefix.rstrip("/"))}
        except Exception as raised:
            await self._check_absent(prefix, raised)
            return [], []
        return sorted(names & _DOCUMENTS), sorted(names - _DOCUMENTS - {""})

    async def _check_absent(self, prefix: str, raised: Exception) -> None:
        """Raises the exception of a listing, unless there is no such folder: some stores list only below their nodes."""
        if isinstance(raised, FileNotFoundError | NotADirectoryError):
            return
        documents = (self._store.exists(prefix + name) for name in sorted(_DOCUMENTS))
        there = await asyncio.gather(*documents, return_exceptions=True)
        # Some stores raise an exception for documents of the other format, too.
        if isinstance(raised, OSError) or True in there or False not in there:
            raise raised


class _InThreads(_OnLoop):
    """The requests of a store with synchronous methods: reads and writes in threads, all others on the event loop."""

    _store: Any

    def get(self, key: str, ranges: Sequence[Range], reply: Reply) -> None:
        if any(span is not None and span[0] == span[1] for span in ranges):
            super().get(key, ranges, reply)
        else:
            self._request(reply, self._get_now, key, ranges)

    def put(self, key: str, value: bytes, create: bool, reply: Reply) -> None:
        if create:
            super().put(key, value, create, reply)
        else:
            self._request(reply, self._put_now, key, value)

    def delete(self, key: str, reply: Reply) -> None:
        self._request(reply, self._store.delete_sync, key)

    def _request(self, reply: Reply, work: Callable[..., object], *arguments: Any) -> None:
        def done(result: object, raised: BaseException | None) -> None:
            if raised is None:
                reply.done(result)
            else:
                reply.failed(raised)

        waiting.request(functools.partial(work, *arguments), done)

    def _get_now(self, key: str, ranges: Sequence[Range]) -> list[bytes] | None:
        values = []
        for span in ranges:
            try:
                value = self._store.get_sync(key, prototype=self._prototype, byte_range=_asked(span))
            except (FileNotFoundError, KeyError):
                return None
            if value is None:
                return None
            values.append(_content(value))
        return values

    def _put_now(self, key: str, value: bytes) -> bool:
        self._store.set_sync(key, self._prototype.buffer.from_bytes(value))
        return True


def _present(values: list[bytes | None]) -> list[bytes] | None:
    """Returns the ranges of an object, or `None` if one of them is missing."""
    present = [value for value in values if value is not None]
    return present if len(present) == len(values) else None


def _content(value: Buffer) -> bytes:
    """Returns the bytes of a buffer. Those that a store has received as `bytes` are not copied.

    Memory of other owners, such as that of obstore, is copied once: the engine keeps bytes while other threads run, and to
    refer to memory that Python may change needs `unsafe`, which is only in zarr-strided.
    """
    array: Any = value.as_array_like()
    base = getattr(array, "base", None)
    if type(base) is bytes and array.nbytes == len(base) and array.strides == (1,):
        return base
    return value.to_bytes()


def _asked(span: Range) -> ByteRequest | None:
    if span is None:
        return None
    start, end = span
    return SuffixByteRequest(-start) if end is None else RangeByteRequest(start, end)
