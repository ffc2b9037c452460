"""The missing value of an array of format 3: the attribute `_FillValue`."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

from zarr_rs.errors import MetadataError, ZarrDiagnostic

_NAMES = ("NaN", "Infinity", "-Infinity")


def missing_value(stored: Any, dtype: np.dtype[Any]) -> tuple[Any, ZarrDiagnostic | None]:
    """Returns the missing value of elements of a type, or `None`, and what is odd about its form.

    xarray writes floats as the base64 of a float64 in little-endian order, and complex numbers as two of them. Other
    programs write them as Zarr writes fill values. A value of another type than the elements is no missing value.

    Raises `MetadataError` if the value of floats is not a number in any known form.

    >>> missing_value("AAAAAAAAFEA=", np.dtype("f4"))
    (5.0, None)
    >>> missing_value([-9999.0], np.dtype("f4"))
    (-9999.0, ZarrDiagnostic('XV112', '/attributes/_FillValue', '[-9999.0] is a form that xarray refuses'))
    """
    value = stored[0] if isinstance(stored, list) and len(stored) == 1 and dtype.kind != "c" else stored
    found, is_usual = _element(value, dtype)
    if found is None and value is not None:
        message = f"{stored!r} is not an element of the type {dtype}, so no element is missing"
        return None, ZarrDiagnostic("XV025", "/attributes/_FillValue", message)
    if is_usual and value is stored:
        return found, None
    return found, ZarrDiagnostic("XV112", "/attributes/_FillValue", f"{stored!r} is a form that xarray refuses")


def _element(value: Any, dtype: np.dtype[Any]) -> tuple[Any, bool]:
    """Returns an element, or `None` if the value is not one, and whether it has the form of xarray."""
    match dtype.kind:
        case _ if value is None:
            return None, False
        case "i" | "u" if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
            return int(value), True
        case "b":
            return bool(value), True
        case "f":
            return _float(value, dtype)
        case "c" if isinstance(value, list) and len(value) == 2:
            part = np.dtype(f"f{dtype.itemsize // 2}")
            (real, first), (imaginary, second) = (_float(number, part) for number in value)
            return complex(real, imaginary), first and second
        case "S" | "O" if isinstance(value, str):
            return _base64(value), True
        case "U" | "T":
            return str(value), True
    return None, True


def _float(value: Any, dtype: np.dtype[Any]) -> tuple[float, bool]:
    """Returns a number, and whether it has the form of xarray."""
    if isinstance(value, str) and (found := _base64(value)) is not None and len(found) == 8:
        return float(np.frombuffer(found, "<f8")[0]), True
    try:
        if isinstance(value, int | float) or value in _NAMES:
            return float(value), False
        if isinstance(value, str) and value.startswith("0x") and len(value) == 2 + 2 * dtype.itemsize:
            return float(np.frombuffer(bytes.fromhex(value[2:]), dtype.newbyteorder(">"))[0]), False
    except (ValueError, OverflowError):
        pass
    raise MetadataError(f"{value!r} is not a number in any known form")


def _base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return None
