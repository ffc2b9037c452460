"""Codecs of new arrays: names, documents, and objects of zarr-python and numcodecs, as the engine takes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from zarr_rs.errors import ArgumentError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_rs.arguments import Codecs

#: What zarr-python writes if nothing is said.
_DEFAULT = {2: {"id": "zstd", "level": 0}, 3: {"name": "zstd", "configuration": {"level": 0, "checksum": False}}}


def chain(
    zarr_format: int, codecs: Iterable[Any] | None, filters: Codecs, serializer: Any, compressors: Codecs
) -> dict[str, Any]:
    """Returns the members `codecs`, `filters` and `compressor` of a new array for the engine, as JSON texts."""
    if codecs is not None:
        if any(given is not None and not _is_auto(given) for given in (filters, serializer, compressors)):
            raise ArgumentError("codecs is the whole chain: give it alone, or filters, serializer and compressors")
        return _texts(codecs=[document(codec) for codec in codecs])
    if zarr_format == 2 and not (_is_auto(serializer) or serializer is None):
        raise ArgumentError("format 2 has no serializer")
    before, after = _listed(filters), _listed(compressors)
    if zarr_format == 2 and (after is None or any(map(_is_numcodecs, [*(before or ()), *after]))):
        return _format_2(before, after)
    between = [] if _is_auto(serializer) or serializer is None else [document(serializer)]
    last = [_DEFAULT[3]] if after is None else [document(codec) for codec in after]
    return _texts(codecs=[*(document(codec) for codec in before or ()), *between, *last])


def _format_2(filters: list[Any] | None, compressors: list[Any] | None) -> dict[str, Any]:
    compressors = [_DEFAULT[2]] if compressors is None else compressors
    if len(compressors) > 1:
        raise ArgumentError(f"format 2 has one compressor, not {len(compressors)}: the others may be filters")
    compressor = _config(compressors[0]) if compressors else None
    found = _texts(codecs=[]) | {"compressor": json.dumps(compressor)}
    if filters is not None:
        found["filters"] = json.dumps([_config(codec) for codec in filters] or None)
    return found


def _texts(codecs: list[Any]) -> dict[str, Any]:
    return {"codecs": [json.dumps(codec) for codec in codecs], "filters": None, "compressor": None}


def document(codec: Any) -> Any:
    """Returns the document of a codec of format 3, or its name."""
    if isinstance(codec, str):
        return codec
    if isinstance(codec, Mapping) and "id" not in codec:
        return dict(codec)
    if hasattr(codec, "to_dict"):
        return codec.to_dict()
    name = _config(codec)["id"]
    raise UnsupportedError(
        f"the codec {name!r} of numcodecs has no name in format 3: use zarr.codecs.numcodecs or {{'name': 'numcodecs.{name}'}}"
    )


def _config(codec: Any) -> dict[str, Any]:
    """Returns the document of a codec of format 2."""
    if isinstance(codec, Mapping):
        return dict(codec)
    if isinstance(codec, str):
        return {"id": codec}
    if not hasattr(codec, "get_config"):
        raise ArgumentError(
            f"{codec!r} is not a codec: give a name, a document, or an object of zarr.codecs or numcodecs"
        )
    config: dict[str, Any] = codec.get_config()
    return config


def _is_numcodecs(codec: Any) -> bool:
    """Whether a codec is one of format 2: an object of numcodecs, or its document."""
    return "id" in codec if isinstance(codec, Mapping) else not (isinstance(codec, str) or hasattr(codec, "to_dict"))


def _is_auto(given: Any) -> bool:
    return isinstance(given, str) and given == "auto"


def _listed(given: Codecs) -> list[Any] | None:
    """Returns codecs as a list, or `None` for `"auto"`."""
    if _is_auto(given):
        return None
    if given is None:
        return []
    is_one = isinstance(given, str | Mapping) or hasattr(given, "to_dict") or hasattr(given, "get_config")
    return [given] if is_one else list(given)
