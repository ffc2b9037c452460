"""Ctrl-C ends calls that wait for a network, with their requests."""

from __future__ import annotations

import http.server
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr_rs


class Held(http.server.ThreadingHTTPServer):
    """Serves a directory. A request for a path with `held` in it is not answered; it is over when the client closes."""

    daemon_threads = True

    def __init__(self, directory: Path, held: str) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.directory, self.held = str(directory), held
        self.waits, self.closed = threading.Semaphore(0), threading.Semaphore(0)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class Answer(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Held

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments, directory=arguments[2].directory)

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        if self.server.held not in self.path:
            return super().do_GET()
        self.server.waits.release()
        self.close_connection = True
        if not self.connection.recv(1):
            self.server.closed.release()
        return None


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    array = zarr_rs.create_array(tmp_path / "d", "a", shape=(64,), chunks=(4,), dtype="i4")
    array[...] = np.arange(64)
    yield tmp_path / "d"


CALLS = {
    "open": ("zarr.json", "zarr_rs.open(url, 'a')"),
    "open a group": ("zarr.json", "zarr_rs.open_group(url)"),
    "read": ("/c/", "zarr_rs.open_array(url, 'a')[...]"),
    "points": ("/c/", "zarr_rs.open_array(url, 'a').vindex[[1, 9, 17]]"),
    "many": ("/c/", "zarr_rs.open_array(url, 'a').read_many([slice(0, 9), slice(5, 20)])"),
    "read the store": ("/c/", "asyncio.run(zarr_rs.Store(url).get('a/c/1', prototype=prototype))"),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_interrupt_ends_a_call_and_its_requests(store: Path, call: str) -> None:
    """The server never answers, so only the interrupt ends the call. The process goes on, without the requests."""
    held, code = CALLS[call]
    server = Held(store, held)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    program = f"""
        import asyncio, signal, sys, zarr_rs
        from zarr.core.buffer import default_buffer_prototype
        signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the parent ignores it
        url, prototype = sys.argv[1], default_buffer_prototype()
        try:
            {code}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        sys.stdin.read()
        """
    command = [sys.executable, "-c", textwrap.dedent(program), server.url]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert server.waits.acquire(timeout=50), "no request came"
            process.send_signal(signal.SIGINT)
            assert process.stdout is not None and process.stdout.readline() == "interrupted\n"
            assert server.closed.acquire(timeout=50), "the request goes on"
            _, errors = process.communicate("")
            assert process.returncode == 0, errors
        finally:
            process.kill()
            server.shutdown()
            server.server_close()
