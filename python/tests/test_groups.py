"""Groups, attributes, and nodes in other processes."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import pickle
from typing import Any

import pytest
import zarr
import zarr_rs
from conftest import own
from zarr_rs import errors


@pytest.fixture
def place(tmp_path: Any) -> str:
    return str(tmp_path / "d")


def hierarchy(place: Any) -> zarr_rs.Group:
    root = zarr_rs.create_group(place, attributes={"title": "all"})
    root.create_group("a/b", attributes={"n": 1})
    root.create_array("a/x", shape=(4,), chunks=(2,), dtype="i4", attributes={"units": "K"}, fill_value=9)
    return root


def test_a_group_is_a_mapping_of_names(place: str) -> None:
    root = hierarchy(place)
    group = root["a"]
    assert isinstance(group, zarr_rs.Group)
    assert (list(root), sorted(group), len(group), "a/x" in root, "y" in root) == (["a"], ["b", "x"], 2, True, False)
    assert dict(group.arrays())["x"] == root["a/x"] == zarr_rs.open(place, "a/x", mode="r+")
    assert list(group.group_keys()) == ["b"] and dict(group).keys() == {"b", "x"}
    assert root.tree() == "/\n└── a\n    ├── b\n    └── x (4,) int32"
    with pytest.raises(KeyError, match="no node 'y'"):
        root["y"]
    with pytest.raises(errors.NotFoundError, match="is a group"):
        root.get_array("a")
    with pytest.raises(errors.NotFoundError, match="is an array"):
        root.get_group("a/x")
    del root["a/b"]
    assert list(group) == ["x"]
    with pytest.raises(KeyError):
        del root["a/b"]
    assert "a" in root._repr_html_() and "title" in root._repr_html_()


def test_attributes_are_written_at_once(place: str) -> None:
    root = hierarchy(place)
    for node in (root, root["a/x"]):
        node.attrs["list"] = [1, {"a": None}]
        node.attrs.update({"b": 2}, c=1.5)
        del node.attrs["b"]
        again = zarr_rs.open(place, node.path).attrs
        assert again["list"] == [1, {"a": None}] and again["c"] == 1.5 and "b" not in again
        assert dict(again) == node.attrs.asdict()
        with pytest.raises(KeyError):
            del node.attrs["none"]
        with pytest.raises(PermissionError):
            again["d"] = 1
        node.attrs.put({"only": 1})
        assert dict(zarr_rs.open(place, node.path).attrs) == {"only": 1}
        node.attrs.clear()
        assert len(node.attrs) == 0


def test_consolidated_metadata_is_used_and_kept_up_to_date(place: str) -> None:
    root = hierarchy(place)
    assert not root.is_consolidated and root.consolidate() == {} and root.is_consolidated
    root.create_array("z", shape=(1,), dtype="i1")
    root["a"].attrs["new"] = 1
    opened = zarr_rs.open_group(place, use_consolidated=True)
    assert sorted(opened) == ["a", "z"] and opened["a"].attrs["new"] == 1
    assert zarr.open_consolidated(place)["a/x"].attrs["units"] == "K"
    assert not zarr_rs.open_group(place, use_consolidated=False).is_consolidated
    root.remove_consolidated()
    with pytest.raises(errors.ZarrError):
        zarr_rs.open_group(place, use_consolidated=True)


def test_zarr_python_reads_the_same_hierarchy_and_the_other_way_round(place: str, tmp_path: Any) -> None:
    hierarchy(place)["a/x"][1:3] = [5, 6]
    theirs = zarr.open_group(place, mode="r")
    assert theirs["a/x"][:].tolist() == [9, 5, 6, 9] and theirs.attrs["title"] == "all"
    for zarr_format in (2, 3):
        group = zarr.create_group(tmp_path / f"{zarr_format}", zarr_format=zarr_format)
        group.create_array("x", shape=(3,), chunks=(2,), dtype="f4")[:] = [1, 2, 3]
        ours = zarr_rs.open_group(str(tmp_path / f"{zarr_format}"), mode="r+")
        assert ours["x"][:].tolist() == [1, 2, 3] and ours.zarr_format == ours["x"].zarr_format == zarr_format
        ours["x"][0] = 7
        assert own(tmp_path / f"{zarr_format}", path="x")[0] == 7


def total(array: zarr_rs.Array) -> int:
    return int(array[:].sum())


def set_one(array: zarr_rs.Array, index: int) -> None:
    array[index] = index


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_an_array_of_the_parent_works_in_a_child(method: Any, place: str) -> None:
    array = zarr_rs.create_array(place, "a", shape=(100,), chunks=(100,), dtype="i8")
    array[:] = 0
    assert pickle.loads(pickle.dumps(array)) == array
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        list(pool.map(set_one, [array] * 100, range(100)))  # parts of one chunk: no update is lost
        assert list(pool.map(total, [array] * 3)) == [4950] * 3
    assert total(array) == 4950


def test_a_node_that_becomes_another_kind_is_not_found(place: str) -> None:
    root = hierarchy(place)
    state = pickle.dumps(root["a/x"])
    root.create_group("a/x", overwrite=True)
    with pytest.raises(errors.NotFoundError, match="another kind"):
        pickle.loads(state).shape  # noqa: B018


def test_a_broken_child_is_named_and_hides_no_other(tmp_path: Any) -> None:
    root = hierarchy(tmp_path / "d")["a"]
    root.create_array("y", shape=(4,), dtype="i4")
    (tmp_path / "d/a/y/zarr.json").write_text('{"zarr_format": 3}')
    with pytest.warns(errors.BrokenNodeWarning, match=r"'/a/y' is left out: .*node_type") as given:
        assert list(dict(root.arrays())) == ["x"]
    assert given[0].message.error.kind == "Metadata"
    assert sorted(root) == ["b", "x"]
    assert "y (node" in root.tree() and "node_type" in root.tree()


def test_a_store_is_a_location(place: str) -> None:
    store = zarr_rs.Store(place)
    root = zarr_rs.create_group(store)
    assert root.store is store and zarr_rs.open_group(store, mode="r+") == root
    with pytest.raises(ValueError, match="read-only"):
        zarr_rs.create_group(zarr_rs.Store(place, read_only=True), "x")
    with pytest.raises(TypeError, match="region"):
        zarr_rs.open(store, region="here")


def test_nodes_in_a_group_have_its_format(place: str) -> None:
    root = zarr_rs.create_group(place, zarr_format=2, attributes={"title": "old"})
    root.create_group("a", attributes={"n": 1}).create_array("x", shape=(4,), chunks=(2,), dtype="i4")[:] = 7
    read: Any = zarr.open_group(place, mode="r", zarr_format=2)
    assert (read.attrs["title"], read["a"].attrs["n"], read["a/x"][:].tolist()) == ("old", 1, [7] * 4)
    assert {root.zarr_format, root["a"].zarr_format, root["a/x"].zarr_format} == {2}
