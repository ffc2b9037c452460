"""Small calls: what they do is counted, because their time depends on the machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import zarr
import zarr_rs
from conftest import ours
from zarr_rs import pipeline, waiting


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
    assert in_threads == []
    # A part of a chunk may have to wait for a lock.
    array[0, 0] = 5
    assert in_threads == ["write_whole"]
    # After a slow call the next ones are made in threads.
    monkeypatch.setattr(pipeline, "_SLOW", 0.0)
    assert array[0, 0] == 5 and len(in_threads) == 1
    monkeypatch.setattr(pipeline, "_SLOW", 10.0)
    for _ in range(pipeline._AFTER_SLOW):
        array[1, 1]
    assert len(in_threads) == 1 + pipeline._AFTER_SLOW
    array[1, 1]
    assert len(in_threads) == 1 + pipeline._AFTER_SLOW
    with zarr_rs.set_config(inline_bytes=0):
        assert ours(tmp_path / "a")[1, 1] == 11
    assert len(in_threads) == 2 + pipeline._AFTER_SLOW


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
