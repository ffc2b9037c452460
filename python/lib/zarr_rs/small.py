"""Small numbers, which NumPy has no types for: those of the package ml_dtypes, if it is installed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_rs.errors import ArgumentError, UnsupportedError

if TYPE_CHECKING:
    import numpy.typing as npt

_INTEGERS = ("int2", "int4", "uint2", "uint4")
_FLOATS = (
    *(
        "bfloat16",
        "float4_e2m1fn",
        "float6_e2m3fn",
        "float6_e3m2fn",
        "float8_e3m4",
        "float8_e4m3",
        "float8_e4m3b11fnuz",
    ),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
)
#: The names in ml_dtypes by those of Zarr.
NAMES = {name: name for name in (*_INTEGERS, *_FLOATS)} | {
    "complex_bfloat16": "bcomplex32",
    "complex_float16": "complex32",
}
_OF_ML = {ml: name for name, ml in NAMES.items()}


def dtype_of(name: str) -> np.dtype[Any]:
    """Returns the type of a data type of Zarr."""
    try:
        found: np.dtype[Any] = np.dtype(getattr(importlib.import_module("ml_dtypes"), NAMES[name]))
        return found
    except ImportError:
        message = f"the data type {name} needs the package ml_dtypes: pip install zarr-rs[ml]"
        raise UnsupportedError(message) from None
    except AttributeError:
        raise UnsupportedError(f"the data type {name} needs a newer version of the package ml_dtypes") from None


def is_small(dtype: np.dtype[Any]) -> bool:
    """Whether a type is one of another package than NumPy."""
    # Some of them have kinds of NumPy: that of `float8_e5m2` is "f".
    return (dtype.kind == "V" and dtype.type is not np.void) or dtype.type.__module__ == "ml_dtypes"


def name_of(dtype: np.dtype[Any]) -> str:
    """Returns the data type of Zarr of such a type."""
    if dtype.name not in _OF_ML:
        raise UnsupportedError(f"the type {dtype} has no data type in Zarr")
    return _OF_ML[dtype.name]


def passed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the type as which the elements pass to and from the engine: small integers as whole bytes."""
    return np.dtype("u1" if dtype.name[0] == "u" else "i1") if is_small(dtype) and "int" in dtype.name else dtype


def converted(values: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Returns values as elements of such a type, if it can hold them. Floats are rounded."""
    kinds = "biu" if "int" in dtype.name else "biufc" if "complex" in dtype.name else "biuf"
    if values.dtype.kind not in kinds and not is_small(values.dtype):
        raise TypeError(f"values of type {values.dtype} do not fit the type {dtype}: convert them first")
    if "int" in dtype.name and values.size:
        if is_small(values.dtype):
            values = values.astype(np.int8) if "int" in values.dtype.name else values.astype(np.float32)
        limits = importlib.import_module("ml_dtypes").iinfo(dtype)
        low, high = values.min(), values.max()
        if values.dtype.kind == "f" or low < limits.min or high > limits.max:
            raise ArgumentError(f"values from {low} to {high} do not fit the type {dtype}")
    return values.astype(dtype)


def number(value: Any) -> Any:
    """Returns a fill value of such a type as a number of Python."""
    dtype = np.dtype(type(value))
    if "complex" in dtype.name:
        return complex(value)
    return int(value) if "int" in dtype.name else float(value)
