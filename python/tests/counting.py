"""A service with the objects of a directory, which counts requests: S3 for readers, with lists and without keys."""

from __future__ import annotations

import contextlib
import http.server
import pathlib
import threading
import time
import urllib.parse
from collections.abc import Iterator
from typing import Any
from xml.sax.saxutils import escape

import zarr_rs

#: The time of a request in seconds, so that those that are sent at once are on the way at once.
DELAY = 0.02


class Service(http.server.ThreadingHTTPServer):
    def __init__(self, root: pathlib.Path) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.root = root
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        self.requests: list[str] = []
        #: The largest number of requests of which each was sent after the one before was answered.
        self.round_trips = 0

    @contextlib.contextmanager
    def counted(self, path: str) -> Iterator[None]:
        with self._lock:
            self.requests.append(path)
            place = self.round_trips + 1
        yield
        with self._lock:
            self.round_trips = max(self.round_trips, place)

    def store(self, path: str) -> zarr_rs.Store:
        endpoint = f"http://127.0.0.1:{self.server_port}"
        return zarr_rs.Store(
            f"s3://bucket/{path}",
            read_only=True,
            anonymous=True,
            endpoint=endpoint,
            region="us-east-1",
            environment={"AWS_ALLOW_HTTP": "true"},
        )


class Answer(http.server.BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        key = urllib.parse.unquote(url.path).removeprefix("/bucket").strip("/")
        query = dict(urllib.parse.parse_qsl(url.query))
        with self.server.counted(query.get("prefix", "") + "*" if query else key):
            time.sleep(DELAY)
            found = self.listed(query["prefix"]) if "list-type" in query else self.content(key)
        headers: dict[str, Any] = {"Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT", "ETag": '"a"'}
        status = 404 if found is None else 200
        body = b"<Error><Code>NoSuchKey</Code></Error>" if found is None else found
        if status == 200 and "Range" in self.headers:
            first, last = self.headers["Range"].removeprefix("bytes=").split("-")
            size = len(body)
            start, end = (int(first), min(int(last or size), size - 1)) if first else (size - int(last), size - 1)
            status, body = 206, body[start : end + 1]
            headers["Content-Range"] = f"bytes {start}-{end}/{size}"
        self.send_response(status)
        for name, value in (headers | {"Content-Length": len(body)}).items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET

    def content(self, key: str) -> bytes | None:
        place = self.server.root / key
        return place.read_bytes() if place.is_file() else None

    def listed(self, prefix: str) -> bytes:
        """Lists what is directly below a prefix."""
        folder = self.server.root / prefix
        places = sorted(folder.iterdir()) if folder.is_dir() else []
        names = (escape(f"{prefix}{place.name}/") for place in places if place.is_dir())
        folders = (f"<CommonPrefixes><Prefix>{name}</Prefix></CommonPrefixes>" for name in names)
        files = (
            f"<Contents><Key>{escape(prefix + p.name)}</Key><Size>{p.stat().st_size}</Size>"
            "<LastModified>2026-01-01T00:00:00Z</LastModified><ETag>a</ETag></Contents>"
            for p in places
            if p.is_file()
        )
        members = "".join((*files, *folders))
        return f"<ListBucketResult><IsTruncated>false</IsTruncated>{members}</ListBucketResult>".encode()

    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def service(root: pathlib.Path) -> Iterator[Service]:
    server = Service(root)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()
