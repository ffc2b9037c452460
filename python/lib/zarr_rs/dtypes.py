"""Data types of Zarr as types of NumPy."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from zarr_rs import small
from zarr_rs.errors import UnsupportedError

_PLAIN = {
    *("bool", "float16", "float32", "float64", "complex64", "complex128"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}

#: Strings of any length: a type of NumPy 2, and objects before.
_STRING = np.dtypes.StringDType() if hasattr(np.dtypes, "StringDType") else np.dtype(object)


def numpy_dtype(data_type: Any) -> np.dtype[Any]:
    """Returns the type in NumPy of a data type of a metadata document, in terms of format 3."""
    name, members = (data_type, {}) if isinstance(data_type, str) else (data_type["name"], data_type)
    members = members.get("configuration", {})
    match name:
        case _ if name in _PLAIN:
            return np.dtype(name)
        case "string":
            return _STRING
        case "bytes" | "variable_length_bytes":
            return np.dtype(object)
        case "numpy.datetime64" | "numpy.timedelta64":
            letter = "M8" if name == "numpy.datetime64" else "m8"
            return np.dtype(f"{letter}[{members.get('scale_factor', 1)}{members['unit']}]")
        case "fixed_length_utf32":
            return np.dtype(f"U{members['length_bytes'] // 4}")
        case "null_terminated_bytes":
            return np.dtype(f"S{members['length_bytes']}")
        case "raw_bytes":
            return np.dtype(f"V{members['length_bytes']}")
        case "struct" | "structured":
            fields = [f if isinstance(f, list) else (f["name"], f["data_type"]) for f in members["fields"]]
            return np.dtype([(field, numpy_dtype(of)) for field, of in fields])
        case _ if name in small.NAMES:
            return small.dtype_of(name)
        case _ if name[0] == "r" and name[1:].isdigit():
            return np.dtype(f"V{int(name[1:]) // 8}")
    raise UnsupportedError(f"the data type {name!r} has no type in NumPy")


def type_name(document: dict[str, Any]) -> str:
    """Returns the name of the data type of a metadata document, in terms of format 3."""
    data_type = document["data_type"]
    return str(data_type if isinstance(data_type, str) else data_type["name"])


def given(dtype: Any) -> tuple[str, bool]:
    """Returns the JSON text of a data type of a new array, and whether it is a type of NumPy.

    A type string that starts with `>` means the same type: the byte order of chunks is that of the codecs.
    """
    if isinstance(dtype, dict) or (isinstance(dtype, str) and not _is_numpy(dtype)):
        return json.dumps(dtype), False
    numpy_type = np.dtype(dtype)
    if numpy_type.kind == "T" or dtype is str:
        return '"string"', False
    if numpy_type.kind == "O":
        raise UnsupportedError("objects have no data type: write 'string' or 'bytes'")
    if small.is_small(numpy_type):
        return json.dumps(small.name_of(numpy_type)), False
    if numpy_type.names is not None:
        return json.dumps(_fields(numpy_type.newbyteorder("<"))), True
    return json.dumps(numpy_type.newbyteorder("<").str), True


def _is_numpy(name: str) -> bool:
    try:
        return name not in (*_PLAIN, "string", "bytes") and np.dtype(name).kind != "O"
    except TypeError:
        return False


def _fields(dtype: np.dtype[Any]) -> list[Any]:
    """Returns the fields of a struct as NumPy writes them in files."""
    assert dtype.fields is not None
    found = []
    for name in dtype.names or ():
        of = dtype.fields[name][0]
        if of.subdtype is not None or small.is_small(of):
            raise UnsupportedError(f"field {name!r} has the type {of}, which a struct of Zarr cannot have")
        found.append([name, _fields(of) if of.names is not None else of.str])
    return found
