"""What a new array is if it is to be like another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from zarr_rs.arguments import ArrayOptions


def options_of(data: Any, *, zarr_format: int | None = None) -> ArrayOptions:
    """Returns the arguments of `create_array` for an array like `data`: an array of any library, or of zarr.

    Codecs are kept if the format is the same.
    """
    if not hasattr(data, "shape") or not hasattr(data, "dtype"):
        data = np.asarray(data)
    metadata = getattr(data, "metadata", None)
    if metadata is None or not hasattr(metadata, "to_dict"):
        chunks = getattr(data, "chunks", None)
        # The chunks of Dask are lists of lengths.
        found: ArrayOptions = {"shape": data.shape, "dtype": data.dtype}
        if chunks is not None:
            found["chunks"] = getattr(data, "chunksize", chunks)
        return found
    stored = metadata.to_dict()
    document = getattr(data, "_document", stored)  # of ours, names are documents
    made = options_of_document(document if stored["zarr_format"] == 3 else stored, dtype=data.dtype)
    assert made is not None
    made.pop("attributes", None)
    if zarr_format not in (None, stored["zarr_format"]):
        for name in ("codecs", "filters", "compressors", "chunk_key_encoding", "zarr_format", "order", "shards"):
            made.pop(name, None)  # type: ignore[misc]
    return made


def options_of_document(document: Mapping[str, Any], *, dtype: Any = None) -> ArrayOptions | None:
    """Returns the arguments of `create_array` for the array of a metadata document, or `None` for one of a group."""
    if "shape" not in document:
        return None
    found: Any = {name: document[name] for name in ("shape", "fill_value", "zarr_format") if name in document}
    attributes, names = document.get("attributes"), document.get("dimension_names")
    found |= {"attributes": attributes} if attributes else {}
    found |= {"dimension_names": names} if names else {}
    if document["zarr_format"] == 2:
        found |= {"dtype": document["dtype"] if dtype is None else dtype, "chunks": document["chunks"]}
        found |= {"order": document["order"], "filters": document["filters"], "compressors": document["compressor"]}
        separator = document.get("dimension_separator", ".")
        return found | {"chunk_key_encoding": {"name": "v2", "separator": separator}}  # type: ignore[no-any-return]
    grid, codecs = document["chunk_grid"], list(document["codecs"])
    encoding = document["chunk_key_encoding"]
    configuration = grid["configuration"]
    outer = configuration["chunk_shape"] if grid["name"] == "regular" else configuration["chunk_shapes"]
    found |= {"dtype": document["data_type"], "chunks": outer, "codecs": codecs, "chunk_key_encoding": encoding}
    if len(codecs) == 1 and grid["name"] == "regular" and _has_usual_shards(codecs[0]):
        shard = codecs[0]["configuration"]
        found |= {"chunks": shard["chunk_shape"], "shards": outer, "codecs": shard["codecs"]}
    return found  # type: ignore[no-any-return]


def _has_usual_shards(codec: Any) -> bool:
    """Whether a codec is that of shards, with an index as the argument `shards` makes it. Others stay a codec."""
    if not isinstance(codec, Mapping) or codec["name"] != "sharding_indexed":
        return False
    index = codec["configuration"].get("index_codecs", ())
    names = [one if isinstance(one, str) else one["name"] for one in index]
    return names == ["bytes", "crc32c"] and codec["configuration"].get("index_location", "end") == "end"
