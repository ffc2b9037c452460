"""The one way from what a user names to a store and a path in it: paths, URLs, mappings, stores of any package."""

from __future__ import annotations

import logging
import os
import re
from typing import TYPE_CHECKING, Any

import zarr.abc.store
from zarr.core.buffer import Buffer
from zarr.storage import FsspecStore, MemoryStore, StorePath

from zarr_rs import options, stores
from zarr_rs.errors import UnsupportedError
from zarr_rs.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

_logger = logging.getLogger("zarr_rs.store")

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)(::|://)")

#: The schemes of the engine's own stores. `memory` is that of this package, not that of fsspec.
_NATIVE = {"file", "memory", "s3", "gs", "az", "abfs", "abfss", "http", "https"}


def resolve(
    location: Any,
    path: str = "/",
    *,
    mode: str,
    storage_options: Mapping[str, Any] | None = None,
    access: Mapping[str, Any] | None = None,
) -> tuple[Store, str]:
    """Returns the store of a location, and the path of a node in it.

    `location` is a path, a URL, also a chained one of fsspec (`simplecache::s3://…`), a `zarr_rs.Store`, any store or
    `StorePath` of zarr-python, a `dict` of buffers, a mapper of fsspec, or a `UPath`. `access` are arguments of
    `zarr_rs.Store`, and `storage_options` those of the file system of fsspec, of obstore, or of `zarr_rs.Store`: both only
    for paths and URLs. With mode `r` the store is read-only, unless it was given.
    """
    given = dict(access or {})
    asked = dict(storage_options or {})
    if isinstance(location, StorePath):
        _refuse(given, asked)
        below = "/".join(part for part in (location.path.strip("/"), path.strip("/")) if part)
        return _wrapped(location.store, below, mode), below or "/"
    if isinstance(location, zarr.abc.store.Store):
        _refuse(given, asked)
        return _wrapped(location, path, mode), path
    if isinstance(location, dict):
        _refuse(given, asked)
        return _wrapped(_memory(location, mode), path, mode), path
    if _is_mapper(location):
        _refuse(given, asked)
        if _is_local(location.fs):
            # The mapping makes folders, which the store of zarr-python does not.
            return _of_path(location.root, {}, {}, mode), path
        if not hasattr(FsspecStore, "from_mapper"):
            raise UnsupportedError("a mapper of fsspec needs zarr-python 3.1")
        return _wrapped(FsspecStore.from_mapper(location, read_only=mode == "r"), path, mode), path
    if _is_universal(location):
        url, asked = str(location), dict(location.storage_options) | asked
        if location.protocol == "memory":
            return _of_fsspec(url, asked, given, path, mode), path
        return _of_url(url, asked, given, path, mode), path
    if isinstance(location, str) and _SCHEME.match(location) and not os.path.exists(location):
        return _of_url(location, asked, given, path, mode), path
    if isinstance(location, str | os.PathLike):
        return _of_path(os.fspath(location), asked, given, mode), path
    raise UnsupportedError(
        f"cannot open an object of type {type(location).__name__}: give a path, a URL, a dict, an fsspec mapper, a "
        'zarr.abc.store.Store or zarr_rs.Store; engine="zarr" takes whatever zarr.open does'
    )


def _wrapped(store: zarr.abc.store.Store, path: str, mode: str) -> Store:
    if isinstance(store, Store):
        # The user has chosen whether this one is read-only.
        wrapped = store
    else:
        wrapped = Store.wrap(store, read_only=mode == "r" or None, node=path.strip("/"))
    if mode != "r" and wrapped.read_only:
        raise ValueError(f"{wrapped!r} is read-only")
    return wrapped


def _refuse(*given: Mapping[str, Any]) -> None:
    if names := [name for options in given for name in options]:
        raise TypeError(f"the store is given, so it takes no {', '.join(names)}")


def _memory(values: dict[str, Any], mode: str) -> MemoryStore:
    for key, value in values.items():
        if not isinstance(value, Buffer):
            message = f"the value of {key!r} is of type {type(value).__name__}, a store in a dict has values of zarr's Buffer"
            raise UnsupportedError(message)
    return MemoryStore(values, read_only=mode == "r")


def _is_mapper(location: Any) -> bool:
    """Whether this is the mapping of `fsspec.get_mapper`, without importing fsspec."""
    kind = type(location)
    return kind.__module__ == "fsspec.mapping" and kind.__name__ == "FSMap"


def _is_local(fs: Any) -> bool:
    return f"{type(fs).__module__}.{type(fs).__qualname__}" == "fsspec.implementations.local.LocalFileSystem"


def _is_universal(location: Any) -> bool:
    """Whether this is a `UPath` that is not a local path."""
    return hasattr(location, "storage_options") and hasattr(location, "protocol") and location.protocol not in ("", "file")


def _is_references(location: str) -> bool:
    """Whether this is a file or directory of references of kerchunk, by its name."""
    if location.endswith((".parq", ".parquet")):
        return os.path.isfile(os.path.join(location, ".zmetadata"))
    return location.endswith(".json") and os.path.isfile(location)


def _of_path(location: str, asked: Mapping[str, Any], given: dict[str, Any], mode: str) -> Store:
    if _is_references(location):
        raise UnsupportedError(
            f"{location}: these are references: open '{location}|kerchunk:' with references=[...], the places they name"
        )
    given = {name: value for name, value in asked.items() if name not in options.ANYWHERE | {"auto_mkdir"}} | given
    return Store(location, read_only=mode == "r", **given)


def _of_url(url: str, asked: dict[str, Any], given: dict[str, Any], path: str, mode: str) -> Store:
    matched = _SCHEME.match(url)
    scheme = matched[1].lower() if matched and "::" not in url else ""
    table = options.table_of(scheme)
    if scheme in _NATIVE and table is None:
        return _of_path(url, asked, given, mode)
    if table is not None:
        try:
            found = options.arguments(scheme, asked)
        except options.Inexpressible as option:
            if given:
                names = ", ".join(given)
                package = options.PACKAGES[table]
                raise UnsupportedError(f"storage_options: {option} is only for {package}, so {names} cannot be given") from None
            _logger.debug("%s is opened by %s for its option %s", scheme, options.PACKAGES[table], option)
            return _of_fsspec(url, asked, given, path, mode, why=f"storage_options: {option} needs")
        if found.read_only and mode != "r":
            raise ValueError("storage_options: access='read_only' is for mode 'r'")
        return Store(url, read_only=mode == "r", **(found.of_store() | given))
    return _of_fsspec(url, asked, given, path, mode)


def _of_fsspec(
    url: str, asked: dict[str, Any], given: Mapping[str, Any], path: str, mode: str, *, why: str = ""
) -> Store:
    """Returns the store of the file system of fsspec for a URL."""
    scheme = url.partition("::")[0].partition("://")[0]
    if given:
        raise TypeError(f"{scheme} is opened by fsspec, which takes no {', '.join(given)}: give storage_options")
    package = options.PACKAGES.get(options.table_of(scheme) or "", f"the package of fsspec for {scheme}")
    try:
        store = FsspecStore.from_url(url, storage_options=asked, read_only=mode == "r")
    except ImportError as e:
        raise UnsupportedError(f"{why or f'{scheme} needs'} {package}: {e}") from e
    except ValueError as e:
        if "Protocol not known" not in str(e):
            raise
        raise UnsupportedError(f"unknown scheme {scheme!r}: neither this package nor fsspec has it") from e
    return _wrapped(store, path, mode)
