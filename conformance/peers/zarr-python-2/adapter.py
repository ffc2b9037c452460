"""The adapter for zarr-python 2."""
import json
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))

import numpy
import zarr

import protocol

warnings.simplefilter("ignore")

LACKS = [r"codec not available: '+([^']+)'"]


class Lacking:
    """Turns errors about missing features into `NotImplementedHere`."""

    def __enter__(self):
        pass

    def __exit__(self, kind, error, trace):
        missing = protocol.lacks(error, LACKS) if isinstance(error, Exception) else None
        if missing is not None:
            raise missing from error


def open_node(node, open_it=zarr.open):
    protocol.refuse_format_1(node)
    path = pathlib.Path(node)
    if (path / "zarr.json").exists() and not any((path / name).exists() for name in (".zarray", ".zgroup")):
        raise protocol.NotImplementedHere("format 3 is not known")
    return open_it(zarr.DirectoryStore(node), mode="r")


def info(node):
    with Lacking():
        opened = open_node(node)
        found = {"zarr_format": 2, "attributes": opened.attrs.asdict()}
        if isinstance(opened, zarr.Group):
            return {**found, "node_type": "group"}
        data_type = opened.dtype.descr if opened.dtype.names else opened.dtype.str
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
        found = {"/": "group"}
        root.visititems(lambda path, item: found.update({f"/{path}": kind_of(item)}))
        return found


def kind_of(node):
    return "array" if isinstance(node, zarr.Array) else "group"


def write(node, metadata, elements):
    with Lacking():
        if metadata.get("zarr_format") == 3:
            raise protocol.NotImplementedHere("format 3 is not known")
        # The library itself reads the arguments for a new array from the document.
        decoded = zarr.meta.Metadata2.decode_array_metadata(json.dumps(metadata))
        array = zarr.create(
            shape=decoded["shape"],
            chunks=decoded["chunks"],
            dtype=decoded["dtype"],
            compressor=codec(decoded["compressor"]),
            filters=[codec(filter) for filter in decoded["filters"] or []] or None,
            fill_value=decoded["fill_value"],
            order=decoded["order"],
            dimension_separator=decoded.get("dimension_separator"),
            store=zarr.DirectoryStore(node),
            write_empty_chunks=True,
        )
        names = {filter["id"] for filter in metadata.get("filters") or []}
        array[...] = elements.array(array.dtype, array.shape, "vlen-bytes" in names)


def codec(configuration):
    return None if configuration is None else zarr.codecs.get_codec(configuration)


if __name__ == "__main__":
    protocol.main(sys.modules[__name__])
