"""Arrays."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from zarr_rs import arrow, html, selections, small, waiting
from zarr_rs._native import ArrayHandle
from zarr_rs.document import Metadata
from zarr_rs.dtypes import numpy_dtype, type_name
from zarr_rs.errors import ArgumentError
from zarr_rs.partition import partitions
from zarr_rs.selecting import Selecting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zarr_rs.selections import Selection


#: The attribute in which xarray keeps the names of dimensions in format 2.
DIMENSIONS = "_ARRAY_DIMENSIONS"


@dataclasses.dataclass(frozen=True)
class Explanation:
    """What a read of a selection costs."""

    #: The number of chunks, or of shards, that the selection touches.
    chunks: int
    #: The number of those that are stored.
    chunks_stored: int
    #: The number of chunks in shards that the selection touches.
    inner_chunks: int
    #: The number of requests to the store.
    requests: int
    #: The number of ranges of bytes that are needed.
    ranges_wanted: int
    #: The number of ranges that are read, after neighbours are joined.
    ranges: int
    #: The number of bytes that are read.
    bytes: int
    #: The number of those bytes that hold selected elements.
    bytes_useful: int
    #: The size of the result in bytes.
    bytes_result: int
    #: The approximate peak memory in bytes.
    peak_memory: int


class Array(Selecting):
    """An array in a store. Make it with `zarr_rs.open_array` or `zarr_rs.create_array`.

    Elements are read and written as arrays of NumPy, without a copy where the type of the elements has one in Rust. Calls
    do not hold the interpreter's lock, use all cores, and end at Ctrl-C.

    >>> a = zarr_rs.create_array("memory://", shape=(4, 6), chunks=(2, 3), dtype="int32")
    >>> a[1:3, ::2] = [[1, 2, 3], [4, 5, 6]]
    >>> a[2]
    array([4, 0, 5, 0, 6, 0], dtype=int32)
    >>> a.oindex[[2, 1], [0, 4]]
    array([[4, 6],
           [1, 3]], dtype=int32)
    >>> a.vindex[[2, 1], [0, 4]]
    array([4, 3], dtype=int32)
    >>> a.blocks[0, 1]
    array([[0, 0, 0],
           [0, 3, 0]], dtype=int32)
    >>> a.explain[1:3].chunks
    4
    """

    _kind = ArrayHandle

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of elements in each dimension."""
        return self._handle.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=object))

    @property
    def nbytes(self) -> int:
        """The size of all elements in memory, in bytes."""
        return self.size * self.dtype.itemsize

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements in NumPy. Strings of any length have `StringDType`, with NumPy 1 `object`."""
        memo = self._handle.memo
        found = memo.get("dtype")
        if found is None:
            found = memo["dtype"] = numpy_dtype(self._document["data_type"])
        dtype: np.dtype[Any] = found
        return dtype

    @property
    def metadata(self) -> Metadata:
        """The metadata document as it is stored: a mapping, whose members are attributes, too."""
        return Metadata(json.loads(self._handle.metadata), self._document | {"attributes": self.attrs.asdict()})

    @property
    def _document(self) -> dict[str, Any]:
        """The metadata in terms of format 3. Nobody may change it."""
        memo = self._handle.memo
        found = memo.get("document")
        if found is None:
            found = memo["document"] = json.loads(self._handle.document)
        document: dict[str, Any] = found
        return document

    @property
    def fill_value(self) -> Any:
        """The value of elements that are not stored."""
        stored, dtype = self._handle.fill, self.dtype
        if self._handle.is_text:
            return stored.decode() if self._document["data_type"] == "string" else stored
        return np.frombuffer(stored, small.passed(dtype)).astype(dtype, copy=False)[0]

    @property
    def dimension_names(self) -> tuple[str | None, ...] | None:
        """The names of the dimensions."""
        names = self._document.get("dimension_names")
        return None if names is None else tuple(names)

    @property
    def _dimensions(self) -> tuple[str | None, ...]:
        """The names of the dimensions, of format 3, or as xarray or netCDF-C write them to format 2; empty without names."""
        if self.zarr_format == 3:
            return self.dimension_names or ()
        attributes = self.attrs.asdict()
        # netCDF-C writes paths, older versions of it to `.zarray`.
        recent, old = attributes.get("_nczarr_array"), self.metadata.get("_NCZARR_ARRAY")
        paths = _names(recent, "dimension_references") or _names(old, "dimrefs")
        return _names(attributes, DIMENSIONS) or tuple(path.rpartition("/")[2] for path in paths)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without dimensions has no length")
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.get_basic_selection(fields=key)
        return self.read(key)

    def __setitem__(self, key: Any, values: Any) -> None:
        if isinstance(key, str):
            self.set_basic_selection(..., values, fields=key)
            return
        self._check_writable()
        if not self._handle.set(key, values):
            self._write(selections.basic(key, self.shape), values)

    @property
    def oindex(self) -> Indexer:
        """Selects each dimension on its own: `a.oindex[[3, 1], mask]`."""
        return OrthogonalIndexer(self, selections.orthogonal)

    @property
    def vindex(self) -> Indexer:
        """Selects points: `a.vindex[[3, 1], [0, 5]]`, or a mask."""
        return Indexer(self, selections.points)

    @property
    def blocks(self) -> Indexer:
        """Selects whole chunks, or shards, by their place in the chunk grid: `a.blocks[0, -1]`, `a.blocks[1:3]`."""
        return Indexer(self, lambda key, _: self._blocks(key))

    def read(self, key: Any = ..., *, out: npt.NDArray[Any] | None = None) -> Any:
        """Reads `a[key]`.

        Parameters
        ----------
        key
            Positions, slices, `...`, `None`, lists of positions and masks, as in NumPy.
        out
            The memory to read into: an array of the shape and type of the selection, with any strides.

        Returns
        -------
        numpy.ndarray or scalar
            The elements, or `out`.

        Raises
        ------
        SelectionError
            The selection is not inside the array. It is an `IndexError`.
        CorruptError
            A stored chunk is damaged. It is a `ValueError`.
        """
        in_order = out is not None or self._config.order == "C"
        found = self._handle.get(key, out) if in_order else None
        return self._read(selections.basic(key, self.shape), out) if found is None else found

    def write(self, key: Any, values: Any) -> None:
        """Writes `a[key] = values`.

        Parameters
        ----------
        key
            The selection, as for `read`.
        values
            Elements that fit the shape of the selection by the rules of NumPy, and the type of the array.

        Raises
        ------
        TypeError
            The values have another kind than the array, such as floats for integers.
        ArgumentError
            The values do not fit the shape, or numbers do not fit the type. It is a `ValueError`.
        DeniedError
            The array was opened for reading only. It is a `PermissionError`.

        Notes
        -----
        Values of libraries of Arrow are one dimension in C order, as many as the selection has. With pyarrow, strings,
        bytes, structs and numbers are taken without a Python object for each. A null is an error, among times it is NaT.
        """
        self[key] = values

    async def read_async(self, key: Any = ..., *, out: npt.NDArray[Any] | None = None) -> Any:
        """As `read`, for async programs. The work is done in threads of the package."""
        return await waiting.run(self.read, key, out=out)

    async def write_async(self, key: Any, values: Any) -> None:
        """As `write`, for async programs."""
        await waiting.run(self.write, key, values)

    def read_many(self, keys: Iterable[Any]) -> list[Any]:
        """Reads several selections `a[key]`. Chunks that they share are fetched and decoded once.

        Parameters
        ----------
        keys
            Selections, as for `read`.

        Returns
        -------
        list
            The elements of each selection.
        """
        wanted = [selections.basic(key, self.shape) for key in keys]
        found = None
        if not self._handle.is_text and not any(selection.points for selection in wanted):
            found = self._handle.read_many([selection.entries for selection in wanted])
        if found is None:
            return [self._read(selection) for selection in wanted]
        return [_result(f.reshape(selection.shape)) for f, selection in zip(found, wanted, strict=True)]

    @property
    def explain(self) -> Explainer:
        """Says what a read costs, without reading elements: `a.explain[:10]`."""
        return Explainer(self)

    def _read(self, selection: Selection, out: npt.NDArray[Any] | None = None) -> Any:
        dtype = self.dtype
        if out is not None and (out.shape != selection.shape or out.dtype != dtype or not out.flags.writeable):
            expected = f"a writable array of shape {selection.shape} and type {dtype}"
            raise ArgumentError(f"out has shape {out.shape} and type {out.dtype}, expected {expected}")
        memory = np.empty(selection.shape, dtype, self._config.order) if out is None else out
        if memory.size == 0:
            return memory
        if self._handle.is_text:
            found = self._handle.read_text(selection.entries, selection.points)
            flat = np.empty(len(found), dtype)
            flat[:] = found
            memory[...] = flat.reshape(selection.shape)
        elif _is_plain(dtype):
            # A view: points are read into new memory, and other shapes differ in dimensions of length 1.
            self._handle.read(selection.entries, selection.points, memory.reshape(selection.engine_shape))
        else:
            flat = np.empty(memory.size, small.passed(dtype))
            self._handle.read(selection.entries, selection.points, _bytes(flat))
            memory[...] = flat.reshape(selection.shape)
        return _result(memory) if out is None else memory

    def _fill(self, values: Any) -> None:
        """Writes all elements, from an array of another library part by part."""
        for part in [...] if isinstance(values, np.ndarray) else partitions(self):
            self[part] = np.asarray(values[part])

    def _write(self, selection: Selection, values: Any) -> None:
        self._check_writable()
        dtype = self.dtype
        of_arrow = arrow.taken(values, dtype)
        if of_arrow is not None and dtype.kind not in "biufcmM":
            self._handle.write_arrow(selection.entries, selection.points, arrow.stream(of_arrow))
            return
        if of_arrow is not None:
            values = arrow.numbers(of_arrow, dtype)
            is_whole = values.size == math.prod(selection.shape)
            values = values.reshape(selection.shape) if is_whole else values
        given = self._given(values)
        try:
            given = np.broadcast_to(given, selection.shape)
        except ValueError as e:
            raise ArgumentError(f"values of shape {given.shape} do not fit the shape {selection.shape}") from e
        if given.size == 0:
            return
        if self._handle.is_text:
            self._handle.write_text(selection.entries, selection.points, _texts(given))
        elif _is_plain(given.dtype):
            self._handle.write(selection.entries, selection.points, given.reshape(selection.engine_shape))
        else:
            flat = np.ascontiguousarray(given).reshape(-1).astype(small.passed(given.dtype), copy=False)
            self._handle.write(selection.entries, selection.points, _bytes(flat))

    def _given(self, values: Any) -> npt.NDArray[Any]:
        """Returns values as elements of the array, if it can hold them."""
        dtype, given = self.dtype, np.asarray(values) if hasattr(values, "dtype") else None
        if given is None:
            given = np.asarray(values, None if dtype.kind in "biufc" or small.is_small(dtype) else dtype)
        if given.dtype.kind in "mM" and not given.dtype.isnative:
            # NumPy takes the byte orders of times without a unit for equal.
            given = given.byteswap().view(given.dtype.newbyteorder("="))
        if given.dtype == dtype or (self._handle.is_text and given.dtype.kind in "OUT"):
            return given
        if small.is_small(dtype):
            return small.converted(given, dtype)
        if dtype.kind in "iu" and given.dtype.kind in "iu":
            limits = np.iinfo(dtype)
            if given.size and (given.min() < limits.min or given.max() > limits.max):
                raise ArgumentError(f"values from {given.min()} to {given.max()} do not fit the type {dtype}")
        elif given.size and not np.can_cast(given.dtype, dtype, "same_kind"):
            raise TypeError(f"values of type {given.dtype} do not fit the type {dtype}: convert them first")
        return given.astype(dtype, copy=False)

    def resize(self, new_shape: tuple[int, ...] | int) -> None:
        """Changes the shape. Elements outside of it are deleted.

        Parameters
        ----------
        new_shape
            The number of elements in each dimension.
        """
        self._check_writable()
        self._handle.resize([new_shape] if isinstance(new_shape, int) else list(new_shape))

    def append(self, data: Any, axis: int = 0) -> tuple[int, ...]:
        """Appends values along a dimension, which grows by their length.

        Parameters
        ----------
        data
            Elements whose shape is that of the array in the other dimensions.
        axis
            The dimension. Negative numbers count from the last one.

        Returns
        -------
        tuple of int
            The new shape.
        """
        self._check_writable()
        given, shape = self._given(data), self.shape
        axis = axis + len(shape) if axis < 0 else axis
        others = [length for dim, length in enumerate(given.shape) if dim != axis]
        if given.ndim != len(shape) or others != [length for dim, length in enumerate(shape) if dim != axis]:
            raise ArgumentError(f"values of shape {given.shape} do not fit along dimension {axis} of the shape {shape}")
        flat = _texts(given) if self._handle.is_text else np.ascontiguousarray(given).reshape(-1)
        if not self._handle.append(axis, list(given.shape), flat):
            grown = [*shape[:axis], shape[axis] + given.shape[axis], *shape[axis + 1 :]]
            self._handle.resize(grown)
            self[(slice(None),) * axis + (slice(shape[axis], None),)] = given
        return self.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("the elements are in a store, so they must be copied")
        found = np.asarray(self[...])
        return found if dtype is None else found.astype(dtype, copy=False)

    @property
    def arrow(self) -> ArrowIndexer:
        """Selections for libraries of Arrow, such as pyarrow and polars: strings, times and structs without NumPy.

        They are read when a library takes them, in C order, as one dimension.

        >>> import pyarrow
        >>> a = zarr_rs.create_array("memory://", shape=(3,), dtype="string")
        >>> a[:2] = ["Oslo", "Quito"]
        >>> pyarrow.array(a.arrow[1:]).to_pylist()
        ['Quito', '']
        """
        return ArrowIndexer(self)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self.arrow[...].__arrow_c_array__(requested_schema)

    def __dlpack__(self, **options: Any) -> Any:
        options.pop("copy", None)
        return np.asarray(self).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return np.empty(0).__dlpack_device__()

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        return type(self).__name__, self._store.__dask_tokenize__(), self.name, self._handle.metadata

    def __repr__(self) -> str:
        return f"<zarr_rs.Array {self.name!r} in {self._store} {self.shape} {type_name(self._document)}>"

    def _repr_html_(self) -> str:
        rows = {
            "Path": f"{self.name} in {self._store}",
            "Type": type_name(self._document),
            "Shape": self.shape,
            "Chunks": self.chunks or "of different shapes",
            "Shards": self.shards,
            "Format": self.zarr_format,
        }
        return html.table(rows, html.grid(self._sides) if self.size else "")


class Indexer:
    """Selections of one kind of an array."""

    def __init__(self, array: Array, select: Callable[[Any, tuple[int, ...]], Selection]) -> None:
        self._array = array
        self._select = select

    def __getitem__(self, key: Any) -> Any:
        return self._array._read(self._select(key, self._array.shape))

    def __setitem__(self, key: Any, values: Any) -> None:
        self._array._write(self._select(key, self._array.shape), values)


class OrthogonalIndexer(Indexer):
    """Selections of each dimension on its own. Without a list they are those of `a[...]`."""

    def __getitem__(self, key: Any) -> Any:
        found = self._array._handle.get(key)
        return super().__getitem__(key) if found is None else found


class ArrowIndexer:
    """Makes selections that libraries of Arrow read."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> ArrowSelection:
        return ArrowSelection(self._array, selections.basic(key, self._array.shape))


@dataclasses.dataclass(frozen=True)
class ArrowSelection:
    """A selection of an array, which a library of Arrow reads."""

    array: Array
    selection: Selection

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        # A library converts the array itself if it has asked for another type.
        return self.array._handle.read_arrow(self.selection.entries, self.selection.points)


class Explainer:
    """Says what reads of an array cost."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Explanation:
        selection = selections.basic(key, self._array.shape)
        return Explanation(**self._array._handle.explain(selection.entries, selection.points))


def _names(members: Any, name: str) -> tuple[str, ...]:
    """Returns a member of a JSON object that is a list of texts; empty if it is not there or anything else."""
    found = members.get(name) if isinstance(members, dict) else None
    return tuple(found) if isinstance(found, list) and all(isinstance(text, str) for text in found) else ()


def _is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether elements have a type in Rust, and are in native byte order."""
    return dtype.kind in "biufc" and dtype.isnative and not small.is_small(dtype)


def _bytes(flat: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns the memory of elements that have no type in Rust: times as integers, others as bytes."""
    return flat.view(np.int64 if flat.dtype.kind in "mM" else np.uint8)


def _texts(values: npt.NDArray[Any]) -> list[Any]:
    found: list[Any] = values.reshape(-1).tolist()
    return found


def _result(values: npt.NDArray[Any]) -> Any:
    """Returns a scalar for a single element, as NumPy does."""
    return values[()] if values.ndim == 0 else values
