"""Engines for arrays of zarr-python: the members of its draft, and the same answers as its own."""

from __future__ import annotations

import asyncio
import dataclasses
import pathlib
import pickle
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pytest
import zarr
from zarr.core.buffer import default_buffer_prototype
from zarr.core.buffer.cpu import NDBuffer
from zarr.storage import LocalStore, MemoryStore

import zarr_rs
from zarr_rs.engine import AsyncEngine, AsyncHierarchyEngine, Engine, EngineArray, HierarchyEngine
from zarr_rs.errors import NotFoundError, SelectionError

# The members of zarr-python's draft (zarr-python#4064).


@dataclasses.dataclass(frozen=True)
class Request:
    kind: str
    selection: Any
    shape: tuple[int, ...] = ()
    chunk_grid: Any = None


@runtime_checkable
class DraftArrayEngine(Protocol):
    def read_selection(self, request: Any, *, prototype: Any, out: Any = None, fields: Any = None) -> Any: ...
    def write_selection(self, request: Any, value: Any, *, prototype: Any, fields: Any = None) -> Any: ...
    def with_metadata(self, metadata: Any) -> Any: ...


@runtime_checkable
class DraftHierarchyEngine(Protocol):
    def array_engine(self, path: str, metadata: Any, config: Any = None) -> Any: ...


VALUES = np.arange(60, dtype="i4").reshape(10, 6)
MASK = VALUES % 7 == 0

#: The method of zarr-python, and a selection.
SELECTIONS = [
    ("basic", ...),
    ("basic", (slice(2, 9, 3), 4)),
    ("basic", 3),
    ("basic", (3, 4)),
    ("basic", (slice(0, 0), slice(None))),
    ("orthogonal", ([7, 1, 1], slice(1, 4))),
    ("orthogonal", (np.arange(10) % 3 == 0, 2)),
    ("coordinate", ([1, 9, 1], [0, 5, 0])),
    ("mask", MASK),
    ("block", (1, slice(0, 2))),
]


@pytest.fixture(params=["local", "memory"])
def array(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> zarr.Array[Any]:
    store = LocalStore(tmp_path / "a.zarr") if request.param == "local" else MemoryStore()
    made = zarr.create_array(store, name="t", shape=(10, 6), chunks=(4, 5), dtype="i4", attributes={"units": "K"})
    made[...] = VALUES
    return made


def test_engines_have_the_members_of_the_draft(array: zarr.Array[Any]) -> None:
    prototype = default_buffer_prototype()
    hierarchy = HierarchyEngine(array.store)
    engine = hierarchy.array_engine("t", array.metadata)
    later = AsyncHierarchyEngine(array.store).array_engine("t", array.metadata)
    assert isinstance(hierarchy, DraftHierarchyEngine)
    assert isinstance(engine, DraftArrayEngine) and isinstance(engine, Engine)
    assert isinstance(later, DraftArrayEngine) and isinstance(later, AsyncEngine)
    for kind, selection in SELECTIONS:
        expected = getattr(array, f"get_{kind}_selection")(selection)
        request = Request(kind, selection)
        np.testing.assert_array_equal(engine.read_selection(request, prototype=prototype), expected)
        np.testing.assert_array_equal(asyncio.run(later.read_selection(request, prototype=prototype)), expected)
    out = NDBuffer.from_numpy_array(np.zeros((10, 6), "i4"))
    engine.read_selection(Request("basic", ...), prototype=prototype, out=out)
    np.testing.assert_array_equal(out.as_numpy_array(), VALUES)
    asyncio.run(later.write_selection(Request("basic", 0), 5, prototype=prototype))
    assert (array[0] == 5).all()
    array.resize((12, 6))
    assert engine.with_metadata(array.metadata).read_selection(Request("basic", ...), prototype=prototype).shape == (12, 6)
    with pytest.raises(NotFoundError):
        hierarchy.array_engine("other", array.metadata)


def test_an_array_with_the_engine_reads_and_writes_what_zarr_python_does(array: zarr.Array[Any]) -> None:
    served = zarr_rs.with_engine(array)
    assert isinstance(served, zarr.Array) and served.attrs["units"] == "K"
    for kind, selection in SELECTIONS:
        expected = getattr(array, f"get_{kind}_selection")(selection)
        found = getattr(served, f"get_{kind}_selection")(selection)
        np.testing.assert_array_equal(found, expected)
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        for value in (1, 2.9, np.int64(-3), np.asarray(expected) + 100, (np.asarray(expected) / 3).astype("f4")):
            getattr(array, f"set_{kind}_selection")(selection, value)
            written = array[...]
            array[...] = VALUES
            getattr(served, f"set_{kind}_selection")(selection, value)
            np.testing.assert_array_equal(array[...], written, str((kind, value)))
            array[...] = VALUES
    served.oindex[[0, 3], [1]] = 0
    served.vindex[[9], [5]] = 0
    served[2:4, 0] = [8, 9]
    served.blocks[2, 1] = 4
    np.testing.assert_array_equal(served[...], array[...])


def test_an_array_with_the_engine_makes_no_call_of_the_pipeline(array: zarr.Array[Any]) -> None:
    served = zarr_rs.with_engine(array)
    served._async_array.__dict__["codec_pipeline"] = None
    assert served[3, 4] == VALUES[3, 4]
    served[3, 4] = 0
    assert served[3].sum() == VALUES[3].sum() - VALUES[3, 4]


def test_an_array_with_the_engine_follows_a_resize_and_is_pickled(tmp_path: pathlib.Path) -> None:
    array = zarr.create_array(tmp_path / "a.zarr", shape=(4,), chunks=(3,), dtype="i4", fill_value=7)
    served = zarr_rs.with_engine(array)
    served.resize((9,))
    served.append(np.full(3, 5, "i4"))
    assert served[...].tolist() == [7] * 9 + [5] * 3
    again = pickle.loads(pickle.dumps(served))
    assert type(again) is EngineArray and again[-1] == 5


def test_fields_of_structs_are_read_and_written(tmp_path: pathlib.Path) -> None:
    dtype = np.dtype([("a", "i4"), ("b", "f8")])
    array = zarr.create_array(tmp_path / "s.zarr", shape=(5,), chunks=(2,), dtype=dtype, zarr_format=2)
    served = zarr_rs.with_engine(array)
    served.set_basic_selection(slice(1, 3), [1.9, 2], fields="a")
    assert served.get_basic_selection(..., fields="a").tolist() == [0, 1, 2, 0, 0]
    with pytest.raises(IndexError):
        served.set_basic_selection(..., 0, fields=["a", "b"])


def test_what_the_engine_cannot_serve_is_refused_by_name(tmp_path: pathlib.Path, array: zarr.Array[Any]) -> None:
    array.attrs["x"] = 1
    with pytest.raises(SelectionError, match="no new dimension"):
        zarr_rs.with_engine(array)[None]
    with pytest.raises(TypeError, match="unexpected keyword argument 'filed'"):
        zarr_rs.with_engine(array).get_basic_selection(0, filed="a")  # type: ignore[call-arg]
    read_only = zarr.open_array(array.store, path="t", mode="r")
    with pytest.raises(PermissionError):
        zarr_rs.with_engine(read_only)[0] = 1
