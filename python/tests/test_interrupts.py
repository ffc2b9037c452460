"""Ctrl-C ends calls that wait for a network, with their requests; so does the cancellation of a task."""

from __future__ import annotations

import asyncio
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


STORES = {
    "own": "zarr_rs.Store(url)",
    "recognised": "zarr.storage.FsspecStore.from_url(url)",
    "foreign": "zarr.storage.WrapperStore(zarr.storage.FsspecStore.from_url(url))",
}


@pytest.mark.parametrize("place", STORES)
def test_an_interrupted_read_of_zarr_python_does_not_keep_the_process(store: Path, place: str) -> None:
    """zarr-python does not cancel its task, so the request goes on; at the end of the process nothing waits for it."""
    server = Held(store, "/c/")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    program = f"""
        import signal, sys, zarr, zarr_rs
        signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the parent ignores it
        zarr.config.set({{"codec_pipeline.path": "zarr_rs.CodecPipeline"}})
        url = sys.argv[1]
        array = zarr.open_array({STORES[place]}, path="a", mode="r")
        try:
            array[...]
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    command = [sys.executable, "-c", textwrap.dedent(program), server.url]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            assert server.waits.acquire(timeout=50), "no request came"
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate("", timeout=50)
            assert (output, errors, process.returncode) == ("interrupted\n", "", 0)
        finally:
            process.kill()
            server.shutdown()
            server.server_close()


async def test_the_cancellation_of_a_task_ends_its_requests(store: Path) -> None:
    server = Held(store, "/c/")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        array = await zarr_rs.open_async(zarr_rs.Store(server.url, timeout=600.0, retries=0), "a")
        reading = asyncio.ensure_future(array.read_async(...))
        assert await asyncio.to_thread(server.waits.acquire, timeout=50), "no request came"
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        assert await asyncio.to_thread(server.closed.acquire, timeout=50), "the request goes on"
    finally:
        server.shutdown()
        server.server_close()
