"""The engine for xarray: `xr.open_dataset("weather.zarr", engine="zarr_rs")`."""

from __future__ import annotations

import os
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import xarray as xr
from xarray.backends import AbstractDataStore, BackendArray, BackendEntrypoint, StoreBackendEntrypoint
from xarray.core import indexing
from zarr.storage import StorePath

from zarr_rs import waiting
from zarr_rs.array import DIMENSIONS, Array
from zarr_rs.encoding import encoding_of
from zarr_rs.errors import BrokenNodeWarning, ZarrDiagnostic, ZarrError
from zarr_rs.group import Group
from zarr_rs.opening import open_group
from zarr_rs.report import callers_level, diagnosed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: The largest size of a coordinate that is read together with others, in bytes.
_TOGETHER = 1 << 20


class Backend(BackendEntrypoint):
    """Opens groups of arrays with named dimensions as datasets of xarray.

    Arrays are read by the engine, without zarr-python; xarray itself decodes times, scales and masks. A dataset can be read
    by the processes of Dask. Datasets are written with `to_zarr`, which uses zarr-python.

    The metadata of all variables is read at once, and so are the coordinates of dimensions. `load` reads one variable after
    the other, as xarray does it; `load_async`, and `chunks={}` with Dask, read many at once.

    A dataset is that of `engine="zarr"`, with these differences:

    - A broken array does not close the dataset.
    - `_FillValue` of format 3 may be a number, `"NaN"`, or `null`, as other programs than xarray write it. The logger
      `zarr_rs.metadata` has what xarray would refuse.
    - Names of dimensions are read from both forms of netCDF-C, and its own attributes, `_nc*`, are hidden in both formats.
    - `use_zarr_fill_value_as_mask` works.
    - A piece of Dask is a whole shard.
    - `open_groups` with `group` names the groups from that group on, `/` and `/a`.

    An array that cannot be opened or decoded, such as one with an unknown codec, without names of dimensions, or with times
    that have no date, is left out with a `BrokenNodeWarning`, and the rest of the dataset opens.

    >>> import numpy as np, xarray as xr
    >>> store = zarr_rs.Store("memory://")
    >>> _ = xr.Dataset({"t": ("x", np.arange(3.0))}, {"x": [10, 20, 30]}).to_zarr(store, consolidated=False)
    >>> xr.open_dataset(store, engine="zarr_rs").t.sel(x=20).item()
    1.0
    """

    description = "Opens Zarr stores with the engine of zarr_rs"
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        return isinstance(filename_or_obj, str | os.PathLike) and str(filename_or_obj).rstrip("/").endswith(".zarr")

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        consolidated: bool | None = None,
        storage_options: Mapping[str, Any] | None = None,
        zarr_format: Any = None,
        use_zarr_fill_value_as_mask: bool | None = None,
    ) -> xr.Dataset:
        """Opens the dataset of a group.

        `filename_or_obj` and `storage_options` are what `zarr_rs.open` takes: paths, URLs, mappings, stores of any package.
        `group` is the path of the group. `use_zarr_fill_value_as_mask` says whether the fill
        value of an array marks missing elements; by default it does so in format 2.
        """
        opened = open_group(
            filename_or_obj,
            group or "/",
            use_consolidated=_consolidated(filename_or_obj, consolidated),
            zarr_format=zarr_format,
            storage_options=storage_options,
        )
        decoding = {
            "mask_and_scale": mask_and_scale,
            "decode_times": decode_times,
            "concat_characters": concat_characters,
            "decode_coords": decode_coords,
            "drop_variables": drop_variables,
            "use_cftime": use_cftime,
            "decode_timedelta": decode_timedelta,
        }
        return _dataset(opened, dict(opened._members()), use_zarr_fill_value_as_mask, decoding)

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        group: str | None = None,
        consolidated: bool | None = None,
        storage_options: Mapping[str, Any] | None = None,
        zarr_format: Any = None,
        use_zarr_fill_value_as_mask: bool | None = None,
        **decoding: Any,
    ) -> dict[str, xr.Dataset]:
        """Opens the datasets of a group and of all groups below it, by path."""
        root = open_group(
            filename_or_obj,
            group or "/",
            use_consolidated=_consolidated(filename_or_obj, consolidated),
            zarr_format=zarr_format,
            storage_options=storage_options,
        )
        return {
            path: _dataset(found, members, use_zarr_fill_value_as_mask, decoding) for path, found, members in _groups(root)
        }

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> xr.DataTree:
        """Opens a group and all groups below it as a tree, with the arguments of `open_groups_as_dict`."""
        return xr.DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, **options))


def _consolidated(opened: Any, asked: bool | None) -> bool | None:
    """Returns whether consolidated metadata is used. As for `engine="zarr"`, icechunk's stores are opened as if not asked."""
    store = opened.store if isinstance(opened, StorePath) else opened
    return asked if getattr(store, "supports_consolidated_metadata", True) else False


#: The children of a group by name. In place of one that cannot be opened is the reason.
_Members: TypeAlias = "Mapping[str, Array | Group | ZarrError]"


def _groups(root: Group) -> Iterator[tuple[str, Group, _Members]]:
    """Yields a group and those below, parents first: their paths from it on, and their children. Metadata is read once."""
    waiting = [("/", root)]
    while waiting:
        path, group = waiting.pop()
        members = dict(group._members())
        yield path, group, members
        below = path.rstrip("/")
        waiting += [(f"{below}/{name}", member) for name, member in members.items() if isinstance(member, Group)][::-1]


def _dataset(group: Group, members: _Members, fill_is_missing: bool | None, decoding: Mapping[str, Any]) -> xr.Dataset:
    """Returns the dataset of the arrays of a group, decoded by xarray. A broken array is left out, with a warning."""
    dropped = decoding.get("drop_variables") or ()
    names = {dropped} if isinstance(dropped, str) else set(dropped)
    arrays = {name: member for name, member in members.items() if name not in names and isinstance(member, Array)}
    broken: dict[str, Exception] = {
        name: member for name, member in members.items() if name not in names and isinstance(member, ZarrError)
    }

    def decoded(names: Iterable[str]) -> xr.Dataset:
        variables = _Variables(group, {name: arrays[name] for name in names}, fill_is_missing)
        return StoreBackendEntrypoint().open_dataset(variables, **decoding)

    def check(name: str) -> Exception | None:
        try:
            decoded([name])
        except Warning:
            raise
        except Exception as e:
            return e
        return None

    try:
        dataset = decoded(arrays)
    except Warning:
        raise  # A program that makes warnings errors wants this one.
    except Exception:
        undecodable = {name: e for name in arrays if (e := check(name))}
        if not undecodable:
            raise
        broken |= undecodable
        dataset = decoded(name for name in arrays if name not in broken)
    for name, e in broken.items():
        if isinstance(e, OSError):
            raise e  # The store failed, so the array may be sound.
        warnings.warn(BrokenNodeWarning(group._below(name), e), stacklevel=callers_level())
    return dataset


class _Variables(AbstractDataStore):
    """The arrays of a group as variables of xarray, not decoded."""

    def __init__(self, group: Group, arrays: Mapping[str, Array], fill_is_missing: bool | None) -> None:
        self._group = group
        self._arrays = arrays
        self._fill_is_missing = group.zarr_format == 2 if fill_is_missing is None else fill_is_missing

    def get_variables(self) -> dict[str, xr.Variable]:
        arrays = self._arrays
        small = [name for name, array in arrays.items() if array._dimensions == (name,) and array.nbytes <= _TOGETHER]
        coordinates = _Coordinates(arrays[name] for name in small)
        return {
            name: _variable(array, _Elements(array, coordinates if name in small else None), self._fill_is_missing)
            for name, array in arrays.items()
        }

    def get_attrs(self) -> dict[str, Any]:
        return _visible(self._group.attrs.asdict())

    def get_dimensions(self) -> dict[str, int]:
        return {}

    def close(self) -> None:
        pass


def _variable(array: Array, elements: _Elements, fill_is_missing: bool) -> xr.Variable:
    attributes = _visible(array.attrs.asdict())
    if array.zarr_format == 2:
        attributes.pop(DIMENSIONS, None)
    dimensions = array._dimensions
    if len(dimensions) != array.ndim or None in dimensions:
        raise array._error("Metadata", f": not all {array.ndim} dimensions have a name, as xarray needs it")
    encoding = encoding_of(array)
    if fill_is_missing:
        if array.zarr_format == 3 or array.metadata.get("fill_value") is not None:
            attributes["_FillValue"] = array.fill_value
    else:
        if array.zarr_format == 3:
            encoding["fill_value"] = array.fill_value
        if "_FillValue" in attributes:
            _name_missing(attributes, array)
    return xr.Variable(dimensions, indexing.LazilyIndexedArray(elements), attributes, encoding)


def _name_missing(attributes: dict[str, Any], array: Array) -> None:
    """Replaces the stored form of the attribute `_FillValue` by the missing value, or removes it."""
    try:
        missing, odd = array._handle.missing_value()
    except ValueError as e:
        raise array._error("Metadata", f", member '/attributes/_FillValue': {e}") from None
    for code, message in odd:
        diagnosed(array.name, ZarrDiagnostic(code, "/attributes/_FillValue", message))
    attributes.pop("_FillValue")
    if missing is not None:
        attributes["_FillValue"] = missing


def _visible(attributes: dict[str, Any]) -> dict[str, Any]:
    """Returns attributes without those of netCDF-C."""
    return {name: value for name, value in attributes.items() if not name.lower().startswith("_nc")}


class _Coordinates:
    """The coordinates of dimensions. When elements of one are needed, all are read at once.

    xarray reads them one after the other, for their indexes, and the first and the last element of times before.
    """

    def __init__(self, arrays: Iterable[Array]) -> None:
        self._arrays = list(arrays)
        self._lock = threading.Lock()
        self._found: dict[str, np.ndarray[Any, Any]] | None = None

    def elements(self, array: Array) -> np.ndarray[Any, Any] | None:
        """Returns the elements of a coordinate. Returns `None` if they cannot be read."""
        with self._lock:
            if self._found is None:
                self._found = self._read()
        return self._found.get(array.name)

    def _read(self) -> dict[str, np.ndarray[Any, Any]]:
        with ThreadPoolExecutor(min(len(self._arrays), waiting.TASKS)) as pool:
            reads = {array.name: pool.submit(array.read) for array in self._arrays}
        return {path: read.result() for path, read in reads.items() if read.exception() is None}

    def __reduce__(self) -> tuple[Any, ...]:
        return _Coordinates, (self._arrays,)


class _Elements(BackendArray):
    """The elements of an array, which are read when they are needed."""

    def __init__(self, array: Array, coordinates: _Coordinates | None) -> None:
        self._array = array
        self._coordinates = coordinates
        self.shape = array.shape
        self.dtype = array.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        support = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, support, self._read)

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:
        support = indexing.IndexingSupport.OUTER
        return await indexing.async_explicit_indexing_adapter(key, self.shape, support, self._read_async)

    async def _read_async(self, key: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        return await waiting.run(self._read, key)

    def _read(self, key: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        found = None if self._coordinates is None else self._coordinates.elements(self._array)
        return np.asarray(self._array.oindex[key] if found is None else found[key], self.dtype)
