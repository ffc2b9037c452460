"""Values of libraries of Arrow, such as pyarrow and polars, as sources of writes. They are taken by pyarrow."""

from __future__ import annotations

import importlib
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_rs.errors import ArgumentError

if TYPE_CHECKING:
    import numpy.typing as npt


def taken(values: Any, dtype: np.dtype[Any]) -> Any | None:
    """Returns values as an array of pyarrow. Returns `None` if they are for NumPy: if they are not of Arrow or have a type
    of NumPy, if they are a table but elements are no structs, or without pyarrow."""
    is_array, is_stream = (hasattr(values, f"__arrow_c_{kind}__") for kind in ("array", "stream"))
    if not (is_array or is_stream) or isinstance(getattr(values, "dtype", None), np.dtype):
        return None
    try:
        pyarrow = importlib.import_module("pyarrow")
    except ImportError:
        return None
    found = pyarrow.array(values) if is_array else _joined(pyarrow.chunked_array(values))
    if pyarrow.types.is_struct(found.type) and dtype.names is None:
        return None
    return found.dictionary_decode() if pyarrow.types.is_dictionary(found.type) else found


def _joined(chunks: Any) -> Any:
    joined = chunks.combine_chunks()
    if hasattr(joined, "chunks"):
        raise ArgumentError(f"{len(chunks):,} values of type {chunks.type} are too large for one array of Arrow")
    return joined


def numbers(values: Any, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Returns numbers or times as an array of NumPy. A null among times is NaT, another one is an error."""
    if values.null_count and dtype.kind not in "mM":
        at = values.is_null().index(True).as_py()
        raise ArgumentError(f"value {at:,} is null, but the type {dtype} has no null")
    found: npt.NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return found


def stream(values: Any) -> bytes:
    """Returns the bytes of a stream of Arrow with one batch, which has the values as its only column."""
    pyarrow = importlib.import_module("pyarrow")
    batch, sink = pyarrow.record_batch([values], names=["values"]), io.BytesIO()
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()
