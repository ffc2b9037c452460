"""New nodes below a group, by the names of zarr-python."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from zarr_rs._native import GroupHandle
from zarr_rs.arguments import ArrayOptions, merged, named
from zarr_rs.errors import ArgumentError
from zarr_rs.like import options_of, options_of_document
from zarr_rs.nodes import Node

if TYPE_CHECKING:
    from typing import Self

    from zarr_rs.arguments import Shape
    from zarr_rs.array import Array
    from zarr_rs.group import Group


class Making(Node[GroupHandle]):
    """The part of a group that creates nodes. Their format is that of the group."""

    if TYPE_CHECKING:

        @abstractmethod
        def get_array(self, path: str) -> Array: ...
        @abstractmethod
        def get_group(self, path: str) -> Group: ...
        @abstractmethod
        def __contains__(self, path: object) -> bool: ...
        @abstractmethod
        def _below(self, path: str) -> str: ...
        @abstractmethod
        def _reload(self) -> None: ...

    _refused = {
        "move": "format 3 moves no nodes: zarr_rs.copy, and then del group[path]",
        "update_attributes_async": "use update_attributes",
        "array": "use create_array or get_array",
        "create_dataset": "use create_array",
        "require_dataset": "use require_array",
    }

    #: zarr-python 2 kept writers apart with it. Here writers of parts of a chunk lose no update without one.
    synchronizer = None

    @classmethod
    def open(cls, store: Any, **options: Any) -> Self:
        """Opens a group, with the arguments of `zarr_rs.open_group`."""
        from zarr_rs.opening import open_group

        found = open_group(store, **options)
        assert isinstance(found, cls)
        return found

    @classmethod
    def from_store(cls, store: Any, **options: Any) -> Self:
        """Creates a group, with the arguments of `zarr_rs.create_group`."""
        from zarr_rs.opening import create_group

        found = create_group(store, **options)
        assert isinstance(found, cls)
        return found

    @named(ArrayOptions)
    def create_array(self, name: str, **options: Any) -> Array:
        """Creates an array at a path below the group, with the arguments of `zarr_rs.create_array`."""
        from zarr_rs.opening import create_array

        self._check_writable()
        options.setdefault("zarr_format", self._format)
        created = create_array(self._store, self._below(name), **options)
        self._reload()
        return created

    @property
    def _format(self) -> Any:
        return self.zarr_format

    create = create_array

    def create_group(self, name: str, *, attributes: Mapping[str, Any] | None = None, overwrite: bool = False) -> Group:
        """Creates a group at a path below the group.

        Parameters
        ----------
        name
            The path from the group on. Groups between them are created, too.
        attributes
            The attributes of the new group.
        overwrite
            Whether a node that is there is deleted first, with everything below it.

        Raises
        ------
        ExistsError
            There is a node already. It is a `FileExistsError`.
        """
        from zarr_rs.opening import create_group

        self._check_writable()
        created = create_group(
            self._store, self._below(name), attributes=attributes, zarr_format=self._format, overwrite=overwrite
        )
        self._reload()
        return created

    def create_hierarchy(
        self, nodes: Mapping[str, Any], *, overwrite: bool = False
    ) -> Iterator[tuple[str, Array | Group]]:
        """Creates nodes from their metadata, and yields their paths and them.

        `nodes` has, for paths below the group, `metadata` of nodes, or metadata of zarr-python.
        """
        for path, metadata in nodes.items():
            document = dict(metadata if isinstance(metadata, Mapping) else metadata.to_dict())
            if document.get("zarr_format", self.zarr_format) != self.zarr_format:
                raise ArgumentError(f"node {path!r} has another format than the group, which has {self.zarr_format}")
            options = options_of_document(document)
            if options is None:
                yield path, self.create_group(path, attributes=document.get("attributes"), overwrite=overwrite)
            else:
                yield path, self.create_array(path, **options, overwrite=overwrite)

    def require_group(self, name: str, *, overwrite: bool = False) -> Group:
        """Returns the group at a path, and creates it if it is not there."""
        return self.create_group(name, overwrite=overwrite) if overwrite or name not in self else self.get_group(name)

    def require_groups(self, *names: str) -> tuple[Group, ...]:
        """Returns the groups at paths, and creates those that are not there."""
        return tuple(self.require_group(name) for name in names)

    @named(ArrayOptions)
    def require_array(
        self, name: str, *, shape: Shape, dtype: Any = None, exact: bool = False, **options: Any
    ) -> Array:
        """Returns the array at a path, and creates it if it is not there.

        Parameters
        ----------
        name
            The path from the group on.
        shape, dtype
            The shape and the type that the array must have, or gets. By default `float64`.
        exact
            Whether the type must be the same. Otherwise NumPy must convert it to `dtype` without loss.
        **options
            The arguments of `zarr_rs.create_array` for a new array.

        Raises
        ------
        TypeError
            There is an array of another shape or type.
        """
        import numpy as np

        if name not in self:
            return self.create_array(name, shape=shape, dtype="float64" if dtype is None else dtype, **options)
        found, expected = self.get_array(name), (shape,) if isinstance(shape, int) else tuple(shape)
        if found.shape != expected:
            raise TypeError(f"array {found.name!r} has the shape {found.shape}, expected {expected}")
        if dtype is not None and not (found.dtype == dtype if exact else np.can_cast(found.dtype, dtype)):
            raise TypeError(f"array {found.name!r} has the type {found.dtype}, expected {dtype}")
        return found

    @named(ArrayOptions)
    def empty(self, *, name: str, shape: Shape, **options: Any) -> Array:
        """Creates an array whose elements are 0 or its like."""
        return self._filled(name, shape, {}, options)

    @named(ArrayOptions)
    def zeros(self, *, name: str, shape: Shape, **options: Any) -> Array:
        """Creates an array of zeros."""
        return self._filled(name, shape, {"fill_value": 0}, options)

    @named(ArrayOptions)
    def ones(self, *, name: str, shape: Shape, **options: Any) -> Array:
        """Creates an array of ones."""
        return self._filled(name, shape, {"fill_value": 1}, options)

    @named(ArrayOptions)
    def full(self, *, name: str, shape: Shape, fill_value: Any, **options: Any) -> Array:
        """Creates an array of one value."""
        return self._filled(name, shape, {"fill_value": fill_value}, options)

    def _filled(self, name: str, shape: Shape, fill: dict[str, Any], options: Any) -> Array:
        return self.create_array(name, **merged({"shape": shape, "dtype": "float64"}, fill, options))

    @named(ArrayOptions)
    def empty_like(self, *, name: str, data: Any, **options: Any) -> Array:
        """Creates an array with the shape, type, chunks and codecs of another one."""
        return self.create_array(name, **merged(options_of(data, zarr_format=self.zarr_format), options))

    @named(ArrayOptions)
    def zeros_like(self, *, name: str, data: Any, **options: Any) -> Array:
        """Creates an array of zeros, otherwise like another one."""
        return self.empty_like(name=name, data=data, **merged({"fill_value": 0}, options))

    @named(ArrayOptions)
    def ones_like(self, *, name: str, data: Any, **options: Any) -> Array:
        """Creates an array of ones, otherwise like another one."""
        return self.empty_like(name=name, data=data, **merged({"fill_value": 1}, options))

    @named(ArrayOptions)
    def full_like(self, *, name: str, data: Any, **options: Any) -> Array:
        """Creates an array of one value, `fill_value`, otherwise like another one."""
        return self.empty_like(name=name, data=data, **options)
