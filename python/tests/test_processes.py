"""Processes and threads: imports, forks, spawned processes, interrupts."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rs
from conftest import no_fallback, ours, pipeline


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_an_import_starts_no_thread() -> None:
    done = run(
        """
        import os, numpy
        before = len(os.listdir("/proc/self/task"))
        import zarr_rs
        print(zarr_rs.__version__, len(os.listdir("/proc/self/task")) - before)
        """
    )
    assert done.stdout.split()[1:] == ["0"], done.stderr


def total(array: Any) -> int:
    with no_fallback():
        return int(array[...].sum())


def write(array: Any, chunk: int) -> None:
    array[chunk * 10 : chunk * 10 + 10] = chunk


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_an_array_of_the_parent_works_in_a_child(method: Any, tmp_path: Any) -> None:
    zarr.create_array(tmp_path / "d", name="a", shape=(1000, 100), chunks=(10, 10), dtype="i4")
    with pipeline("zarr_rs.CodecPipeline"):
        array = ours(tmp_path / "d", path="a", mode="r+")
        array[...] = 1
        assert total(array) == 100_000
        context = multiprocessing.get_context(method)
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            assert list(pool.map(total, [array] * 4)) == [100_000] * 4
            list(pool.map(write, [array] * 10, range(10)))
    assert total(array) == 100_000 - 100 * 100 + sum(range(10)) * 1000


def test_a_child_of_fork_uses_the_handle_of_the_parent(tmp_path: Any) -> None:
    zarr.create_array(tmp_path / "d", name="a", shape=(1000, 100), chunks=(10, 10), dtype="i4")
    array = ours(tmp_path / "d", path="a", mode="r+")
    array[...] = 1
    child = os.fork()
    if child == 0:
        os._exit(0 if total(array) == 100_000 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert total(array) == 100_000


def write_row_numbers(array: zarr_rs.Array, part: tuple[slice, ...]) -> None:
    rows = np.arange(array.shape[0], dtype=array.dtype)[part[0], None]
    array[part] = np.broadcast_to(rows, array[part].shape)


@pytest.mark.parametrize("stored", [{"chunks": (10, 10)}, {"chunks": (5, 5), "shards": (20, 20)}])
def test_processes_write_partitions_and_parts_that_cut_chunks(stored: Any, tmp_path: Any) -> None:
    array = zarr_rs.create_array(tmp_path / "d", shape=(67, 45), dtype="i4", fill_value=-1, **stored)
    aligned = zarr_rs.partitions(array, target_bytes=4 * 20 * 20)
    cut = [(slice(row, row + 7), slice(col, col + 7)) for row in range(0, 67, 7) for col in range(0, 45, 7)]
    context = multiprocessing.get_context("forkserver")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        for parts in (aligned, cut + cut):  # twice: what a scheduler that lost an answer does
            array[...] = -1
            list(pool.map(write_row_numbers, [array] * len(parts), parts))
            np.testing.assert_array_equal(array[...], np.repeat(np.arange(67), 45).reshape(67, 45))


def test_threads_read_and_write_the_same_array(store: Any) -> None:
    zarr.create_array(store, name="a", shape=(100, 8), chunks=(10, 8), dtype="i4")
    array = ours(store, path="a", mode="r+")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: write(array, i), list(range(10)) * 5))
        rows = list(pool.map(lambda i: array[i], range(100)))
    np.testing.assert_array_equal(np.stack(rows), np.repeat(np.arange(100) // 10, 8).reshape(100, 8))


def test_threads_that_update_parts_of_one_chunk_lose_nothing(tmp_path: Any) -> None:
    zarr.create_array(tmp_path / "d", name="a", shape=(100,), chunks=(100,), dtype="i4")
    array = ours(tmp_path / "d", path="a", mode="r+")

    def update(i: int) -> None:
        array[i] = i

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(update, range(100)))
    np.testing.assert_array_equal(array[:], np.arange(100))


def test_an_interrupt_ends_a_read(tmp_path: Any) -> None:
    """The store answers only after a minute; the interrupt comes while the read waits."""
    done = run(
        """
        import asyncio, os, signal, sys, threading, zarr
        from zarr.storage import MemoryStore, WrapperStore

        class Slow(WrapperStore):
            async def get(self, key, *arguments, **options):
                if "/c/" in key:
                    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
                    await asyncio.sleep(60)
                return await super().get(key, *arguments, **options)

        zarr.config.set({"codec_pipeline.path": "zarr_rs.CodecPipeline"})
        array = zarr.create_array(Slow(MemoryStore()), name="a", shape=(4,), chunks=(4,), dtype="i4")
        try:
            array[:]
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            os._exit(0)
        """
    )
    assert done.stdout == "interrupted\n", done.stderr


def test_calls_do_not_take_the_threads_that_their_store_needs(tmp_path: Any) -> None:
    """The requests of the store run in the threads of the event loop, of which there is one."""
    done = run(
        """
        import asyncio, sys, zarr
        from zarr.storage import LocalStore, WrapperStore

        zarr.config.set({"codec_pipeline.path": "zarr_rs.CodecPipeline", "threading.max_workers": 1})
        store = WrapperStore(LocalStore(sys.argv[1]))
        array = zarr.create_array(store, name="a", shape=(100, 4), chunks=(1, 4), dtype="i4")
        array[:] = 1
        array.oindex[[3, 50], :] = 2
        assert array[:].sum() == 408

        async def work():
            array = await zarr.api.asynchronous.open_array(store=store, path="a")
            return await asyncio.gather(*(array.getitem(i) for i in range(100)))

        print(sum(part.sum() for part in asyncio.run(work())))
        """,
        str(tmp_path / "d"),
    )
    assert done.stdout == "408\n", done.stderr


def test_opens_leave_no_memory_behind(tmp_path: Any) -> None:
    """Counts the bytes in use, which repeat exactly. The resident memory depends on threads and on the load of the machine."""
    done = run(
        """
        import ctypes, gc, sys, tracemalloc, zarr_rs

        class Counts(ctypes.Structure):  # `struct mallinfo2` of glibc
            members = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
            _fields_ = [(name, ctypes.c_size_t) for name in members.split()]

        libc = ctypes.CDLL(None)
        if hasattr(libc, "mallinfo2"):
            libc.mallinfo2.restype = Counts

        def in_use():
            counts = libc.mallinfo2() if hasattr(libc, "mallinfo2") else Counts()
            return counts.uordblks + counts.hblkhd, tracemalloc.get_traced_memory()[0]

        def opens(count):
            for _ in range(count):
                assert zarr_rs.open(sys.argv[1], "a/b")[0] == 1
                zarr_rs.open(sys.argv[1])["a"].attrs
            gc.collect()
            return in_use()

        zarr_rs.create_array(sys.argv[1], "a/b", shape=(4,), chunks=(2,), dtype="i4", fill_value=1)
        tracemalloc.start()
        opens(1000)  # also what the first count itself allocates
        before = opens(10)
        print(*(after - before for before, after in zip(before, opens(2000))))
        """,
        str(tmp_path / "d"),
    )
    native, python = map(int, done.stdout.split())
    assert native < 2000 and python < 2000, done  # less than a byte for each
