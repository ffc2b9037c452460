"""Small calls: what they do is counted, because their time depends on the machine."""

from __future__ import annotations

import concurrent.futures
import fcntl
import itertools
import json
import os
import struct
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rs
from conftest import ours
from zarr_rs import pipeline, waiting
from zarr_rs.errors import SelectionError

VALUES = np.arange(60).reshape(3, 4, 5)


def calls(work: Callable[[], object]) -> list[str]:
    """Returns the names of the functions of Python that some work calls."""
    found: list[str] = []

    def look(frame: Any, event: str, _: object) -> None:
        if event == "call":
            found.append(f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}")

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found[1:]


@pytest.fixture
def array(tmp_path: Any) -> zarr_rs.Array:
    made = zarr_rs.create_array(tmp_path / "a", shape=VALUES.shape, chunks=(2, 3, 5), dtype="i8")
    made[...] = VALUES
    return made


def test_a_small_read_or_write_calls_few_functions_and_parses_nothing(array: zarr_rs.Array, monkeypatch: Any) -> None:
    monkeypatch.setattr(json, "loads", None)
    part = VALUES[:2, 1:3, 4].copy()
    for work, most in [
        (lambda: array[...], 4),
        (lambda: array[1, ..., ::2], 4),
        (lambda: array.oindex[0, 1:3], 4),
        (lambda: array.read(2, out=np.empty((4, 5), "i8")), 3),
        (lambda: array.__setitem__((slice(2), slice(1, 3), 4), part), 4),
    ]:
        found = calls(work)
        assert len(found) <= most, found


def test_what_is_derived_from_metadata_is_derived_once(array: zarr_rs.Array) -> None:
    assert array.dtype is array.dtype
    assert array._document is array._document
    array.resize((4, 4, 5))
    array.attrs["a"] = 1
    assert (array.shape, array.chunks, array.dtype) == ((4, 4, 5), (2, 3, 5), np.dtype("i8"))
    assert array._document["attributes"] == {"a": 1}


ITEMS = [0, -1, np.int32(1), slice(None), slice(1, None), slice(None, None, -2), slice(5, 1), slice(-2, 100), ...]
KEYS = [*ITEMS, *itertools.product(ITEMS, repeat=2), (), (1, 2, 3), (..., 1, 2, 3), (slice(None),) * 3, (0, ..., 4)]


def test_basic_selections_are_those_of_numpy(array: zarr_rs.Array) -> None:
    """Those that are made with one crossing between the languages, and those that are not."""
    for key in KEYS:
        items = key if isinstance(key, tuple) else (key,)
        if sum(item is ... for item in items) > 1:
            with pytest.raises(SelectionError, match="more than one ellipsis"):
                array[key]
            continue
        expected = VALUES[key]
        found = array[key]
        # A single element is a scalar, also with an ellipsis.
        assert type(found) is (np.ndarray if expected.shape else np.int64) and np.array_equal(found, expected), key
        out = np.empty(expected.shape, "i8")
        assert array.read(key, out=out) is out and np.array_equal(out, expected), key
        array[key] = expected + 1
        changed = VALUES.copy()
        changed[key] += 1
        assert np.array_equal(array[...], changed), key
        array[...] = VALUES


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (3, "index 3 of dimension 0 is not inside its length 3"),
        ((0, -5), "index -5 of dimension 1 is not inside its length 4"),
        ((0,) * 4, "has 4 dimensions, the array has 3"),
        ((slice("a"),), "not one of integers"),
        (True, "dimension 0"),
        (1.5, "dimension 0"),
    ],
)
def test_wrong_selections_are_errors(key: Any, message: str, array: zarr_rs.Array) -> None:
    for call in (array.__getitem__, array.read, lambda key: array.__setitem__(key, VALUES[0])):
        with pytest.raises(SelectionError, match=message):
            call(key)


def test_memory_and_values_of_another_kind_go_the_long_way(array: zarr_rs.Array) -> None:
    for out in (np.empty((4, 5), "i4"), np.empty(4, "i8"), np.broadcast_to(np.int64(0), (4, 5))):
        with pytest.raises(ValueError, match="out has"):
            array.read(0, out=out)
    turned = np.empty((5, 4), "i8").T
    assert array.read(0, out=turned) is turned and np.array_equal(turned, VALUES[0])
    array[0] = [[1, 2, 3, 4, 5]]
    array[1] = np.ones((4, 5), "i2")
    array[2, 1:] = 7
    assert (array[0, 3, 4], array[1].sum(), array[2, 3, 0]) == (5, 20, 7)
    with pytest.raises(PermissionError):
        zarr_rs.open_array(array.store.location)[0] = VALUES[0]


def test_a_small_call_of_the_pipeline_needs_no_other_thread(tmp_path: Any, monkeypatch: Any) -> None:
    zarr.create_array(tmp_path / "a", shape=(100, 10), chunks=(25, 10), dtype="i4")
    array = ours(tmp_path / "a", mode="r+")
    in_threads: list[Any] = []
    run = waiting.run

    async def counted(*arguments: Any) -> Any:
        in_threads.append(arguments[0].__name__)
        return await run(*arguments)

    monkeypatch.setattr(waiting, "run", counted)
    monkeypatch.setattr(pipeline, "_SLOW", 10.0)
    array[...] = np.arange(1000).reshape(100, 10)
    assert array[30, 2] == 302 and array[10:60:7].shape == (8, 10)
    array[0, 0] = 5
    array[20:30:3, [0, 2]] = 6
    assert in_threads == []
    # After a slow call the next ones are made in threads.
    monkeypatch.setattr(pipeline, "_SLOW", 0.0)
    assert array[0, 0] == 5 and in_threads == []
    monkeypatch.setattr(pipeline, "_SLOW", 10.0)
    for _ in range(pipeline._AFTER_SLOW):
        array[1, 1]
    assert len(in_threads) == pipeline._AFTER_SLOW
    array[1, 1]
    assert len(in_threads) == pipeline._AFTER_SLOW
    with zarr_rs.set_config(inline_bytes=0):
        assert ours(tmp_path / "a")[1, 1] == 11
    assert len(in_threads) == 1 + pipeline._AFTER_SLOW


@pytest.mark.skipif(not hasattr(fcntl, "F_OFD_SETLK"), reason="the lock is one of Linux")
@pytest.mark.parametrize("rows", [slice(3), slice(4)])
def test_a_small_write_that_must_wait_does_not_hold_the_event_loop(rows: slice, tmp_path: Any, monkeypatch: Any) -> None:
    """Also that of a whole chunk. The lock file is that of another writer."""
    zarr.create_array(tmp_path / "a", shape=(8,), chunks=(4,), dtype="i4")
    array = ours(tmp_path / "a", mode="r+")
    array[...] = np.arange(8)
    begun = threading.Event()
    run = waiting.run

    async def counted(*arguments: Any) -> Any:
        begun.set()
        return await run(*arguments)

    monkeypatch.setattr(waiting, "run", counted)
    monkeypatch.setattr(pipeline, "_SLOW", 10.0)
    with (tmp_path / "a/c/0.__lock").open("w") as lock, concurrent.futures.ThreadPoolExecutor() as pool:
        fcntl.fcntl(lock, fcntl.F_OFD_SETLK, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0))
        written = pool.submit(array.__setitem__, rows, 7)
        assert begun.wait(50)
        assert array[4:].tolist() == [4, 5, 6, 7], "the loop goes on"
        assert not written.done()
        os.unlink(lock.name)
        lock.close()
        written.result()
    assert array[:4].tolist() == ([7, 7, 7, 3] if rows.stop == 3 else [7] * 4)


def test_large_calls_of_the_pipeline_are_made_in_threads(tmp_path: Any, monkeypatch: Any) -> None:
    names = []
    run = waiting.run

    async def counted(*arguments: Any) -> Any:
        names.append(arguments[0].__name__)
        return await run(*arguments)

    monkeypatch.setattr(waiting, "run", counted)
    for number, (length, dtype) in enumerate([(5, "i1"), (1, "f8")]):
        chunk = 4 if length > 1 else (256 << 7) + 1
        path = tmp_path / str(number)
        zarr.create_array(path, shape=(length * chunk,), chunks=(chunk,), dtype=dtype)
        ours(path)[...]
    ours(zarr.create_array(zarr.storage.MemoryStore(), shape=(4,), chunks=(4,), dtype="i4").store)[...]
    assert names == ["read_whole"] * 3


def test_pipelines_with_equal_metadata_share_a_handle(tmp_path: Any, monkeypatch: Any) -> None:
    made = []
    of_engine = pipeline.Array

    def counted(*arguments: Any, **options: Any) -> Any:
        made.append(arguments[1])
        return of_engine(*arguments, **options)

    monkeypatch.setattr(pipeline, "Array", counted)
    zarr.create_array(tmp_path, name="a", shape=(4,), chunks=(4,), dtype="i4", fill_value=3)
    for _ in range(3):
        assert ours(tmp_path, path="a")[0] == 3
    assert made == ["a"]
    zarr.create_array(tmp_path, name="a", shape=(4,), chunks=(4,), dtype="i4", fill_value=4, overwrite=True)
    assert ours(tmp_path, path="a")[0] == 4
    assert made == ["a", "a"]


def test_an_iteration_reads_the_metadata_of_each_child_once(tmp_path: Any) -> None:
    group = zarr_rs.create_group(tmp_path)
    for name in ("a", "b"):
        group.create_array(name, shape=(2,), chunks=(2,), dtype="i4")
    names = iter(group)
    assert next(names) == "a"
    zarr_rs.open_array(tmp_path, "a", mode="r+").resize((5,))
    assert group["a"].shape == (2,), "as it was when the iteration began"
    assert group["a"].shape == (5,)
    assert next(names) == "b"
    group.create_array("b", shape=(7,), chunks=(2,), dtype="i4", overwrite=True)
    assert group["b"].shape == (7,), "a change through this group is seen"
    assert next(iter(group)) == "a"
    zarr_rs.open_array(tmp_path, "a", mode="r+").resize((6,))
    assert group["a"].shape == (6,), "an iteration that was given up holds nothing"
    assert [(name, group[name].shape) for name in group] == [("a", (6,)), ("b", (7,))]
