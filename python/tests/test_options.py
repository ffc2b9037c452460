"""The options of file systems of fsspec and of obstore, in terms of `zarr_rs.Store`."""

from __future__ import annotations

import logging
import os
import pathlib
import pickle
from typing import Any

import pytest
import zarr_rs
from zarr.storage import FsspecStore
from zarr_rs import options, stores

KEYS = {"key": "the-id", "secret": "the-word"}
VARIABLES = {"AWS_ACCESS_KEY_ID": "the-id", "AWS_SECRET_ACCESS_KEY": "the-word"}
ACCOUNT = {"type": "service_account", "private_key": "the-word"}

#: A scheme, its options, and the arguments of `Store`.
MAPPED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("s3", {}, {}),
    ("s3", {"anon": True}, {"anonymous": True}),
    ("s3", {"anon": False, "token": None}, {"anonymous": False}),
    ("s3", KEYS, {"variables": VARIABLES}),
    ("s3", KEYS | {"token": "t"}, {"variables": VARIABLES | {"AWS_SESSION_TOKEN": "t"}}),
    ("s3", {"username": "the-id", "password": "the-word"}, {"variables": VARIABLES}),
    ("s3", {"access_key_id": "the-id", "secret_access_key": "the-word"}, {"variables": VARIABLES}),
    ("s3", {"endpoint_url": "http://h"}, {"endpoint": "http://h"}),
    ("s3", {"client_kwargs": {"endpoint_url": "http://h"}}, {"endpoint": "http://h"}),
    ("s3", {"config_kwargs": {"endpoint_url": "http://h"}}, {"endpoint": "http://h"}),
    ("s3", {"client_kwargs": {"region_name": "r"}}, {"region": "r"}),
    (
        "s3",
        {"client_kwargs": {"aws_access_key_id": "the-id", "aws_secret_access_key": "the-word"}},
        {"variables": VARIABLES},
    ),
    ("s3", {"client_kwargs": {"verify": True}}, {}),
    ("s3", {"client_kwargs": {"verify": "/pem"}}, {"variables": {"AWS_CA_BUNDLE": "/pem"}}),
    ("s3", {"profile": "p"}, {"profile": "p"}),
    ("s3", {"requester_pays": True}, {"variables": {"AWS_REQUEST_PAYER": "true"}}),
    ("s3", {"requester_pays": False}, {}),
    ("s3", {"use_ssl": False, "endpoint_url": "http://h"}, {"endpoint": "http://h"}),
    (
        "s3",
        {"config_kwargs": {"s3": {"addressing_style": "virtual"}}},
        {"variables": {"AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "true"}},
    ),
    ("s3", {"config_kwargs": {"s3": {"addressing_style": "auto"}, "signature_version": "s3v4"}}, {}),
    ("s3", {"config_kwargs": {"retries": {"max_attempts": 4}, "read_timeout": 9}}, {"retries": 4, "timeout": 9.0}),
    ("s3", {"config_kwargs": {"retries": {"total_max_attempts": 4}}}, {"retries": 3}),
    (
        "s3",
        {"s3_additional_kwargs": {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "k"}},
        {"variables": {"AWS_SERVER_SIDE_ENCRYPTION": "aws:kms", "AWS_SSE_KMS_KEY_ID": "k"}},
    ),
    ("s3", {"session": None, "version_aware": False}, {}),
    ("s3", {"skip_instance_cache": True, "default_block_size": 1, "max_concurrency": 3, "asynchronous": True}, {}),
    ("s3", {"anonymous": True, "in_flight": 3}, {"anonymous": True, "in_flight": 3}),
    ("s3", {"s3": {"anon": True}}, {"anonymous": True}),
    ("gs", {"token": "anon"}, {"anonymous": True}),
    ("gs", {"token": "google_default"}, {}),
    ("gs", {"token": "/file"}, {"variables": {"GOOGLE_SERVICE_ACCOUNT": "/file"}}),
    (
        "gs",
        {"token": ACCOUNT},
        {"variables": {"GOOGLE_SERVICE_ACCOUNT_KEY": '{"type": "service_account", "private_key": "the-word"}'}},
    ),
    ("gs", {"endpoint_url": "http://h", "project": "p"}, {"variables": {"GOOGLE_BASE_URL": "http://h"}}),
    (
        "az",
        {"account_name": "a", "account_key": "k"},
        {"variables": {"AZURE_STORAGE_ACCOUNT_NAME": "a", "AZURE_STORAGE_ACCOUNT_KEY": "k"}},
    ),
    ("abfs", {"sas_token": "s"}, {"variables": {"AZURE_STORAGE_SAS_KEY": "s"}}),
    ("abfss", {"connection_string": "c"}, {"variables": {"AZURE_STORAGE_CONNECTION_STRING": "c"}}),
    (
        "az",
        {"client_id": "i", "client_secret": "s", "tenant_id": "t"},
        {"variables": {"AZURE_CLIENT_ID": "i", "AZURE_CLIENT_SECRET": "s", "AZURE_TENANT_ID": "t"}},
    ),
    ("az", {"account_host": "h", "location_mode": "primary"}, {"endpoint": "https://h"}),
    ("az", {"anon": True}, {"anonymous": True}),
    ("https", {"block_size": 1, "simple_links": False, "client_kwargs": {}}, {}),
    ("https", {"forbidden_is_absent": True}, {"forbidden_is_absent": True}),
]

#: A scheme, options, and the one that `Store` has no argument for.
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("s3", {"session": object()}, "session"),
    ("s3", {"version_aware": True}, "version_aware"),
    ("s3", {"use_ssl": False}, "use_ssl"),
    ("s3", {"client_kwargs": {"verify": False}}, "client_kwargs['verify']"),
    ("s3", {"client_kwargs": {"api_version": "1"}}, "client_kwargs['api_version']"),
    ("s3", {"config_kwargs": {"proxies": {}}}, "config_kwargs['proxies']"),
    ("s3", {"config_kwargs": {"signature_version": "s3"}}, "config_kwargs['signature_version']"),
    ("s3", {"config_kwargs": {"s3": {"payload_signing_enabled": True}}}, "config_kwargs['s3']['payload_signing_enabled']"),
    ("s3", {"s3_additional_kwargs": {"ACL": "private"}}, "s3_additional_kwargs['ACL']"),
    ("gs", {"token": "cloud"}, "token"),
    ("gs", {"token": object()}, "token"),
    ("gs", {"token": {"type": "authorized_user"}}, "token"),
    ("gs", {"requester_pays": True}, "requester_pays"),
    ("az", {"credential": object()}, "credential"),
    ("az", {"location_mode": "secondary"}, "location_mode"),
    ("https", {"client_kwargs": {"headers": {"a": "the-word"}}}, "client_kwargs"),
    ("http", {"encoded": True}, "encoded"),
]


@pytest.mark.parametrize(("scheme", "given", "expected"), MAPPED)
def test_an_option_is_an_argument_of_store(scheme: str, given: dict[str, Any], expected: dict[str, Any]) -> None:
    found = options.arguments(scheme, given)
    assert found.of_store() == expected
    assert "the-word" not in repr(found)
    store = zarr_rs.Store(f"{scheme}://bucket/a", **found.of_store())
    assert pickle.loads(pickle.dumps(store)) == store


@pytest.mark.parametrize(("scheme", "given", "name"), REFUSED)
def test_an_option_that_cannot_be_expressed_is_named(
    scheme: str, given: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(options.Inexpressible) as refused:
        options.arguments(scheme, given)
    assert str(refused.value) == name

    def missing(*_: Any, **__: Any) -> Any:
        raise ImportError("No module named x")

    monkeypatch.setattr(FsspecStore, "from_url", missing)
    package = options.PACKAGES[options.table_of(scheme) or ""]
    with caplog.at_level(logging.DEBUG, "zarr_rs.store"), pytest.raises(NotImplementedError) as raised:
        zarr_rs.open(f"{scheme}://bucket/a", storage_options=given)
    assert str(raised.value) == f"storage_options: {name} needs {package}: No module named x"
    assert f"opened by {package} for its option {name}" in caplog.text
    with pytest.raises(NotImplementedError, match="is only for .*, so region cannot be given"):
        zarr_rs.open(f"{scheme}://bucket/a", storage_options=given, region="r")


def test_an_unknown_option_is_an_error_that_names_the_others() -> None:
    for scheme, known in (("s3", "anon"), ("gs", "token"), ("az", "account_name"), ("https", "client_kwargs")):
        with pytest.raises(TypeError, match=f"^storage_options: {scheme} has no option 'x'; it has .*{known}"):
            zarr_rs.open(f"{scheme}://bucket/a", storage_options={"x": "the-word"})
    with pytest.raises(TypeError, match="unexpected keyword argument 'x'"):
        zarr_rs.open("/none", storage_options={"x": 1})
    with pytest.raises(ValueError, match="access='read_only' is for mode 'r'"):
        zarr_rs.open("gs://bucket/a", mode="r+", storage_options={"access": "read_only"})


def test_options_of_files_are_those_of_store(tmp_path: pathlib.Path) -> None:
    given = {"auto_mkdir": True, "durability": "deferred"}
    made = zarr_rs.create_group(tmp_path.as_uri(), storage_options=given)
    assert made.store == zarr_rs.Store(tmp_path, durability="deferred")
    assert zarr_rs.open_group(tmp_path, storage_options=given).store == zarr_rs.Store(
        tmp_path, durability="deferred", read_only=True
    )


def test_given_credentials_hide_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, str]] = []
    opened = zarr_rs.Store("memory://").storage()

    class Storage:
        @staticmethod
        def at(location: str, *, environment: dict[str, str], **_: Any) -> Any:
            asked.append({name: value for name, value in environment.items() if name.startswith("AWS_")})
            return opened

    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(stores, "Storage", Storage)
    monkeypatch.setenv("AWS_SESSION_TOKEN", "other")
    monkeypatch.setenv("AWS_REGION", "r")
    for given in ({"requester_pays": True}, KEYS):
        zarr_rs.Store("s3://a/b", **options.arguments("s3", given).of_store()).storage()
    assert asked == [
        {"AWS_SESSION_TOKEN": "other", "AWS_REGION": "r", "AWS_REQUEST_PAYER": "true"},
        {"AWS_REGION": "r"} | VARIABLES,
    ]
