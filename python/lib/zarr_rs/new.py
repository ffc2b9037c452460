"""New arrays and groups."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_rs import _native
from zarr_rs.dtypes import given

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from zarr_rs._native import ArrayHandle, GroupHandle, Storage


def new_array(
    storage: Storage,
    path: str,
    *,
    shape: int | Sequence[int],
    dtype: Any,
    chunks: int | Sequence[int] | None = None,
    shards: int | Sequence[int] | None = None,
    codecs: Iterable[Any] | None = None,
    fill_value: Any = None,
    dimension_names: Sequence[str | None] | None = None,
    attributes: Mapping[str, Any] | None = None,
    zarr_format: int = 3,
    overwrite: bool = False,
) -> ArrayHandle:
    """Creates an array. The arguments are those of `zarr_rs.create_array`."""
    data_type, is_dtype = given(dtype)
    new = {
        "shape": _lengths(shape),
        "data_type": data_type,
        "is_dtype": is_dtype,
        "chunks": None if chunks is None else _lengths(chunks),
        "shards": None if shards is None else _lengths(shards),
        "codecs": None if codecs is None else [json.dumps(codec) for codec in codecs],
        "fill": None if fill_value is None else json.dumps(_json(fill_value)),
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


def _lengths(shape: int | Sequence[int]) -> list[int]:
    return [int(shape)] if np.ndim(shape) == 0 else [int(length) for length in shape]  # type: ignore[union-attr, arg-type]


def _json(value: Any) -> Any:
    """Returns a fill value as the metadata has it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, complex):
        return [_json(value.real), _json(value.imag)]
    if isinstance(value, float) and not np.isfinite(value):
        return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
