"""The adapter for TensorStore, which has arrays and no hierarchies."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))

import numpy
import tensorstore

import protocol

LACKS = [
    r'"([^"]+)" is not registered',
    r'(?:data type|data_type|dtype)[^"]*not (?:supported|one of)[^"]*"([^"]+)"',
    r'"([^"]+)" data type is not (?:one of the )?supported',
]


class Lacking:
    """Errors that say what is not implemented are told from others."""

    def __enter__(self):
        pass

    def __exit__(self, kind, error, trace):
        missing = protocol.lacks(error, LACKS) if isinstance(error, Exception) else None
        if missing is not None:
            raise missing from error


def spec(node, zarr_format, **more):
    driver = {2: "zarr", 3: "zarr3"}.get(zarr_format)
    if driver is None:
        raise ValueError(f"zarr_format {zarr_format!r}")
    return {"driver": driver, "kvstore": {"driver": "file", "path": str(pathlib.Path(node).resolve()) + "/"}, **more}


def find(node):
    """The format of the array at `node`."""
    protocol.refuse_format_1(node)
    path = pathlib.Path(node)
    if (path / "zarr.json").exists():
        if json.loads((path / "zarr.json").read_text()).get("node_type") == "group":
            raise protocol.NotImplementedHere("there are no groups")
        return 3
    if (path / ".zgroup").exists() and not (path / ".zarray").exists():
        raise protocol.NotImplementedHere("there are no groups")
    return 2


def open_array(node, zarr_format, **more):
    return tensorstore.open(spec(node, zarr_format), **more).result()


def fields(node, zarr_format):
    """Names of the fields of a struct: TensorStore reads one at a time."""
    if zarr_format != 2:
        return []
    data_type = json.loads((pathlib.Path(node) / ".zarray").read_text())["dtype"]
    return [field[0] for field in data_type] if isinstance(data_type, list) else []
