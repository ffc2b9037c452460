"""The metadata of an array: what the engine knows of it, and where the array is."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr.codecs import ShardingCodec
from zarr.codecs._v2 import V2Codec
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer import default_buffer_prototype
from zarr.core.metadata import ArrayV2Metadata, ArrayV3Metadata

from zarr_rs.report import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr.abc.codec import Codec
    from zarr.storage import StorePath

    ArrayMetadata = ArrayV2Metadata | ArrayV3Metadata

#: The packages whose codecs and data types the engine implements.
_KNOWN = ("zarr", "numcodecs")

#: Whether `_members` knows all members of a document of format 3. Before zarr-python 3.1 a data type is another object.
_KNOWS_ALL = {field.name for field in dataclasses.fields(ArrayV3Metadata)} == {
    *("zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs"),
    *("attributes", "dimension_names", "storage_transformers", "extra_fields"),
}

#: The JSON of fill values, by data type, type and bytes.
_fill_values: dict[tuple[Any, type, bytes], Any] = {}

#: The most fill values that are kept.
_KEPT = 256


def codecs_of(metadata: ArrayMetadata) -> Iterable[Codec]:
    """Returns the codecs of an array of either format."""
    if isinstance(metadata, ArrayV2Metadata):
        return [V2Codec(filters=metadata.filters, compressor=metadata.compressor)]
    return metadata.codecs


def chunk_spec_of(metadata: ArrayMetadata) -> ArraySpec:
    """Returns the specification of a chunk, as `create_codec_pipeline` of zarr-python makes it to evolve codecs with it.

    The shape is of no importance if chunks have several.
    """
    config, shape = ArrayConfig.from_dict({}), (1,) * len(metadata.shape)
    if isinstance(metadata, ArrayV2Metadata):
        config, shape = ArrayConfig.from_dict({"order": metadata.order}), metadata.chunks
    else:
        shape = getattr(metadata.chunk_grid, "chunk_shape", shape)
    return ArraySpec(
        shape=shape,
        dtype=metadata.dtype,
        fill_value=metadata.fill_value,
        config=config,
        prototype=default_buffer_prototype(),
    )


async def stored_metadata(path: StorePath, rank: int) -> ArrayMetadata:
    """Returns the metadata of the array that the key of a chunk belongs to."""
    for depth in dict.fromkeys((rank + 1, max(rank, 1), 1)):
        for name, kind in (("zarr.json", ArrayV3Metadata), (".zarray", ArrayV2Metadata)):
            key = f"{node_of(path.path, depth)}/{name}".lstrip("/")
            document = await path.store.get(key, default_buffer_prototype())
            if document is None:
                continue
            members = json.loads(document.to_bytes())
            if kind is ArrayV2Metadata or members["node_type"] == "array":
                metadata: ArrayMetadata = kind.from_dict(members)
                if depth_of(metadata) == depth:
                    return metadata
    raise Unknown("a key without the metadata of an array above it")


def node_of(key: str, depth: int) -> str:
    """Returns the path of the array whose chunk has this key."""
    return "/".join(key.split("/")[:-depth])


def depth_of(metadata: ArrayMetadata) -> int:
    """Returns the number of segments of the keys of chunks, below the path of the array."""
    return metadata.encode_chunk_key((0,) * len(metadata.shape)).count("/") + 1


def document_of(metadata: ArrayMetadata) -> bytes:
    """Returns the metadata document without its attributes."""
    document = _members(metadata) if type(metadata) is ArrayV3Metadata and _KNOWS_ALL else metadata.to_dict()
    document.pop("attributes", None)
    try:
        return json.dumps(document).encode()
    except TypeError:
        # Before zarr-python 3.1 only `to_buffer_dict` makes JSON of all members.
        documents = metadata.to_buffer_dict(default_buffer_prototype())
    if isinstance(metadata, ArrayV2Metadata):
        return documents[".zarray"].to_bytes()
    document = json.loads(documents["zarr.json"].to_bytes())
    document.pop("attributes", None)
    return json.dumps(document).encode()


def _members(metadata: ArrayV3Metadata) -> dict[str, Any]:
    """Returns `metadata.to_dict()` without attributes, in a tenth of its time."""
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": metadata.shape,
        "data_type": metadata.data_type.to_json(zarr_format=3),
        "chunk_grid": metadata.chunk_grid.to_dict(),
        "chunk_key_encoding": metadata.chunk_key_encoding.to_dict(),
        "fill_value": _fill_value(metadata),
        "codecs": [codec.to_dict() for codec in metadata.codecs],
        "storage_transformers": metadata.storage_transformers,
        **metadata.extra_fields,
    }
    if metadata.dimension_names is not None:
        document["dimension_names"] = metadata.dimension_names
    return document


def _fill_value(metadata: ArrayV3Metadata) -> Any:
    """Returns the fill value for JSON. Those of numbers are kept: zarr-python takes longer for it than for all else."""
    value, data_type = metadata.fill_value, metadata.data_type
    if not isinstance(value, np.number | np.bool_):
        return data_type.to_json_scalar(value, zarr_format=3)
    # Equal numbers may have several forms: -0.0 and 0.0.
    key = (data_type, type(value), value.tobytes())
    if key not in _fill_values:
        if len(_fill_values) >= _KEPT:
            _fill_values.clear()
        _fill_values[key] = data_type.to_json_scalar(value, zarr_format=3)
    return _fill_values[key]


def inner_order_of(metadata: ArrayMetadata) -> str | None:
    """Returns the order of inner chunks in a shard, by its name in zarr-python, or `None` if there are no shards.

    Before zarr-python 3.3 the order is always that of Morton.
    """
    for codec in codecs_of(metadata):
        if isinstance(codec, ShardingCodec):
            order: str = getattr(codec, "subchunk_write_order", "morton")
            return order
    return None


def unknown_part(metadata: ArrayMetadata, codecs: Iterable[Codec]) -> str | None:
    """Returns why the engine must not be used for an array, or for these codecs of it, or `None`.

    A codec or data type that a user registered is never replaced, even if it has a known name.
    """
    if isinstance(metadata, ArrayV2Metadata):
        parts = [metadata.dtype, metadata.compressor, *(metadata.filters or ())]
    else:
        grid = metadata.chunk_grid.to_dict()["name"]
        if grid not in ("regular", "rectilinear"):
            return f"the chunk grid {grid}"
        parts = [metadata.data_type, *_codecs(metadata.codecs)]
    for part in (*parts, *_codecs(codecs)):
        package = type(part).__module__.split(".")[0]
        if part is not None and package not in (*_KNOWN, "numpy"):
            return f"{type(part).__name__} of the package {package}"
    return None


def _codecs(codecs: Iterable[Any]) -> Iterable[Any]:
    """Yields codecs, and those inside of shards."""
    for codec in codecs:
        yield codec
        yield from _codecs(getattr(codec, "codecs", ()))
        yield from _codecs(getattr(codec, "index_codecs", ()))
