"""The engine behind arrays of zarr-python.

Version 4 of zarr-python is to choose what reads and writes elements (its roadmap, and the draft zarr-python#4064). The classes
have the members of that draft, and import nothing of it. Until then `with_engine` gives one array of zarr-python the engine, and
`CodecPipeline` all arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import zarr
import zarr.errors

from zarr_rs import waiting
from zarr_rs.access import resolve
from zarr_rs.array import Array
from zarr_rs.array_config import config_of
from zarr_rs.errors import SelectionError, UnsupportedError
from zarr_rs.metadata import unknown_part

if TYPE_CHECKING:
    from typing import Protocol, Self

    from zarr.core.buffer import BufferPrototype, NDBuffer

    from zarr_rs.metadata import ArrayMetadata
    from zarr_rs.opening import Location
    from zarr_rs.selecting import Fields

    class SelectionRequest(Protocol):
        """What a user of zarr-python selected: `a[selection]` is `basic`, `a.oindex[selection]` `orthogonal`."""

        @property
        def kind(self) -> str: ...
        @property
        def selection(self) -> Any: ...


class Engine:
    """Reads and writes the elements of one array, in the thread that calls.

    Parameters
    ----------
    array
        The array, opened with `mode="r+"` if it is to be written.
    """

    def __init__(self, array: Array) -> None:
        self._array = array

    def read_selection(
        self,
        request: SelectionRequest,
        *,
        prototype: BufferPrototype | None = None,
        out: NDBuffer | None = None,
        fields: Fields = None,
    ) -> Any:
        """Returns the selected elements, a scalar for a single one; `out` is filled if it is given."""
        return self._read(request.kind, request.selection, prototype=prototype, out=out, fields=fields)

    def write_selection(
        self,
        request: SelectionRequest,
        value: Any,
        *,
        prototype: BufferPrototype | None = None,
        fields: Fields = None,
    ) -> None:
        """Writes values to the selected elements. They are converted to the type of the array as zarr-python does it."""
        self._write(request.kind, request.selection, value, prototype=prototype, fields=fields)

    def with_metadata(self, metadata: ArrayMetadata) -> Self:
        """Returns the engine of the array after its metadata have changed, such as by a resize."""
        _check(metadata)
        kind, arguments = self._array.__reduce__()
        return type(self)(kind(*arguments))

    def _read(self, kind: str, selection: Any, *, prototype: Any, out: Any, fields: Fields) -> Any:
        if kind == "basic":
            _check_basic(selection)
            if prototype is None and out is None and not fields:
                return self._array.read(selection)
        read = getattr(self._array, f"get_{kind}_selection")
        return read(selection, prototype=prototype, out=out, fields=fields)

    def _write(self, kind: str, selection: Any, value: Any, *, prototype: Any, fields: Fields) -> None:
        value = self._converted(value, fields)
        if kind == "basic":
            _check_basic(selection)
            if prototype is None and not fields:
                self._array[selection] = value
                return
        write = getattr(self._array, f"set_{kind}_selection")
        write(selection, value, prototype=prototype, fields=fields)

    def _converted(self, value: Any, fields: Fields) -> Any:
        dtype = self._array.dtype
        if fields and dtype.names:
            names = [fields] if isinstance(fields, str) else list(fields)
            dtype = dtype[names[0]] if len(names) == 1 and names[0] in dtype.names else dtype
        given = np.asarray(value, None if hasattr(value, "dtype") else dtype)
        return given if dtype.kind in "OT" else given.astype(dtype, copy=False)


class AsyncEngine:
    """As `Engine`, with coroutines, which wait in threads of the package."""

    def __init__(self, array: Array) -> None:
        self._engine = Engine(array)

    async def read_selection(
        self,
        request: SelectionRequest,
        *,
        prototype: BufferPrototype | None = None,
        out: NDBuffer | None = None,
        fields: Fields = None,
    ) -> Any:
        """As `Engine.read_selection`."""
        return await waiting.run(self._engine.read_selection, request, prototype=prototype, out=out, fields=fields)

    async def write_selection(
        self,
        request: SelectionRequest,
        value: Any,
        *,
        prototype: BufferPrototype | None = None,
        fields: Fields = None,
    ) -> None:
        """As `Engine.write_selection`."""
        await waiting.run(self._engine.write_selection, request, value, prototype=prototype, fields=fields)

    def with_metadata(self, metadata: ArrayMetadata) -> Self:
        """As `Engine.with_metadata`."""
        return type(self)(self._engine.with_metadata(metadata)._array)


class _Hierarchy:
    """The arrays of a store.

    Parameters
    ----------
    store
        Everything that `zarr_rs.open` takes.
    """

    def __init__(self, store: Location) -> None:
        self._writable = not getattr(store, "read_only", False)
        self._store, self._path = resolve(store, mode="r+" if self._writable else "r")

    def _array(self, path: str, metadata: ArrayMetadata, config: Any) -> Array:
        _check(metadata)
        below = "/".join(part for part in (self._path.strip("/"), path.strip("/")) if part)
        array = Array(self._store, below or "/", writable=self._writable, config=config_of(config))
        # An array that is not there is an error here, not at the first read.
        _ = array._handle
        return array


class HierarchyEngine(_Hierarchy):
    """Makes the engines of the arrays of a store, which is everything that `zarr_rs.open` takes."""

    def array_engine(self, path: str, metadata: ArrayMetadata, config: Any = None) -> Engine:
        """Returns the engine of the array at a path.

        Raises
        ------
        zarr.errors.UnsupportedEngineError
            The metadata have a part of another package than zarr and numcodecs. Before version 4 of zarr-python, an
            `UnsupportedError`.
        """
        return Engine(self._array(path, metadata, config))


class AsyncHierarchyEngine(_Hierarchy):
    """As `HierarchyEngine`, for engines with coroutines."""

    def array_engine(self, path: str, metadata: ArrayMetadata, config: Any = None) -> AsyncEngine:
        """As `HierarchyEngine.array_engine`."""
        return AsyncEngine(self._array(path, metadata, config))


def with_engine(array: zarr.Array[Any]) -> zarr.Array[Any]:
    """Returns an array of zarr-python whose elements the engine reads and writes, without zarr-python's event loop.

    A small read takes a fifth of the time that it takes through `CodecPipeline`. All else is as before: metadata, attributes,
    `resize`, and `async_array`, which uses the codec pipeline. The array can be pickled.

    Parameters
    ----------
    array
        The array, in any store that `zarr_rs.open` takes.

    Raises
    ------
    UnsupportedError
        A codec, data type or chunk grid is of another package than zarr and numcodecs.

    Examples
    --------
    >>> array = zarr.create_array({}, shape=(4,), dtype="i4", fill_value=7)
    >>> zarr_rs.with_engine(array)[1:3].tolist()
    [7, 7]
    """
    served = EngineArray(array.async_array)
    served._engine()
    return served


class EngineArray(zarr.Array[Any]):
    """An array of zarr-python with the engine. `with_engine` makes it."""

    def __reduce__(self) -> Any:
        return with_engine, (zarr.Array(self.async_array),)

    def _engine(self) -> Engine:
        metadata = self.metadata
        known: tuple[ArrayMetadata, Engine] | None = self.__dict__.get("_known")
        if known is None:
            store = self.store_path.store
            config = {"order": self.config.order, "write_empty_chunks": self.config.write_empty_chunks}
            if not getattr(self.config, "read_missing_chunks", True):
                config["read_missing_chunks"] = False
            known = metadata, HierarchyEngine(store).array_engine(self.store_path.path, metadata, config)
        elif known[0] is not metadata:
            # A resize has changed it.
            known = metadata, known[1].with_metadata(metadata)
        self.__dict__["_known"] = known
        return known[1]

    def get_basic_selection(
        self, selection: Any = ..., *, out: Any = None, prototype: Any = None, fields: Fields = None
    ) -> Any:
        return self._engine()._read("basic", selection, prototype=prototype, out=out, fields=fields)

    def get_orthogonal_selection(
        self, selection: Any, *, out: Any = None, prototype: Any = None, fields: Fields = None
    ) -> Any:
        return self._engine()._read("orthogonal", selection, prototype=prototype, out=out, fields=fields)

    def get_coordinate_selection(
        self, selection: Any, *, out: Any = None, prototype: Any = None, fields: Fields = None
    ) -> Any:
        return self._engine()._read("coordinate", selection, prototype=prototype, out=out, fields=fields)

    def get_mask_selection(
        self, mask: Any, *, out: Any = None, prototype: Any = None, fields: Fields = None
    ) -> Any:
        return self._engine()._read("mask", mask, prototype=prototype, out=out, fields=fields)

    def get_block_selection(
        self, selection: Any, *, out: Any = None, prototype: Any = None, fields: Fields = None
    ) -> Any:
        return self._engine()._read("block", selection, prototype=prototype, out=out, fields=fields)

    def set_basic_selection(
        self, selection: Any, value: Any, *, prototype: Any = None, fields: Fields = None
    ) -> None:
        self._engine()._write("basic", selection, value, prototype=prototype, fields=fields)

    def set_orthogonal_selection(
        self, selection: Any, value: Any, *, prototype: Any = None, fields: Fields = None
    ) -> None:
        self._engine()._write("orthogonal", selection, value, prototype=prototype, fields=fields)

    def set_coordinate_selection(
        self, selection: Any, value: Any, *, prototype: Any = None, fields: Fields = None
    ) -> None:
        self._engine()._write("coordinate", selection, value, prototype=prototype, fields=fields)

    def set_mask_selection(
        self, mask: Any, value: Any, *, prototype: Any = None, fields: Fields = None
    ) -> None:
        self._engine()._write("mask", mask, value, prototype=prototype, fields=fields)

    def set_block_selection(
        self, selection: Any, value: Any, *, prototype: Any = None, fields: Fields = None
    ) -> None:
        self._engine()._write("block", selection, value, prototype=prototype, fields=fields)


def _check(metadata: ArrayMetadata) -> None:
    """Raises the error of zarr-python for what an engine cannot serve."""
    if part := unknown_part(metadata, ()):
        kind = getattr(zarr.errors, "UnsupportedEngineError", UnsupportedError)
        raise kind(f"the engine of zarr_rs does not know {part}: leave the array to zarr-python")


def _check_basic(selection: Any) -> None:
    """Refuses what a basic selection of zarr-python does not have."""
    items = selection if isinstance(selection, tuple) else (selection,)
    if any(item is None for item in items):
        raise SelectionError("a basic selection of zarr-python has no new dimension (None)")
