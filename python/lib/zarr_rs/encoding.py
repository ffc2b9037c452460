"""How an array is stored, as the encoding of a variable of xarray. `to_zarr` writes the variable back in the same way."""

from __future__ import annotations

import functools
import json
import logging
import threading
import warnings
from typing import TYPE_CHECKING, Any

from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr.core.metadata import ArrayV2Metadata, ArrayV3Metadata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_rs.array import Array
    from zarr_rs.layout import Layout

_lock = threading.Lock()


def encoding_of(array: Array) -> dict[str, Any]:
    """Returns the chunks, the codecs, and the type of texts. The members and values are those of `engine="zarr"`.

    Without codecs if zarr-python does not know them: then `to_zarr` uses its own.
    """
    stored: Sequence[Any] = array._outer_chunks or tuple(_piece(lengths) for lengths in array.chunk_lengths)
    inner = array._inner_chunks
    encoding: dict[str, Any] = {
        "chunks": inner or stored,
        "shards": stored if inner else None,
        "preferred_chunks": dict(zip(array._dimensions, stored, strict=True)),
    }
    if array.dtype.kind == "T":
        encoding["dtype"] = array.dtype  # otherwise xarray decodes strings to objects
    try:
        encoding |= codecs_of(array)
    except Exception as e:  # of any codec that is registered
        message = "array %r: to_zarr will not write it with its codecs, which zarr-python does not know: %s"
        logging.getLogger("zarr_rs.xarray").info(message, array.name, e)
    return encoding


def _piece(lengths: Sequence[int]) -> int | tuple[int, ...]:
    """Returns the length that all chunks of a dimension have, but for a shorter last one; otherwise all lengths."""
    if lengths and len(set(lengths[:-1])) <= 1 and lengths[-1] <= lengths[0]:
        return lengths[0]
    return tuple(lengths) or (0,)


def codecs_of(array: Layout) -> dict[str, Any]:
    """Returns the members `compressors`, `filters`, and in format 3 `serializer`, as objects of zarr-python."""
    return _codecs(_form(array))


def _form(array: Layout) -> str:
    """Returns the metadata of one chunk, which many arrays of a dataset have in common, as JSON."""
    chunk = array.chunks or (1,) * len(array.shape)
    if array.zarr_format == 2:
        names = ("zarr_format", "dtype", "fill_value", "order", "compressor", "filters")
        form = {name: array.metadata.get(name) for name in names} | {"shape": chunk, "chunks": chunk}
    else:
        document = array._document
        codecs = document["codecs"]
        if len(codecs) == 1 and array._inner_chunks:
            codecs = codecs[0]["configuration"]["codecs"]
        form = {name: document[name] for name in ("zarr_format", "node_type", "data_type", "fill_value")}
        form |= {"shape": chunk, "codecs": codecs, "attributes": {}}
        form["chunk_grid"] = {"name": "regular", "configuration": {"chunk_shape": chunk}}
        form["chunk_key_encoding"] = {"name": "default", "configuration": {"separator": "/"}}
    return json.dumps(form, sort_keys=True)


@functools.lru_cache
def _codecs(form: str) -> dict[str, Any]:
    """Returns the codecs as objects of zarr-python, which depend on the data type."""
    document = json.loads(form)
    # The filters of warnings belong to all threads of the process.
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if document["zarr_format"] == 2:
            old = ArrayV2Metadata.from_dict(document)
            compressors = () if old.compressor is None else (old.compressor,)
            return {"compressors": compressors, "filters": tuple(old.filters or ())}
        codecs = ArrayV3Metadata.from_dict(document).codecs
    return {
        "compressors": tuple(codec for codec in codecs if isinstance(codec, BytesBytesCodec)),
        "filters": tuple(codec for codec in codecs if isinstance(codec, ArrayArrayCodec)),
        "serializer": next(codec for codec in codecs if isinstance(codec, ArrayBytesCodec)),
    }
