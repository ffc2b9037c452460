"""The golden answers of xarray, which zarr-xarray is tested with: stores, and the datasets that they are.

Also, each dataset is compared with what the xarray of this environment makes of it: its encoding, and how it is shown.
"""

from __future__ import annotations

import base64
import functools
import json
import pathlib
import warnings
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rs
from packaging.version import Version
from zarr_rs.errors import BrokenNodeWarning

xr = pytest.importorskip("xarray")
cftime = pytest.importorskip("cftime")

#: The version of xarray that gave the answers. Older ones decode some stores differently.
ANSWERED = "2026.9"
pytestmark = [
    # xarray, of attributes that are to be odd.
    pytest.mark.filterwarnings("ignore::xarray.SerializationWarning"),
    pytest.mark.filterwarnings("ignore:Duplicate dimension names present:UserWarning"),
    pytest.mark.filterwarnings("ignore:Attribute .cell_measures. has malformed content:UserWarning"),
    pytest.mark.filterwarnings("ignore:Following pandas, xarray only supports:UserWarning"),
    pytest.mark.skipif(
        Version(xr.__version__) < Version(ANSWERED) or Version(zarr.__version__) < Version("3.1.6"),
        reason=f"the answers are those of xarray {ANSWERED} with zarr-python 3.1.6",
    ),
]

FIXTURES = pathlib.Path(__file__).parents[2] / "crates/zarr-xarray/tests/fixtures/datasets.json"
TABLE: dict[str, Any] = json.loads(FIXTURES.read_text())

#: Rows of which this project has a better answer than xarray, and the engine has it, too. In the other ones it does what
#: xarray does; the engine's documentation says so.
BETTER = {
    "dims-v3-nc-attrs-kept-on-arrays",
    *(f"fill-v3-float-{form}" for form in ("hex", "json-int", "json-nan", "json-number", "null")),
    *(f"fill-v3-int-{form}-for-int" for form in ("list", "null", "text")),
    "nczarr-new-in-zattrs",
    "nczarr-real-char",
    "option-v3-fill-as-mask",
    # A broken variable is left out, where xarray opens nothing.
    *(row["id"] for row in TABLE["rows"] if "broken" in row.get("ours", ())),
    # Except where xarray decodes it, or fails only when its elements are read.
} - {"pack-bool-scale", "delta-too-long"}
#: Rows of which xarray opens nothing, and the engine leaves out the variable that this project reads.
LEFT_OUT = {"all-grid-mapping-no-colon", "coord-attribute-not-a-string", "unsigned-fill-as-unsigned"}


def rows(*kinds: str) -> Any:
    found = [row for row in TABLE["rows"] if row["kind"] in kinds]
    return pytest.mark.parametrize("row", found, ids=[row["id"] for row in found])


@functools.cache
def store(name: str) -> zarr_rs.Store:
    """Returns a store of the table, in memory."""
    made = zarr_rs.Store("memory://")
    for key, value in TABLE["stores"][name].items():
        content = value.encode() if isinstance(value, str) else base64.b64decode(value["base64"])
        made.storage().put(key, np.frombuffer(content, "u1"), True).wait()
    return made


def options(row: Any) -> dict[str, Any]:
    """Returns the arguments of xarray."""
    found: dict[str, Any] = dict(row.get("options") or {})
    for name, coder in (("decode_times", xr.coders.CFDatetimeCoder), ("decode_timedelta", xr.coders.CFTimedeltaCoder)):
        if isinstance(found.get(name), dict):
            found[name] = coder(**found[name])
    return found | ({"group": row["group"]} if "group" in row else {})


def opened(row: Any, engine: str = "zarr_rs") -> Any:
    return xr.open_dataset(store(row["store"]), engine=engine, **options(row))


def opened_and_left_out(row: Any) -> tuple[Any, set[str]]:
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        dataset = opened(row)
    return dataset, {w.message.path for w in given if isinstance(w.message, BrokenNodeWarning)}


@rows("decode")
def test_a_dataset_is_the_golden_answer(row: Any) -> None:
    match row.get("verdict"):
        case "better" | "reject" if row["id"] in BETTER:
            dataset, left_out = opened_and_left_out(row)
            assert left_out == {f"/{name}" for name in row["ours"].get("broken", ())}
            check_better(dataset, row)
        case "better" if row["id"] in LEFT_OUT:
            assert opened_and_left_out(row)[1]
        case "reject":
            with pytest.raises((ValueError, KeyError, OSError)):
                opened(row).load()
        case "better" if "result" not in row:
            with pytest.raises(Exception):  # noqa: B017, PT011: the error is that of a decoder of xarray
                opened(row).load()
        case _:
            assert shown(opened(row)) == row["result"]


def same_rows() -> list[Any]:
    return [row for row in TABLE["rows"] if row["kind"] == "decode" and "verdict" not in row]


@pytest.mark.parametrize("row", same_rows(), ids=[row["id"] for row in same_rows()])
def test_encoding_and_text_are_those_of_xarrays_own_engine(row: Any) -> None:
    ours, judge = opened(row), opened(row, "zarr")
    assert repr(ours) == repr(judge)
    for name in judge.variables:
        found, wanted = ours[name].encoding, judge[name].encoding
        # The pieces of Dask are shards.
        only_ours = {"preferred_chunks"} if found["shards"] else set()
        for what in (set(found) | set(wanted)) - only_ours:
            assert plain(found[what]) == plain(wanted[what]), (name, what)
    assert repr(ours.load()) == repr(judge.load())


@rows("sel")
def test_a_selection_is_the_golden_answer(row: Any) -> None:
    query, dataset = row["query"], opened(row)
    dims = {name: indexer(value) for name, value in query["dims"].items()}
    method = {"method": query["method"]} if "method" in query else {}
    select = dataset.isel if query["by"] == "position" else functools.partial(dataset.sel, **method)
    if "result" in row:
        assert shown(select(dims)) == row["result"]
    else:
        with pytest.raises((ValueError, KeyError, TypeError)):
            select(dims)


@rows("tree")
def test_a_tree_is_the_golden_answer(row: Any) -> None:
    if "result" not in row:
        with pytest.raises(ValueError, match="not aligned"):
            xr.open_datatree(store(row["store"]), engine="zarr_rs", **options(row))
        return
    tree = xr.open_datatree(store(row["store"]), engine="zarr_rs", **options(row))
    assert {node.path for node in tree.subtree} == set(row["result"])
    groups = xr.open_groups(store(row["store"]), engine="zarr_rs", **options(row))
    assert set(groups) == set(row["result"])
    for path, wanted in row["result"].items():
        assert shown(tree[path].to_dataset(inherit=False)) == wanted["own"]
        assert shown(groups[path]) == wanted["own"]
        inherited = set(tree[path].coords) - set(tree[path].to_dataset(inherit=False).coords)
        assert sorted(inherited) == wanted["inherited_coords"]
        assert dict(tree[path].sizes) == wanted["sizes"]


def check_better(dataset: Any, row: Any) -> None:
    """Compares a dataset with the better answer, which is a part of a dataset."""
    ours = row["ours"]
    for name in ours.get("readable", ()):
        dataset[name].load()
    for name, hidden in ours.get("hidden", {}).items():
        assert not set(hidden) & set(dataset[name].attrs)
    for name, dims in ours.get("dims", {}).items():
        assert list(dataset[name].load().dims) == dims
    for name, values in ours.get("values", {}).items():
        assert shown_variable(dataset[name].variable)["values"] == values
    for name in ours.get("broken", ()):
        assert name not in dataset.variables


def indexer(value: Any) -> Any:
    if isinstance(value, dict):
        return slice(*value["slice"]) if "slice" in value else value["list"]
    return value


def shown(dataset: Any) -> dict[str, Any]:
    """Returns a dataset in the form of the table."""
    return {
        "dims": dict(dataset.sizes),
        "attrs": plain(dataset.attrs),
        "coords": {name: shown_variable(dataset.variables[name]) for name in dataset.coords},
        "data_vars": {name: shown_variable(dataset.variables[name]) for name in dataset.data_vars},
        "indexes": sorted(dataset.xindexes),
    }


def shown_variable(variable: Any) -> dict[str, Any]:
    assert variable.dtype == variable.values.dtype, "the type before and after reading"
    elements = variable.values.reshape(-1)
    found = {"dims": list(variable.dims), "shape": list(variable.shape)}
    found |= {"dtype": type_of(elements), "values": [element(value) for value in counted(elements)]}
    if elements.dtype.kind in "OU":
        found["numpy_dtype"] = "object" if elements.dtype.kind == "O" else f"utf32_{elements.dtype.itemsize // 4}"
    if found["dtype"] == "cftime":
        found["calendar"] = next(time.calendar for time in elements if isinstance(time, cftime.datetime))
    if variable.attrs:
        found["attrs"] = plain(variable.attrs)
    return found


def type_of(elements: Any) -> str:
    match elements.dtype.kind:
        case "S":
            return f"bytes{elements.dtype.itemsize}"
        case "U" | "T":
            return "string"
        case "O":
            kinds = {bytes: "bytes", str: "string", bool: "bool"}
            return next((name for kind, name in kinds.items() if isinstance(elements[0], kind)), "cftime")
        case _:
            return str(elements.dtype)


def counted(elements: Any) -> list[Any]:
    """Returns elements as objects of Python, and times as counts of their unit."""
    if elements.dtype.kind in "mM":
        return [None if np.isnat(time) else int(time.view("i8")) for time in elements]
    found: list[Any] = elements.tolist()
    if elements.dtype.kind == "O":
        # A missing text, time or truth is NaN.
        return [None if isinstance(value, float) and value != value else value for value in found]
    return found


def element(value: Any) -> Any:
    match value:
        case bytes():
            return base64.b64encode(value).decode()
        case complex():
            return [plain(value.real), plain(value.imag)]
        case cftime.datetime():
            date = [value.year, value.month, value.day]
            return [*date, value.hour, value.minute, value.second, value.microsecond]
        case _:
            return plain(value)


def plain(value: Any) -> Any:
    """Returns attributes as values of JSON. NaN and infinities are texts."""
    match value:
        case dict():
            return {name: plain(member) for name, member in value.items()}
        case list() | tuple():
            return [plain(member) for member in value]
        case np.ndarray():
            return plain(value.tolist())
        case np.generic():
            return plain(value.item())
        case float() if value != value:
            return "NaN"
        case float() if abs(value) == float("inf"):
            return "Infinity" if value > 0 else "-Infinity"
        case _:
            return value
