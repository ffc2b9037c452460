"""Images and grids in several resolutions: OME-Zarr 0.4, 0.5 and 0.6, and the convention `multiscales` of GeoZarr.

>>> attributes = {"ome": {"version": "0.5", "multiscales": [{
...     "axes": [{"name": name, "type": "space", "unit": "micrometer"} for name in "yx"],
...     "datasets": [{"path": path, "coordinateTransformations": [{"type": "scale", "scale": [step, step]}]}
...                  for path, step in (("0", 0.5), ("1", 1.0), ("2", 2.0))]}]}}
>>> group = zarr_rs.create_group("memory://slide", attributes=attributes)
>>> for path, shape in (("0", (300, 400)), ("1", (150, 200)), ("2", (75, 100))):
...     _ = group.create_array(path, shape=shape, chunks=(100, 100), dtype="u2")

>>> image = zarr_rs.open_multiscale("memory://slide")  # or the open group
>>> image
<zarr_rs.Multiscale '/' in memory://slide: OME-Zarr 0.5, 3 levels, y x: 300 x 400>
>>> level = image.level_for(180, 120)
>>> level.path, level.shape, level.scale
('1', (150, 200), (1.0, 1.0))
>>> level.array[:10, :10].shape
(10, 10)
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from zarr_rs import _native, html
from zarr_rs.arguments import StoreOptions, named
from zarr_rs.errors import ArgumentError, NotFoundError
from zarr_rs.group import Group
from zarr_rs.opening import open_group

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Unpack

    import numpy.typing as npt

    from zarr_rs.array import Array
    from zarr_rs.opening import Location


@dataclasses.dataclass(frozen=True)
class Axis:
    """An axis: a dimension of the arrays of all levels."""

    #: The name.
    name: str
    #: What it measures: `"space"`, `"time"`, `"channel"`, or `None` for something else.
    kind: Literal["space", "time", "channel"] | None
    #: The unit of scale and translation, such as `"micrometer"`.
    unit: str | None


@dataclasses.dataclass(frozen=True)
class Channel:
    """A channel, and how it is shown."""

    #: The name.
    label: str | None
    #: Red, green and blue, from 0 to 255.
    color: tuple[int, int, int] | None
    #: The values with the darkest and the brightest colour.
    window: tuple[float, float] | None
    #: The smallest and the largest value that the window can have.
    limits: tuple[float, float] | None
    #: Whether it is shown at first.
    active: bool


@dataclasses.dataclass(frozen=True)
class Level:
    """An array, or a group of arrays of one shape, in one resolution."""

    #: The path of the array or the group, below the group of the image.
    path: str
    #: The paths of the arrays, below the same group. One for a level that is an array.
    paths: tuple[str, ...]
    #: The shape of the arrays.
    shape: tuple[int, ...]
    #: The distance between elements along each axis, in its unit.
    scale: tuple[float, ...]
    #: The position of the centre of the first element along each axis, in its unit.
    translation: tuple[float, ...]
    #: The names of the axes, which are those of the dimensions.
    dims: tuple[str, ...]
    _group: Group = dataclasses.field(repr=False)

    @property
    def array(self) -> Array:
        """The array. Of a level that is a group it is the first one. Each use opens it."""
        return self._group.get_array(self.paths[0])

    @property
    def arrays(self) -> dict[str, Array]:
        """The arrays by their names. Each use opens them."""
        return {path.rpartition("/")[2]: self._group.get_array(path) for path in self.paths}

    def coords(self, dim: str | None = None) -> dict[str, npt.NDArray[np.float64]]:
        """Returns the positions of the centres of elements along each axis, or along one, as xarray takes them.

        >>> attributes = {"multiscales": {"layout": [{"asset": "0"}, {"asset": "1"}]}}
        >>> group = zarr_rs.create_group("memory://", attributes=attributes)
        >>> for path, length in (("0", 6), ("1", 3)):
        ...     _ = group.create_array(path, shape=(length, length), dtype="u2", dimension_names=("y", "x"))
        >>> zarr_rs.open_multiscale(group)[1].coords("y")
        {'y': array([0.5, 2.5, 4.5])}
        """
        if dim is not None and dim not in self.dims:
            raise ArgumentError(f"the level has no axis {dim!r}, but {', '.join(self.dims)}")
        axes = zip(self.dims, self.shape, self.scale, self.translation, strict=True)
        return {
            name: translation + scale * np.arange(length, dtype="f8")
            for name, length, scale, translation in axes
            if dim in (None, name)
        }


class Multiscale:
    """An image or a grid in several resolutions, as a group describes it. `open_multiscale` makes it.

    It is a sequence of its levels: `image[0]` is the first, which is the largest, and `image["s1"]` the one at a path.
    """

    def __init__(self, group: Group) -> None:
        text = _native.multiscale(group._handle)
        if text is None:
            raise NotFoundError(
                f"group {group.name!r} in {group._store}: no attribute names levels: neither OME-Zarr nor multiscales"
            )
        found: dict[str, Any] = json.loads(text)
        #: The group that describes it.
        self.group: Group = group
        #: The metadata: `OME-Zarr 0.4`, `OME-Zarr 0.5`, `OME-Zarr 0.6` or `multiscales`.
        self.format: str = found["format"]
        #: The name.
        self.name: str | None = found["name"]
        #: How the levels were made, such as `mean`. Any text.
        self.method: str | None = found["method"]
        #: The axes, one for each dimension.
        self.axes: tuple[Axis, ...] = tuple(Axis(**axis) for axis in found["axes"])
        dims = tuple(axis.name for axis in self.axes)
        #: The levels in the order of the document, at least one.
        self.levels: tuple[Level, ...] = tuple(
            Level(**_tuples(level), dims=dims, _group=group) for level in found["levels"]
        )
        #: How the channels are shown; empty if the group does not say it.
        self.channels: tuple[Channel, ...] = tuple(Channel(**_tuples(channel)) for channel in found["channels"])
        #: The position along the axis of time that is shown first.
        self.default_time: int | None = found["default_time"]
        #: The position along the third axis of space that is shown first.
        self.default_depth: int | None = found["default_depth"]
        #: The names of the label images; `label` opens one.
        self.labels: tuple[str, ...] = tuple(found["labels"])
        #: Whether it is an image of labels, whose elements name objects.
        self.is_label: bool = found["is_label"]
        #: The colours of labels: red, green, blue and opacity, from 0 to 255.
        self.label_colors: dict[int, tuple[int, int, int, int]] = {
            number: tuple(rgba) for number, rgba in found["label_colors"]
        }
        self._sides: tuple[int, int] = tuple(found["sides"])

    def level_for(self, width: int, height: int) -> Level:
        """Returns the smallest level with at least `width` columns and `height` rows; if none has so many, the largest.

        Rows and columns are the last two axes in space.
        """
        rows, columns = self._sides
        enough = [level for level in self.levels if level.shape[columns] >= width and level.shape[rows] >= height]
        return min(enough, key=_size) if enough else max(self.levels, key=_size)

    def label(self, name: str) -> Multiscale:
        """Returns the label image of a name in `labels`."""
        return Multiscale(self.group.get_group(f"labels/{name}"))

    def __len__(self) -> int:
        return len(self.levels)

    def __iter__(self) -> Iterator[Level]:
        return iter(self.levels)

    def __getitem__(self, level: int | str) -> Level:
        if isinstance(level, int):
            return self.levels[level]
        for found in self.levels:
            if found.path == level:
                return found
        raise KeyError(f"there is no level {level!r}: the levels are {', '.join(level.path for level in self.levels)}")

    def __repr__(self) -> str:
        sides = " x ".join(str(length) for length in self.levels[0].shape)
        count = f"{len(self)} level" + ("s" if len(self) != 1 else "")
        dims = " ".join(axis.name for axis in self.axes)
        return f"<zarr_rs.Multiscale {self.group.name!r} in {self.group._store}: {self.format}, {count}, {dims}: {sides}>"

    def _repr_html_(self) -> str:
        def shown(level: Level) -> str:
            return f"{level.path}: {' x '.join(map(str, level.shape))}"

        rows = {
            "Name": self.name,
            "Format": self.format,
            "Axes": ", ".join(f"{axis.name} ({axis.unit})" if axis.unit else axis.name for axis in self.axes),
            "Levels": "; ".join(map(shown, self.levels)),
            "Channels": ", ".join(channel.label or "unnamed" for channel in self.channels) or None,
            "Labels": ", ".join(self.labels) or None,
        }
        return html.table(rows)


@named(StoreOptions)
def open_multiscale(
    store: Location | Group,
    path: str | None = "/",
    *,
    zarr_format: Literal[2, 3] | None = None,
    use_consolidated: bool | None = None,
    **access: Unpack[StoreOptions],
) -> Multiscale:
    """Opens the image or the grid in several resolutions that a group describes.

    It reads the metadata of the group and of the levels, and no chunks.

    Parameters
    ----------
    store
        A store, or what names one: see `zarr_rs.open`. Also an open group.
    path
        The path of the group in the store, or below the group.
    zarr_format, use_consolidated, **access
        As for `zarr_rs.open`; not for an open group.

    Returns
    -------
    Multiscale

    Raises
    ------
    NotFoundError
        There is no group, or it says nothing of levels.
    MetadataError
        What it says does not follow the specification, or a level is not there. It is a `ValueError`.
    UnsupportedError
        The version, or a transformation, is not known.

    Examples
    --------
    >>> attributes = {"multiscales": {"layout": [{"asset": "0"}, {"asset": "1"}]}}
    >>> group = zarr_rs.create_group("memory://", attributes=attributes)
    >>> for path, length in (("0", 6), ("1", 3)):
    ...     _ = group.create_array(path, shape=(length, length), dtype="u2", dimension_names=("y", "x"))
    >>> image = zarr_rs.open_multiscale(group)
    >>> image.format, [axis.name for axis in image.axes], image[1].scale
    ('multiscales', ['y', 'x'], (2.0, 2.0))
    """
    if isinstance(store, Group):
        if access or zarr_format is not None or use_consolidated is not None:
            raise ArgumentError("an open group takes no arguments of a store")
        below = (path or "").strip("/")
        return Multiscale(store.get_group(below) if below else store)
    group = open_group(store, path, zarr_format=zarr_format, use_consolidated=use_consolidated, **access)
    return Multiscale(group)


def _size(level: Level) -> int:
    size = 1
    for length in level.shape:
        size *= length
    return size


def _tuples(members: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in members.items()}
