"""Stores of obstore and fsspec: which are read and written by the engine's own client, and that all of them work."""

from __future__ import annotations

import asyncio
import datetime
import http.server
import json
import os
import pathlib
import pickle
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import counting
import numpy as np
import pytest
import upath
import zarr
import zarr_rs
from conftest import no_fallback, ours, own
from zarr.core.sync import sync
from zarr.storage import FsspecStore, LocalStore
from zarr_rs import pipeline, places, stores

obstore = pytest.importorskip("obstore.store")
fsspec = pytest.importorskip("fsspec")
pytest.importorskip("s3fs")
ObjectStore = zarr.storage.ObjectStore

KEYS = {"access_key_id": "the-id", "secret_access_key": "the-secret", "region": "us-east-1"}
NAMES = {"key": "the-id", "secret": "the-secret"}


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("AWS_", "AZURE_", "GOOGLE_"))]:
        monkeypatch.delenv(name)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The keys of chunks that are read or written with the calls of a store."""
    made: list[str] = []

    def counted(method: Callable[..., Any]) -> Callable[..., Any]:
        async def call(store: Any, key: str, *arguments: Any, **options: Any) -> Any:
            made.extend([key] if "/c/" in f"/{key}" else [])
            return await method(store, key, *arguments, **options)

        return call

    for kind in (ObjectStore, FsspecStore):
        for name in ("get", "set"):
            monkeypatch.setattr(kind, name, counted(getattr(kind, name)))
    return made


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    server = pytest.importorskip("moto.server")
    service = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    service.start()
    host, port = service.get_host_and_port()
    yield f"http://{host}:{port}"
    service.stop()


@pytest.fixture
def bucket(endpoint: str) -> str:
    boto3 = pytest.importorskip("boto3")
    names = {"aws_access_key_id": "the-id", "aws_secret_access_key": "the-secret", "region_name": "us-east-1"}
    name = uuid.uuid4().hex
    boto3.client("s3", endpoint_url=endpoint, **names).create_bucket(Bucket=name)
    return name


def objects(store: Any) -> Any:
    return ObjectStore(store)


def s3(endpoint: str, bucket: str, **options: Any) -> Any:
    given = {"endpoint": endpoint, "prefix": "a/b", "client_options": {"allow_http": True}} | KEYS | options
    return objects(obstore.S3Store(bucket, **given))


def s3fs(endpoint: str, bucket: str, **options: Any) -> Any:
    given: dict[str, Any] = {"endpoint_url": endpoint, "skip_instance_cache": True} | NAMES | options
    return FsspecStore.from_url(f"s3://{bucket}/a/b", storage_options=given)


def write_and_read(store: Any) -> None:
    """Writes whole chunks and parts of chunks, and compares with zarr-python's own pipeline."""
    expected = np.arange(81).reshape(9, 9)
    zarr.create_array(store, name="a", shape=(9, 9), chunks=(2, 4), shards=(4, 8), dtype="i4")
    with no_fallback():
        array = ours(store, path="a", mode="r+")
        array[...] = expected
        array[3:5, 1:7] = expected[3:5, 1:7] = -1
        np.testing.assert_array_equal(array[1::3, ::2], expected[1::3, ::2])


def check(store: Any) -> None:
    expected = np.arange(81).reshape(9, 9)
    expected[3:5, 1:7] = -1
    np.testing.assert_array_equal(own(store, path="a")[...], expected)


RECOGNISED: dict[str, Callable[[str, str], Any]] = {
    "obstore": s3,
    "obstore with a token": lambda e, b: s3(e, b, session_token="t"),
    "s3fs": s3fs,
    "s3fs with options of its client": lambda e, b: s3fs(
        e,
        b,
        endpoint_url=None,
        client_kwargs={"endpoint_url": e, "region_name": "us-east-1"},
        config_kwargs={"s3": {"addressing_style": "path"}},
        token="t",
    ),
}


@pytest.mark.parametrize("make", RECOGNISED.values(), ids=RECOGNISED)
def test_a_bucket_is_read_and_written_by_the_client(
    make: Callable[[str, str], Any], endpoint: str, bucket: str, calls: list[str]
) -> None:
    store = make(endpoint, bucket)
    write_and_read(store)
    assert calls == []
    check(store)
    assert calls != [], "zarr-python's own pipeline uses the calls of the store"


OTHERS: dict[str, Callable[[str, str], Any]] = {
    "memory": lambda *_: objects(obstore.MemoryStore()),
    "memory of fsspec": lambda *_: FsspecStore.from_url(f"memory://{uuid.uuid4().hex}"),
    "obstore with retries": lambda e, b: s3(e, b, retry_config={"max_retries": 2}),
    "obstore with a timeout": lambda e, b: s3(e, b, client_options={"allow_http": True, "timeout": "9s"}),
    "obstore with encryption": lambda e, b: s3(e, b, server_side_encryption="AES256"),
    "obstore with a prefix that may be encoded": lambda e, b: s3(e, b, prefix="a b#c"),
    "s3fs with arguments of requests": lambda e, b: s3fs(e, b, s3_additional_kwargs={"StorageClass": "STANDARD"}),
    "s3fs that pays": lambda e, b: s3fs(e, b, requester_pays=True),
}


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
def test_a_store_that_is_not_recognised_is_used_through_its_calls(
    make: Callable[[str, str], Any], endpoint: str, bucket: str, calls: list[str]
) -> None:
    store = make(endpoint, bucket)
    write_and_read(store)
    assert calls != []
    check(store)


def test_a_node_whose_name_may_be_encoded_is_used_through_calls(
    endpoint: str, bucket: str, calls: list[str]
) -> None:
    zarr.create_array(s3(endpoint, bucket), name="a#b", shape=(4,), chunks=(2,), dtype="i4")
    array = ours(s3(endpoint, bucket), path="a#b", mode="r+")
    array[:] = 7
    assert array[:].tolist() == [7] * 4 and calls != []


@pytest.mark.parametrize("kind", ["obstore", "fsspec"])
def test_a_directory_is_read_and_written_by_the_engine(kind: str, tmp_path: pathlib.Path, calls: list[str]) -> None:
    if kind == "obstore":
        store = objects(obstore.LocalStore(tmp_path / "d", mkdir=True))
    else:
        store = FsspecStore.from_url(f"file://{tmp_path}/d", storage_options={"auto_mkdir": True})
    write_and_read(store)
    assert calls == []
    check(store)
    check(LocalStore(tmp_path / "d"))


def far(service: counting.Service, kind: str) -> Any:
    """A store that reads the objects of a service without keys."""
    address = f"http://127.0.0.1:{service.server_port}"
    plain: Any = {"client_options": {"allow_http": True}}
    match kind:
        case "s3":
            return objects(obstore.S3Store("bucket", prefix="d", endpoint=address, skip_signature=True, **plain))
        case "s3fs":
            return s3fs(address, "bucket", key=None, secret=None, anon=True)
        case "google":
            return objects(obstore.GCSStore("bucket", prefix="d", base_url=address, skip_signature=True, **plain))
        case "azure":
            account = {"account_name": "name", "endpoint": address, "skip_signature": True}
            return objects(obstore.AzureStore("bucket", prefix="d", **account, **plain))
        case "web":
            return objects(obstore.HTTPStore(f"{address}/bucket/d", **plain))
        case _:
            return FsspecStore.from_url(f"{address}/bucket/d")


@pytest.mark.parametrize("kind", ["s3", "s3fs", "google", "azure", "web", "web of fsspec"])
def test_a_service_without_keys_is_read_by_the_client(kind: str, tmp_path: pathlib.Path, calls: list[str]) -> None:
    folder = tmp_path / ("a/b" if kind == "s3fs" else "d")
    zarr.create_array(LocalStore(folder), name="a", shape=(90,), chunks=(10,), dtype="i4")[:] = np.arange(90)
    with counting.service(tmp_path) as service:
        array = ours(far(service, kind), path="a", mode="r")
        service.clear()
        with no_fallback():
            assert array[5:35].tolist() == list(range(5, 35))
            assert array[5:35].tolist() == list(range(5, 35))
        documents = [path for path in service.requests if path.endswith("zarr.json")]
        # s3fs sends two requests for a document.
        assert len(documents) == (3 if kind == "s3fs" else 2), "each client reads the document once, to compare"
        assert len(service.requests) - len(documents) == 2 * 4, "each chunk once"
    assert calls == []


def test_a_web_server_is_written_through_calls(tmp_path: pathlib.Path, calls: list[str]) -> None:
    zarr.create_array(LocalStore(tmp_path / "d"), name="a", shape=(4,), chunks=(2,), dtype="i4")
    with counting.service(tmp_path) as service:
        array = ours(far(service, "web of fsspec"), path="a", mode="r+")
        assert array[:].tolist() == [0] * 4 and calls == []
        # Each chunk alone: the first error of a write can end it before the other chunk is put.
        for chunk in (slice(0, 2), slice(2, 4)):
            with pytest.raises(Exception, match="501"):
                array[chunk] = 7
    assert set(calls) == {"a/c/0", "a/c/1"}


def test_another_place_is_noticed(
    endpoint: str, bucket: str, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a client with another proxy."""
    place = asyncio.run(places.place_of(s3(endpoint, bucket)))
    assert place is not None
    wrong = [
        places.Place(place.location + "/none", place.environment),
        places.Place(place.location.replace(bucket, "none"), place.environment),
        places.Place(place.location, (("AWS_SKIP_SIGNATURE", "true"), ("AWS_ENDPOINT", "http://127.0.0.1:9"))),
    ]
    monkeypatch.setattr(places, "_PATIENCE", 0.2)
    for number, other in enumerate(wrong):

        async def found(_: Any, other: places.Place = other) -> places.Place:
            return other

        monkeypatch.setattr(places, "place_of", found)
        calls.clear()
        write_and_read(s3(endpoint, bucket, prefix=f"other/{number}"))
        assert calls != []


def test_a_small_first_read_runs_beside_the_comparison(
    tmp_path: pathlib.Path, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    zarr.create_array(LocalStore(tmp_path / "d"), name="a", shape=(90,), chunks=(10,), dtype="i4")[:] = np.arange(90)
    compare = places.Source.verify
    with counting.service(tmp_path) as service:
        array = ours(far(service, "web"), path="a", mode="r")

        async def verify(source: places.Source) -> bool:
            for _ in range(1000):
                if any("/c/" in path for path in service.requests):
                    return await compare(source)
                await asyncio.sleep(0.01)
            raise AssertionError("the read waits for the comparison")

        monkeypatch.setattr(places.Source, "verify", verify)
        assert array[5:35].tolist() == list(range(5, 35)) and calls == []


def test_values_of_another_place_are_not_returned(
    endpoint: str, bucket: str, calls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    right, wrong = (s3(endpoint, bucket, prefix=prefix) for prefix in ("right", "wrong"))
    for store, value in ((right, 1), (wrong, 2)):
        array = zarr.create_array(store, name="a", shape=(8,), chunks=(2,), dtype="i4", attributes={"value": value})
        array[:] = value
    place = asyncio.run(places.place_of(wrong))
    calls.clear()

    async def found(_: Any) -> places.Place | None:
        return place

    monkeypatch.setattr(places, "place_of", found)
    for small in (0, 1 << 20):
        monkeypatch.setattr(pipeline, "_SMALL", small)
        assert ours(right, path="a", mode="r")[1:7].tolist() == [1] * 6
    assert len(calls) == 2 * 4


class WithoutConditions(http.server.BaseHTTPRequestHandler):
    """A service with the protocol of S3 that refuses conditional writes."""

    protocol_version = "HTTP/1.1"
    stored: dict[str, bytes] = {}

    def do_GET(self) -> None:
        found = self.stored.get(self.path)
        self.answer(404 if found is None else 200, found or b"<Error><Code>NoSuchKey</Code></Error>")

    do_HEAD = do_GET

    def do_PUT(self) -> None:
        value = self.rfile.read(int(self.headers["Content-Length"]))
        if "If-None-Match" in self.headers or "If-Match" in self.headers:
            self.answer(501, b"<Error><Code>NotImplemented</Code></Error>")
            return
        self.stored[self.path] = value
        self.answer(200, b"")

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        headers = {"Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT", "ETag": '"a"', "Content-Length": str(len(body))}
        for header in headers.items():
            self.send_header(*header)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def test_a_service_without_conditional_writes_is_written_through_calls(calls: list[str]) -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), WithoutConditions)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    store = s3(f"http://127.0.0.1:{server.server_port}", "bucket")
    zarr.create_array(store, shape=(8,), chunks=(4,), dtype="i4")
    array = ours(store, mode="r+")
    with no_fallback():
        array[:4] = 5
        assert calls == []
        array[2:6] = 6
        assert array[:].tolist() == [5, 5, 6, 6, 6, 6, 0, 0]
    assert calls != []
    server.shutdown()


def test_listings_of_fsspec_are_forgotten_after_a_write(endpoint: str, bucket: str, calls: list[str]) -> None:
    store = s3fs(endpoint, bucket)
    zarr.create_array(store, name="a", shape=(8,), chunks=(4,), dtype="i4")
    array = ours(store, path="a", mode="r+")
    assert array.nchunks_initialized == 0
    array[:4] = 5
    assert array.nchunks_initialized == 1
    assert sync(listed(store, "a/c")) == ["0"]
    array[4:] = 5
    assert array.nchunks_initialized == 2
    assert sync(listed(store, "a/c")) == ["0", "1"]
    assert calls == []


async def listed(store: Any, prefix: str) -> list[str]:
    return [name async for name in store.list_dir(prefix)]


def test_keys_are_nowhere_but_in_the_store(endpoint: str, bucket: str) -> None:
    for store in (s3(endpoint, bucket), s3fs(endpoint, bucket)):
        zarr.create_array(store, name="a", shape=(8,), chunks=(4,), dtype="i4", overwrite=True)
        array = ours(store, path="a", mode="r+")
        array[:] = 5
        assert "the-secret" not in repr(asyncio.run(places.place_of(store)))
        pipeline = array._async_array.codec_pipeline
        secrets = [pickle.dumps(of).count(b"the-secret") for of in (pipeline, store)]
        assert secrets[0] == secrets[1]


class Provider:
    def __call__(self) -> Any:
        return {"access_key_id": "a", "secret_access_key": "b", "token": None, "expires_at": None}


def place(store: Any) -> places.Place | None:
    return asyncio.run(places.place_of(store))


ENDPOINT = "http://127.0.0.1:9"
TLS = "https://127.0.0.1:9"

REFUSED: dict[str, Callable[[], Any]] = {
    "no keys": lambda: objects(obstore.S3Store("bucket", region="us-east-1")),
    "a provider of keys": lambda: objects(obstore.S3Store("bucket", credential_provider=Provider())),
    "an address without encryption that it refuses": lambda: s3(ENDPOINT, "bucket", client_options=None),
    "a subclass of obstore": lambda: objects(type("Mine", (obstore.S3Store,), {"__module__": "obstore"})("b", **KEYS)),
    "a subclass of zarr-python": lambda: type("Mine", (ObjectStore,), {})(obstore.S3Store("b", **KEYS)),
    "a relative directory": lambda: objects(obstore.LocalStore()),
    "a web address with a query": lambda: objects(obstore.HTTPStore("https://127.0.0.1/a?b=c")),
    "keys of the machine for Google": lambda: objects(obstore.GCSStore("bucket", bearer_token="t")),
    "a token for Azure": lambda: objects(obstore.AzureStore("bucket", account_name="a", token="t")),
    "s3fs without keys": lambda: s3fs(TLS, "bucket", key=None, secret=None),
    "s3fs with a session": lambda: s3fs(TLS, "bucket", session=object()),
    "s3fs with versions": lambda: s3fs(TLS, "bucket", version_aware=True),
    "s3fs with its own client": lambda: s3fs(TLS, "bucket", client_kwargs={"verify": False}),
    "s3fs with a profile": lambda: s3fs(TLS, "bucket", profile="default"),
    "s3fs with another style": lambda: s3fs(TLS, "bucket", config_kwargs={"s3": {"addressing_style": "virtual"}}),
    "s3fs with retries": lambda: s3fs(TLS, "bucket", config_kwargs={"retries": {"max_attempts": 9}}),
    "an access point": lambda: FsspecStore.from_url(
        "s3://arn:aws:s3:us-west-2:123456789012:accesspoint/a", storage_options=NAMES
    ),
    "other exceptions for absent objects": lambda: FsspecStore.from_url(
        "s3://bucket/a", storage_options=NAMES, allowed_exceptions=(PermissionError,)
    ),
    "a web server with headers": lambda: FsspecStore.from_url(
        "https://127.0.0.1/a", storage_options={"headers": {"a": "b"}}
    ),
    "a web server with a user": lambda: FsspecStore.from_url("https://user:the-secret@127.0.0.1/a"),
    "files whose directories are not made": lambda: FsspecStore.from_url("file:///tmp"),
    "a cache": lambda: FsspecStore.from_url("simplecache::https://127.0.0.1/a"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED)
def test_a_configuration_that_the_client_cannot_express_is_not_recognised(make: Callable[[], Any]) -> None:
    assert place(make()) is None


@pytest.mark.parametrize(
    ("variable", "given"),
    [("AWS_SESSION_TOKEN", {}), ("AWS_ENDPOINT_URL", {}), ("AWS_SSE_KMS_KEY_ID", {}), ("AWS_REGION", {"region": None})],
)
def test_a_variable_that_may_be_a_setting_of_obstore_is_not_ignored(
    variable: str, given: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {name: value for name, value in (KEYS | given).items() if value is not None}
    store = objects(obstore.S3Store("bucket", **options))
    assert place(store) is not None
    monkeypatch.setenv(variable, "a")
    assert place(store) is None


def test_keys_of_the_environment_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "other")
    assert place(objects(obstore.S3Store("bucket", region="us-east-1"))) is None
    found = place(objects(obstore.S3Store("bucket", prefix="a", **KEYS)))
    assert found == places.Place(
        "s3://bucket/a",
        (("AWS_ACCESS_KEY_ID", "the-id"), ("AWS_REGION", "us-east-1"), ("AWS_SECRET_ACCESS_KEY", "the-secret")),
    )
    assert place(s3fs(TLS, "bucket", key=None, secret=None)) is None


def test_adlfs_is_recognised_with_a_key_or_without_any() -> None:
    pytest.importorskip("adlfs")
    cases: list[tuple[dict[str, Any], bool]] = [
        ({"account_key": "a2V5"}, True),
        ({"anon": True}, True),
        ({"anon": False}, False),
        ({"account_key": "a2V5", "version_aware": True}, False),
        ({"sas_token": "sig=a"}, False),
    ]
    for options, expected in cases:
        given = {"account_name": "name", "skip_instance_cache": True, **options}
        found = place(FsspecStore.from_url("az://box/a/b", storage_options=given))
        assert (found is not None) == expected, options
        assert found is None or found.location == "az://box/a/b"
        assert found is None or ("AZURE_STORAGE_ENDPOINT", "https://name.blob.core.windows.net") in found.environment


def test_gcsfs_is_recognised_with_the_key_of_an_account_or_without_any() -> None:
    credentials = pytest.importorskip("gcsfs.credentials").GoogleCredentials
    account = {"type": "service_account", "client_email": "a@b", "token_uri": TLS, "private_key": "the-secret"}
    key = ("GOOGLE_SERVICE_ACCOUNT_KEY", json.dumps(account))
    unsigned = ("GOOGLE_SKIP_SIGNATURE", "true")
    cases: list[tuple[dict[str, Any], set[tuple[str, str]] | None]] = [
        ({"token": "anon"}, {unsigned}),
        ({"token": "anon", "endpoint_url": ENDPOINT}, {unsigned, ("GOOGLE_BASE_URL", ENDPOINT)}),
        ({"token": account, "project": "p"}, {key}),
        ({"token": "anon", "requester_pays": True}, None),
        ({"token": "anon", "access": "read_only"}, None),
        ({"token": "anon", "version_aware": True}, None),
        ({"token": account | {"type": "authorized_user"}}, None),
    ]
    with pytest.MonkeyPatch.context() as patch:
        # The key is none, and is not checked.
        patch.setattr(credentials, "connect", lambda *_, **__: None)
        for options, expected in cases:
            given = {"skip_instance_cache": True, **options}
            found = place(FsspecStore.from_url("gs://bucket/a/b", storage_options=given))
            if expected is None:
                assert found is None, options
            else:
                assert found is not None and found.location == "gs://bucket/a/b"
                assert set(found.environment) == expected


def test_an_expired_time_is_no_option() -> None:
    """Options of fsspec about listings say nothing about the place."""
    assert place(s3fs(ENDPOINT, "bucket", listings_expiry_time=datetime.timedelta(1).total_seconds())) is not None


def test_a_url_with_the_options_of_s3fs_is_read_and_written_by_the_client(endpoint: str, bucket: str) -> None:
    expected, url = np.arange(9), f"s3://{bucket}/a/b"
    given: dict[str, Any] = {"endpoint_url": endpoint, "client_kwargs": {"region_name": "us-east-1"}} | NAMES
    encrypted = given | {"s3_additional_kwargs": {"ServerSideEncryption": "AES256"}}
    array = zarr_rs.create_array(url, shape=(9,), chunks=(2,), dtype="i4", storage_options=encrypted)
    array[:] = expected
    assert array.store.wrapped is None and "the-secret" not in repr(array)
    boto3 = pytest.importorskip("boto3")
    names = {"aws_access_key_id": "the-id", "aws_secret_access_key": "the-secret", "region_name": "us-east-1"}
    client = boto3.client("s3", endpoint_url=endpoint, **names)
    assert client.head_object(Bucket=bucket, Key="a/b/c/0")["ServerSideEncryption"] == "AES256"
    np.testing.assert_array_equal(zarr_rs.open_array(url, storage_options=given)[:], expected)
    named = upath.UPath(url, **given)
    np.testing.assert_array_equal(zarr_rs.open_array(named)[:], expected)
    # What only s3fs can do is done by s3fs.
    private = given | {"s3_additional_kwargs": {"ACL": "private"}}
    array = zarr_rs.open_array(url, mode="r+", storage_options=private)
    array[:] = expected + 1
    assert isinstance(array.store.wrapped, FsspecStore)
    np.testing.assert_array_equal(zarr_rs.open_array(url, storage_options=given)[:], expected + 1)


@pytest.mark.parametrize("make", [s3, s3fs])
def test_a_store_on_a_bucket_is_opened_by_the_client(make: Callable[..., Any], endpoint: str, bucket: str) -> None:
    store = make(endpoint, bucket)
    zarr_rs.create_group(store).create_array("a", shape=(9,), chunks=(2,), dtype="i4")[:] = 1
    array = zarr_rs.open_array(store, "a", mode="r+")
    assert array.store.storage() not in stores._foreign.values()
    array[3] = 7
    again = pickle.loads(pickle.dumps(array))
    assert str(again.store) == str(array.store) and again[:5].tolist() == [1, 1, 1, 7, 1]
    assert again.store.storage() not in stores._foreign.values()
    array = pickle.loads(pickle.dumps(ours(zarr_rs.Store.wrap(store, node="a"), path="a", mode="r")))
    assert array[:5].tolist() == [1, 1, 1, 7, 1] and array.store_path.store.storage() not in stores._foreign.values()
    refused = make(endpoint, bucket, **({"version_aware": True} if make is s3fs else {"retry_config": {"max_retries": 2}}))
    assert zarr_rs.open_group(refused).store.storage() in stores._foreign.values()
