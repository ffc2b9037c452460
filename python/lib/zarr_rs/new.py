"""New arrays and groups."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_rs import _native, small
from zarr_rs.codecs import chain
from zarr_rs.dtypes import given
from zarr_rs.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_rs._native import ArrayHandle, GroupHandle, Storage
    from zarr_rs.arguments import Codecs, Shape


def new_array(
    storage: Storage,
    path: str,
    *,
    shape: Shape,
    dtype: Any,
    chunks: Any = "auto",
    shards: Shape | None = None,
    codecs: Iterable[Any] | None = None,
    filters: Codecs = "auto",
    serializer: Any = "auto",
    compressors: Codecs = "auto",
    fill_value: Any = None,
    order: str | None = None,
    chunk_key_encoding: Any = None,
    dimension_names: Sequence[str | None] | None = None,
    attributes: Mapping[str, Any] | None = None,
    zarr_format: int = 3,
    overwrite: bool = False,
) -> ArrayHandle:
    """Creates an array. The arguments are those of `zarr_rs.create_array`."""
    data_type, is_dtype = given(dtype)
    lengths = _lengths(shape, "shape")
    if isinstance(shards, str | Mapping):
        raise ArgumentError(f"shards is {shards!r}, expected the lengths of a shard, or None")
    new = {
        "shape": lengths,
        "data_type": data_type,
        "is_dtype": is_dtype,
        **_chunks(chunks, lengths),
        "shards": None if shards is None else _whole(shards, lengths, "shards"),
        **chain(zarr_format, codecs, filters, serializer, compressors),
        "order": order if zarr_format == 2 else None,
        "fill": json.dumps(_json(fill_value)) if fill_value is not None else _NAT if _is_time(dtype) else None,
        "key_encoding": None if chunk_key_encoding is None else json.dumps(_key_encoding(chunk_key_encoding)),
        "dimension_names": None if dimension_names is None else list(dimension_names),
        "attributes": json.dumps(dict(attributes or {})),
        "zarr_format": zarr_format,
    }
    return _native.create_array(storage, path, new, overwrite)


def new_group(
    storage: Storage, path: str, attributes: Mapping[str, Any] | None, *, zarr_format: int, overwrite: bool
) -> GroupHandle:
    """Creates a group."""
    return _native.create_group(storage, path, json.dumps(dict(attributes or {})), zarr_format, overwrite)


#: The fill value of times, as zarr-python writes it: no time.
_NAT = str(np.iinfo(np.int64).min)


def _is_time(dtype: Any) -> bool:
    try:
        return np.dtype(dtype).kind in "mM"
    except TypeError:
        return False


def _lengths(shape: Shape, what: str) -> list[int]:
    try:
        return [int(shape)] if np.ndim(shape) == 0 else [int(length) for length in shape]  # type: ignore[union-attr, arg-type]
    except (TypeError, ValueError):
        raise ArgumentError(f"{what} is {shape!r}, expected integers") from None


def _whole(given: Shape, shape: Sequence[int], what: str) -> list[int]:
    """Returns the lengths of a chunk. One length is for all dimensions, and -1 is all of a dimension."""
    lengths = [int(given)] * len(shape) if np.ndim(given) == 0 else _lengths(given, what)  # type: ignore[arg-type]
    if len(lengths) != len(shape):
        raise ArgumentError(f"{what} has {len(lengths)} dimensions, the array has {len(shape)}")
    return [max(1, length) if chunk == -1 else chunk for chunk, length in zip(lengths, shape, strict=True)]


def _chunks(chunks: Any, shape: Sequence[int]) -> dict[str, Any]:
    """Returns the members `chunks` and `grid`. Without chunks the engine chooses a good size."""
    if chunks is None or chunks is True or (isinstance(chunks, str) and chunks == "auto"):
        return {"chunks": None, "grid": None}
    if chunks is False:
        return {"chunks": [max(1, length) for length in shape], "grid": None}
    if isinstance(chunks, Iterable) and any(np.ndim(lengths) for lengths in chunks):
        lengths = [[int(length) for length in of] if np.ndim(of) else int(of) for of in chunks]
        grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": lengths}}
        return {"chunks": None, "grid": json.dumps(grid)}
    return {"chunks": _whole(chunks, shape, "chunks"), "grid": None}


def _key_encoding(encoding: Any) -> dict[str, Any]:
    """Returns the document of a chunk key encoding, which zarr-python writes in a shorter form, too."""
    if isinstance(encoding, str):
        return {"name": encoding}
    found = dict(encoding if isinstance(encoding, Mapping) else encoding.to_dict())
    separator = found.pop("separator", None)
    return found if separator is None else found | {"configuration": {"separator": separator}}


def _json(value: Any) -> Any:
    """Returns a fill value as the metadata has it."""
    if isinstance(value, np.generic) and small.is_small(value.dtype):
        value = small.number(value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        return int(value.astype(np.int64))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, complex):
        return [_json(value.real), _json(value.imag)]
    if isinstance(value, float) and not np.isfinite(value):
        return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
