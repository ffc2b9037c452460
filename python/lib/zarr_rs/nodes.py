"""What arrays and groups have in common: their place, and their attributes."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from zarr_rs import _native, report
from zarr_rs._native import ArrayHandle, GroupHandle, Storage, forget
from zarr_rs.errors import DeniedError, NotFoundError, ZarrDiagnostic

if TYPE_CHECKING:
    from typing import Self

    from zarr_rs.store import Store

H = TypeVar("H", ArrayHandle, GroupHandle)

#: By identity: equal nodes have handles of their own.
_all_nodes: weakref.WeakValueDictionary[int, Node[Any]] = weakref.WeakValueDictionary()


class Node(Generic[H]):
    """An array or a group in a store."""

    _kind: type[H]

    def __init__(self, store: Store, path: str, *, writable: bool, handle: H | None = None) -> None:
        self._store = store
        self._path = path
        self._writable = writable
        self._opened: H | None = handle
        _all_nodes[id(self)] = self

    @property
    def _handle(self) -> H:
        """The handle of the engine. After a fork, and when the node was pickled, it is opened again."""
        if self._opened is None:
            found = _native.open_node(storage(self._store, writable=self._writable), self._path)
            if not isinstance(found, self._kind):
                raise NotFoundError(f"node {self._path!r} is a node of another kind now")
            self._opened = found
        return self._opened

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self._store, self._path, self._writable)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash((self._store, self._path))

    @property
    def store(self) -> Store:
        """The store."""
        return self._store

    @property
    def path(self) -> str:
        """The path in the store: `/`, `/a/b`."""
        return self._handle.path

    @property
    def zarr_format(self) -> int:
        """The format of the metadata: 2 or 3."""
        return self._handle.zarr_format

    @property
    def read_only(self) -> bool:
        """Whether the node was opened for reading only."""
        return not self._writable

    @property
    def attrs(self) -> Attributes:
        """The attributes: a mapping of JSON values. A change is written at once."""
        return Attributes(self)

    def _check_writable(self) -> None:
        if not self._writable:
            raise DeniedError(f"node {self.path!r} was opened for reading only: open it with mode='r+'")

    @property
    def diagnostics(self) -> list[ZarrDiagnostic]:
        """Where the metadata deviates from the specification, or is of a form that another program may not read."""
        return [ZarrDiagnostic(*note) for note in self._handle.diagnostics]

    def _diagnosed(self) -> Self:
        """Tells the user the diagnostics of the metadata."""
        for note in self._handle.diagnostics:
            report.diagnosed(self._path, ZarrDiagnostic(*note))
        return self


def _again(kind: type[Any], store: Store, path: str, writable: bool) -> Any:
    return kind(store, path, writable=writable)


def storage(store: Store, *, writable: bool) -> Storage:
    """Returns the storage of a store, which cannot be written unless `writable` is set."""
    return store.storage() if writable else store.storage().read_only()


class Attributes(MutableMapping[str, Any]):
    """The attributes of a node. Each change of a value is one write; `update` and `put` write once."""

    def __init__(self, node: Node[Any]) -> None:
        self._node = node

    def _get(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._node._handle.attributes)
        return found

    def _edit(self, changes: dict[str, str | None], *, clear: bool = False) -> None:
        self._node._check_writable()
        self._node._handle.edit_attributes((clear, changes))

    def __getitem__(self, name: str) -> Any:
        return self._get()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._get())

    def __len__(self) -> int:
        return len(self._get())

    def __setitem__(self, name: str, value: Any) -> None:
        self._edit({name: json.dumps(value)})

    def __delitem__(self, name: str) -> None:
        if name not in self._get():
            raise KeyError(name)
        self._edit({name: None})

    def update(self, other: Any = (), /, **more: Any) -> None:
        """Sets several attributes in one write."""
        self._edit({name: json.dumps(value) for name, value in (dict(other) | more).items()})

    def put(self, attributes: Mapping[str, Any]) -> None:
        """Replaces all attributes in one write."""
        self._edit({name: json.dumps(value) for name, value in attributes.items()}, clear=True)

    def clear(self) -> None:
        self.put({})

    def asdict(self) -> dict[str, Any]:
        """Returns a copy."""
        return self._get()

    def __repr__(self) -> str:
        return f"Attributes({self._get()!r})"


def _forget_parent() -> None:
    """Forgets everything that the parent process opened: its threads are not in this process."""
    for node in list(_all_nodes.values()):
        forget((node._opened, node.__dict__.pop("_at", None)))
        node._opened = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)
