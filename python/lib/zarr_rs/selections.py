"""Selections of arrays, in the terms of NumPy, as the engine takes them."""

from __future__ import annotations

import dataclasses
import operator
from types import EllipsisType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from zarr_rs.errors import SelectionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: A position, (start, end, step) inside the dimension, or a list of positions. A negative step begins with the last
#: element.
Entry = int | tuple[int, int, int] | npt.NDArray[np.uint64]


@dataclasses.dataclass(frozen=True)
class Selection:
    """A selection of an array."""

    entries: list[Entry]
    #: The shape as the engine reads it: positions drop their dimension, points are one dimension.
    engine_shape: tuple[int, ...]
    #: The shape of the result.
    shape: tuple[int, ...]
    #: Whether all lists of positions vary together.
    points: bool = False


def basic(key: Any, shape: tuple[int, ...]) -> Selection:
    """Returns the selection `a[key]`: positions, slices, `...`, `None`, and one list of positions or mask.

    Lists of positions for all dimensions are points, as in NumPy and zarr-python.
    """
    if isinstance(key, np.ndarray) and key.dtype == bool and key.ndim > 1:
        return points(key, shape)
    items = key if isinstance(key, tuple) else (key,)
    places = [place for place, item in enumerate(items) if _is_list(item)]
    if len(places) > 1:
        if len(items) == len(shape) and all(_is_position(item) or _is_positions(item) for item in items):
            return points(key, shape)
        raise SelectionError("several lists of positions: select with .oindex their product, with .vindex points")
    if places:
        # NumPy moves the dimension of the list to the front if a slice lies between it and a position.
        advanced = [place for place, item in enumerate(items) if _is_list(item) or _is_position(item)]
        if advanced != list(range(advanced[0], advanced[-1] + 1)):
            raise SelectionError("a list and a position with a slice between them: select with .oindex")
    return orthogonal(key, shape)


def orthogonal(key: Any, shape: tuple[int, ...]) -> Selection:
    """Returns the selection `a.oindex[key]`: each dimension on its own."""
    items = _expanded(key, len(shape), lambda item: 0 if item is None else 1)
    entries: list[Entry] = []
    engine_shape: list[int] = []
    result: list[int] = []
    for item in items:
        if item is None:
            result.append(1)
            continue
        entry, count = _entry(item, shape[len(entries)], len(entries))
        entries.append(entry)
        if count is not None:
            engine_shape.append(count)
            result.append(count)
    return Selection(entries, tuple(engine_shape), tuple(result))


def points(key: Any, shape: tuple[int, ...]) -> Selection:
    """Returns the selection `a.vindex[key]`: lists of positions vary together, and slices are taken whole.

    The points have the dimensions of the lists, in the place of the first of them.
    """
    items = _expanded(key, len(shape), lambda item: max(np.ndim(item), 1) if _is_mask(item) else 1)
    flat: list[Any] = []
    for item in items:
        if _is_mask(item):
            mask = np.asarray(item)
            expected = shape[len(flat) : len(flat) + mask.ndim]
            if mask.shape != expected:
                raise SelectionError(f"the mask has shape {mask.shape}, the array has {expected}")
            flat.extend(np.nonzero(mask))
        else:
            flat.append(item)
    listed = [dim for dim, item in enumerate(flat) if not isinstance(item, slice)]
    if not listed:
        raise SelectionError("no list of positions: select slices with a[...]")
    try:
        lists = np.broadcast_arrays(*(_integers(flat[dim], dim) for dim in listed))
    except ValueError as e:
        raise SelectionError(f"the lists of positions have shapes that do not fit: {e}") from None
    entries: list[Entry] = []
    engine_shape: list[int] = []
    result: list[int] = []
    for dim, item in enumerate(flat):
        if dim in listed:
            positions = lists[listed.index(dim)]
            entries.append(_inside(positions.reshape(-1), shape[dim], dim))
            if dim == listed[0]:
                engine_shape.append(positions.size)
                result.extend(positions.shape)
        else:
            entry, count = _entry(item, shape[dim], dim)
            entries.append(entry)
            engine_shape.append(count or 0)
            result.append(count or 0)
    return Selection(entries, tuple(engine_shape), tuple(result), points=True)


def blocks(
    key: Any, counts: Sequence[int], span: Callable[[int, int], tuple[int, int] | None], shape: tuple[int, ...]
) -> Selection:
    """Returns the selection `a.blocks[key]`: whole chunks, by position or slice of the chunk grid."""
    entries: list[Entry] = []
    for dim, item in enumerate(_expanded(key, len(shape), lambda _: 1)):
        if not (isinstance(item, slice) or _is_position(item)):
            raise SelectionError(f"chunks of dimension {dim} are selected by a position or a slice")
        entry, _ = _entry(item, counts[dim], dim)
        assert isinstance(entry, int | tuple)
        first, end, step = (entry, entry + 1, 1) if isinstance(entry, int) else entry
        if step != 1:
            raise SelectionError(f"a slice of chunks of dimension {dim} has a step")
        spans = [span(dim, first), span(dim, end - 1)] if end > first else [(0, 0), (0, 0)]
        start, stop = (shape[dim] if found is None else found[side] for side, found in enumerate(spans))
        entries.append((start, min(stop, shape[dim]), 1))
    sizes = tuple(entry[1] - entry[0] for entry in entries if isinstance(entry, tuple))
    return Selection(entries, sizes, sizes)


def whole(shape: tuple[int, ...]) -> Selection:
    """Returns the selection of all elements of an array."""
    return Selection([(0, length, 1) for length in shape], shape, shape)


def _expanded(key: Any, rank: int, dims: Callable[[Any], int]) -> list[Any]:
    """Returns an item per dimension, and those for new dimensions. `dims` is the number of dimensions of an item."""
    items = list(key) if isinstance(key, tuple) else [key]
    dots = [place for place, item in enumerate(items) if isinstance(item, EllipsisType)]
    if len(dots) > 1:
        raise SelectionError("more than one ellipsis")
    missing = rank - sum(dims(item) for item in items if not isinstance(item, EllipsisType))
    if missing < 0:
        raise SelectionError(f"the selection has {rank - missing} dimensions, the array has {rank}")
    place = dots[0] if dots else len(items)
    return [*items[:place], *[slice(None)] * missing, *items[place + 1 :]]


def _entry(item: Any, length: int, dim: int) -> tuple[Entry, int | None]:
    """Returns the entry of a dimension, and the number of its elements, or `None` for a position."""
    if isinstance(item, slice):
        try:
            steps = range(*item.indices(length))
        except TypeError as e:
            raise SelectionError(f"the slice of dimension {dim} is not one of integers") from e
        if len(steps) == 0:
            return (0, 0, 1), 0
        low, high = sorted((steps[0], steps[-1]))
        return (low, high + 1, steps.step), len(steps)
    if _is_position(item):
        return int(_inside(np.asarray([operator.index(item)]), length, dim)[0]), None
    if _is_mask(item):
        mask = np.asarray(item)
        if mask.shape != (length,):
            raise SelectionError(f"the mask of dimension {dim} has shape {mask.shape}, the array has {length}")
        item = np.flatnonzero(mask)
    positions = _integers(item, dim)
    if positions.ndim != 1:
        raise SelectionError(f"the list of positions of dimension {dim} has {positions.ndim} dimensions")
    return _inside(positions, length, dim), positions.size


def _inside(positions: npt.NDArray[Any], length: int, dim: int) -> npt.NDArray[np.uint64]:
    """Returns positions without negative ones."""
    counted = np.where(positions < 0, positions + length, positions)
    outside = (counted < 0) | (counted >= length)
    if outside.any():
        wrong = positions[outside][0]
        raise SelectionError(f"index {wrong} of dimension {dim} is not inside its length {length}")
    return np.ascontiguousarray(counted, np.uint64)


def _integers(item: Any, dim: int) -> npt.NDArray[Any]:
    try:
        found = np.asarray(item)
    except ValueError as e:
        raise SelectionError(f"the list of positions of dimension {dim} is ragged") from e
    if found.size == 0:
        return found.astype(np.int64)
    if found.dtype.kind not in "iu":
        raise SelectionError(f"dimension {dim} is selected by {type(item).__name__}, expected integers or a slice")
    if found.dtype == np.uint64 and found.max() > np.iinfo(np.int64).max:
        raise SelectionError(f"index {found.max()} of dimension {dim} is larger than any array")
    return found.astype(np.int64)


def _is_position(item: Any) -> bool:
    return hasattr(item, "__index__") and not isinstance(item, bool | np.bool_ | list) and np.ndim(item) == 0


def _is_mask(item: Any) -> bool:
    return isinstance(item, list | np.ndarray) and np.size(item) > 0 and np.asarray(item).dtype == bool


def _is_positions(item: Any) -> bool:
    return _is_list(item) and not _is_mask(item)


def _is_list(item: Any) -> bool:
    return isinstance(item, list | np.ndarray) and np.ndim(item) > 0
