"""Groups."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from zarr_rs import _native, html
from zarr_rs._native import ArrayHandle, ChildHandle, GroupHandle
from zarr_rs.array import Array
from zarr_rs.document import Metadata
from zarr_rs.dtypes import type_name
from zarr_rs.errors import BrokenNodeWarning, NotFoundError, UnsupportedError, ZarrError
from zarr_rs.info import Info
from zarr_rs.making import Making
from zarr_rs.nodes import Node
from zarr_rs.report import callers_level

if TYPE_CHECKING:
    from zarr_rs._native import Listed
    from zarr_rs.array_config import ArrayConfig


class Group(Making, Mapping[str, "Array | Group"]):
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
            raise self._error("NotFound", f": there is no node {path!r} in it")
        return node(self._store, found, writable=self._writable, config=self._config)._diagnosed()

    def get(self, path: str, default: Any = None) -> Any:
        """Returns the node at a path, or `default` if there is none."""
        try:
            return self[path]
        except NotFoundError:
            return default

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
            raise self._error("NotFound", f": there is no node {path!r} in it")
        _native.erase(self._store.storage(), self._below(path))
        self._reload()

    def members(
        self, max_depth: int | None = 0, *, use_consolidated_for_children: bool = True
    ) -> tuple[tuple[str, Array | Group], ...]:
        """Returns the nodes below the group.

        Parameters
        ----------
        max_depth
            The number of levels below the children that are returned. `None` is all of them.
        use_consolidated_for_children
            Must be true: consolidated metadata is used for all nodes or for none.

        Returns
        -------
        tuple of pairs
            The paths from the group on, and the nodes. One that cannot be opened is left out, with a `BrokenNodeWarning`.
        """
        if not use_consolidated_for_children:
            raise UnsupportedError(
                "consolidated metadata is used for all nodes or for none: open(use_consolidated=False)"
            )
        found: list[tuple[str, Array | Group]] = []
        for name, member in self._readable():
            found.append((name, member))
            if isinstance(member, Group) and max_depth != 0:
                below = member.members(None if max_depth is None else max_depth - 1)
                found += [(f"{name}/{path}", child) for path, child in below]
        return tuple(found)

    def nmembers(self, max_depth: int | None = 0) -> int:
        """Returns the number of nodes below: of children, or down to a depth. `None` is any depth."""
        return sum(kind is not None for _, kind, *_ in self._handle.walk(None if max_depth is None else max_depth + 1))

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """Yields the names and arrays directly in the group. One that cannot be opened is left out, with a warning."""
        return ((name, found) for name, found in self._readable() if isinstance(found, Array))

    def groups(self) -> Iterator[tuple[str, Group]]:
        """Yields the names and groups directly in the group. One that cannot be opened is left out, with a warning."""
        return ((name, found) for name, found in self._readable() if isinstance(found, Group))

    def array_keys(self) -> Iterator[str]:
        """Yields the names of the arrays directly in the group."""
        return self._of_kind("array")

    def group_keys(self) -> Iterator[str]:
        """Yields the names of the groups directly in the group."""
        return self._of_kind("group")

    def _of_kind(self, wanted: str) -> Iterator[str]:
        return (path.rpartition("/")[2] for path, kind, *_ in self._handle.walk(1) if kind == wanted)

    def array_values(self) -> Iterator[Array]:
        """Yields the arrays directly in the group."""
        return (array for _, array in self.arrays())

    def group_values(self) -> Iterator[Group]:
        """Yields the groups directly in the group."""
        return (group for _, group in self.groups())

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
            elif isinstance(handle, BaseException):
                raise handle  # of a store of another package
            else:
                yield name, node(self._store, handle, writable=self._writable, config=self._config)._diagnosed()

    def get_array(self, path: str) -> Array:
        """Returns the array at a path."""
        found = self[path]
        if not isinstance(found, Array):
            raise found._error("NotFound", "is a group, not an array")
        return found

    def get_group(self, path: str) -> Group:
        """Returns the group at a path."""
        found = self[path]
        if not isinstance(found, Group):
            raise found._error("NotFound", "is an array, not a group")
        return found

    @property
    def metadata(self) -> Metadata:
        """The metadata in terms of format 3: a mapping, whose members are attributes, too."""
        members = {"zarr_format": self.zarr_format, "node_type": "group", "attributes": self.attrs.asdict()}
        return Metadata(members, {})

    @property
    def info(self) -> Info:
        """What the metadata says of the group, as lines."""
        return Info(
            {
                "Name": self.name,
                "Type": "Group",
                "Zarr format": self.zarr_format,
                "Read-only": self.read_only,
                "Store": self._store,
            }
        )

    def info_complete(self) -> Info:
        """Returns `info`, with the numbers of all nodes below."""
        kinds = [kind for _, kind, *_ in self._handle.walk(None) if kind is not None]
        counts = {"No. arrays": kinds.count("array"), "No. groups": kinds.count("group")}
        return Info(self.info | {"No. members": len(kinds)} | counts)

    @property
    def is_consolidated(self) -> bool:
        """Whether the metadata of all nodes below was read from the group."""
        return self._handle.is_consolidated

    def consolidate(self) -> dict[str, str]:
        """Writes the metadata of all nodes below into the group, so that it is read at once.

        Returns
        -------
        dict
            The paths of nodes that are left out, with the reasons.
        """
        self._check_writable()
        return dict(self._handle.consolidate()[1])

    def remove_consolidated(self) -> None:
        """Removes consolidated metadata."""
        self._check_writable()
        self._handle.remove_consolidated()

    def tree(self, level: int | None = None) -> str:
        """Returns a picture of the nodes below, as text.

        Parameters
        ----------
        level
            The number of levels that are shown. By default all.
        """
        below: dict[str, list[Listed]] = {}
        for listed in self._handle.walk(level):
            below.setdefault(listed[0].rpartition("/")[0] or "/", []).append(listed)
        lines = [self.name]

        def draw(path: str, indent: str) -> None:
            children = sorted(below.get(path, ()))
            for child in children:
                last = child is children[-1]
                lines.append(f"{indent}{'└── ' if last else '├── '}{_described(child)}")
                draw(child[0], indent + ("    " if last else "│   "))

        draw(self.name, "")
        return "\n".join(lines)

    def _below(self, path: str) -> str:
        return f"{self.name}/{path}"[1:] if self.name == "/" else f"{self.name}/{path}"

    def __repr__(self) -> str:
        return f"<zarr_rs.Group {self.name!r} in {self._store}>"

    def _repr_html_(self) -> str:
        rows = {
            "Path": f"{self.name} in {self._store}",
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


def node(
    store: Any, handle: ArrayHandle | GroupHandle, *, writable: bool, config: ArrayConfig | None = None
) -> Array | Group:
    """Returns the array or group of a handle. The config is that of arrays, also of those that a group opens."""
    if isinstance(handle, ArrayHandle):
        return Array(store, handle.path, writable=writable, handle=handle, config=config)
    return Group(store, handle.path, writable=writable, handle=handle, config=config)
