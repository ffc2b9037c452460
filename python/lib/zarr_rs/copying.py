"""Copies of arrays and hierarchies, and destinations that are brought up to date."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import importlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict

from zarr_rs import _native, stores, waiting
from zarr_rs.arguments import named
from zarr_rs.array import Array
from zarr_rs.errors import ArgumentError, NotFoundError, UnsupportedError
from zarr_rs.nodes import Node, storage
from zarr_rs.opening import open, store_of
from zarr_rs.selections import orthogonal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Unpack

    from zarr_rs._native import Look, Storage
    from zarr_rs.group import Group
    from zarr_rs.opening import Location
    from zarr_rs.selections import Entry
    from zarr_rs.store import Store

    #: A shape, its text, lengths of several chunks in a dimension, or lengths by the names of dimensions.
    Lengths = int | str | Sequence[int | Sequence[Any]] | Mapping[str, int]
    #: The text of a list, names and documents of codecs, or the members `compressor` and `filters` of format 2.
    Codecs = str | Sequence[str | Mapping[str, Any]] | Mapping[str, Any]


class Bar(Protocol):
    """A progress bar, as those of tqdm are."""

    def update(self, n: float = ...) -> Any:
        """Adds bytes that are done."""

    def close(self) -> Any:
        """Ends the bar."""


if TYPE_CHECKING:
    #: Whether a bar of tqdm is shown, or what makes a bar: `tqdm.tqdm` or its like.
    Progress = bool | Callable[..., Bar]


class Changes(TypedDict, total=False):
    """The arguments of `plan_copy`."""

    zarr_format: Literal[2, 3] | None
    chunks: Lengths | None
    shards: Lengths | None
    codecs: Codecs | None
    target_chunk_size: int | None
    rules: Mapping[str, Mapping[str, Any]] | None
    include: Iterable[str]
    exclude: Iterable[str]
    select: Any
    max_memory: int | None


class CopyOptions(Changes, total=False):
    """The arguments of `copy`."""

    resume: bool
    verify: bool
    join: str | None
    lease: float
    progress: Progress


@dataclasses.dataclass(frozen=True)
class Estimate:
    """What the copy of an array will do. Chunks that are not stored count as well."""

    #: How many times all elements are read and written.
    passes: int
    #: The number of reads of chunks or shards of the source.
    reads: int
    #: The number of writes of chunks or shards of the copy.
    writes: int
    #: The number of decoded bytes that are read.
    bytes_read: int
    #: The number of bytes of elements that are written.
    bytes_written: int
    #: The size of an intermediate array beside the copy, in bytes: 0 with one pass.
    intermediate: int
    #: The largest memory in bytes.
    memory: int


@dataclasses.dataclass(frozen=True)
class Copied:
    """What a copy did."""

    #: The number of stored objects that were copied without decoding, and their bytes.
    objects: int
    object_bytes: int
    #: The number of bytes that were compared, with `verify`.
    compared: int
    #: Whether an earlier run had completed the copy, so that nothing was copied.
    was_complete: bool
    #: With `join`: the number of parts that this process copied, and the bytes of their elements.
    units: int = 0
    unit_bytes: int = 0


@dataclasses.dataclass(frozen=True)
class Synced:
    """The numbers of stored objects that `sync` has found, each with their bytes."""

    #: Objects that the destination lacked.
    new: tuple[int, int]
    #: Objects that differed.
    changed: tuple[int, int]
    #: Objects that were equal.
    unchanged: tuple[int, int]
    #: Objects that were deleted.
    deleted: tuple[int, int]
    #: Objects that only the destination has, and that stay.
    left: tuple[int, int]


class CopyPlan:
    """A copy that `plan_copy` has planned. Nothing is written before `run`."""

    def __init__(self, plan: _native.CopyPlan) -> None:
        self._plan = plan

    @property
    def notes(self) -> list[str]:
        """What you should know of the copy, such as lossy codecs and coordinates that keep their chunks."""
        return self._plan.notes

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self._plan.bytes

    @property
    def arrays(self) -> dict[str, Estimate | None]:
        """What the copy of each array will do, by path. `None` if its objects are copied without decoding."""
        return {path: None if numbers is None else Estimate(**numbers) for path, numbers in self._plan.arrays}

    def run(
        self,
        destination: Location,
        path: str = "/",
        *,
        resume: bool = False,
        verify: bool = False,
        join: str | None = None,
        lease: float = 60,
        progress: Progress = False,
    ) -> Copied:
        """Makes the copy. The arguments are those of `zarr_rs.copy`."""
        store, path = store_of(destination, path, {}, "r+")
        if join is not None and resume:
            raise ArgumentError("a copy that processes join is resumed in any case")
        if join is not None and store.wrapped is not None:
            raise UnsupportedError(f"{store}: processes cannot join a copy to it, because the store keeps no writers apart")
        to = _storage(store, writable=True)
        with _bar(progress, self.nbytes * (2 if verify else 1)) as look:
            if join is None:
                numbers = self._plan.run(to, path, resume, verify, look)
            else:
                numbers = self._plan.join(to, path, join, datetime.timedelta(seconds=lease), verify, look)
        was_complete = bool(numbers.pop("was_complete"))
        return Copied(was_complete=was_complete, **numbers)

    def __repr__(self) -> str:
        return f"<zarr_rs.CopyPlan of {len(self._plan.arrays)} arrays, {self.nbytes} bytes>"


@named(Changes)
def copy(
    source: Location | Array | Group,
    destination: Location,
    path: str = "/",
    *,
    resume: bool = False,
    verify: bool = False,
    join: str | None = None,
    lease: float = 60,
    progress: Progress = False,
    **changes: Unpack[Changes],
) -> Copied:
    """Copies an array, or a group with everything below it, to a path of another store or of the same.

    The copy keeps everything that `changes` do not name: these are the arguments of `plan_copy`, such as `chunks`, which
    rechunks in bounded memory. Stored objects of arrays that stay as they are are copied without decoding. The copy is a
    node when it is complete. Ctrl-C ends the call; what is copied stays for `resume`.

    Parameters
    ----------
    source
        An array or a group, or the location of one.
    destination, path
        The store of the copy, and its path there.
    resume
        Whether to continue an interrupted run of the same copy, or begin if there is none.
    verify
        Whether to read source and copy again and compare them, before the copy becomes a node.
    join
        The name of a job. Any number of processes, on any machines that see both places, run the same call. Each copies
        what no other has claimed, and what dead ones have left. All return when the copy is complete. They need no server.
    lease
        The time in seconds after which a process without a sign of life counts as dead.
    progress
        `True` for a progress bar of tqdm, or what makes a bar, such as `tqdm.tqdm`.
    **changes
        What differs from the source: the arguments of `plan_copy`.

    Returns
    -------
    Copied

    Raises
    ------
    ExistsError
        Something is at the destination.
    DiffersError
        A comparison failed.

    Examples
    --------
    >>> a = zarr_rs.create_array("memory://", shape=(365, 180, 360), chunks=(1, 180, 360), dtype="i2")
    >>> series = zarr_rs.Store("memory://series")
    >>> zarr_rs.copy(a, series, chunks=(365, 10, 10), codecs="zstd:5").was_complete
    False
    >>> zarr_rs.open_array(series).chunks
    (365, 10, 10)
    """
    plan = plan_copy(source, **changes)
    return plan.run(destination, path, resume=resume, verify=verify, join=join, lease=lease, progress=progress)


@named(CopyOptions)
async def copy_async(
    source: Location | Array | Group, destination: Location, path: str = "/", **options: Unpack[CopyOptions]
) -> Copied:
    """As `copy`, for async programs. The work is done in threads of the package."""
    return await waiting.run(copy, source, destination, path, **options)


def plan_copy(
    source: Location | Array | Group,
    *,
    zarr_format: Literal[2, 3] | None = None,
    chunks: Lengths | None = None,
    shards: Lengths | None = None,
    codecs: Codecs | None = None,
    target_chunk_size: int | None = None,
    rules: Mapping[str, Mapping[str, Any]] | None = None,
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    select: Any = None,
    max_memory: int | None = None,
) -> CopyPlan:
    """Plans a copy: says what `copy` would do, and what it costs. Reads only metadata documents.

    Parameters
    ----------
    source
        An array or a group, or the location of one.
    zarr_format
        The format of the copy, 2 or 3. By default that of the source.
    chunks
        The shape of chunks, in shards of inner chunks; or lengths by the names of dimensions, `{"time": 24}`. Arrays of
        another rank, or without these dimensions, keep their chunks.
    shards
        The shape of shards; `"none"` stores each chunk as an object.
    codecs
        The whole chain of codecs as in `create_array`, or a text such as `"zstd:5"`, `"blosc:lz4:5:shuffle"`.
    target_chunk_size
        The largest size in bytes of chunks whose shape is not given.
    rules
        Chunks, shards and codecs for some arrays, by patterns of their paths: `{"**/t2m": {"chunks": {"time": 24}}}`. The
        first pattern that matches counts.
    include, exclude
        Patterns of the paths of nodes below the source that are copied, or left out. `*` matches within a name, `**/`
        matches any groups.
    select
        What to copy of an array, as in `a.oindex[...]`; or of all arrays in a group, by the names of dimensions:
        `{"time": slice(0, 24), "level": [0, 3]}`. All dimensions stay.
    max_memory
        The memory in bytes for elements and chunks. By default 512 MiB, or as much as a chunk needs.

    Returns
    -------
    CopyPlan

    Examples
    --------
    >>> a = zarr_rs.create_array("memory://", shape=(64, 64), chunks=(1, 64), dtype="f4", dimension_names=("y", "x"))
    >>> plan = zarr_rs.plan_copy(a, chunks={"y": 64, "x": 4}, select={"x": slice(0, 32)})
    >>> plan.arrays["/"].reads, plan.arrays["/"].writes
    (64, 8)
    """
    node = source if isinstance(source, Node) else open(source)
    positions = {} if select is None else _selected(node, select)
    settings = {
        "name": f"{node.store}{node.name}",
        "zarr_format": zarr_format,
        "chunks": _text(chunks),
        "shards": _text(shards),
        "codecs": _codecs(codecs),
        "target_chunk_size": target_chunk_size,
        "rules": [_rule(pattern, rule) for pattern, rule in (rules or {}).items()],
        "include": list(include),
        "exclude": list(exclude),
        "select": positions if isinstance(positions, list) else None,
        "dimensions": list(positions.items()) if isinstance(positions, dict) else [],
        "max_memory": max_memory,
    }
    return CopyPlan(_native.plan_copy(_storage(node.store, writable=False), node.name, settings))


def sync(
    source: Location | Array | Group,
    destination: Location,
    path: str = "/",
    *,
    delete: bool = False,
    by_size: bool = False,
    dry_run: bool = False,
    force: bool = False,
    progress: Progress = False,
) -> Synced:
    """Makes a node equal to the source, and writes only the stored objects that differ.

    Chunks are written before metadata, and deleted after it, so that readers of the destination find no missing chunk.

    What cannot be seen in the source, such as a link to a disk that is not mounted, is an error and deletes nothing. So is
    a link to a directory below the destination.

    Parameters
    ----------
    source
        An array or a group, or the location of one.
    destination, path
        The store that is written, and the path there.
    delete
        Whether to delete what the source lacks.
    by_size
        Whether chunks of the same size are taken as equal, and not read.
    dry_run
        Whether to compare only, and write nothing.
    force
        Whether metadata that can be read is replaced also by metadata that cannot, such as an empty document.
    progress
        `True` for a progress bar of tqdm, or what makes a bar, such as `tqdm.tqdm`.

    Returns
    -------
    Synced

    Examples
    --------
    >>> a = zarr_rs.create_array("memory://", shape=(4,), chunks=(2,), dtype="i2", overwrite=True)
    >>> a[:] = 5
    >>> backup = zarr_rs.Store("memory://backup")
    >>> zarr_rs.sync(a, backup).new[0], zarr_rs.sync(a, backup).unchanged[0]
    (3, 3)
    """
    node = source if isinstance(source, Node) else open(source)
    store, path = store_of(destination, path, {}, "r+")
    to, from_ = _storage(store, writable=True), _storage(node.store, writable=False)
    with _bar(progress, None) as look:
        found = _native.mirror(from_, node.name, to, path, delete, by_size, dry_run, force, look)
    return Synced(**found)


def _storage(store: Store, *, writable: bool) -> Storage:
    """Returns the storage of a store for a call that does its work in another thread, and blocks this one."""
    if store.wrapped is not None:
        stores.check_caller()
    return storage(store, writable=writable)


def _selected(node: Array | Group, select: Any) -> list[Entry] | dict[str, Entry]:
    """Returns the selected positions: a list for an array, or by the names of dimensions."""
    if not isinstance(select, Mapping):
        if not isinstance(node, Array):
            raise ArgumentError("select: a group is selected by the names of dimensions, {'time': slice(0, 24)}")
        entries = orthogonal(select, node.shape).entries
        return [_kept(entry) for entry in entries]
    arrays = [node] if isinstance(node, Array) else list(node.array_values())
    lengths = {name: length for array in arrays for name, length in zip(array._dimensions, array.shape, strict=False)}
    selected = {}
    for name, key in select.items():
        if name not in lengths:
            known = ", ".join(repr(name) for name in lengths if name) or "no names"
            raise NotFoundError(f"select: there is no dimension {name!r}; the arrays have {known}")
        selected[name] = _kept(orthogonal(key, (lengths[name],)).entries[0])
    if isinstance(node, Array):
        sides = zip(node._dimensions, node.shape, strict=True)
        return [selected.get(name or "", (0, length, 1)) for name, length in sides]
    return selected


def _kept(entry: Entry) -> Entry:
    """Returns an entry that keeps its dimension."""
    return (entry, entry + 1, 1) if isinstance(entry, int) else entry


def _rule(pattern: str, rule: Mapping[str, Any]) -> tuple[str, str | None, str | None, str | None]:
    if unknown := rule.keys() - {"chunks", "shards", "codecs"}:
        raise ArgumentError(f"rules: {sorted(unknown)[0]!r} is not one of chunks, shards and codecs")
    return pattern, _text(rule.get("chunks")), _text(rule.get("shards")), _codecs(rule.get("codecs"))


def _text(lengths: Lengths | None) -> str | None:
    match lengths:
        case None | str():
            return lengths
        case Mapping():
            return ",".join(f"{name}={length}" for name, length in lengths.items())
        case Sequence():
            return json.dumps(list(lengths), default=int)
        case _:
            return str(int(lengths))


def _codecs(codecs: Codecs | None) -> str | None:
    if codecs is None or isinstance(codecs, str):
        return codecs
    return json.dumps(dict(codecs) if isinstance(codecs, Mapping) else list(codecs))


@contextlib.contextmanager
def _bar(progress: Progress, total: int | None) -> Iterator[Look | None]:
    """Shows a progress bar. Yields what is called with the bytes that are done, and the place."""
    if not progress:
        yield None
        return
    make = _tqdm() if progress is True else progress
    bar = make(total=total, unit="B", unit_scale=True, unit_divisor=1024)
    shown = 0

    def look(done: int, place: str) -> None:
        nonlocal shown
        bar.update(done - shown)
        shown = done

    try:
        yield look
        look(max(shown, total or 0), "")
    finally:
        bar.close()


def _tqdm() -> Callable[..., Bar]:
    """Returns the bar of tqdm that fits a terminal or a notebook."""
    try:
        auto = importlib.import_module("tqdm.auto")
    except ImportError:
        raise ArgumentError("progress=True needs tqdm: pip install tqdm") from None
    bar: Callable[..., Bar] = auto.tqdm
    return bar
