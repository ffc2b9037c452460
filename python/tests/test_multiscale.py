"""Images and grids in several resolutions."""

from __future__ import annotations

import pathlib
from typing import Any

import dask.array as da
import numpy as np
import pytest
import xarray as xr
import zarr_rs
import zarr_rs.dask
from zarr_rs import _native, errors

AXES = [{"name": "c", "type": "channel"}, *({"name": name, "type": "space", "unit": "micrometer"} for name in "yx")]
SHAPES = ((2, 300, 400), (2, 150, 200), (2, 75, 100))


def transforms(level: int) -> list[dict[str, Any]]:
    step = 0.5 * 2**level
    found: list[dict[str, Any]] = [{"type": "scale", "scale": [1, step, step]}]
    if level:
        found.append({"type": "translation", "translation": [0, (step - 0.5) / 2, (step - 0.5) / 2]})
    return found


def attributes(version: str) -> dict[str, Any]:
    """Returns the attributes of an image of three levels."""
    image: dict[str, Any] = {"name": "cells", "type": "mean", "axes": AXES}
    datasets = [{"path": f"s{level}", "coordinateTransformations": transforms(level)} for level in range(3)]
    omero = {
        "channels": [
            {"label": "DAPI", "color": "0000FF", "window": {"start": 10, "end": 900, "min": 0, "max": 65535}},
            {"label": "GFP", "active": False},
        ],
        "rdefs": {"defaultT": 3},
    }
    if version == "0.4":
        return {"multiscales": [image | {"version": version, "datasets": datasets}], "omero": omero}
    if version == "0.6":
        image["coordinateSystems"] = [{"name": "own", "axes": image.pop("axes")}]
        for dataset in datasets:
            path, inner = dataset["path"], dataset["coordinateTransformations"]
            ends = {"input": {"path": path}, "output": {"name": "own"}}
            dataset["coordinateTransformations"] = [{"type": "sequence", "transformations": inner} | ends]
    return {"ome": {"version": version, "multiscales": [image | {"datasets": datasets}], "omero": omero}}


def made(version: str, store: Any = "memory://") -> zarr_rs.Group:
    """Returns a group with an image of three levels, with labels."""
    zarr_format: Any = 2 if version == "0.4" else 3
    group = zarr_rs.create_group(store, attributes=attributes(version), zarr_format=zarr_format)
    for level, shape in enumerate(SHAPES):
        array = group.create_array(f"s{level}", shape=shape, chunks=(1, 100, 100), dtype="u2", dimension_names=tuple("cyx"))
        array[0, 0, 0] = level + 1
    names = {"labels": ["nuclei"]}
    group.create_group("labels", attributes=names if version == "0.4" else {"ome": {"version": version} | names})
    colors = {"image-label": {"colors": [{"label-value": 7, "rgba": [255, 0, 0, 128]}]}}
    label = attributes(version)
    (label if version == "0.4" else label["ome"]).update(colors)
    nuclei = group.create_group("labels/nuclei", attributes=label)
    for level, shape in enumerate(SHAPES):
        nuclei.create_array(f"s{level}", shape=shape, dtype="u1")
    return group


@pytest.mark.parametrize("version", ["0.4", "0.5", "0.6"])
def test_images_of_all_versions_say_the_same(version: str) -> None:
    image = zarr_rs.open_multiscale(made(version))
    assert (image.format, image.name, image.method) == (f"OME-Zarr {version}", "cells", "mean")
    assert [(axis.name, axis.kind, axis.unit) for axis in image.axes][::2] == [
        ("c", "channel", None),
        ("x", "space", "micrometer"),
    ]
    assert [level.path for level in image] == ["s0", "s1", "s2"] and len(image) == 3
    assert image["s1"] is image[1] is image.levels[1]
    assert (image[1].shape, image[1].scale, image[1].translation) == ((2, 150, 200), (1, 1, 1), (0, 0.25, 0.25))
    assert [int(level.array[0, 0, 0]) for level in image] == [1, 2, 3]
    first, second = image.channels
    assert (first.label, first.color, first.window, first.limits) == ("DAPI", (0, 0, 255), (10, 900), (0, 65535))
    assert (second.color, second.window, first.active, second.active) == (None, None, True, False)
    assert (image.default_time, image.default_depth, image.is_label, image.labels) == (3, None, False, ("nuclei",))
    label = image.label("nuclei")
    assert label.is_label and label.label_colors == {7: (255, 0, 0, 128)} and len(label) == 3
    assert "OME-Zarr" in repr(image) and "micrometer" in image._repr_html_()


def test_a_level_is_chosen_by_width_and_height() -> None:
    image = zarr_rs.open_multiscale(made("0.5"))
    for size, path in {
        (1, 1): "s2", (100, 75): "s2", (101, 1): "s1", (1, 76): "s1", (200, 150): "s1", (201, 150): "s0", (999, 1): "s0",
    }.items():  # fmt: skip
        assert image.level_for(*size).path == path, size


def test_one_level_becomes_an_array_of_dask_or_xarray() -> None:
    level = zarr_rs.open_multiscale(made("0.5")).level_for(200, 150)
    lazy = zarr_rs.dask.from_array(level.array)
    assert isinstance(lazy, da.Array) and lazy.shape == level.shape
    picture = xr.DataArray(lazy, level.coords(), level.dims, name="cells")
    assert float(picture.sel(y=0.25, x=0.25).isel(c=0)) == 2
    np.testing.assert_array_equal(level.coords("x")["x"][:3], [0.25, 1.25, 2.25])
    with pytest.raises(errors.ArgumentError, match="no axis 'z', but c, y, x"):
        level.coords("z")


def test_what_the_command_writes_is_read(tmp_path: pathlib.Path) -> None:
    store = tmp_path / "map.zarr"
    group = zarr_rs.create_group(
        store, attributes={"spatial:dimensions": ["y", "x"], "spatial:transform": [10, 0, 500, 0, -10, 90]}
    )
    for band in ("b04", "b08"):
        group.create_array(f"0/{band}", data=np.ones((30, 40), "u2"), chunks=(16, 16), dimension_names=("y", "x"))
    assert _native.command(["zarr", "pyramid", str(store), "--levels", "1", "-q"]) == 0
    grid = zarr_rs.open_multiscale(store)
    assert (grid.format, grid.method, grid.name) == ("multiscales", "average", None)
    assert [level.paths for level in grid] == [("0/b04", "0/b08"), ("1/b04", "1/b08")]
    assert (grid[1].scale, grid[1].translation) == ((-20, 20), (80, 510))
    assert {name: array.shape for name, array in grid[1].arrays.items()} == {"b04": (15, 20), "b08": (15, 20)}


def test_what_is_no_image_is_an_error() -> None:
    group = made("0.5")
    assert zarr_rs.open_multiscale(group, "labels/nuclei").is_label
    with pytest.raises(errors.NotFoundError, match="neither OME-Zarr nor multiscales"):
        zarr_rs.open_multiscale(group, "labels")
    with pytest.raises(errors.NotFoundError, match="is an array"):
        zarr_rs.open_multiscale(group, "s0")
    with pytest.raises(errors.ArgumentError, match="takes no arguments"):
        zarr_rs.open_multiscale(group, zarr_format=3)
    with pytest.raises(KeyError, match="s0, s1, s2"):
        zarr_rs.open_multiscale(group)["s7"]
    del group["s2"]
    with pytest.raises(errors.MetadataError, match='level "s2": there is no such node'):
        zarr_rs.open_multiscale(group)
    group.attrs["ome"] = {"version": "0.9", "multiscales": [{}]}
    with pytest.raises(errors.UnsupportedError, match='member "/ome/version": expected OME-Zarr 0.5 or 0.6, found "0.9"'):
        zarr_rs.open_multiscale(group)
