"""Functions that create, save and load, by the names of zarr-python. A store that is not given is one in memory."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from zarr_rs._native import __version__
from zarr_rs.arguments import (
    DataOptions,
    FilledOptions,
    LikeOptions,
    OpenGroupOptions,
    OpenOptions,
    StoreOptions,
    merged,
    named,
)
from zarr_rs.errors import ArgumentError
from zarr_rs.group import Group
from zarr_rs.like import options_of
from zarr_rs.opening import create_array, create_group, open, open_array, open_group

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Unpack

    import numpy.typing as npt

    from zarr_rs.arguments import Shape
    from zarr_rs.array import Array
    from zarr_rs.opening import Location


class _Filled(Protocol):
    def __call__(
        self, shape: Shape, store: Location = ..., path: str | None = ..., **options: Unpack[FilledOptions]
    ) -> Array: ...


class _Like(Protocol):
    def __call__(
        self, a: Any, store: Location = ..., path: str | None = ..., **options: Unpack[LikeOptions]
    ) -> Array: ...


def _filled(name: str, what: str, **fill: Any) -> _Filled:
    def function(shape: Shape, store: Location = "memory://", path: str | None = None, **options: Any) -> Array:
        return create_array(store, path, **merged({"shape": shape, "dtype": "float64"}, fill, options))

    text = f"Creates an array {what}, by default of float64.\n\nThe other arguments are those of `create_array`.\n"
    made: _Filled = _public(function, name, text, FilledOptions)
    return made


def _like(name: str, what: str, **fill: Any) -> _Like:
    def function(a: Any, store: Location = "memory://", path: str | None = None, **options: Any) -> Array:
        return create_array(store, path, **merged(options_of(a, zarr_format=options.get("zarr_format")), fill, options))

    text = (
        f"Creates an array{what} like `a`, an array of any library: with its shape and type.\n\n"
        "The chunks, shards, codecs and names of dimensions of an array of zarr are kept, too. The other arguments are\n"
        "those of `create_array`.\n"
    )
    made: _Like = _public(function, name, text, LikeOptions)
    return made


def _public(function: Any, name: str, text: str, table: type) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return named(table)(function)


create = _filled("create", "of zeros")
empty = _filled("empty", "of zeros")
zeros = _filled("zeros", "of zeros", fill_value=0)
ones = _filled("ones", "of ones", fill_value=1)
empty_like = _like("empty_like", "")
zeros_like = _like("zeros_like", " of zeros", fill_value=0)
ones_like = _like("ones_like", " of ones", fill_value=1)
full_like = _like("full_like", " of one value, `fill_value`,")


@named(FilledOptions)
def full(
    shape: Shape,
    fill_value: Any,
    store: Location = "memory://",
    path: str | None = None,
    **options: Unpack[FilledOptions],
) -> Array:
    """Creates an array of one value, by default of its type. The other arguments are those of `create_array`."""
    options.setdefault("dtype", np.asarray(fill_value).dtype)
    return create_array(store, path, shape=shape, fill_value=fill_value, **options)


@named(DataOptions)
def array(
    data: npt.ArrayLike, store: Location = "memory://", path: str | None = None, **options: Unpack[DataOptions]
) -> Array:
    """Creates an array with the elements of `data`. The other arguments are those of `create_array`.

    Examples
    --------
    >>> zarr_rs.array([[1, 2], [3, 4]])[1]
    array([3, 4])
    """
    return create_array(store, path, data=data, **options)


@named(DataOptions)
def from_array(
    store: Location, data: Any, *, write_data: bool = True, name: str | None = None, **options: Unpack[DataOptions]
) -> Array:
    """Creates an array with the elements of another one.

    Parameters
    ----------
    store
        A store, or what names one: see `zarr_rs.open`.
    data
        An array of any library. The chunks, shards, codecs, fill value, names of dimensions and attributes of an array of
        zarr are kept, unless other ones are given. `"keep"` is the same as not given.
    write_data
        Whether the elements are written.
    name
        The path of the array in the store.
    **options
        The other arguments of `create_array`.
    """
    given: dict[str, Any] = {
        name: value for name, value in options.items() if not (isinstance(value, str) and value == "keep")
    }
    kept: dict[str, Any] = dict(options_of(data, zarr_format=given.get("zarr_format")))
    if given.keys() & {"filters", "serializer", "compressors", "codecs"} and "codecs" in kept:
        kept |= _parts(kept.pop("codecs"))
    if given.keys() & {"chunks", "shards"}:
        kept.pop("shards", None)
    if hasattr(data, "attrs"):
        kept["attributes"] = dict(data.attrs)
    made = create_array(store, name, **merged(kept, given))
    if write_data:
        made._fill(data if hasattr(data, "shape") and hasattr(data, "dtype") else np.asarray(data))
    return made


def _parts(codecs: list[Any]) -> dict[str, Any]:
    """Returns the arguments for a chain of codecs, each kind of which may be another one."""
    from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec
    from zarr.core.metadata.v3 import parse_codecs

    found: dict[str, Any] = {"filters": [], "serializer": "auto", "compressors": []}
    for codec in parse_codecs(codecs):
        if isinstance(codec, ArrayBytesCodec):
            found["serializer"] = codec
        else:
            found["filters" if isinstance(codec, ArrayArrayCodec) else "compressors"].append(codec)
    return found


@named(OpenGroupOptions)
def open_consolidated(
    store: Location, path: str | None = "/", *, use_consolidated: bool = True, **options: Unpack[OpenGroupOptions]
) -> Group:
    """Opens a group by its consolidated metadata, which must be there. The other arguments are those of `open_group`."""
    return open_group(store, path, use_consolidated=use_consolidated, **options)


@named(OpenOptions)
def open_like(a: Any, path: str, store: Location = "memory://", **options: Unpack[OpenOptions]) -> Array:
    """Opens the array at a path, and with a mode other than `"r"` and `"r+"`, `"a"` by default, creates it like `a`.

    The other arguments are those of `open_array`.
    """
    mode = options.setdefault("mode", "a")
    return open_array(store, path, **merged({} if mode in ("r", "r+") else options_of(a), options))


@named(StoreOptions)
def group(
    store: Location = "memory://",
    path: str | None = "/",
    *,
    attributes: Mapping[str, Any] | None = None,
    zarr_format: Literal[2, 3] | None = None,
    overwrite: bool = False,
    **access: Unpack[StoreOptions],
) -> Group:
    """Opens a group for reading and writing, and creates it if it is not there, or with `overwrite`."""
    mode: Literal["w", "a"] = "w" if overwrite else "a"
    return open_group(store, path, mode=mode, attributes=attributes, zarr_format=zarr_format, **access)


@named(StoreOptions)
def create_hierarchy(
    store: Location, nodes: Mapping[str, Any], *, overwrite: bool = False, **access: Unpack[StoreOptions]
) -> Iterator[tuple[str, Array | Group]]:
    """Creates nodes from their metadata, and yields their paths and them.

    `nodes` has, for paths in the store, `metadata` of nodes, or metadata of zarr-python. The path `""` is the root; without
    it the root is a group.
    """
    documents = {path.strip("/"): node if hasattr(node, "keys") else node.to_dict() for path, node in nodes.items()}
    top, given = documents.pop("", None), "" in documents
    if top is not None and "shape" in top:
        raise ArgumentError("the root is an array, so nothing is below it: use create_array")
    formats = {document["zarr_format"] for document in (*documents.values(), *([top] if top else ()))}
    if len(formats) > 1:
        raise ArgumentError("nodes of different formats cannot be one hierarchy")
    zarr_format: Literal[2, 3] = 2 if 2 in formats else 3
    attributes = (top or {}).get("attributes")
    root = group(store, attributes=attributes, zarr_format=zarr_format, overwrite=overwrite and given, **access)
    if top is not None:
        yield "", root
    yield from root.create_hierarchy(documents, overwrite=overwrite)


def save(
    store: Location,
    *args: npt.ArrayLike,
    zarr_format: Literal[2, 3] = 3,
    path: str | None = None,
    **kwargs: npt.ArrayLike,
) -> None:
    """Saves one array, or several as a group.

    Parameters
    ----------
    store
        A store, or what names one: see `zarr_rs.open`.
    *args
        One array, which is saved at the path, where no node may be; or several, saved as `arr_0`, `arr_1` and so on in a new
        group, which replaces what is at the path.
    **kwargs
        Arrays that are saved in a group under their names.
    """
    if len(args) == 1 and not kwargs:
        save_array(store, args[0], path=path, zarr_format=zarr_format)
    else:
        save_group(store, *args, path=path, zarr_format=zarr_format, **kwargs)


@named(DataOptions)
def save_array(store: Location, arr: npt.ArrayLike, *, path: str | None = None, **options: Unpack[DataOptions]) -> None:
    """Saves an array. The other arguments are those of `create_array`.

    Raises
    ------
    ExistsError
        There is a node at the path, and `overwrite=True` is not given.
    """
    create_array(store, path, data=arr, **options)


def save_group(
    store: Location,
    *args: npt.ArrayLike,
    zarr_format: Literal[2, 3] = 3,
    path: str | None = None,
    **kwargs: npt.ArrayLike,
) -> None:
    """Saves arrays as a group. What is at the path is deleted first. The arguments are those of `save`."""
    if not args and not kwargs:
        raise ArgumentError("nothing to save: give an array")
    made = create_group(store, path, zarr_format=zarr_format, overwrite=True)
    for name, values in {**{f"arr_{i}": values for i, values in enumerate(args)}, **kwargs}.items():
        made.create_array(name, data=values)


@named(StoreOptions)
def load(
    store: Location,
    path: str | None = "/",
    zarr_format: Literal[2, 3] | None = None,
    **access: Unpack[StoreOptions],
) -> Any:
    """Reads all elements of an array, or those of the arrays directly in a group, as a dictionary.

    Examples
    --------
    >>> store = zarr_rs.Store("memory://saved")
    >>> zarr_rs.save(store, x=[1, 2], y=[3.5])
    >>> zarr_rs.load(store)
    {'x': array([1, 2]), 'y': array([3.5])}
    """
    found = open(store, path, zarr_format=zarr_format, **access)
    return {name: array[...] for name, array in found.arrays()} if isinstance(found, Group) else found[...]


@named(StoreOptions)
def consolidate_metadata(
    store: Location,
    path: str | None = "/",
    zarr_format: Literal[2, 3] | None = None,
    **access: Unpack[StoreOptions],
) -> Group:
    """Writes the metadata of all nodes below a group into the group, and returns it: `Group.consolidate`."""
    found = open_group(store, path, mode="r+", zarr_format=zarr_format, use_consolidated=False, **access)
    found.consolidate()
    return open_group(found.store, found.name, mode="r+", zarr_format=zarr_format)


def tree(grp: Group, level: int | None = None) -> str:
    """Returns a picture of the nodes below a group, as text."""
    return grp.tree(level)


def print_debug_info() -> None:
    """Prints the versions of this package, of Python, and of the packages that it works with."""
    from importlib import metadata

    print(f"platform: {platform.platform()}\npython: {platform.python_version()}\nzarr-rs: {__version__}")
    for name in ("zarr", "numpy", "numcodecs", "xarray", "dask", "pyarrow", "ml_dtypes", "fsspec", "obstore"):
        try:
            print(f"{name}: {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            print(f"{name}: not installed")
