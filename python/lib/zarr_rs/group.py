"""Groups."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from zarr_rs import _native, html
from zarr_rs._native import ArrayHandle, ChildHandle, GroupHandle
from zarr_rs.array import Array
from zarr_rs.dtypes import type_name
from zarr_rs.errors import BrokenNodeWarning, NotFoundError, ZarrError
from zarr_rs.new import new_array, new_group
from zarr_rs.nodes import Node
from zarr_rs.report import callers_level

if TYPE_CHECKING:
    from zarr_rs._native import Listed


class Group(Node[GroupHandle], Mapping[str, "Array | Group"]):
    """A group in a store: a mapping of names to arrays and groups. Names may be paths, `g["a/b"]`.

    >>> g = zarr_rs.create_group("memory://", attributes={"title": "weather"})
    >>> t2m = g.create_array("surface/t2m", shape=(24, 180), chunks=(12, 90), dtype="float32", dimension_names=("t", "y"))
    >>> list(g), "surface/t2m" in g, g["surface/t2m"].shape
    (['surface'], True, (24, 180))
    >>> print(g.tree())
    /
    └── surface
        └── t2m (24, 180) float32
    """

    _kind = GroupHandle

    #: The child that an iteration is at.
    _at: ChildHandle | None = None

    def __getitem__(self, path: str) -> Array | Group:
        at, self._at = self._at, None
        found = at.open() if at is not None and at.name == path else None
        if found is None:
            found = self._handle.node(path)
        if found is None:
            raise NotFoundError(f"node {self.path!r}: there is no node {path!r} in it")
        return node(self._store, found, writable=self._writable)._diagnosed()

    def __iter__(self) -> Iterator[str]:
        """Iterates over the names of the children. Broken ones are left out.

        The metadata of all children is read at the start. The node of a name that is opened while the iteration is at it has
        this metadata; it is not read twice.
        """
        return self._names(self._handle.children())

    def _names(self, children: list[ChildHandle]) -> Iterator[str]:
        try:
            for child in children:
                self._at = child
                yield child.name
        finally:
            self._at = None

    def _reload(self) -> None:
        """Takes note of a change of a node below."""
        self._at = None
        self._handle.reload()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._handle.exists(path)

    def __delitem__(self, path: str) -> None:
        """Deletes a node with everything below it."""
        self._check_writable()
        if path not in self:
            raise NotFoundError(f"node {self.path!r}: there is no node {path!r} in it")
        _native.erase(self._store.storage(), self._below(path))
        self._reload()

    def arrays(self) -> dict[str, Array]:
        """Returns the arrays directly in the group. One that cannot be opened is left out, with a `BrokenNodeWarning`."""
        return {name: found for name, found in self._readable() if isinstance(found, Array)}

    def groups(self) -> dict[str, Group]:
        """Returns the groups directly in the group. One that cannot be opened is left out, with a `BrokenNodeWarning`."""
        return {name: found for name, found in self._readable() if isinstance(found, Group)}

    def _readable(self) -> Iterator[tuple[str, Array | Group]]:
        """Yields the children that can be opened, and warns of the others."""
        for name, found in self._members():
            if isinstance(found, ZarrError):
                warnings.warn(BrokenNodeWarning(self._below(name), found), stacklevel=callers_level())
            else:
                yield name, found

    def _members(self) -> Iterator[tuple[str, Array | Group | ZarrError]]:
        """Yields the children, whose metadata is read once, or why one cannot be opened."""
        for name, handle in self._handle.members():
            if isinstance(handle, ZarrError):
                yield name, handle
            else:
                yield name, node(self._store, handle, writable=self._writable)._diagnosed()

    def array(self, path: str) -> Array:
        """Returns the array at a path."""
        found = self[path]
        if not isinstance(found, Array):
            raise NotFoundError(f"node {found.path!r} is a group, not an array")
        return found

    def group(self, path: str) -> Group:
        """Returns the group at a path."""
        found = self[path]
        if not isinstance(found, Group):
            raise NotFoundError(f"node {found.path!r} is an array, not a group")
        return found

    def create_array(self, path: str, *, overwrite: bool = False, **what: Any) -> Array:
        """Creates an array of the same format at a path below the group, with the arguments of `zarr_rs.create_array`."""
        self._check_writable()
        what.setdefault("zarr_format", self.zarr_format)
        created = new_array(self._store.storage(), self._below(path), overwrite=overwrite, **what)
        self._reload()
        return Array(self._store, created.path, writable=True, handle=created)._diagnosed()

    def create_group(self, path: str, *, attributes: Mapping[str, Any] | None = None, overwrite: bool = False) -> Group:
        """Creates a group of the same format at a path below the group."""
        self._check_writable()
        created = new_group(
            self._store.storage(),
            self._below(path),
            attributes,
            zarr_format=self.zarr_format,
            overwrite=overwrite,
        )
        self._reload()
        return Group(self._store, created.path, writable=True, handle=created)

    @property
    def is_consolidated(self) -> bool:
        """Whether the metadata of all nodes below was read from the group."""
        return self._handle.is_consolidated

    def consolidate(self) -> dict[str, str]:
        """Writes the metadata of all nodes below into the group, so that it is read at once.

        Returns the paths of nodes that are left out, with the reasons.
        """
        self._check_writable()
        return dict(self._handle.consolidate()[1])

    def remove_consolidated(self) -> None:
        """Removes consolidated metadata."""
        self._check_writable()
        self._handle.remove_consolidated()

    def tree(self, levels: int | None = None) -> str:
        """Returns a picture of the nodes below, as text. `levels` limits the depth."""
        below: dict[str, list[Listed]] = {}
        for listed in self._handle.walk(levels):
            below.setdefault(listed[0].rpartition("/")[0] or "/", []).append(listed)
        lines = [self.path]

        def draw(path: str, indent: str) -> None:
            children = sorted(below.get(path, ()))
            for child in children:
                last = child is children[-1]
                lines.append(f"{indent}{'└── ' if last else '├── '}{_described(child)}")
                draw(child[0], indent + ("    " if last else "│   "))

        draw(self.path, "")
        return "\n".join(lines)

    def _below(self, path: str) -> str:
        return f"{self.path}/{path}"[1:] if self.path == "/" else f"{self.path}/{path}"

    def __repr__(self) -> str:
        return f"<zarr_rs.Group {self.path!r} in {self._store}>"

    def _repr_html_(self) -> str:
        rows = {
            "Path": f"{self.path} in {self._store}",
            "Format": self.zarr_format,
            "Children": ", ".join(self) or None,
            "Attributes": ", ".join(self.attrs) or None,
        }
        return html.table(rows)

    # A mapping compares its items; nodes are equal by their place.
    __eq__ = Node.__eq__
    __hash__ = Node.__hash__


def _described(listed: Listed) -> str:
    path, kind, shape, detail = listed
    name = path.rpartition("/")[2]
    if kind == "group":
        return name
    if kind is None or shape is None or detail is None:
        return f"{name} ({detail})"
    return f"{name} {tuple(shape)} {type_name(json.loads(detail))}"


def node(store: Any, handle: ArrayHandle | GroupHandle, *, writable: bool) -> Array | Group:
    """Returns the array or group of a handle."""
    if isinstance(handle, ArrayHandle):
        return Array(store, handle.path, writable=writable, handle=handle)
    return Group(store, handle.path, writable=writable, handle=handle)
