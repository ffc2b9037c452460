"""What arrays and groups have in common: their place, and their attributes."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from zarr_rs import _native, report
from zarr_rs._native import ArrayHandle, GroupHandle, Storage, forget
from zarr_rs.array_config import ArrayConfig
from zarr_rs.errors import ZarrDiagnostic, ZarrError, of_kind

if TYPE_CHECKING:
    from typing import Self

    from zarr.storage import StorePath

    from zarr_rs.store import Store

H = TypeVar("H", ArrayHandle, GroupHandle)

#: By identity: equal nodes have handles of their own.
_all_nodes: weakref.WeakValueDictionary[int, Node[Any]] = weakref.WeakValueDictionary()


class Node(Generic[H]):
    """An array or a group in a store."""

    _kind: type[H]
    #: Names of zarr-python that the node does not have, and what to use.
    _refused: Mapping[str, str] = {}

    def __init__(
        self, store: Store, path: str, *, writable: bool, handle: H | None = None, config: ArrayConfig | None = None
    ) -> None:
        self._store = store
        self._path = path
        self._writable = writable
        self._config = config or ArrayConfig()
        self._opened: H | None = None if handle is None else self._set(handle)
        _all_nodes[id(self)] = self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            advice = self._refused.get(name)
            text = f"zarr_rs.{type(self).__name__} has no {name!r}"
            raise AttributeError(f"{text}: {advice}" if advice else text, name=name, obj=self)

    @property
    def _handle(self) -> H:
        """The handle of the engine. After a fork, and when the node was pickled, it is opened again."""
        if self._opened is None:
            found = _native.open_node(storage(self._store, writable=self._writable), self._path)
            if not isinstance(found, self._kind):
                raise of_kind(
                    "NotFound",
                    f"node {self._path!r} is of another kind now",
                    self._path,
                    None,
                    None,
                    (None, None, str(self._store)),
                )
            self._opened = self._set(found)
        return self._opened

    def _set(self, handle: H) -> H:
        """Gives a handle the settings of the config."""
        if self._config.write_empty_chunks and isinstance(handle, ArrayHandle):
            handle.store_empty_chunks()
        return handle

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self._store, self._path, self._writable, self._config)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash((self._store, self._path))

    @property
    def store(self) -> Store:
        """The store."""
        return self._store

    @property
    def store_path(self) -> StorePath:
        """The store and the path, as zarr-python takes them."""
        from zarr.storage import StorePath

        return StorePath(self._store, self.path)

    @property
    def name(self) -> str:
        """The path in the store, from its root on: `/`, `/a/b`."""
        return self._handle.path

    @property
    def path(self) -> str:
        """The path in the store, without a slash before it: `""`, `a/b`."""
        return self.name[1:]

    @property
    def basename(self) -> str:
        """The last part of the path."""
        return self.name.rpartition("/")[2]

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

    def update_attributes(self, new_attributes: Mapping[str, Any]) -> Self:
        """Sets several attributes in one write, and keeps the others. Returns the node."""
        self.attrs.update(new_attributes)
        return self

    def _check_writable(self) -> None:
        if not self._writable:
            raise self._error("PermissionDenied", "was opened for reading only: open it with mode='r+'")

    def _error(self, kind: str, text: str) -> ZarrError:
        """Returns an error that names the node and its store. The text begins with a verb, or with `:` or `,`."""
        place = str(self._store)
        blank = "" if text[0] in ":," else " "
        return of_kind(kind, f"node {self.name!r} of {place}{blank}{text}", self.name, None, None, (None, None, place))

    @property
    def diagnostics(self) -> list[ZarrDiagnostic]:
        """Where the metadata deviates from the specification, or is of a form that another program may not read."""
        return [ZarrDiagnostic(*note) for note in self._handle.diagnostics]

    def _diagnosed(self) -> Self:
        """Tells the user the diagnostics of the metadata."""
        for note in self._handle.diagnostics:
            report.diagnosed(self._path, ZarrDiagnostic(*note))
        return self


def _again(kind: type[Any], store: Store, path: str, writable: bool, config: ArrayConfig) -> Any:
    return kind(store, path, writable=writable, config=config)


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
