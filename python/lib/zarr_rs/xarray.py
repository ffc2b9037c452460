"""The engine for xarray: `xr.open_dataset("weather.zarr", engine="zarr_rs")`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from xarray.backends import AbstractDataStore, BackendArray, BackendEntrypoint, StoreBackendEntrypoint
from xarray.backends.zarr import FillValueCoder
from xarray.core import indexing

from zarr_rs.array import DIMENSIONS, Array
from zarr_rs.errors import MetadataError
from zarr_rs.opening import open_group

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zarr_rs.group import Group


class Backend(BackendEntrypoint):
    """Opens groups of arrays with named dimensions as datasets of xarray.

    Arrays are read by the engine, without zarr-python; xarray itself decodes times, scales and masks. A dataset can be read
    by the processes of Dask. Datasets are written with `to_zarr`, which uses zarr-python.

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
    ) -> xr.Dataset:
        """Opens the dataset of a group.

        `filename_or_obj` is what `zarr_rs.open` takes: a path, a URL, or a `zarr_rs.Store`. `storage_options` are the
        arguments of `zarr_rs.Store`; `group` is the path of the group.
        """
        opened = open_group(
            filename_or_obj,
            group or "/",
            use_consolidated=consolidated,
            zarr_format=zarr_format,
            **(storage_options or {}),
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
        return _dataset(opened, decoding)

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        group: str | None = None,
        consolidated: bool | None = None,
        storage_options: Mapping[str, Any] | None = None,
        zarr_format: Any = None,
        **decoding: Any,
    ) -> dict[str, xr.Dataset]:
        """Opens the datasets of a group and of all groups below it, by path."""
        root = open_group(
            filename_or_obj,
            group or "/",
            use_consolidated=consolidated,
            zarr_format=zarr_format,
            **(storage_options or {}),
        )
        below = [path for path, kind, *_ in root._handle.walk(None) if kind == "group"]
        start = root.path.rstrip("/")
        relative = (path.removeprefix(f"{start}/") for path in sorted(below))
        return {"/": _dataset(root, decoding)} | {f"/{path}": _dataset(root.group(path), decoding) for path in relative}

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> xr.DataTree:
        """Opens a group and all groups below it as a tree, with the arguments of `open_groups_as_dict`."""
        return xr.DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, **options))


def _dataset(group: Group, decoding: Mapping[str, Any]) -> xr.Dataset:
    """Returns the dataset of the arrays of a group, decoded by xarray."""
    return StoreBackendEntrypoint().open_dataset(_Variables(group), **decoding)


class _Variables(AbstractDataStore):
    """The arrays of a group as variables of xarray, not decoded."""

    def __init__(self, group: Group) -> None:
        self._group = group

    def get_variables(self) -> dict[str, xr.Variable]:
        return {name: _variable(array) for name, array in self._group.arrays().items()}

    def get_attrs(self) -> dict[str, Any]:
        return _without(self._group.attrs.asdict())

    def get_dimensions(self) -> dict[str, int]:
        return {}

    def close(self) -> None:
        pass


def _variable(array: Array) -> xr.Variable:
    attributes = array.attrs.asdict()
    dimensions = array._dimensions
    if len(dimensions) != array.ndim or None in dimensions:
        raise MetadataError(f"array {array.path!r}: not all {array.ndim} dimensions have a name, as xarray needs it")
    encoding: dict[str, Any] = {"chunks": array.chunks, "shards": array.shards}
    pieces = array.shards or array.chunks or array.chunk_lengths
    encoding["preferred_chunks"] = dict(zip(dimensions, pieces, strict=True))
    if array.dtype.kind == "T":
        encoding["dtype"] = array.dtype  # otherwise xarray decodes strings to objects
    if array.zarr_format == 3:
        encoding["fill_value"] = array.fill_value
        if "_FillValue" in attributes:
            attributes["_FillValue"] = FillValueCoder.decode(attributes["_FillValue"], array.dtype)
    elif array.metadata.get("fill_value") is not None:
        # In format 2 the value of elements that are not stored marks missing ones, too.
        attributes["_FillValue"] = array.fill_value
    return xr.Variable(dimensions, indexing.LazilyIndexedArray(_Elements(array)), _without(attributes), encoding)


def _without(attributes: dict[str, Any]) -> dict[str, Any]:
    """Returns attributes without those that say how they are stored."""
    hidden = {name for name in attributes if name == DIMENSIONS or name.lower().startswith("_nc")}
    return {name: value for name, value in attributes.items() if name not in hidden}


class _Elements(BackendArray):
    """The elements of an array, which are read when they are needed."""

    def __init__(self, array: Array) -> None:
        self._array = array
        self.shape = array.shape
        self.dtype = array.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        support = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, support, self._read)

    def _read(self, key: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        return np.asarray(self._array.oindex[key], self.dtype)
