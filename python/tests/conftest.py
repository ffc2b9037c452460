"""What all tests share: the pipeline of this package is on, and every array is judged by zarr-python's own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import zarr
import zarr_rs

OWN = "zarr.core.codec_pipeline.BatchedCodecPipeline"
OURS = "zarr_rs.CodecPipeline"


@contextlib.contextmanager
def pipeline(path: str) -> Iterator[None]:
    with zarr.config.set({"codec_pipeline.path": path}):
        yield


def ours(store: Any, **options: Any) -> zarr.Array[Any]:
    """Opens an array with the pipeline of this package."""
    with pipeline(OURS):
        return zarr.open_array(store, **options)


def own(store: Any, **options: Any) -> zarr.Array[Any]:
    """Opens an array with zarr-python's own pipeline."""
    with pipeline(OWN):
        return zarr.open_array(store, **options)


@contextlib.contextmanager
def no_fallback() -> Iterator[None]:
    """Fails if a call was left to zarr-python's own pipeline, or none was made."""
    before = zarr_rs.counts()
    yield
    after = zarr_rs.counts()
    assert after.reads + after.writes > before.reads + before.writes
    left = (after.fallback_reads - before.fallback_reads, after.fallback_writes - before.fallback_writes)
    assert left == (0, 0), "calls were left to zarr-python's own pipeline"


@pytest.fixture(params=["directory", "memory", "wrapped"])
def store(request: pytest.FixtureRequest, tmp_path: Any) -> Any:
    if request.param == "directory":
        return zarr.storage.LocalStore(tmp_path / "data")
    memory = zarr.storage.MemoryStore()
    return memory if request.param == "memory" else zarr.storage.WrapperStore(memory)
