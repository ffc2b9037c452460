"""A store for zarr-python: directories, memory, ZIP archives, and services in the network."""

from __future__ import annotations

import asyncio
import functools
import os
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import zarr.abc.store
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import Buffer, default_buffer_prototype
from zarr.storage import ZipStore

from zarr_rs import places, stores
from zarr_rs._native import redacted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from typing import Self

    import numpy.typing as npt
    from zarr.abc.store import ByteRequest
    from zarr.core.buffer import BufferPrototype

    from zarr_rs._native import Request, Storage
    from zarr_rs.stores import Range


class Store(zarr.abc.store.Store):
    """A store of zarr-python whose requests are made by the engine. Arrays in it need no other store.

    `location` is

    - the path of a directory, or its URL `file:///data/a.zarr`. A store that is not read-only creates it;
    - `memory://`, a new store in memory, or `memory://name`, the store of that name in this process, as long as a
      `Store` uses it;
    - `s3://bucket/path`, `gs://bucket/path`, `az://container/path` (also `abfs` and `abfss`), `https://host/path`;
    - a ZIP archive, `a.zip|zip:` or `s3://bucket/a.zip|zip:path/in/it`, which is only read. The path of a file that ends
      in `.zip` means `|zip:`;
    - references of kerchunk, `a.json|kerchunk:`, `a.parq|kerchunk:` or `s3://bucket/a.json|kerchunk:path/in/it`, which are only read;
    - an Icechunk repository, `repo|icechunk:` or `s3://bucket/repo|icechunk:@tag.v1.0/path/in/it`, which is only read: its
      branch `main`, `@branch.NAME`, `@tag.NAME` or `@ID` of a snapshot;
    - references or a repository in an archive: `refs.zip|zip:a.json|kerchunk:`, `repo.zip|zip:|icechunk:`.

    `single_writer` says that no other store, process or program writes to the directory at the same time. Then no lock
    files are made, which saves up to a quarter of the time to write parts of small chunks; otherwise writers would lose
    updates of each other.

    `updates_in_place` says that a write of a part of an uncompressed chunk changes its file, instead of a copy that takes
    its place: for frequent small updates of large chunks. Such an update is not atomic. A reader beside it may see a part
    of it, and so may everybody after a crash; hard links to the file, such as those of a snapshot, change as well.

    `open_files` is the number of files that stay open after a part of them was read: for many small reads of the same
    chunks or shards, which then make two system calls instead of four. Each read checks that the file at the path is still
    the same.

    `durability` says what a power cut may do to a directory. `"atomic"`, the default: a document, and a chunk of which a part
    changes, is on the disk before it replaces the old one; what is new is there after `flush`. `"deferred"`: a power cut may
    also leave what was replaced empty, until `flush`; for very many changes that can be made again. `"durable"`: each
    object is on the disk when its write returns.

    The other arguments are for services:

    - `anonymous`: whether requests are not signed;
    - `endpoint`, `region`, `profile`: the address of the service, its region, the section of the user's configuration;
    - `environment`: the variables with credentials, named as for the tools of the services. Default: the environment of
      the process, in each process anew;
    - `in_flight`: the largest number of requests at once; `retries`: the largest number of retries of a request;
    - `timeout`: the longest time of a request with its retries, in seconds;
    - `forbidden_is_absent`: whether an object that a web server forbids to read counts as absent;
    - `redirects`: to which hosts the redirects of a web server are followed: `"public"`, the default, all with public
      addresses; `"same-host"`; `"never"`; `"to:a.example.org,b.company"`, these, which may be private.

    - `references`: the places that references may name, for `a.json|kerchunk:` and `repo|icechunk:`: such as `"s3://archive/"` or `["/data"]`, each
      with all that is below it. A `dict` has for each place where its content is now, or `None`.

    - `variables`: variables beside those of the environment, or in their place. If credentials are among them, those of
      the environment are not used.

    A pickled store has its location and these arguments, and no more: the content of a store in memory is only for its
    own process. Stores are equal if location and arguments are. `Store.wrap` makes one of any store of zarr-python.

    >>> import zarr, zarr_rs
    >>> store = zarr_rs.Store("memory://")
    >>> array = zarr.create_array(store, name="a", shape=(4,), chunks=(2,), dtype="i4")
    >>> array[:] = [1, 2, 3, 4]
    >>> zarr_rs.Store("s3://bucket/weather.zarr", region="eu-central-1", anonymous=True, read_only=True)
    Store('s3://bucket/weather.zarr')
    """

    def __init__(
        self,
        location: str | os.PathLike[str],
        *,
        read_only: bool = False,
        single_writer: bool = False,
        updates_in_place: bool = False,
        open_files: int = 0,
        durability: Literal["atomic", "deferred", "durable"] | None = None,
        anonymous: bool = False,
        endpoint: str | None = None,
        region: str | None = None,
        profile: str | None = None,
        environment: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        in_flight: int | None = None,
        retries: int | None = None,
        timeout: float | None = None,
        forbidden_is_absent: bool = False,
        redirects: str | None = None,
        references: str | Iterable[str] | Mapping[str, str | None] | None = None,
    ) -> None:
        super().__init__(read_only=read_only)
        location = os.fspath(location)
        is_memory = location.startswith("memory://")
        if location in ("memory://", "memory:///"):
            location = f"memory://{uuid.uuid4().hex}"
        self._location = location if is_memory else stores.absolute(location)
        given = {
            "single_writer": single_writer or None,
            "updates_in_place": updates_in_place or None,
            "open_files": open_files or None,
            "durability": durability,
            "anonymous": anonymous or None,
            "endpoint": endpoint,
            "region": region,
            "profile": profile,
            "environment": None if environment is None else tuple(sorted(environment.items())),
            "variables": tuple(sorted(variables.items())) if variables else None,
            "in_flight": in_flight,
            "retries": retries,
            "timeout": timeout,
            "forbidden_is_absent": forbidden_is_absent or None,
            "redirects": redirects,
            "references": _places(references),
        }
        self._options = tuple((name, value) for name, value in given.items() if value is not None)
        self._opened = stores.Opened(stores.memory(location) if is_memory else None)
        self._wrapped: zarr.abc.store.Store | None = None
        self._node = ""

    @classmethod
    def wrap(cls, store: zarr.abc.store.Store, *, read_only: bool | None = None, node: str = "") -> Self:
        """Returns the `Store` of a store of zarr-python. By default it is read-only if that is.

        - A `LocalStore`, and a `ZipStore` that is only read, become the directory and the archive.
        - An `ObjectStore` or `FsspecStore` whose whole configuration the engine's own client can express is read and
          written by this client, if both find the same document of the array or group at the path `node`.
        - Any other store, also a subclass of one above, is used by its own calls. Those that are asynchronous run on the
          event loop of zarr-python. Writers of the same chunk in threads of this process lose nothing of each other;
          those in several processes may.

        A store that is used by its own calls is pickled with the `Store`.

        >>> store = zarr_rs.Store.wrap(zarr.storage.MemoryStore())
        >>> zarr_rs.create_array(store, shape=(4,), chunks=(2,), dtype="i4")[:]
        array([0, 0, 0, 0], dtype=int32)
        """
        is_read_only = store.read_only if read_only is None else read_only or store.read_only
        if isinstance(store, cls):
            return store if store.read_only or not read_only else store.with_read_only(True)
        if places.is_directory(store):
            return cls(store.root, read_only=is_read_only)
        if type(store) is ZipStore and is_read_only and store._zmode == "r":
            return cls(f"{os.path.abspath(store.path)}|zip:", read_only=True)
        wrapped = cls.__new__(cls)
        wrapped.__setstate__({"wrapped": store, "node": node, "read_only": is_read_only})
        return wrapped

    def __getstate__(self) -> dict[str, Any]:
        if self._wrapped is not None:
            return {"wrapped": self._wrapped, "node": self._node, "read_only": self._read_only}
        return {"location": self._location, "options": self._options, "read_only": self._read_only}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__init__(read_only=state["read_only"])
        self._wrapped, self._node = state.get("wrapped"), state.get("node", "")
        if self._wrapped is None:
            self._location, self._options = state["location"], state["options"]
        else:
            self._location, self._options = stores.shown(self._wrapped), ()
        self._opened = stores.Opened()

    def with_read_only(self, read_only: bool = False) -> Self:
        store = type(self).__new__(type(self))
        store.__setstate__(self.__getstate__() | {"read_only": read_only})
        store._opened = self._opened
        return store

    @property
    def location(self) -> str:
        """The location. The path of a directory is absolute; a store in memory has a name, and any other store its text."""
        return self._location

    @property
    def wrapped(self) -> zarr.abc.store.Store | None:
        """The store of zarr-python that `wrap` got, unless it became a directory or an archive."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return False
        own, others = self.__getstate__(), other.__getstate__()
        return own | {"node": ""} == others | {"node": ""}

    def __hash__(self) -> int:
        return hash((self._location, self._options))

    def __str__(self) -> str:
        return redacted(self._location) if self._wrapped is None else self._location

    def __dask_tokenize__(self) -> Any:
        if self._wrapped is None:
            return type(self).__name__, self._location
        from dask.base import normalize_token

        return normalize_token(self._wrapped)

    def __repr__(self) -> str:
        return f"Store({str(self)!r})"

    def storage(self) -> Storage:
        """Returns the storage of the engine. Opens it at the first call."""
        if self._opened.storage is None and self._wrapped is not None:
            self._opened.storage = places.storage_of(self._wrapped, self._node, read_only=self.read_only)
        elif self._opened.storage is None:
            self._opened.storage = stores.opened(self._location, self._options, create=not self.read_only)
        return self._opened.storage

    async def _open(self) -> None:
        if self._is_open:
            raise ValueError("store is already open")
        await asyncio.to_thread(self.storage)
        self._is_open = True

    def _check_writable(self) -> None:
        super()._check_writable()
        if not self.storage().can_write:
            raise ValueError(f"{self} can only be read")

    @property
    def supports_writes(self) -> bool:
        # A client cannot be compared with a store on the event loop, where zarr-python asks this.
        return self.storage().can_write if self._wrapped is None else self._wrapped.supports_writes

    @property
    def supports_deletes(self) -> bool:
        return self.storage().can_write if self._wrapped is None else self._wrapped.supports_deletes

    @property
    def supports_listing(self) -> bool:
        return self.storage().can_list if self._wrapped is None else self._wrapped.supports_listing

    @property
    def supports_partial_writes(self) -> Any:
        return False

    @property
    def supports_consolidated_metadata(self) -> bool:
        return bool(getattr(self._wrapped, "supports_consolidated_metadata", True))

    async def set_partial_values(self, key_start_values: Iterable[tuple[str, int, Any]]) -> None:
        """Is not supported: objects are only written whole."""
        raise NotImplementedError("objects are only written whole")

    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        storage = await self._ready()
        return _first(await self._answer(storage.get(key, [_asked(byte_range)])), prototype)

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """As `get`, for programs without an event loop."""
        return _first(self.storage().get(key, [_asked(byte_range)]).wait(), prototype)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        """Returns parts of values. The parts of one value are one request, in which neighbours are joined."""
        storage = await self._ready()
        wanted = list(key_ranges)
        places: dict[str, list[int]] = {}
        for place, (key, _) in enumerate(wanted):
            places.setdefault(key, []).append(place)
        requests = (storage.get(key, [_asked(wanted[p][1]) for p in of]) for key, of in places.items())
        results: list[Buffer | None] = [None] * len(wanted)
        for of, values in zip(places.values(), await asyncio.gather(*map(self._answer, requests)), strict=True):
            for place, value in zip(of, values or (), strict=values is not None):
                results[place] = prototype.buffer.from_bytes(value)
        return results

    async def exists(self, key: str) -> bool:
        storage = await self._ready()
        return await self._answer(storage.size(key)) is not None

    async def getsize(self, key: str) -> int:
        storage = await self._ready()
        size: int | None = await self._answer(storage.size(key))
        if size is None:
            raise FileNotFoundError(key)
        return size

    async def getsize_prefix(self, prefix: str) -> int:
        storage = await self._ready()
        size: int = await self._answer(storage.size_below(prefix))
        return size

    async def set(self, key: str, value: Buffer) -> None:
        storage = await self._ready(writes=True)
        await self._answer(storage.put(key, _bytes(value), False))

    def set_sync(self, key: str, value: Buffer) -> None:
        """As `set`, for programs without an event loop."""
        self._check_writable()
        self.storage().put(key, _bytes(value), False).wait()

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        storage = await self._ready(writes=True)
        await self._answer(storage.put(key, _bytes(value), True))

    def flush(self) -> None:
        """Makes everything durable that was written to the store: a power cut leaves it as it is now."""
        self._check_writable()
        self.storage().sync().wait()

    async def delete(self, key: str) -> None:
        storage = await self._ready(writes=True)
        await self._answer(storage.delete(key))

    def delete_sync(self, key: str) -> None:
        """As `delete`, for programs without an event loop."""
        self._check_writable()
        self.storage().delete(key).wait()

    async def delete_dir(self, prefix: str) -> None:
        storage = await self._ready(writes=True)
        await self._answer(storage.delete_below(prefix))

    def list(self) -> AsyncIterator[str]:
        return self.list_prefix("")

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Yields the keys below `prefix`, in ascending order. `a/b` means `a/b/`."""
        storage = await self._ready()
        last, more = None, True
        while more:
            keys, more = await self._answer(storage.list(prefix, last))
            for key in keys:
                yield key
            last = keys[-1] if keys else None

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        storage = await self._ready()
        for name in await self._answer(storage.list_dir(prefix)):
            yield name

    async def _ready(self, *, writes: bool = False) -> Storage:
        if not self._is_open:
            await self._open()
        if writes:
            self._check_writable()
        return self.storage()

    async def _answer(self, request: Request) -> Any:
        """Waits for a request. Those of files do their work in a thread, all others are polled here."""
        if self.storage().is_inline and not self._location.startswith("memory://"):
            return await asyncio.to_thread(request.wait)
        loop = asyncio.get_running_loop()
        while True:
            woken = asyncio.Event()
            done = request.poll(functools.partial(loop.call_soon_threadsafe, woken.set))
            if done is not None:
                return done[0]
            await woken.wait()


def _asked(byte_range: ByteRequest | None) -> Range:
    match byte_range:
        case None:
            return None
        case RangeByteRequest(start, end):
            return start, end
        case OffsetByteRequest(offset):
            return offset, None
        case SuffixByteRequest(suffix):
            return (-suffix, None) if suffix > 0 else (0, 0)
        case _:
            raise ValueError(f"Unexpected byte_range, got {byte_range}.")


def _places(references: str | Iterable[str] | Mapping[str, str | None] | None) -> tuple[tuple[str, str | None], ...] | None:
    """Returns the places that references may name, each with where its content is."""
    if isinstance(references, str):
        references = (references,)
    moved = references if isinstance(references, Mapping) else dict.fromkeys(references or ())
    return tuple(sorted(moved.items())) or None


def _first(values: list[Any] | None, prototype: BufferPrototype | None) -> Buffer | None:
    prototype = prototype or default_buffer_prototype()
    return None if values is None else prototype.buffer.from_bytes(values[0])


def _bytes(value: Buffer) -> npt.NDArray[np.uint8]:
    if not isinstance(value, Buffer):
        raise TypeError(f"Store.set(): `value` must be a Buffer instance. Got an instance of {type(value)} instead.")
    return np.ascontiguousarray(value.as_numpy_array()).view(np.uint8)
