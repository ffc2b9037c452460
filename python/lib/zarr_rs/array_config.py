"""How elements of an array pass: what is not in its metadata."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from zarr_rs.errors import ArgumentError, UnsupportedError


@dataclasses.dataclass(frozen=True)
class ArrayConfig:
    """The argument `config` of an open array."""

    #: The order of the elements of results in memory, in format 3.
    order: Literal["C", "F"] = "C"
    #: Whether chunks are stored that have only fill values.
    write_empty_chunks: bool = False


def config_of(config: Any, *, order: str | None = None, write_empty_chunks: bool | None = None) -> ArrayConfig:
    """Returns what the argument `config` says: a mapping, or zarr-python's object."""
    given = dict(config if isinstance(config, Mapping) else config.to_dict()) if config is not None else {}
    if not given.pop("read_missing_chunks", True):
        raise UnsupportedError("missing chunks are fill values here: open the array with zarr.open_array")
    if order is not None:
        given["order"] = order
    if write_empty_chunks is not None:
        given["write_empty_chunks"] = write_empty_chunks
    unknown = given.keys() - {"order", "write_empty_chunks"}
    if unknown:
        raise ArgumentError(
            f"config has no {sorted(unknown)[0]!r}: it has order, write_empty_chunks, read_missing_chunks"
        )
    if given.get("order", "C") not in ("C", "F"):
        raise ArgumentError(f"order is {given['order']!r}, expected 'C' or 'F'")
    return ArrayConfig(**given)
