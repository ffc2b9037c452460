"""The calls of the protocol for zarr-python 3, with any codec pipeline."""
import ast
import warnings

import numpy
import zarr
from zarr.core.dtype import VariableLengthBytes, data_type_registry
from zarr.core.metadata import ArrayV2Metadata, ArrayV3Metadata
from zarr.storage import LocalStore

import protocol

warnings.simplefilter("ignore")

LACKS = [
    r"Unknown codec: '([^']+)'",
    r"codec not available: '([^']+)'",
    r"Unknown chunk grid. Got (\S+)\.",
    r"Unknown chunk key encoding: '([^']+)'",
]


def lacks(error):
    return protocol.lacks(error, LACKS) or lacks_data_type(str(error))


def lacks_data_type(text):
    _, found, data_type = text.partition("No Zarr data type found that matches ")
    if not found:
        return None
    data_type = ast.literal_eval(data_type)
    name = data_type.get("name") if isinstance(data_type, dict) else data_type
    if isinstance(data_type, dict) and "object_codec_id" in data_type:
        known = data_type["object_codec_id"] is not None
    else:
        known = isinstance(name, str) and protocol.is_registered(name) and name not in data_type_registry.contents
    return protocol.NotImplementedHere(protocol.first_line(text)) if known else None


class Lacking:
    """Turns errors about missing features into `NotImplementedHere`."""

    def __enter__(self):
        pass

    def __exit__(self, kind, error, trace):
        missing = lacks(error) if isinstance(error, Exception) else None
        if missing is not None:
            raise missing from error


def open_node(node, open_it=zarr.open):
    protocol.refuse_format_1(node)
    return open_it(store=LocalStore(node, read_only=True), mode="r")


def info(node):
    with Lacking():
        opened = open_node(node)
        found = {"zarr_format": opened.metadata.zarr_format, "attributes": opened.attrs.asdict()}
        if isinstance(opened, zarr.Group):
            return {**found, "node_type": "group"}
        document = opened.metadata.to_dict()
        data_type = document["data_type" if opened.metadata.zarr_format == 3 else "dtype"]
        return {**found, "node_type": "array", "shape": list(opened.shape), "data_type": data_type}


def read(node):
    with Lacking():
        array = open_node(node, zarr.open_array)
        return numpy.asarray(array[...], dtype=array.dtype)


def list_nodes(store):
    with Lacking():
        root = open_node(store)
        if isinstance(root, zarr.Array):
            return {"/": "array"}
        members = root.members(max_depth=None)
        return {"/": "group"} | {f"/{path}": "array" if isinstance(m, zarr.Array) else "group" for path, m in members}


def write(node, metadata, elements):
    with Lacking():
        kind = {2: ArrayV2Metadata, 3: ArrayV3Metadata}.get(metadata.get("zarr_format"))
        if kind is None:
            raise ValueError(f"zarr_format {metadata.get('zarr_format')!r}")
        nodes = {"": kind.from_dict(metadata)}
        _, array = next(zarr.create_hierarchy(store=LocalStore(node), nodes=nodes))
        is_bytes = isinstance(array.metadata.dtype, VariableLengthBytes)
        array[...] = elements.array(array.dtype, array.shape, is_bytes)
