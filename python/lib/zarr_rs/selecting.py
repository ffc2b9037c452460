"""Selections of an array by the methods of zarr-python, also of fields of structs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from zarr_rs import selections
from zarr_rs.errors import SelectionError, UnsupportedError
from zarr_rs.layout import Layout

if TYPE_CHECKING:
    from typing import Self

    from zarr_rs.selections import Selection

    #: The name of a field of a struct, or several of them.
    Fields = str | Sequence[str] | None


class Selecting(Layout):
    """The part of an array that has a method for each kind of selection.

    All `get_` methods take `out`, an array of NumPy or an `NDBuffer` of zarr-python that the elements are read into, and
    `fields`, the names of fields of structs. All `set_` methods take one field at most: the structs are read, changed and
    written, so another writer of the same elements may be lost. `prototype` must be one for the memory of the processor.
    """

    if TYPE_CHECKING:

        @abstractmethod
        def _read(self, selection: Selection, out: npt.NDArray[Any] | None = None) -> Any: ...
        @abstractmethod
        def _write(self, selection: Selection, values: Any) -> None: ...

    _refused = {
        "async_array": "use read_async and write_async, or zarr.open_array",
        "config": "settings are arguments of open and create_array",
        "with_config": "use the argument config of open",
        "from_dict": "use create_array",
        "create": "use create_array",
    }

    @classmethod
    def open(cls, store: Any, **options: Any) -> Self:
        """Opens an array, with the arguments of `zarr_rs.open_array`."""
        from zarr_rs.opening import open_array

        found = open_array(store, **options)
        assert isinstance(found, cls)
        return found

    def __iter__(self) -> Iterator[Any]:
        """Iterates over the first dimension. Chunks are read once."""
        if not self.shape:
            raise TypeError("an array without dimensions cannot be iterated over")
        return (
            row for start, end in self._rows() for row in self._read(selections.basic(slice(start, end), self.shape))
        )

    def _rows(self) -> Iterator[tuple[int, int]]:
        end = 0
        for length in self.chunk_lengths[0]:
            start, end = end, end + length
            yield start, end

    def get_basic_selection(
        self, selection: Any = ..., *, out: Any = None, prototype: Any = None, fields: Fields = None
    ) -> Any:
        """Reads `a[selection]`."""
        return self._get(selections.basic(selection, self.shape), out, prototype, fields)

    def get_orthogonal_selection(
        self, selection: Any, *, out: Any = None, fields: Fields = None, prototype: Any = None
    ) -> Any:
        """Reads `a.oindex[selection]`."""
        return self._get(selections.orthogonal(selection, self.shape), out, prototype, fields)

    def get_coordinate_selection(
        self, selection: Any, *, out: Any = None, fields: Fields = None, prototype: Any = None
    ) -> Any:
        """Reads the points `a.vindex[selection]`."""
        return self._get(selections.points(selection, self.shape), out, prototype, fields)

    def get_mask_selection(self, mask: Any, *, out: Any = None, fields: Fields = None, prototype: Any = None) -> Any:
        """Reads the elements at which a mask of the shape of the array is true, as one dimension."""
        return self._get(selections.points(np.asarray(mask, bool), self.shape), out, prototype, fields)

    def get_block_selection(
        self, selection: Any, *, out: Any = None, fields: Fields = None, prototype: Any = None
    ) -> Any:
        """Reads the chunks, or shards, `a.blocks[selection]`."""
        return self._get(self._blocks(selection), out, prototype, fields)

    def set_basic_selection(self, selection: Any, value: Any, *, fields: Fields = None, prototype: Any = None) -> None:
        """Writes `a[selection] = value`."""
        self._put(selections.basic(selection, self.shape), value, prototype, fields)

    def set_orthogonal_selection(
        self, selection: Any, value: Any, *, fields: Fields = None, prototype: Any = None
    ) -> None:
        """Writes `a.oindex[selection] = value`."""
        self._put(selections.orthogonal(selection, self.shape), value, prototype, fields)

    def set_coordinate_selection(
        self, selection: Any, value: Any, *, fields: Fields = None, prototype: Any = None
    ) -> None:
        """Writes the points `a.vindex[selection] = value`."""
        self._put(selections.points(selection, self.shape), value, prototype, fields)

    def set_mask_selection(self, mask: Any, value: Any, *, fields: Fields = None, prototype: Any = None) -> None:
        """Writes the elements at which a mask of the shape of the array is true."""
        self._put(selections.points(np.asarray(mask, bool), self.shape), value, prototype, fields)

    def set_block_selection(self, selection: Any, value: Any, *, fields: Fields = None, prototype: Any = None) -> None:
        """Writes the chunks, or shards, `a.blocks[selection] = value`."""
        self._put(self._blocks(selection), value, prototype, fields)

    def _blocks(self, key: Any) -> Selection:
        return selections.blocks(key, self._handle.chunk_counts, self._handle.span, self.shape)

    def _get(self, selection: Selection, out: Any, prototype: Any, fields: Fields) -> Any:
        _check_prototype(prototype)
        memory = out.as_ndarray_like() if hasattr(out, "as_ndarray_like") else out
        if not fields:
            return self._read(selection, memory)
        self._check_fields(fields)
        found = self._read(selection)[fields if isinstance(fields, str) else list(fields)]
        if memory is None:
            return found
        memory[...] = found
        return memory

    def _put(self, selection: Selection, values: Any, prototype: Any, fields: Fields) -> None:
        _check_prototype(prototype)
        if not fields:
            self._write(selection, values)
            return
        self._check_fields(fields)
        names = [fields] if isinstance(fields, str) else list(fields)
        if len(names) > 1:
            raise SelectionError(f"{len(names)} fields cannot be written at once: write each of them")
        structs = np.array(self._read(selection), self.dtype)
        structs[names[0]] = values
        self._write(selection, structs)

    def _check_fields(self, fields: Fields) -> None:
        names = self.dtype.names or ()
        for field in [fields] if isinstance(fields, str) else fields or ():
            if field not in names:
                raise SelectionError(
                    f"the elements have no field {field!r}: they have {', '.join(names) or 'no fields'}"
                )


def _check_prototype(prototype: Any) -> None:
    if prototype is not None and prototype.buffer.__module__ != "zarr.core.buffer.cpu":
        raise UnsupportedError("buffers of another kind than zarr.buffer.cpu: use zarr.open_array")
