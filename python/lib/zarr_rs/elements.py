"""The elements of a call: between memory of NumPy and the engine.

A call is a batch of chunks. Its plan says which selection of the array it is. Points and lists of positions may be many
selections, one for each chunk.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from zarr.core.buffer.cpu import Buffer, NDBuffer

from zarr_rs._native import Array, Plan
from zarr_rs.report import Unknown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr.core.array_spec import ArraySpec

    #: A chunk of a call: its key, its specification, the selection of its elements, their place in the result, and
    #: whether they are all elements of the chunk.
    Entry = tuple[Any, ArraySpec, Any, Any, bool]

#: A scalar is repeated in memory of at most this many bytes, or of one chunk.
_REPEATED_BYTES = 64 << 20


def memory_of(array: Array, batch: list[Entry], buffer: Any) -> npt.NDArray[Any]:
    """Returns the elements of a buffer as an array of NumPy, times as integers."""
    spec = batch[0][1]
    if type(buffer) is not NDBuffer or spec.prototype.buffer is not Buffer:
        raise Unknown("buffers of another kind")
    memory = buffer.as_ndarray_like()
    dtype = _dtype(spec)
    if dtype.kind not in ("OT" if array.is_text else "biufcmMSUV") or dtype.itemsize == 0:
        raise Unknown(f"the data type {dtype}")
    if not isinstance(memory, np.ndarray) or _native(memory.dtype) != _native(dtype):
        raise Unknown("elements of another type than the array")
    # As integers: NumPy does not swap the bytes of times without a unit when it converts them.
    return memory.view(f"{memory.dtype.byteorder}i8") if dtype.kind in "mM" else memory


def _plan(array: Array, batch: list[Entry]) -> Plan:
    plan = array.plan(batch)
    if plan is None:
        raise Unknown("a selection of an unknown kind")
    return plan


def missing(array: Array, batch: list[Entry]) -> list[bool]:
    """Returns for each chunk of a batch whether it is missing in the store."""
    return array.missing(_plan(array, batch))


def read_whole(array: Array, batch: list[Entry], memory: npt.NDArray[Any]) -> Plan:
    """Reads a batch that is one selection. Otherwise only returns the plan."""
    plan = _plan(array, batch)
    if plan.shape is None:
        return plan
    if plan.is_points:
        points = _read(array, plan, plan.shape, memory.dtype)
        for place, span in _places(batch):
            memory[place] = points[span]
        return plan
    if plan.shape != memory.shape:
        raise ValueError(f"the selection has shape {plan.shape}, the result has shape {memory.shape}")
    if memory.flags.c_contiguous and memory.flags.writeable and memory.dtype.isnative and not array.is_text:
        array.read(plan, _flat(memory))
    else:
        memory[...] = _read(array, plan, plan.shape, memory.dtype)
    return plan


def read_item(
    array: Array, plan: Plan, batch: list[Entry], memory: npt.NDArray[Any], drop_axes: tuple[int, ...], item: int
) -> None:
    """Reads the chunk of one entry of a batch into its place in `memory`."""
    values = _read(array, plan, plan.shape_of(item), memory.dtype, item)
    memory[batch[item][3]] = values.squeeze(axis=drop_axes) if drop_axes else values


def _read(
    array: Array, plan: Plan, shape: tuple[int, ...], dtype: np.dtype[Any], item: int | None = None
) -> npt.NDArray[Any]:
    """Reads an item of a plan, or all of them, into new memory."""
    values: npt.NDArray[Any] = np.empty(shape, _native(dtype))
    if array.is_text:
        values.reshape(-1)[:] = array.read_text(plan, item)
    else:
        array.read(plan, _flat(values), item)
    return values


def write_whole(array: Array, batch: list[Entry], values: npt.NDArray[Any], *, wait: bool = True) -> Plan:
    """Writes a batch that is one selection. Otherwise only returns the plan.

    If it does not `wait`, it raises a `StoreError` where another writer holds a chunk.
    """
    plan = _plan(array, batch)
    if not is_whole(plan, values):
        return plan
    if plan.is_points and values.ndim > 0:
        values = np.concatenate([values[place] for place, _ in _places(batch)])
    assert plan.shape is not None
    _write(array, plan, values, plan.shape, wait=wait)
    return plan


def is_whole(plan: Plan, values: npt.NDArray[Any]) -> bool:
    """Whether values are written at once. A scalar that would take much memory is written chunk by chunk."""
    if plan.shape is None or plan.is_points:
        return plan.shape is not None
    small = math.prod(plan.shape) * values.itemsize <= _REPEATED_BYTES
    return plan.shape == values.shape or (values.ndim == 0 and small)


def write_item(
    array: Array,
    plan: Plan,
    batch: list[Entry],
    values: npt.NDArray[Any],
    drop_axes: tuple[int, ...],
    item: int,
    *,
    wait: bool = True,
) -> None:
    """Writes the chunk of one entry of a batch from its part of `values`. `wait` as for `write_whole`."""
    if values.ndim > 0:
        values = values[batch[item][3]]
        values = np.expand_dims(values, drop_axes) if drop_axes else values
    _write(array, plan, values, plan.shape_of(item), item, wait=wait)


def _write(
    array: Array,
    plan: Plan,
    values: npt.NDArray[Any],
    shape: tuple[int, ...],
    item: int | None = None,
    *,
    wait: bool = True,
) -> None:
    """Writes values, or copies of a single one, to an item of a plan, or to all of them."""
    if values.shape != shape:
        values = np.broadcast_to(values, shape)
    if not array.is_text:
        array.write(plan, _flat(np.ascontiguousarray(values, _native(values.dtype))), item, wait=wait)
        return
    texts = values.reshape(-1).tolist()
    if not all(isinstance(text, str | bytes) for text in texts):
        raise Unknown("objects that are neither strings nor bytes")
    array.write_text(plan, texts, item)


def _places(batch: list[Entry]) -> Iterable[tuple[Any, slice]]:
    """Yields, for the points of each chunk, their place in the result and among the points of the batch."""
    start = 0
    for _, _, points, place, _ in batch:
        end = start + len(points[0])
        yield place, slice(start, end)
        start = end


def _flat(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns the memory of a dense array as the engine takes it: one dimension, of numbers or of bytes."""
    flat = values.reshape(-1)
    return flat if flat.dtype.kind in "biufc" else flat.view(np.uint8)


def _native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype if dtype.kind in "OT" else dtype.newbyteorder("=")


def _dtype(spec: ArraySpec) -> np.dtype[Any]:
    """Returns the type of the elements in NumPy. Before zarr-python 3.1 a specification has just that."""
    dtype: Any = spec.dtype
    native: np.dtype[Any] = dtype if isinstance(dtype, np.dtype) else dtype.to_native_dtype()
    return native
