"""The named arguments of functions that open and create: their names, their types, and what is said about wrong names."""

from __future__ import annotations

import difflib
import functools
import inspect
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypedDict, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy.typing as npt

    Mode = Literal["r", "r+", "a", "w", "w-"]
    #: Lengths in each dimension, or one length.
    Shape = int | Sequence[int]
    #: A name, a document, or an object of zarr-python or numcodecs; or several of them.
    Codecs = str | Mapping[str, Any] | Iterable[Any] | Any | None


class StoreOptions(TypedDict, total=False):
    """The arguments of `zarr_rs.Store`, one by one or as `storage_options`."""

    storage_options: Mapping[str, Any] | None
    single_writer: bool
    updates_in_place: bool
    open_files: int
    durability: Literal["atomic", "deferred", "durable"] | None
    anonymous: bool
    endpoint: str | None
    region: str | None
    profile: str | None
    environment: Mapping[str, str] | None
    variables: Mapping[str, str] | None
    in_flight: int | None
    retries: int | None
    timeout: float | None
    forbidden_is_absent: bool
    redirects: str | None
    references: str | Iterable[str] | Mapping[str, str | None] | None


class LayoutOptions(TypedDict, total=False):
    """The arguments of `zarr_rs.create_array` that say how a new array is stored."""

    chunks: Any
    shards: Shape | None
    codecs: Iterable[Any] | None
    filters: Codecs
    serializer: Any
    compressors: Codecs
    order: Literal["C", "F"] | None
    chunk_key_encoding: Any
    dimension_names: Sequence[str | None] | None
    attributes: Mapping[str, Any] | None
    overwrite: bool
    write_empty_chunks: bool | None
    config: Any


class ArrayOptions(LayoutOptions, total=False):
    """The arguments of `zarr_rs.create_array` that say what a new array is."""

    shape: Shape
    dtype: Any
    fill_value: Any
    data: npt.ArrayLike
    write_data: bool
    zarr_format: Literal[2, 3]


# The arguments of functions that have some of these names as parameters of their own.


class OpenArrayOptions(LayoutOptions, StoreOptions, total=False):
    """The arguments of `zarr_rs.open` for a new node and for its store."""

    shape: Shape
    dtype: Any
    fill_value: Any
    data: npt.ArrayLike
    write_data: bool


class FilledOptions(LayoutOptions, StoreOptions, total=False):
    """The arguments of functions that create an array of one value."""

    dtype: Any
    zarr_format: Literal[2, 3]


class LikeOptions(FilledOptions, total=False):
    """The arguments of functions that create an array like another one."""

    shape: Shape
    fill_value: Any


class DataOptions(LayoutOptions, StoreOptions, total=False):
    """The arguments of functions that create an array with elements."""

    fill_value: Any
    zarr_format: Literal[2, 3]


class OpenOptions(OpenArrayOptions, total=False):
    """The arguments of `zarr_rs.open`."""

    mode: Mode
    zarr_format: Literal[2, 3] | None
    use_consolidated: bool | None


class OpenGroupOptions(StoreOptions, total=False):
    """The arguments of `zarr_rs.open_group`."""

    mode: Mode
    zarr_format: Literal[2, 3] | None
    attributes: Mapping[str, Any] | None


#: Arguments of zarr-python that are not taken, and what to do without them.
REFUSED = {
    "compressor": "use compressors=",
    "dimension_separator": "use chunk_key_encoding={'name': 'v2', 'separator': '/'}",
    "chunk_shape": "use chunks=",
    "chunk_store": "the chunks are in the store of the metadata",
    "synchronizer": "writers of parts of a chunk lose no update without one",
    "object_codec": "use dtype='string' or dtype='bytes'",
    "meta_array": "elements are in arrays of NumPy",
    "cache_metadata": "open the array again to see changes of other writers",
    "cache_attrs": "open the node again to see changes of other writers",
    "zarr_version": "use zarr_format=",
    "read_only": "use mode='r'",
    "storage_transformers": "use zarr-python, or the crate zarr-meta",
}


class _Default:
    def __repr__(self) -> str:
        return "..."


P = ParamSpec("P")
T = TypeVar("T")


def named(table: type) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Makes a function with `**options` take the names of a table, show them in its signature, and refuse others.

    A wrong name is a `TypeError` that proposes the nearest one.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        found = {p.name for p in own}
        for name, annotation in inspect.get_annotations(table).items():
            if name not in found:
                text = getattr(annotation, "__forward_arg__", annotation)
                own.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_Default(), annotation=text))
        found |= inspect.get_annotations(table).keys()

        @functools.wraps(function)
        def checked(*arguments: P.args, **options: P.kwargs) -> T:
            if not options.keys() <= found:
                raise TypeError(
                    _unexpected(function.__name__, next(name for name in options if name not in found), found)
                )
            return function(*arguments, **options)

        checked.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
        return checked

    return decorate


def _unexpected(function: str, name: str, known: Iterable[str]) -> str:
    text = f"{function}() got an unexpected keyword argument {name!r}"
    if name in REFUSED:
        return f"{text}: {REFUSED[name]}"
    near = difflib.get_close_matches(name, known, 1)
    return f"{text}: did you mean {near[0]!r}?" if near else text


def merged(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of all parts. A later one is preferred."""
    return {name: value for part in parts for name, value in part.items()}


def split(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the arguments that say what a new array is, and the others, which are for its store."""
    names = ArrayOptions.__annotations__
    what = {name: value for name, value in options.items() if name in names}
    return what, {name: value for name, value in options.items() if name not in names}
