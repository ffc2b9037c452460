"""Opens and creates arrays and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zarr_rs import _native, waiting
from zarr_rs.access import resolve
from zarr_rs.arguments import OpenArrayOptions, OpenOptions, StoreOptions, named, split
from zarr_rs.array import Array
from zarr_rs.array_config import config_of
from zarr_rs.errors import ArgumentError, NotFoundError
from zarr_rs.group import Group, node
from zarr_rs.new import new_array, new_group
from zarr_rs.nodes import storage

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Unpack

    import numpy.typing as npt
    from zarr.abc.store import Store as AnyStore
    from zarr.storage import StorePath

    from zarr_rs.arguments import Codecs, Mode, Shape
    from zarr_rs.store import Store

    #: A path, a URL, a store of any package, or a mapping.
    Location = str | os.PathLike[str] | AnyStore | StorePath | Mapping[str, Any]


@named(OpenArrayOptions)
def open(
    store: Location,
    path: str | None = "/",
    *,
    mode: Mode = "r",
    zarr_format: Literal[2, 3] | None = None,
    use_consolidated: bool | None = None,
    **options: Unpack[OpenArrayOptions],
) -> Array | Group:
    """Opens the array or group at a path in a store.

    Parameters
    ----------
    store
        - A path or a URL, as `zarr_rs.Store` takes it;
        - a URL for fsspec, such as `simplecache::s3://bucket/a.zarr` or `reference://`, with its `storage_options`;
        - a `zarr_rs.Store`, or any store or `StorePath` of zarr-python, such as that of a session of icechunk;
        - a `dict` of buffers, a mapper of fsspec, or a `UPath`.
    path
        The path of the node: `a/b` or `/a/b`.
    mode
        `"r"`: read; `"r+"`: read and write; `"a"`: read and write, and create the node if it is not there; `"w"`: create
        it, and delete what is there; `"w-"`: create it, and fail if a node is there. A new node is an array if `shape` or
        `data` is given, otherwise a group.
    zarr_format
        The format, 2 or 3. Without it, format 3 is tried first.
    use_consolidated
        Whether consolidated metadata is used: by default if it is there; if true it must be there.
    **options
        `config`, as for `create_array`; the arguments of `create_array` for a new node; the other arguments of
        `zarr_rs.Store`. `storage_options` are the same, or in the words of s3fs, gcsfs, adlfs or obstore.

    Returns
    -------
    Array or Group

    Raises
    ------
    NotFoundError
        There is no node. It is a `FileNotFoundError` and a `KeyError`.
    ExistsError
        With `"w-"`, if there is a node.

    Notes
    -----
    Metadata of which another program may read other values is a warning of class `ZarrDiagnostic`. Deviations from the
    specification that do no harm are records of the logger `zarr_rs.metadata`, and in `diagnostics` of the node.

    Examples
    --------
    >>> g = zarr_rs.create_group("memory://example")
    >>> zarr_rs.open("memory://example")
    <zarr_rs.Group '/' in memory://example>
    """
    kind = Array if "shape" in options or "data" in options else None
    return _open(kind, store, path, mode, zarr_format, use_consolidated, options)


@named(OpenOptions)
async def open_async(store: Location, path: str | None = "/", **options: Unpack[OpenOptions]) -> Array | Group:
    """As `open`, for async programs. The work is done in threads of the package."""
    return await waiting.run(open, store, path, **options)


@named(OpenArrayOptions)
def open_array(
    store: Location,
    path: str | None = "/",
    *,
    mode: Mode = "r",
    zarr_format: Literal[2, 3] | None = None,
    use_consolidated: bool | None = None,
    **options: Unpack[OpenArrayOptions],
) -> Array:
    """Opens an array. The arguments are those of `open`.

    Raises
    ------
    NotFoundError
        There is no node, or it is a group.

    Examples
    --------
    >>> a = zarr_rs.open_array("memory://new", mode="a", shape=(4,), dtype="i4")
    >>> zarr_rs.open_array("memory://new").shape
    (4,)
    """
    found = _open(Array, store, path, mode, zarr_format, use_consolidated, options)
    if not isinstance(found, Array):
        raise found._error("NotFound", "is a group, not an array")
    return found


@named(StoreOptions)
def open_group(
    store: Location,
    path: str | None = "/",
    *,
    mode: Mode = "r",
    zarr_format: Literal[2, 3] | None = None,
    use_consolidated: bool | None = None,
    attributes: Mapping[str, Any] | None = None,
    **access: Unpack[StoreOptions],
) -> Group:
    """Opens a group. The arguments are those of `open`; `attributes` are those of a new group.

    Raises
    ------
    NotFoundError
        There is no node, or it is an array.
    """
    options = {} if attributes is None else {"attributes": attributes}
    found = _open(Group, store, path, mode, zarr_format, use_consolidated, options | access)
    if not isinstance(found, Group):
        raise found._error("NotFound", "is an array, not a group")
    return found


def _open(
    kind: type[Array] | type[Group] | None,
    store: Location,
    path: str | None,
    mode: str,
    zarr_format: Literal[2, 3] | None,
    use_consolidated: bool | None,
    options: Mapping[str, Any],
) -> Array | Group:
    """Opens a node, or creates one of a kind, by default a group."""
    what, access = split(options)
    if mode not in ("r", "r+", "a", "w", "w-"):
        raise ArgumentError(f"mode is {mode!r}, expected 'r', 'r+', 'a', 'w' or 'w-'")
    if mode in ("r", "r+", "a"):
        name = next((name for name in what if name not in ("config", "order", "write_empty_chunks")), None)
        if name and mode != "a":
            raise ArgumentError(f"{name} is for new nodes, so not for mode {mode!r}: use mode='a' or create_array")
        chosen = config_of(
            what.get("config"), order=what.get("order"), write_empty_chunks=what.get("write_empty_chunks")
        )
        writable = mode != "r"
        opened, path = store_of(store, path, access, "r+" if writable else "r")
        try:
            handle = _native.open_node(
                storage(opened, writable=writable), path, zarr_format=zarr_format, use_consolidated=use_consolidated
            )
            return node(opened, handle, writable=writable, config=chosen)._diagnosed()
        except NotFoundError:
            if mode != "a":
                raise
        store, access = opened, {}
    new = what | access | {"zarr_format": zarr_format or 3, "overwrite": mode == "w"}
    return create_array(store, path, **new) if kind is Array else create_group(store, path, **new)


@named(StoreOptions)
def create_array(
    store: Location,
    path: str | None = None,
    *,
    name: str | None = None,
    shape: Shape | None = None,
    dtype: Any = None,
    data: npt.ArrayLike | None = None,
    chunks: Any = "auto",
    shards: Shape | None = None,
    codecs: Iterable[Any] | None = None,
    filters: Codecs = "auto",
    serializer: Any = "auto",
    compressors: Codecs = "auto",
    fill_value: Any = None,
    order: Literal["C", "F"] | None = None,
    chunk_key_encoding: Any = None,
    dimension_names: Sequence[str | None] | None = None,
    attributes: Mapping[str, Any] | None = None,
    zarr_format: Literal[2, 3] = 3,
    overwrite: bool = False,
    write_data: bool = True,
    write_empty_chunks: bool | None = None,
    config: Any = None,
    **access: Unpack[StoreOptions],
) -> Array:
    """Creates an array, and the groups above it that are missing.

    Parameters
    ----------
    store
        A store, or what names one: see `zarr_rs.open`.
    path, name
        The path of the array in the store. By default its root.
    shape, dtype
        The shape, and the type of the elements: a type of NumPy, or a name or document of a data type of Zarr, such as
        `"string"`. Not together with `data`, which has both.
    data
        The elements, which are written unless `write_data` is false.
    chunks, shards
        The lengths of a chunk and of a shard. One length is for all dimensions, and -1 is all of a dimension. Lists of
        lengths are chunks of different lengths. Without `chunks`, a good size is chosen.
    filters, serializer, compressors
        The codecs of elements, from elements to bytes, and of bytes: names, documents, objects of `zarr.codecs`, and in
        format 2 of numcodecs. `"auto"` is what zarr-python writes, with zstd; `None` or `()` is no codec.
    codecs
        The whole chain in place of these three: `["zstd"]`, `[{"name": "gzip", "configuration": {"level": 5}}]`.
    fill_value
        The value of elements that are not stored. By default 0 or its like.
    order
        The order of elements: in format 2 in stored chunks, in format 3 in memory.
    chunk_key_encoding
        The form of the keys of chunks: `{"name": "v2", "separator": "/"}`.
    overwrite
        Whether a node that is there is deleted first.
    write_empty_chunks
        Whether chunks are stored that have only fill values. By default they are left out.
    config
        `order` and `write_empty_chunks` as a mapping, as zarr-python has them.
    **access
        The other arguments of `zarr_rs.Store`.

    Returns
    -------
    Array

    Raises
    ------
    ExistsError
        There is a node already. It is a `FileExistsError`.
    ArgumentError, MetadataError
        The arguments do not fit each other. Both are a `ValueError`.

    Examples
    --------
    >>> a = zarr_rs.create_array("memory://", shape=(100, 80), dtype="f4", chunks=(10, 80), shards=(50, 80), fill_value=-1)
    >>> a[99, 79], a.chunks, a.shards
    (np.float32(-1.0), (10, 80), (50, 80))
    """
    if name is not None and path is not None:
        raise ArgumentError(f"path {path!r} and name {name!r} are the same argument: give one")
    values = None if data is None else data if hasattr(data, "shape") and hasattr(data, "dtype") else np.asarray(data)
    if values is not None:
        if shape is not None or dtype is not None:
            raise ArgumentError("data has a shape and a type: do not give shape and dtype, too")
        shape, dtype = values.shape, values.dtype
    if shape is None or dtype is None:
        raise ArgumentError("a new array needs shape and dtype, or data")
    chosen = config_of(config, order=order, write_empty_chunks=write_empty_chunks)
    opened, place = store_of(store, path if name is None else name, access, "r+")
    created = new_array(
        opened.storage(),
        place,
        shape=shape,
        dtype=dtype,
        chunks=chunks,
        shards=shards,
        codecs=codecs,
        filters=filters,
        serializer=serializer,
        compressors=compressors,
        fill_value=fill_value,
        order=order or chosen.order,
        chunk_key_encoding=chunk_key_encoding,
        dimension_names=dimension_names,
        attributes=attributes,
        zarr_format=zarr_format,
        overwrite=overwrite,
    )
    array = Array(opened, created.path, writable=True, handle=created, config=chosen)._diagnosed()
    if values is not None and write_data:
        array._fill(values)
    return array


@named(StoreOptions)
def create_group(
    store: Location,
    path: str | None = "/",
    *,
    attributes: Mapping[str, Any] | None = None,
    zarr_format: Literal[2, 3] = 3,
    overwrite: bool = False,
    **access: Unpack[StoreOptions],
) -> Group:
    """Creates a group, and the groups above it that are missing.

    Parameters
    ----------
    store
        A store, or what names one: see `zarr_rs.open`.
    path
        The path of the group in the store.
    attributes
        Its attributes.
    zarr_format
        The format, 2 or 3.
    overwrite
        Whether a node that is there is deleted first, with everything below it.
    **access
        The other arguments of `zarr_rs.Store`.

    Raises
    ------
    ExistsError
        There is a node already. It is a `FileExistsError`.
    """
    opened, place = store_of(store, path, access, "r+")
    created = new_group(opened.storage(), place, attributes, zarr_format=zarr_format, overwrite=overwrite)
    return Group(opened, created.path, writable=True, handle=created)


def store_of(
    location: Location, path: str | None, access: Mapping[str, Any], mode: Literal["r", "r+"]
) -> tuple[Store, str]:
    """Returns the store of a location, and the path in it of the node at `path`."""
    given = {name: value for name, value in access.items() if name != "storage_options"}
    place = "/" + (path or "").strip("/")
    return resolve(location, place, mode=mode, storage_options=access.get("storage_options"), access=given)
