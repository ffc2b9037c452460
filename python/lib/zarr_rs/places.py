"""The places that stores of zarr-python mean, for the engine's own client.

A store of obstore or fsspec is recognised if the client can express its whole configuration: the place, and explicit keys
or none. Whatever is not listed here, such as a session, retries, headers or encryption, leaves the store to its own
calls. So does a document that both must have and that differs; a small first read runs beside this comparison.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import re
import weakref
from typing import TYPE_CHECKING, Any

from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import sync
from zarr.storage import FsspecStore, LocalStore

from zarr_rs import options, stores, waiting
from zarr_rs._native import HAS_DIRECTORIES

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import TypeGuard

    from zarr.abc.store import Store

    from zarr_rs._native import Storage


@dataclasses.dataclass(frozen=True)
class Place:
    """A directory or a URL, and what the client needs to know besides. That may be keys, so it is never shown."""

    location: str
    #: Variables, named as for the tools of the services.
    environment: tuple[tuple[str, str], ...] = dataclasses.field(default=(), repr=False)
    is_directory: bool = False


def is_directory(store: Store) -> TypeGuard[LocalStore]:
    """Whether the engine reads and writes the directory of a store itself."""
    return HAS_DIRECTORIES and type(store) is LocalStore


async def place_of(store: Any) -> Place | None:
    """Returns the place of a store of obstore or fsspec, or `None` if it is not recognised."""
    if type(store) is FsspecStore and store.allowed_exceptions == _ABSENT:
        of_files = _FSSPEC.get(_name(store.fs))
        return None if of_files is None else await of_files(store.fs, store.path.rstrip("/"))
    if _name(store) == "zarr.storage._obstore.ObjectStore":
        of_objects = _OBSTORE.get(_name(store.store))
        return None if of_objects is None else of_objects(store.store)
    return None


@dataclasses.dataclass(frozen=True)
class Source:
    """The engine's client for the place of a store."""

    store: Store
    place: Place
    storage: Storage
    #: The key of a document that both must have.
    document: str

    @property
    def is_verified(self) -> bool:
        """Whether `verify` was true for this storage before."""
        return self.storage in _verified

    async def verify(self) -> bool:
        """Whether the client finds the document of the store.

        It is compared once for each storage: the client may have another proxy or other certificates.
        """
        if self.is_verified:
            return True
        ours = waiting.run(_whole, self.storage, self.document)
        theirs = self.store.get(self.document, default_buffer_prototype())
        # Exceptions of the store are raised again when it is used.
        found = await asyncio.gather(asyncio.wait_for(ours, _PATIENCE), theirs, return_exceptions=True)
        if isinstance(found[1], BaseException) or found[1] is None or found[0] != found[1].to_bytes():
            return False
        _verified.add(self.storage)
        return True


def source_of(store: Store, place: Place, document: str) -> Source | None:
    """Returns the client for a place, or `None` if it may name the `document` in another way than the store."""
    storage = _opened(place) if _PLAIN.fullmatch(document) else None
    return None if storage is None else Source(store, place, storage, document)


def storage_of(store: Store, node: str, *, read_only: bool) -> Storage:
    """Returns the storage of a store: the engine's own client if both find the same document at the path of a node."""
    name = _name(store)
    if name not in ("zarr.storage._fsspec.FsspecStore", "zarr.storage._obstore.ObjectStore"):
        return stores.foreign(store)
    stores.check_caller()
    source = sync(_client(store, node))
    if source is None or not (read_only or store.read_only or source.storage.can_write):
        return stores.foreign(store)
    return source.storage.read_only() if store.read_only else source.storage


async def _client(store: Store, node: str) -> Source | None:
    place = await place_of(store)
    if place is None:
        return None
    for name in ("zarr.json", ".zgroup", ".zarray"):
        source = source_of(store, place, f"{node}/{name}".lstrip("/"))
        if source is None:
            return None
        if await source.verify():
            return source
    return None


def written(store: Store) -> None:
    """Makes a store of fsspec forget its listings after the client has written to its place."""
    if type(store) is FsspecStore and getattr(store.fs, "dircache", None):
        store.fs.invalidate_cache()


#: The storages that have been compared with their stores.
_verified: weakref.WeakSet[Storage] = weakref.WeakSet()

#: The longest time for the client's first read, in seconds.
_PATIENCE = 10

#: The exceptions for objects that are absent, of a store of fsspec by default.
_ABSENT = (FileNotFoundError, IsADirectoryError, NotADirectoryError)

#: Paths with other characters may be encoded in different ways.
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")

#: The addresses of web servers, without a user or a query.
_WEB = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9_.-]+)*")

_PROXIES = ("http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy")


def _opened(place: Place) -> Storage | None:
    if place.is_directory:
        return stores.directory(place.location, create=False)
    arguments: tuple[tuple[str, Any], ...] = (("environment", place.environment),)
    return stores.opened(place.location, arguments, create=False)


def _whole(storage: Storage, key: str) -> bytes | None:
    values = storage.get(key, [None]).wait()
    return None if values is None else bytes(values[0])


def _name(thing: object) -> str:
    """The full name of a type: a subclass may do anything."""
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


def _directory(path: Any) -> Place | None:
    is_known = HAS_DIRECTORIES and path is not None and os.path.isabs(path)
    return Place(os.fspath(path), is_directory=True) if is_known else None


def _bucket(scheme: str, path: str, variables: Mapping[str, str | None]) -> Place | None:
    """The place of a bucket and a prefix in it, at a service that the variables describe."""
    segments = path.split("/")
    if not _PLAIN.fullmatch(path) or "." in segments or ".." in segments:
        return None
    given = {name: value for name, value in variables.items() if value is not None}
    return Place(f"{scheme}://{path}", tuple(sorted((given | _proxies()).items())))


def _web(url: Any, variables: Mapping[str, str]) -> Place | None:
    url = url.rstrip("/")
    is_plain = _WEB.fullmatch(url) and not {".", ".."} & set(url.split("/"))
    return Place(url, tuple(sorted(variables.items()))) if is_plain else None


def _proxies() -> dict[str, str]:
    return {name: os.environ[name] for name in _PROXIES if name in os.environ}


# Stores of obstore. Their settings are the given ones, then those of the environment when they were made.


@dataclasses.dataclass(frozen=True)
class _Service:
    """A service of obstore: the names of its settings, and of the variables that the client knows them by."""

    scheme: str
    #: The beginning of all variables that obstore reads.
    prefix: str
    bucket: str
    variables: dict[str, str]
    #: Settings that are keys: all of one of these sets are given, unless requests are not signed.
    keys: tuple[set[str], ...]
    #: Variables that mean nothing, beside explicit keys.
    harmless: set[str]
    #: Settings with an address.
    addresses: tuple[str, ...]

    def place(self, store: Any) -> Place | None:
        config: dict[str, str] = dict(store.config)
        path = "/".join(part for part in (config.pop(self.bucket, ""), store.prefix) if part)
        unsigned = config.get("skip_signature") == "true"
        is_known = (
            store.retry_config is None
            and store.credential_provider is None
            and config.keys() <= self.variables.keys()
            and (unsigned or any(keys <= config.keys() for keys in self.keys))
            and not self._from_environment(config, unsigned)
            and _has_plain_client(store, *(config.get(name, "") for name in self.addresses))
        )
        variables = {self.variables[name]: value for name, value in config.items()} if is_known else {}
        return _bucket(self.scheme, path, variables) if is_known else None

    def _from_environment(self, config: Mapping[str, str], unsigned: bool) -> set[str]:
        """The variables that may have been settings of the store, too."""
        known = self.harmless | {self.variables[name] for name in config}
        if unsigned:
            known |= {self.variables[name] for keys in self.keys for name in keys}
        return {name for name in os.environ if name.startswith(self.prefix)} - known


def _has_plain_client(store: Any, *addresses: str) -> bool:
    """Whether the client of a store has no options, except that it may send requests without encryption."""
    given = dict(store.client_options or {})
    may_be_plain = given.pop("allow_http", "false") == "true"
    return not given and (may_be_plain or not any(address.startswith("http:") for address in addresses))


_S3 = _Service(
    scheme="s3",
    prefix="AWS_",
    bucket="bucket",
    variables={
        "access_key_id": "AWS_ACCESS_KEY_ID",
        "secret_access_key": "AWS_SECRET_ACCESS_KEY",
        "session_token": "AWS_SESSION_TOKEN",
        "skip_signature": "AWS_SKIP_SIGNATURE",
        "region": "AWS_REGION",
        "endpoint": "AWS_ENDPOINT",
        "virtual_hosted_style_request": "AWS_VIRTUAL_HOSTED_STYLE_REQUEST",
        "unsigned_payload": "AWS_UNSIGNED_PAYLOAD",
    },
    keys=({"access_key_id", "secret_access_key"},),
    harmless={
        "AWS_ALLOW_HTTP",
        "AWS_CA_BUNDLE",
        "AWS_CONFIG_FILE",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_DEFAULT_OUTPUT",
        "AWS_EC2_METADATA_DISABLED",
        "AWS_PROFILE",
        "AWS_ROLE_ARN",
        "AWS_ROLE_SESSION_NAME",
        "AWS_SDK_LOAD_CONFIG",
        "AWS_SHARED_CREDENTIALS_FILE",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
    },
    addresses=("endpoint",),
)

_GOOGLE = _Service(
    scheme="gs",
    prefix="GOOGLE_",
    bucket="bucket",
    variables={
        "service_account_key": "GOOGLE_SERVICE_ACCOUNT_KEY",
        "skip_signature": "GOOGLE_SKIP_SIGNATURE",
        "base_url": "GOOGLE_BASE_URL",
    },
    keys=({"service_account_key"},),
    harmless={"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT"},
    addresses=("base_url",),
)

_AZURE = _Service(
    scheme="az",
    prefix="AZURE_",
    bucket="container_name",
    variables={
        "account_name": "AZURE_STORAGE_ACCOUNT_NAME",
        "account_key": "AZURE_STORAGE_ACCOUNT_KEY",
        "sas_key": "AZURE_STORAGE_SAS_KEY",
        "skip_signature": "AZURE_SKIP_SIGNATURE",
        "endpoint": "AZURE_STORAGE_ENDPOINT",
    },
    keys=({"account_name", "account_key"}, {"account_name", "sas_key"}),
    harmless=set(),
    addresses=("endpoint",),
)


def _obstore_web(store: Any) -> Place | None:
    is_known = store.retry_config is None and _has_plain_client(store, store.url)
    return _web(store.url, _proxies()) if is_known else None


_OBSTORE: dict[str, Callable[[Any], Place | None]] = {
    "obstore.store.S3Store": _S3.place,
    "obstore.store.GCSStore": _GOOGLE.place,
    "obstore.store.AzureStore": _AZURE.place,
    "obstore.store.HTTPStore": _obstore_web,
    "obstore.store.LocalStore": lambda store: _directory(store.prefix),
}


# File systems of fsspec.


def _has_options(fs: Any, *names: str) -> bool:
    """Whether a file system was made with no other options than these."""
    given: dict[str, Any] = fs.storage_options
    return fs.storage_args == () and given.keys() <= {*names, *options.ANYWHERE}


async def _s3(fs: Any, path: str) -> Place | None:
    keys = ("anon", "key", "secret", "token", "endpoint_url", "client_kwargs", "config_kwargs")
    is_known = (
        _has_options(fs, *keys, *options.BUFFERING["s3"])
        and fs.client_kwargs.keys() <= {"endpoint_url", "region_name"}
        and fs.config_kwargs.keys() <= {"s3", "signature_version"}
        and (fs.anon or (fs.key and fs.secret))
        and "retries" not in vars(fs)
    )
    if not is_known:
        return None
    try:
        # What the client of the store was set up with: the address may be of a file or a variable.
        meta = (await fs.set_session()).meta
    except Exception:
        return None  # it is raised again when the store is used
    signature, given = meta.config.signature_version, meta.config.s3 or {}
    if given.keys() - {"addressing_style"} or given.get("addressing_style", "auto") not in ("auto", "path"):
        return None
    if not fs.anon and signature != "s3v4":
        return None
    keys_of = {"AWS_ACCESS_KEY_ID": fs.key, "AWS_SECRET_ACCESS_KEY": fs.secret, "AWS_SESSION_TOKEN": fs.token}
    region = "us-east-1" if meta.region_name in (None, "aws-global") else meta.region_name
    access = {"AWS_SKIP_SIGNATURE": "true"} if fs.anon else keys_of
    return _bucket("s3", path.lstrip("/"), access | {"AWS_REGION": region, "AWS_ENDPOINT": meta.endpoint_url})


async def _blobs(fs: Any, path: str) -> Place | None:
    """The place of a file system of adlfs."""
    is_known = (
        _has_options(fs, "account_name", "account_key", "account_host", "anon", *options.BUFFERING["az"])
        and fs.account_name
        and not (fs.connection_string or fs.credential or fs.sas_token)
        and (fs.account_key or fs.anon)
        and fs.location_mode == "primary"
    )
    if not is_known:
        return None
    access = {"AZURE_STORAGE_ACCOUNT_KEY": fs.account_key} if fs.account_key else {"AZURE_SKIP_SIGNATURE": "true"}
    account = {"AZURE_STORAGE_ACCOUNT_NAME": fs.account_name, "AZURE_STORAGE_ENDPOINT": fs.account_url}
    return _bucket("az", path.lstrip("/"), access | account)


async def _objects_of_google(fs: Any, path: str) -> Place | None:
    """The place of a file system of gcsfs."""
    if not _has_options(fs, "token", "endpoint_url", *options.BUFFERING["gs"]) or getattr(fs, "_use_client_cert", False):
        return None
    match fs.storage_options.get("token"):
        case "anon":
            access = {"GOOGLE_SKIP_SIGNATURE": "true"}
        case {"type": "service_account"} as key:
            access = {"GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps(key)}
        case _:
            return None
    address = {} if fs._location == "https://storage.googleapis.com" else {"GOOGLE_BASE_URL": fs._location}
    return _bucket("gs", path.lstrip("/"), access | address)


async def _http(fs: Any, path: str) -> Place | None:
    # Its client has no proxies by default.
    return _web(path, {}) if _has_options(fs, *options.BUFFERING["http"]) and not fs.kwargs and not fs.client_kwargs else None


async def _files(fs: Any, path: str) -> Place | None:
    """The place of a local file system, which has no calls of its own for an event loop and is wrapped."""
    files = fs.sync_fs
    is_known = _name(files) == "fsspec.implementations.local.LocalFileSystem" and files.auto_mkdir
    return _directory(path) if is_known and _has_options(files, "auto_mkdir") else None


_FSSPEC: dict[str, Callable[[Any, str], Awaitable[Place | None]]] = {
    "s3fs.core.S3FileSystem": _s3,
    "adlfs.spec.AzureBlobFileSystem": _blobs,
    "gcsfs.core.GCSFileSystem": _objects_of_google,
    "gcsfs.extended_gcsfs.ExtendedGcsFileSystem": _objects_of_google,
    "fsspec.implementations.http.HTTPFileSystem": _http,
    "fsspec.implementations.asyn_wrapper.AsyncFileSystemWrapper": _files,
}
