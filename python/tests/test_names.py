"""The names of zarr-python: each is here or is refused with advice, and gives the results of zarr-python."""

from __future__ import annotations

import contextlib
import inspect
import json
import pathlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr
import zarr_rs
from packaging.version import Version
from zarr_rs import errors

pytestmark = pytest.mark.skipif(Version(zarr.__version__) < Version("3.1"), reason="other names")

KINDS = {"Array": (zarr.Array, zarr_rs.Array), "Group": (zarr.Group, zarr_rs.Group), "zarr": (zarr, zarr_rs)}

REFUSED = {
    "Array": {"async_array", "config", "create", "from_dict", "with_config"},
    "Group": {"array", "create_dataset", "move", "require_dataset", "update_attributes_async"},
    "zarr": {"AsyncArray", "AsyncGroup", "copy_all", "copy_store"},
}

#: Names of zarr-python whose parameters are others here: the selection and the store have other forms.
OTHER_PARAMETERS = {
    "copy",
    "create",
    "from_store",
    "group",
    "open",
    "open_array",
    "open_group",
    "tree",
    "require_array",
}


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """zarr-python warns of data types without a specification, and of what it will remove."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("kind", KINDS)
def test_each_public_name_is_here_or_refused_with_advice(kind: str, tmp_path: Any) -> None:
    theirs, ours = KINDS[kind]
    names = set(zarr.__all__) if kind == "zarr" else {name for name in dir(theirs) if not name.startswith("_")}
    missing = {name for name in names if not hasattr(ours, name)}
    assert missing - REFUSED[kind] == set()
    node = {"Array": zarr_rs.zeros(3), "Group": zarr_rs.group(), "zarr": zarr_rs}[kind]
    for name in REFUSED[kind]:
        with pytest.raises(AttributeError, match=f"'{name}': ....."):
            getattr(node, name)
        assert not hasattr(node, name)
    with pytest.raises(AttributeError, match="'nothing'$"):
        getattr(node, "nothing")  # noqa: B009


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_have_the_names_of_zarr_python(kind: str) -> None:
    """Old parameters that zarr-python itself ignores are refused with advice."""
    theirs, ours = KINDS[kind]
    for name in sorted(set(dir(theirs)) - REFUSED[kind] - OTHER_PARAMETERS):
        method = getattr(theirs, name)
        if name.startswith("_") or not callable(method) or isinstance(method, type) or not hasattr(ours, name):
            continue
        if not inspect.isfunction(method) and not inspect.ismethod(method):
            continue
        named = [
            p.name
            for p in inspect.signature(method).parameters.values()
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        found = inspect.signature(getattr(ours, name)).parameters
        unknown = (
            {p for p in named if p not in found}
            - zarr_rs.arguments.REFUSED.keys()
            - {"storage_options", "zarr_version"}
        )
        assert unknown <= {"name"} if "name" in named and "path" in found else not unknown, (kind, name, unknown)


#: Arrays as zarr-python writes them, by the arguments of `zarr.create_array`.
ARRAYS: dict[str, dict[str, Any]] = {
    "plain": {"dtype": "int32", "chunks": (3, 4), "attributes": {"units": "K"}, "dimension_names": ("y", "x")},
    "shards": {"dtype": "float32", "chunks": (2, 3), "shards": (6, 6), "compressors": zarr.codecs.GzipCodec(level=3)},
    "order F": {"dtype": "int16", "chunks": (3, 4), "zarr_format": 2, "order": "F", "filters": numcodecs.Delta("i2")},
    "raw": {"dtype": "uint8", "chunks": (3, 4), "zarr_format": 2, "compressors": None, "fill_value": 7},
}
#: Names of properties and methods of an array without arguments, and those that not all versions of zarr-python have.
PROPERTIES = (
    "basename cdata_shape chunks compressors dtype fill_value filters name nbytes nbytes_stored nchunks nchunks_initialized ndim "
    "order path read_only serializer shape shards size"
).split()
NEWER = ("read_chunk_sizes", "write_chunk_sizes")


@pytest.fixture(params=ARRAYS)
def pair(request: Any, tmp_path: Any) -> tuple[zarr.Array[Any], zarr_rs.Array]:
    """An array of zarr-python with some of its chunks, and the same one opened here."""
    with quiet():
        array = zarr.create_array(tmp_path, name="a/b", shape=(7, 8), **ARRAYS[request.param])
        array[:4, :5] = np.arange(20).reshape(4, 5)
        return zarr.open_array(tmp_path, path="a/b", mode="r+"), zarr_rs.open_array(tmp_path, "a/b", mode="r+")


def value(node: Any, name: str) -> Any:
    found = getattr(node, name)
    return found() if callable(found) and not isinstance(found, np.generic) else found


def test_properties_are_those_of_zarr_python(pair: Any) -> None:
    theirs, ours = pair
    for name in (*PROPERTIES, *(name for name in NEWER if hasattr(theirs, name))):
        assert value(ours, name) == value(theirs, name), name
    assert dict(ours.attrs) == dict(theirs.attrs)
    assert str(ours.store_path).endswith("a/b")
    if theirs.metadata.zarr_format == 2:
        assert ours.compressor == theirs.compressors[0] if theirs.compressors else ours.compressor is None
    else:
        with pytest.raises(TypeError):
            _ = ours.compressor
    for name in ("zarr_format", "fill_value", "attributes"):
        assert getattr(ours.metadata, name) == getattr(theirs.metadata, name)
    assert ours.metadata.shape == [7, 8]
    assert ours.metadata.to_dict() == dict(ours.metadata) and ours.metadata.data_type and ours.metadata.codecs
    assert "Chunk shape" in repr(ours.info) and "Chunks Initialized" in repr(ours.info_complete())


MASK = np.arange(56).reshape(7, 8) % 5 == 0
SELECTIONS: dict[str, list[Any]] = {
    "basic": [..., 2, (slice(1, 5), 3), (slice(None, None, 2), slice(2, None)), (-1, -1)],
    "orthogonal": [([1, 3], slice(0, 5)), ([0, 6], [7, 2]), (2, [1, 1])],
    "coordinate": [([1, 3, 6], [0, 7, 2]), ([[0, 1], [2, 3]], [[4, 5], [6, 7]])],
    "mask": [MASK],
    "block": [(0, 0), (slice(0, 2), 1), 1],
}


@pytest.mark.parametrize("kind", SELECTIONS)
def test_selections_are_those_of_zarr_python(kind: str, pair: Any) -> None:
    theirs, ours = pair
    get, put = f"get_{kind}_selection", f"set_{kind}_selection"
    for key in SELECTIONS[kind]:
        expected = np.asarray(getattr(theirs, get)(key))
        np.testing.assert_array_equal(getattr(ours, get)(key), expected)
        out = np.empty(expected.shape, expected.dtype)
        assert getattr(ours, get)(key, out=out) is out
        np.testing.assert_array_equal(out, expected)
        buffer = zarr.core.buffer.default_buffer_prototype().nd_buffer.from_numpy_array(np.empty_like(out))
        getattr(ours, get)(key, out=buffer, prototype=zarr.core.buffer.default_buffer_prototype())
        np.testing.assert_array_equal(buffer.as_numpy_array(), expected)
        getattr(ours, put)(key, expected + 1)
        np.testing.assert_array_equal(getattr(theirs, get)(key), expected + 1)
    np.testing.assert_array_equal(list(ours), theirs[...])


@pytest.mark.parametrize("key", [([1, 3], [2, 5]), ([1, 3], 2), ([1, 3], np.array([2])), MASK])
def test_lists_for_all_dimensions_are_points(key: Any, pair: Any) -> None:
    theirs, ours = pair
    np.testing.assert_array_equal(ours[key], theirs[key])
    np.testing.assert_array_equal(ours[key], ours[...][key])
    np.testing.assert_array_equal(ours[[[0], [2]], [1, 3]], ours[...][[[0], [2]], [1, 3]])
    ours[key] = 9
    assert np.all(theirs[key] == 9)


def test_lists_that_numpy_and_zarr_python_take_differently_are_an_error() -> None:
    array = zarr_rs.zeros((4, 4, 4))
    for key in (([0, 2], slice(None), [1, 3]), ([0, 2], [True, False, True, False], 1)):
        with pytest.raises(IndexError, match="oindex"):
            array[key]


def test_fields_of_structs_are_selected(tmp_path: Any) -> None:
    dtype = np.dtype([("a", "i4"), ("b", "f8")])
    values = np.array([(i, i / 2) for i in range(6)], dtype)
    array = zarr_rs.create_array(tmp_path, data=values, chunks=4)
    for fields in ("a", ["a"], ["b", "a"]):
        np.testing.assert_array_equal(array.get_basic_selection(slice(1, 4), fields=fields), values[1:4][fields])
    np.testing.assert_array_equal(array["b"], values["b"])
    array["b"] = 1.5
    array.set_orthogonal_selection([0, 5], [7, 8], fields=["a"])
    assert array["a"].tolist() == [7, 1, 2, 3, 4, 8] and np.all(array["b"] == 1.5)
    for wrong in ("c", ["a", "c"]):
        with pytest.raises(IndexError, match="'c'"):
            array.get_basic_selection(fields=wrong)
    with pytest.raises(IndexError, match="2 fields"):
        array.set_basic_selection(..., 0, fields=["a", "b"])


BLOSC = numcodecs.Blosc(cname="zstd", clevel=3, shuffle=2)
#: Arguments of `create_array` that both packages write the same document for.
NEW: dict[str, dict[str, Any]] = {
    "defaults": {},
    "bytes": {"dtype": "S5"},
    "times": {"dtype": "M8[ns]"},
    "booleans": {"dtype": "?"},
    "no codecs": {"compressors": None, "filters": ()},
    "a codec": {"compressors": zarr.codecs.BloscCodec(cname="lz4", clevel=3, shuffle="shuffle", typesize=4)},
    "codecs": {"compressors": [zarr.codecs.GzipCodec(level=2), zarr.codecs.Crc32cCodec()]},
    "a document": {"compressors": {"name": "gzip", "configuration": {"level": 2}}},
    "big-endian": {"serializer": zarr.codecs.BytesCodec(endian="big")},
    "a filter": {"filters": [zarr.codecs.TransposeCodec(order=(1, 0))]},
    "shards": {"shards": (10, 4), "compressors": (zarr.codecs.ZstdCodec(level=1),)},
    "keys": {"chunk_key_encoding": {"name": "v2", "separator": "."}, "attributes": {"a": [1, None]}},
    "names": {"dimension_names": ("y", None), "fill_value": np.float32("nan")},
    "format 2": {"zarr_format": 2},
    "format 2, order F": {"zarr_format": 2, "order": "F", "fill_value": -1},
    "format 2, numcodecs": {"zarr_format": 2, "compressors": BLOSC, "filters": [numcodecs.Delta("<f4")]},
    "format 2, documents": {"zarr_format": 2, "compressors": {"id": "zlib", "level": 4}, "filters": None},
    "format 2, no codecs": {
        "zarr_format": 2,
        "compressors": None,
        "chunk_key_encoding": {"name": "v2", "separator": "/"},
    },
}


def document(place: pathlib.Path) -> dict[str, Any]:
    """Returns the stored document without members that are optional and empty."""
    (file,) = (place / name for name in ("zarr.json", ".zarray") if (place / name).exists())
    found: dict[str, Any] = json.loads(file.read_text())
    if found["fill_value"] == np.iinfo(np.int64).min:
        found["fill_value"] = "NaT"
    return {name: member for name, member in found.items() if (name, member) != ("storage_transformers", [])}


@pytest.mark.parametrize("what", NEW)
def test_new_arrays_are_those_of_zarr_python(what: str, tmp_path: Any) -> None:
    options = {"shape": (10, 8), "chunks": (5, 2), "dtype": "f4"} | NEW[what]
    with quiet():
        zarr.create_array(tmp_path / "theirs", **options)
        array = zarr_rs.create_array(tmp_path / "ours", **options)
        assert document(tmp_path / "ours") == document(tmp_path / "theirs")
        # The same again, from the array and from that of zarr-python.
        for like in (array, zarr.open_array(tmp_path / "theirs")):
            again = zarr_rs.empty_like(like, tmp_path / "again", overwrite=True, attributes=options.get("attributes"))
            assert document(tmp_path / "again") == document(tmp_path / "ours")
            assert again.fill_value == array.fill_value or again.fill_value != again.fill_value


def test_a_large_array_of_format_2_has_chunks() -> None:
    array = zarr_rs.create_array("memory://", shape=(3000, 2000), dtype="f4", zarr_format=2)
    assert array.shards is None and array.chunks is not None and array.nchunks > 1


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"compresors": None}, TypeError, "did you mean 'compressors'?"),
        ({"compressor": None}, TypeError, "use compressors="),
        ({"dimension_separator": "/"}, TypeError, "chunk_key_encoding"),
        ({"xyz": 1}, TypeError, "unexpected keyword argument 'xyz'$"),
        ({"compressors": BLOSC}, NotImplementedError, "use zarr.codecs.numcodecs or {'name': 'numcodecs.blosc'}"),
        ({"compressors": [object()]}, ValueError, "is not a codec"),
        ({"compressors": "gzip", "codecs": ["zstd"]}, ValueError, "whole chain"),
        ({"compressors": [BLOSC, BLOSC], "zarr_format": 2}, ValueError, "one compressor"),
        ({"serializer": "bytes", "zarr_format": 2}, ValueError, "no serializer"),
        ({"chunks": (2, 2)}, ValueError, "2 dimensions"),
        ({"shards": "auto"}, ValueError, "lengths of a shard"),
        ({"config": {"write_empty": True}}, ValueError, "'write_empty'"),
        ({"config": {"read_missing_chunks": False}}, NotImplementedError, "zarr.open_array"),
        ({"order": "K"}, ValueError, "'K'"),
        ({"data": [1], "dtype": "i4"}, ValueError, "do not give shape and dtype"),
        ({"path": "a", "name": "b"}, ValueError, "give one"),
    ],
)
def test_a_wrong_argument_is_refused_with_advice(options: dict[str, Any], error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        zarr_rs.create_array("memory://", **({"shape": 4, "dtype": "f4"} | options))


def test_elements_are_laid_out_and_stored_as_the_config_says(tmp_path: Any) -> None:
    values = np.arange(12.0).reshape(3, 4)
    array = zarr_rs.create_array(tmp_path, data=values, chunks=2, config={"order": "F", "write_empty_chunks": True})
    assert array.order == "F" and array[...].flags.f_contiguous
    np.testing.assert_array_equal(array[...], values)
    array[...] = 0
    assert array.nchunks_initialized == 4
    zarr_rs.open_array(tmp_path, mode="r+", write_empty_chunks=True)[...] = 0
    assert array.nchunks_initialized == 4
    zarr_rs.open_array(tmp_path, mode="r+")[...] = 0
    assert array.nchunks_initialized == 0


@pytest.mark.parametrize("mode", ["r", "r+", "a", "w", "w-"])
@pytest.mark.parametrize("is_there", [True, False])
def test_modes_are_those_of_zarr_python(mode: Any, is_there: bool, tmp_path: Any) -> None:
    found = []
    for package in (zarr, zarr_rs):
        place = tmp_path / package.__name__
        if is_there:
            package.create_array(place, shape=4, dtype="i4")[...] = 1
        options = {} if mode in ("r", "r+") else {"shape": (4,), "dtype": "i4"}
        try:
            array = package.open_array(place, mode=mode, **options)
        except (FileNotFoundError, FileExistsError) as e:
            found.append((FileNotFoundError if isinstance(e, FileNotFoundError) else FileExistsError, None))
        else:
            found.append((array[...].tolist(), array.read_only))
    assert found[0] == found[1]


def test_storage_options_are_the_arguments_of_a_store(tmp_path: Any) -> None:
    zarr_rs.zeros(4, tmp_path, storage_options={"single_writer": True})
    array = zarr_rs.open_array(tmp_path, storage_options={"open_files": 2}, single_writer=True)
    assert array.store == zarr_rs.Store(tmp_path, open_files=2, single_writer=True, read_only=True)


def test_a_mode_of_reading_creates_nothing(tmp_path: Any) -> None:
    with pytest.raises(ValueError, match="shape is for new nodes"):
        zarr_rs.open(tmp_path, mode="r", shape=4, dtype="i4")
    assert isinstance(zarr_rs.open(tmp_path, mode="a"), zarr_rs.Group)
    assert isinstance(zarr_rs.open(tmp_path, "/x", mode="a", shape=4, dtype="i4"), zarr_rs.Array)
    assert zarr_rs.Array.open(tmp_path, path="x").shape == (4,)
    assert list(zarr_rs.Group.open(tmp_path)) == ["x"]


def raised(work: Callable[[], object]) -> bool:
    """Whether a call raises the error of something that exists."""
    try:
        work()
    except (ValueError, FileExistsError):
        return True
    return False


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "zeros": lambda package, store: package.zeros((2, 3), store=store),
    "ones": lambda package, store: package.ones((2, 3), store=store, dtype="i4"),
    "empty": lambda package, store: package.empty((2, 3), store=store, dtype="u1"),
    "full": lambda package, store: package.full((2, 3), 7, store=store, dtype="i8"),
    "create": lambda package, store: package.create((2, 3), store=store, dtype="i8", chunks=(1, 3)),
    "array": lambda package, store: package.array(np.arange(4), store=store),
    "zeros_like": lambda package, store: package.zeros_like(np.arange(4), store=store),
    "ones_like": lambda package, store: package.ones_like(np.arange(4), store=store),
    "full_like": lambda package, store: package.full_like(np.arange(4), fill_value=3, store=store),
    "from_array": lambda package, store: package.from_array(store, data=zarr.ones((4, 4), chunks=(2, 2), dtype="i2")),
    "from_array with other chunks": lambda package, store: package.from_array(
        store, data=zarr.ones((4, 4), chunks=(2, 2), dtype="i2"), chunks=(4, 2), compressors=None, name="x"
    ),
    "save": lambda package, store: package.save(store, np.arange(4)) or package.load(store),
    "save_array": lambda package, store: package.save_array(store, np.arange(4), path="a") or package.load(store, "a"),
    "save_array again": lambda package, store: (
        package.save_array(store, np.arange(4)) or raised(lambda: package.save_array(store, np.arange(5)))
    ),
    "save_group again": lambda package, store: (
        package.save_group(store, np.ones(2)) or package.save_group(store, np.zeros(2)) or package.load(store, "arr_0")
    ),
    "open_like again": lambda package, store: (
        package.full((3,), 7, store=store, path="b", dtype="i8")
        and package.open_like(np.arange(3), "b", store=store, mode="r")
    ),
    "save_group": lambda package, store: (
        package.save(store, np.arange(4), x=np.ones(2)) or [package.load(store, "arr_0"), package.load(store, "x")]
    ),
    "group": lambda package, store: package.group(store, attributes={"a": 1}),
    "open_like": lambda package, store: package.open_like(np.arange(4), "b", store=store, mode="a"),
    "consolidate_metadata": lambda package, store: (
        package.group(store).create_array("x", shape=2, dtype="i4") and package.consolidate_metadata(store)
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_give_what_zarr_python_gives(name: str, tmp_path: Any) -> None:
    found = []
    for package in (zarr, zarr_rs):
        place = str(tmp_path / package.__name__)
        with quiet():
            result = FUNCTIONS[name](package, place)
            elements = (
                result[...] if hasattr(result, "chunks") else sorted(result) if hasattr(result, "attrs") else result
            )
            files = sorted(str(file.relative_to(place)) for file in pathlib.Path(place).rglob("*") if file.is_file())
        found.append((elements, files))
    np.testing.assert_equal(found[1][0], found[0][0])
    assert [f for f in found[1][1] if "/c/" not in f"/{f}"] == [f for f in found[0][1] if "/c/" not in f"/{f}"]


def tree(package: Any, place: Any) -> Any:
    root = package.create_group(place, attributes={"title": "weather"})
    root.create_array("x", shape=(4,), dtype="i4", chunks=(2,))
    sub = root.require_group("a/b")
    sub.require_array("y", shape=(3,), dtype="f4")
    root.zeros(name="z", shape=(2,), dtype="i1")
    root.full_like(name="w", data=np.arange(3), fill_value=5)
    root.update_attributes({"units": "K"})
    return package.open_group(place, mode="r+")


GROUP: dict[str, Callable[[Any], Any]] = {
    "name": lambda g: (g.name, g.path, g.basename, g["a/b"].name, g["a/b"].path, g["a/b"].basename),
    "attrs": lambda g: dict(g.attrs),
    "metadata": lambda g: (g.metadata.zarr_format, g.metadata.attributes, g.metadata.node_type),
    "arrays": lambda g: sorted((name, array.shape) for name, array in g.arrays()),
    "groups": lambda g: [(name, group.path) for name, group in g.groups()],
    "keys": lambda g: (sorted(g.array_keys()), sorted(g.group_keys()), sorted(g.keys())),
    "values": lambda g: (sorted(a.path for a in g.array_values()), [group.path for group in g.group_values()]),
    "members": lambda g: sorted((path, node.path) for path, node in g.members()),
    "members of one more level": lambda g: sorted(path for path, _ in g.members(max_depth=1)),
    "all members": lambda g: sorted(path for path, _ in g.members(max_depth=None)),
    "nmembers": lambda g: [g.nmembers(), g.nmembers(max_depth=1), g.nmembers(max_depth=None)],
    "get": lambda g: (g.get("x").shape, g.get("nothing"), g.get("nothing", 1)),
    "elements": lambda g: (g["z"][...].tolist(), g["w"][...].tolist(), g["a/b/y"][...].tolist()),
    "require_groups": lambda g: [group.path for group in g.require_groups("a", "c")],
    "require_array": lambda g: g.require_array("x", shape=(4,), dtype="i4").path,
    "synchronizer": lambda g: (g.synchronizer, g.read_only),
}


@pytest.mark.parametrize("name", GROUP)
def test_groups_give_what_zarr_python_gives(name: str, tmp_path: Any) -> None:
    with quiet():
        theirs, ours = (GROUP[name](tree(package, tmp_path / package.__name__)) for package in (zarr, zarr_rs))
    assert ours == theirs


def test_a_required_array_of_another_kind_is_a_type_error(tmp_path: Any) -> None:
    group = tree(zarr_rs, tmp_path)
    for options in ({"shape": 5}, {"shape": 4, "dtype": "i2"}, {"shape": 4, "dtype": "i8", "exact": True}):
        with pytest.raises(TypeError, match="'/x' has the"):
            group.require_array("x", **options)
    assert group.require_array("x", shape=4, dtype="i8").dtype == "i4"
    assert "No. arrays" in repr(group.info_complete()) and "Read-only" in repr(group.info)
    with pytest.raises(errors.UnsupportedError, match="use_consolidated=False"):
        group.members(use_consolidated_for_children=False)


def test_a_hierarchy_is_made_from_metadata(tmp_path: Any) -> None:
    source = tree(zarr_rs, tmp_path / "source")
    with quiet():
        theirs = zarr.open_group(tmp_path / "source")
        nodes = {path: node.metadata for path, node in theirs.members(max_depth=None)} | {"": theirs.metadata}
        made = dict(zarr_rs.create_hierarchy(tmp_path / "made", nodes))
    assert made.keys() == {"", "x", "a", "a/b", "a/b/y", "z", "w"}
    again = dict(zarr_rs.create_hierarchy("memory://", {path: node.metadata for path, node in source.members(None)}))
    for path, node in again.items():
        assert node.metadata == source[path].metadata == made[path].metadata


def test_information_is_printed(capsys: Any) -> None:
    zarr_rs.print_debug_info()
    assert "zarr: " in capsys.readouterr().out
    assert zarr_rs.tree(zarr_rs.group()) == "/"
