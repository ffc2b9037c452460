"""Copies, plans, and destinations that are brought up to date."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rs
from zarr_rs import errors

VALUES = np.arange(24 * 20 * 30, dtype="i4").reshape(24, 20, 30)


@pytest.fixture
def source(tmp_path: Any) -> zarr_rs.Group:
    """A group with two arrays that have dimension `time`, one of which has no other, and a group with a third array."""
    root = zarr_rs.create_group(tmp_path / "source", attributes={"title": "weather"})
    t2m = root.create_array("t2m", shape=VALUES.shape, chunks=(1, 20, 30), dtype="i4", dimension_names=("time", "y", "x"))
    t2m[:] = VALUES
    time = root.create_array("time", shape=(24,), chunks=(24,), dtype="i8", dimension_names=("time",))
    time[:] = np.arange(24)
    other = root.create_array("g/other", shape=(6, 6), chunks=(3, 3), dtype="f8", attributes={"units": "K"})
    other[:] = 2.5
    return root


def test_a_copy_is_what_zarr_python_reads(source: zarr_rs.Group, tmp_path: Any) -> None:
    done = zarr_rs.copy(source, tmp_path / "copy", verify=True)
    # Objects pass as they are: 24 + 1 + 4 chunks.
    assert (done.objects, done.object_bytes, done.was_complete) == (29, done.compared, False)
    read: Any = zarr.open_group(tmp_path / "copy", mode="r")
    np.testing.assert_array_equal(read["t2m"][:], VALUES)
    assert (read.attrs["title"], read["g/other"].attrs["units"], read["g/other"][0, 0]) == ("weather", "K", 2.5)
    with pytest.raises(errors.ExistsError, match="not empty"):
        zarr_rs.copy(source, tmp_path / "copy")
    assert zarr_rs.copy(source, tmp_path / "copy", resume=True).was_complete


@pytest.mark.parametrize(
    ("changes", "chunks", "shards"),
    [
        ({"chunks": (24, 5, 6)}, (24, 5, 6), None),
        ({"chunks": "24,5,6"}, (24, 5, 6), None),
        ({"chunks": {"time": 12, "x": 10}}, (12, 20, 10), None),
        ({"chunks": (6, 10, 10), "shards": (24, 20, 30)}, (6, 10, 10), (24, 20, 30)),
        ({"rules": {"t2m": {"chunks": {"time": 8}, "codecs": ["gzip"]}}}, (8, 20, 30), None),
        ({"target_chunk_size": 1200, "codecs": [{"name": "zstd", "configuration": {"level": 5}}]}, None, None),
        ({"zarr_format": 2, "codecs": {"compressor": {"id": "zlib", "level": 1}, "filters": None}}, (1, 20, 30), None),
        ({"max_memory": 1 << 20, "chunks": (24, 1, 1)}, (24, 1, 1), None),
    ],
)
def test_chunks_and_codecs_of_a_copy(source: Any, tmp_path: Any, changes: Any, chunks: Any, shards: Any) -> None:
    zarr_rs.copy(source, tmp_path / "copy", "in/it", verify=True, **changes)
    read: Any = zarr.open_group(tmp_path / "copy", path="in/it", mode="r")["t2m"]
    np.testing.assert_array_equal(read[:], VALUES)
    assert chunks is None or (read.chunks, read.shards) == (chunks, shards)


@pytest.mark.parametrize(
    ("path", "select", "key"),
    [
        ("t2m", np.s_[2:20:3, -1, [4, 2]], np.ix_(range(2, 20, 3), [19], [4, 2])),
        ("t2m", {"time": slice(-4, None), "y": [3, 1]}, np.ix_(range(20, 24), [3, 1], range(30))),
        ("/", {"time": slice(5, 9)}, np.s_[5:9]),
    ],
)
def test_parts_of_arrays(source: Any, tmp_path: Any, path: str, select: Any, key: Any) -> None:
    node = source if path == "/" else source[path]
    zarr_rs.copy(node, tmp_path / "part", select=select)
    part = zarr_rs.open_array(tmp_path / "part", "t2m" if path == "/" else "/")
    np.testing.assert_array_equal(part[:], VALUES[key])
    if path == "/":
        np.testing.assert_array_equal(zarr_rs.open_array(tmp_path / "part", "time")[:], np.arange(5, 9))


def test_a_plan_says_what_a_copy_costs(source: zarr_rs.Group) -> None:
    plan = zarr_rs.plan_copy(source, chunks={"time": 24, "x": 6})
    assert plan.arrays["/g/other"] is None and plan.nbytes == VALUES.nbytes + 24 * 8 + 36 * 8
    estimate = plan.arrays["/t2m"]
    assert estimate is not None
    assert (estimate.passes, estimate.reads, estimate.writes, estimate.bytes_read) == (1, 24, 5, VALUES.nbytes)
    assert "2 arrays" in repr(zarr_rs.plan_copy(source, include=["t*"]))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"chunks": (0, 1, 1)}, errors.ArgumentError, "chunks"),
        ({"chunks": (1, 1, 1, 1)}, errors.ArgumentError, "4"),
        ({"codecs": "zstt"}, errors.ZarrError, "zstt"),
        ({"rules": {"t2m": {"chunk": 5}}}, errors.ArgumentError, "chunk"),
        ({"include": ["nothing"]}, errors.ArgumentError, "no node matches"),
        ({"select": {"level": 0}}, errors.NotFoundError, "'level'"),
        ({"select": np.s_[0]}, errors.ArgumentError, "names of dimensions"),
        ({"chunks": (24, 20, 30), "max_memory": 1000}, errors.ZarrError, "max_memory"),
    ],
)
def test_what_cannot_be_copied_is_refused(source: Any, tmp_path: Any, changes: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        zarr_rs.copy(source, tmp_path / "copy", **changes)
    assert not (tmp_path / "copy" / "zarr.json").exists()


def test_progress_is_that_of_tqdm(source: zarr_rs.Group, tmp_path: Any) -> None:
    bars: list[Any] = []

    class Bar:
        def __init__(self, **options: Any) -> None:
            self.options, self.done, self.closed = options, 0.0, False
            bars.append(self)

        def update(self, n: float = 1) -> None:
            self.done += n

        def close(self) -> None:
            self.closed = True

    zarr_rs.copy(source, tmp_path / "copy", chunks={"time": 24}, progress=Bar)
    zarr_rs.copy(source, tmp_path / "again", progress=Bar, verify=True)
    total = zarr_rs.plan_copy(source).nbytes
    assert [(bar.options["total"], bar.done, bar.closed) for bar in bars] == [(total, total, True), (2 * total, 2 * total, True)]
    assert bars[0].options["unit"] == "B"


async def test_a_copy_on_an_event_loop(source: zarr_rs.Group) -> None:
    store = zarr_rs.Store("memory://")
    await zarr_rs.copy_async(source["t2m"], store)
    np.testing.assert_array_equal(zarr_rs.open_array(store)[0], VALUES[0])


def test_sync_writes_what_differs(source: zarr_rs.Group, tmp_path: Any) -> None:
    there = tmp_path / "there"
    first = zarr_rs.sync(source, there, dry_run=True)
    assert not there.exists() or not list(there.iterdir())
    assert zarr_rs.sync(source, there) == first and first.new[0] == 34
    array = source.get_array("g/other")
    del source["time"]
    zarr_rs.open_array(source.store.location, "g/other", mode="r+")[0, 0] = 7
    done = zarr_rs.sync(source, there)
    assert (done.changed[0], done.left[0], done.deleted[0], done.new[0]) == (1, 2, 0, 0)
    assert zarr_rs.sync(source, there, delete=True).deleted[0] == 2
    copy: Any = zarr.open_group(there, mode="r")
    assert sorted(copy) == ["g", "t2m"] and copy["g/other"][0, 0] == 7 and array.path == "g/other"


def python(code: str, *arguments: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_processes_share_a_copy_and_take_over_from_dead_ones(tmp_path: Any) -> None:
    """Workers are killed while they copy. What the others make is byte for byte what one process makes."""
    big = zarr_rs.create_array(tmp_path / "big", shape=(400, 200, 100), chunks=(1, 200, 100), dtype="f8")
    for start in range(0, 400, 50):
        big[start : start + 50] = np.random.default_rng(start).normal(size=(50, 200, 100))
    work = """
        import sys, zarr_rs
        source, copy = sys.argv[1:]
        print("begin", flush=True)
        zarr_rs.copy(zarr_rs.open(source), copy, join="night", lease=1, chunks=(400, 10, 10))
        """
    workers = [python(work, tmp_path / "big", tmp_path / "shared") for _ in range(3)]
    for worker in workers[:2]:
        assert worker.stdout is not None and worker.stdout.readline() == "begin\n"
        time.sleep(0.3)
        worker.kill()
    assert workers[2].wait(60) == 0, workers[2].communicate()[1]
    for worker in workers:
        worker.communicate()
    zarr_rs.copy(big, tmp_path / "alone", chunks=(400, 10, 10))
    shared, alone = files(tmp_path / "shared"), files(tmp_path / "alone")
    assert shared.keys() == alone.keys()
    assert [name for name in alone if shared[name] != alone[name]] == []


def test_an_interrupt_ends_a_copy_that_is_resumed(tmp_path: Any) -> None:
    big = zarr_rs.create_array(tmp_path / "big", shape=(3000, 100, 100), chunks=(1, 100, 100), dtype="f8")
    big[:] = 1.5
    code = """
        import sys, zarr_rs
        print("begin", flush=True)
        try:
            zarr_rs.copy(zarr_rs.open(sys.argv[1]), sys.argv[2], codecs="zstd:19")
            print("complete")
        except KeyboardInterrupt:
            print("interrupted")
        """
    copying = python(code, tmp_path / "big", tmp_path / "copy")
    assert copying.stdout is not None and copying.stdout.readline() == "begin\n"
    time.sleep(0.5)
    began = time.monotonic()
    copying.send_signal(signal.SIGINT)
    out, err = copying.communicate(timeout=60)
    assert out == "interrupted\n", err
    assert time.monotonic() - began < 5
    assert not os.path.exists(tmp_path / "copy" / "zarr.json")
    assert not zarr_rs.copy(big, tmp_path / "copy", codecs="zstd:19", resume=True, verify=True).was_complete


def files(folder: Any) -> dict[str, bytes]:
    """Returns the objects of a directory, without the hidden files that a killed writer leaves."""
    paths = (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    objects = (path for path in paths if not path.endswith((".__lock", ".partial")))
    return {os.path.relpath(path, folder): open(path, "rb").read() for path in objects}
