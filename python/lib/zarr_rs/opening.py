"""Opens and creates arrays and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from zarr_rs import _native, waiting
from zarr_rs.array import Array
from zarr_rs.errors import NotFoundError
from zarr_rs.group import Group, node
from zarr_rs.new import new_array, new_group
from zarr_rs.nodes import storage
from zarr_rs.store import Store

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    #: A path, a URL, or a store.
    Location = str | os.PathLike[str] | Store
    #: Reading, or reading and writing. Both need a node that exists.
    Mode = Literal["r", "r+"]


def open(
    location: Location,
    path: str = "/",
    *,
    mode: Mode = "r",
    zarr_format: Literal[2, 3] | None = None,
    use_consolidated: bool | None = None,
    **access: Any,
) -> Array | Group:
    """Opens the array or group at a path in a store.

    `location` is a store, or what `zarr_rs.Store` takes; `access` are its other arguments. Without `zarr_format`, format 3
    is tried first. Consolidated metadata is used if it is there, must be there if `use_consolidated` is true, and is
    ignored if it is false.

    Metadata of which another program may read other values is a warning of class `ZarrDiagnostic`. Deviations from the
    specification that do no harm are records of the logger `zarr_rs.metadata`, and in `diagnostics` of the node.

    Raises `NotFoundError`, a `FileNotFoundError` and `KeyError`, if there is no node.

    >>> g = zarr_rs.create_group("memory://example")
    >>> zarr_rs.open("memory://example")
    <zarr_rs.Group '/' in memory://example>
    """
    store = store_of(location, access, mode)
    handle = _native.open_node(
        storage(store, writable=mode != "r"), path, zarr_format=zarr_format, use_consolidated=use_consolidated
    )
    return node(store, handle, writable=mode != "r")._diagnosed()


async def open_async(location: Location, path: str = "/", **options: Any) -> Array | Group:
    """As `open`, for async programs. The work is done in threads of the package."""
    return await waiting.run(open, location, path, **options)


def open_array(location: Location, path: str = "/", **options: Any) -> Array:
    """Opens an array, as `open` does."""
    found = open(location, path, **options)
    if not isinstance(found, Array):
        raise NotFoundError(f"node {found.path!r} is a group, not an array")
    return found


def open_group(location: Location, path: str = "/", **options: Any) -> Group:
    """Opens a group, as `open` does."""
    found = open(location, path, **options)
    if not isinstance(found, Group):
        raise NotFoundError(f"node {found.path!r} is an array, not a group")
    return found


def create_array(
    location: Location,
    path: str = "/",
    *,
    shape: int | Sequence[int],
    dtype: Any,
    chunks: int | Sequence[int] | None = None,
    shards: int | Sequence[int] | None = None,
    codecs: Iterable[Any] | None = None,
    fill_value: Any = None,
    dimension_names: Sequence[str | None] | None = None,
    attributes: Mapping[str, Any] | None = None,
    zarr_format: Literal[2, 3] = 3,
    overwrite: bool = False,
    **access: Any,
) -> Array:
    """Creates an array, and the groups above it that are missing.

    - `dtype`: a type of NumPy, or a name or document of a data type of Zarr, such as `"string"`;
    - `chunks`, `shards`: their shapes. Without them, chunks of a good size are chosen;
    - `codecs`: names or documents of codecs: `["zstd"]`, `[{"name": "gzip", "configuration": {"level": 5}}]`;
    - `fill_value`: the value of elements that are not stored. By default 0 or its like;
    - `overwrite`: whether a node that is there is deleted first. Otherwise it is an `ExistsError`.

    >>> a = zarr_rs.create_array("memory://", shape=(100, 80), dtype="f4", chunks=(10, 80), shards=(50, 80), fill_value=-1)
    >>> a[99, 79], a.chunks, a.shards
    (np.float32(-1.0), (10, 80), (50, 80))
    """
    store = store_of(location, access, "r+")
    created = new_array(
        store.storage(),
        path,
        shape=shape,
        dtype=dtype,
        chunks=chunks,
        shards=shards,
        codecs=codecs,
        fill_value=fill_value,
        dimension_names=dimension_names,
        attributes=attributes,
        zarr_format=zarr_format,
        overwrite=overwrite,
    )
    return Array(store, created.path, writable=True, handle=created)._diagnosed()


def create_group(
    location: Location,
    path: str = "/",
    *,
    attributes: Mapping[str, Any] | None = None,
    zarr_format: Literal[2, 3] = 3,
    overwrite: bool = False,
    **access: Any,
) -> Group:
    """Creates a group, and the groups above it that are missing."""
    store = store_of(location, access, "r+")
    created = new_group(store.storage(), path, attributes, zarr_format=zarr_format, overwrite=overwrite)
    return Group(store, created.path, writable=True, handle=created)


def store_of(location: Location, access: Mapping[str, Any], mode: Mode) -> Store:
    if mode not in ("r", "r+"):
        raise ValueError(f"mode {mode!r} is neither 'r' nor 'r+': new nodes are made by create_array and create_group")
    if not isinstance(location, Store):
        return Store(location, read_only=mode == "r", **access)
    if access:
        raise TypeError(f"the store is given, so it takes no {', '.join(access)}")
    return location if mode == "r" or not location.read_only else _refuse(location)


def _refuse(store: Store) -> Store:
    raise ValueError(f"{store!r} is read-only")
