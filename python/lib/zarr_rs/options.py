"""The options of file systems of fsspec (s3fs, gcsfs, adlfs, HTTP) and of obstore, in terms of `zarr_rs.Store`."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Takes the name of an option and its value, and sets arguments.
_Rule: TypeAlias = "Callable[[Arguments, str, Any], None]"

#: Options of any file system of fsspec that say nothing about the place.
ANYWHERE = {"asynchronous", "loop", "skip_instance_cache", "use_listings_cache", "listings_expiry_time", "max_paths"}

#: Options that only say how a file system buffers what it reads and writes, by file system.
BUFFERING = {
    "s3": {
        "default_block_size",
        "default_fill_cache",
        "default_cache_type",
        "cache_regions",
        "max_concurrency",
        "fixed_upload_size",
        "local_expiry_check",
    },
    "gs": {"block_size", "consistency", "cache_timeout", "default_location", "secure_serialize", "project"}
    | {"finalize_on_close", "mrd_pool_cache_size", "max_mrd_pool_cache_queue_size"},
    "az": {"blocksize", "default_fill_cache", "default_cache_type", "max_concurrency", "assume_container_exists"},
    "http": {"simple_links", "block_size", "same_scheme", "cache_type", "cache_options", "size_policy"},
}

#: The package with the file system of a scheme.
PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "az": "adlfs", "http": "fsspec[http]"}

#: The table that the options of a scheme are in.
_TABLE_OF = {"s3": "s3", "gs": "gs", "az": "az", "abfs": "az", "abfss": "az", "http": "http", "https": "http"}

#: The arguments of `Store`, which are options of all services.
_OF_SERVICES = {
    "anonymous",
    "endpoint",
    "region",
    "profile",
    "environment",
    "variables",
    "in_flight",
    "retries",
    "timeout",
    "forbidden_is_absent",
    "redirects",
    "references",
}


class Inexpressible(Exception):
    """`zarr_rs.Store` has no argument for an option. The exception has the name of the option, and never its value."""


@dataclasses.dataclass
class Arguments:
    """Arguments of `Store`. They may have keys, so they are never shown."""

    arguments: dict[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    variables: dict[str, str] = dataclasses.field(default_factory=dict, repr=False)
    read_only: bool = False
    has_encryption: bool = True

    def of_store(self) -> dict[str, Any]:
        """Returns the arguments for `Store`."""
        given = dict(self.variables) | dict(self.arguments.get("variables") or {})
        return self.arguments | ({"variables": given} if given else {})


def table_of(scheme: str) -> str | None:
    """Returns the name of the table with the options of a scheme: `s3`, `gs`, `az` or `http`."""
    return _TABLE_OF.get(scheme)


def arguments(scheme: str, options: Mapping[str, Any]) -> Arguments:
    """Returns options as the arguments of `Store`.

    Raises `Inexpressible` for an option that only the file system of fsspec can obey, and `TypeError` for one that no
    package has.
    """
    table = _TABLE_OF[scheme]
    rules = _RULES[table]
    ignored = ANYWHERE | BUFFERING[table]
    # Options of a chain are nested by protocol.
    options = {name: value for name, value in options.items() if name not in _TABLE_OF or not isinstance(value, dict)} | {
        name: value
        for protocol, nested in options.items()
        if protocol in _TABLE_OF and _TABLE_OF[protocol] == table and isinstance(nested, dict)
        for name, value in nested.items()
    }
    if unknown := [name for name in options if name not in rules and name not in ignored and name not in _OF_SERVICES]:
        known = ", ".join(sorted(rules.keys() | _OF_SERVICES))
        raise TypeError(f"storage_options: {scheme} has no option {unknown[0]!r}; it has {known}")
    found = Arguments()
    for name, value in options.items():
        if value is None or name in ignored:
            continue
        if name in _OF_SERVICES and name not in rules:
            found.arguments[name] = value
        else:
            rules[name](found, name, value)
    # The scheme of an address decides. Without an address there is none of a service without encryption.
    if not found.has_encryption and "endpoint" not in found.arguments:
        raise Inexpressible("use_ssl")
    return found


def _argument(argument: str) -> _Rule:
    def rule(found: Arguments, name: str, value: Any) -> None:
        found.arguments[argument] = value

    return rule


def _variable(variable: str) -> _Rule:
    def rule(found: Arguments, name: str, value: Any) -> None:
        if not isinstance(value, str):
            raise Inexpressible(name)
        found.variables[variable] = value

    return rule


def _flag(argument: str) -> _Rule:
    def rule(found: Arguments, name: str, value: Any) -> None:
        found.arguments[argument] = bool(value)

    return rule


def _refused(found: Arguments, name: str, value: Any) -> None:
    """An option that only the file system can obey, unless it is off."""
    if value:
        raise Inexpressible(name)


def _each(rules: Mapping[str, _Rule]) -> _Rule:
    """The rule of an option whose members are options."""

    def rule(found: Arguments, name: str, value: Any) -> None:
        for member, inner in value.items():
            if inner is None:
                continue
            if member not in rules:
                raise Inexpressible(f"{name}[{member!r}]")
            rules[member](found, f"{name}[{member!r}]", inner)

    return rule


def _certificates(found: Arguments, name: str, value: Any) -> None:
    if value is True:
        return
    if not isinstance(value, str | os.PathLike):
        raise Inexpressible(name)
    found.variables["AWS_CA_BUNDLE"] = os.fspath(value)


def _payer(found: Arguments, name: str, value: Any) -> None:
    if value:
        found.variables["AWS_REQUEST_PAYER"] = "true"


def _encryption(found: Arguments, name: str, value: Any) -> None:
    found.has_encryption = found.has_encryption and bool(value)


def _addressing(found: Arguments, name: str, value: Any) -> None:
    styles = {"path": "false", "virtual": "true"}
    if value in styles:
        found.variables["AWS_VIRTUAL_HOSTED_STYLE_REQUEST"] = styles[value]
    elif value != "auto":
        raise Inexpressible(name)


def _signature(found: Arguments, name: str, value: Any) -> None:
    if value != "s3v4":
        raise Inexpressible(name)


def _attempts(found: Arguments, name: str, value: Any) -> None:
    found.arguments["retries"] = max(int(value) - 1, 0)


def _seconds(found: Arguments, name: str, value: Any) -> None:
    found.arguments["timeout"] = float(value)


def _google_token(found: Arguments, name: str, value: Any) -> None:
    match value:
        case "anon":
            found.arguments["anonymous"] = True
        case "google_default":
            pass
        case {"type": "service_account"}:
            found.variables["GOOGLE_SERVICE_ACCOUNT_KEY"] = json.dumps(value)
        case "cloud" | "cache" | "browser":
            raise Inexpressible(name)
        case str() | os.PathLike():
            found.variables["GOOGLE_SERVICE_ACCOUNT"] = os.fspath(value)
        case _:
            raise Inexpressible(name)


def _google_access(found: Arguments, name: str, value: Any) -> None:
    found.read_only = value == "read_only"


def _location_mode(found: Arguments, name: str, value: Any) -> None:
    if value != "primary":
        raise Inexpressible(name)


def _account_host(found: Arguments, name: str, value: Any) -> None:
    found.arguments["endpoint"] = value if "://" in value else f"https://{value}"


_S3_KEYS = {
    "aws_access_key_id": _variable("AWS_ACCESS_KEY_ID"),
    "aws_secret_access_key": _variable("AWS_SECRET_ACCESS_KEY"),
    "aws_session_token": _variable("AWS_SESSION_TOKEN"),
    "endpoint_url": _argument("endpoint"),
    "region_name": _argument("region"),
    "verify": _certificates,
    "use_ssl": _encryption,
}

#: The options by table. Those of obstore have the names of its settings.
_RULES: dict[str, dict[str, _Rule]] = {
    "s3": {
        "anon": _flag("anonymous"),
        "key": _variable("AWS_ACCESS_KEY_ID"),
        "username": _variable("AWS_ACCESS_KEY_ID"),
        "secret": _variable("AWS_SECRET_ACCESS_KEY"),
        "password": _variable("AWS_SECRET_ACCESS_KEY"),
        "token": _variable("AWS_SESSION_TOKEN"),
        "endpoint_url": _argument("endpoint"),
        "client_kwargs": _each(_S3_KEYS),
        "requester_pays": _payer,
        "use_ssl": _encryption,
        "config_kwargs": _each(
            {
                "s3": _each({"addressing_style": _addressing}),
                "signature_version": _signature,
                "retries": _each({"max_attempts": _argument("retries"), "total_max_attempts": _attempts}),
                "read_timeout": _seconds,
                "endpoint_url": _argument("endpoint"),
                "region_name": _argument("region"),
                "max_pool_connections": _argument("in_flight"),
            }
        ),
        "s3_additional_kwargs": _each(
            {
                "ServerSideEncryption": _variable("AWS_SERVER_SIDE_ENCRYPTION"),
                "SSEKMSKeyId": _variable("AWS_SSE_KMS_KEY_ID"),
            }
        ),
        "session": _refused,
        "version_aware": _refused,
        "access_key_id": _variable("AWS_ACCESS_KEY_ID"),
        "secret_access_key": _variable("AWS_SECRET_ACCESS_KEY"),
        "session_token": _variable("AWS_SESSION_TOKEN"),
        "skip_signature": _flag("anonymous"),
    },
    "gs": {
        "token": _google_token,
        "endpoint_url": _variable("GOOGLE_BASE_URL"),
        "access": _google_access,
        "requester_pays": _refused,
        "session_kwargs": _refused,
        "service_account": _variable("GOOGLE_SERVICE_ACCOUNT"),
        "service_account_key": _variable("GOOGLE_SERVICE_ACCOUNT_KEY"),
        "skip_signature": _flag("anonymous"),
    },
    "az": {
        "anon": _flag("anonymous"),
        "account_name": _variable("AZURE_STORAGE_ACCOUNT_NAME"),
        "account_key": _variable("AZURE_STORAGE_ACCOUNT_KEY"),
        "sas_token": _variable("AZURE_STORAGE_SAS_KEY"),
        "connection_string": _variable("AZURE_STORAGE_CONNECTION_STRING"),
        "client_id": _variable("AZURE_CLIENT_ID"),
        "client_secret": _variable("AZURE_CLIENT_SECRET"),
        "tenant_id": _variable("AZURE_TENANT_ID"),
        "account_host": _account_host,
        "credential": _refused,
        "location_mode": _location_mode,
        "request_session": _refused,
        "socket_timeout": _refused,
        "connection_timeout": _refused,
        "read_timeout": _seconds,
        "version_aware": _refused,
        "sas_key": _variable("AZURE_STORAGE_SAS_KEY"),
        "skip_signature": _flag("anonymous"),
    },
    "http": {
        "client_kwargs": _refused,
        "encoded": _refused,
        "get_client": _refused,
        "headers": _refused,
        "auth": _refused,
    },
}
