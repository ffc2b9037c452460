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
    r"member \"data_type\": (\S+) data type is not one of the supported data types",
    r'Unsupported zarr dtype: "[<>|](?:U\d+|[mM]8\[\w+\]|O)"',
    r'Expected "regular", but received: "([^"]+)"',
]
# NumPy has no data types for these, so their arrays come without contents.
WITHOUT_NUMPY = {"byte": "V", "char": "S"}


class Lacking:
    """Turns errors about missing features into `NotImplementedHere`."""

    def __enter__(self):
        pass

    def __exit__(self, kind, error, trace):
        missing = protocol.lacks(error, LACKS) if isinstance(error, Exception) else None
        if missing is not None:
            raise missing from error


def document_of(node):
    """Returns the metadata document, which decides the driver and the fields."""
    protocol.refuse_format_1(node)
    found = [path for path in (pathlib.Path(node, name) for name in ("zarr.json", ".zarray", ".zgroup")) if path.exists()]
    if not found:
        raise FileNotFoundError(f"no node at {node}")
    document = json.loads(found[0].read_text(encoding="utf8"))
    if found[0].name == ".zgroup" or document.get("node_type") == "group":
        raise protocol.NotImplementedHere("groups are not supported")
    return document


def open_array(node, document, **more):
    driver = {2: "zarr", 3: "zarr3"}.get(document.get("zarr_format"))
    if driver is None:
        raise ValueError(f"zarr_format {document.get('zarr_format')!r}")
    if has_known_filters(document):
        raise protocol.NotImplementedHere("filters are not supported")
    path = str(pathlib.Path(node).resolve()) + "/"
    return tensorstore.open({"driver": driver, "kvstore": {"driver": "file", "path": path}, **more}).result()


def has_known_filters(document):
    """Whether all filters are registered. TensorStore supports none, and reports invalid filters in the same way."""
    filters = document.get("filters") if document["zarr_format"] == 2 else None
    return bool(filters) and all(protocol.is_registered(str(filter.get("id"))) for filter in filters)


def fields(document):
    """Returns the names of the fields of a struct, because TensorStore opens one field at a time."""
    if document["zarr_format"] == 2:
        data_type = document.get("dtype")
        return [field[0] for field in data_type] if isinstance(data_type, list) else []
    data_type = document.get("data_type")
    if not isinstance(data_type, dict) or data_type.get("name") not in ("struct", "structured"):
        return []
    members = data_type.get("configuration", {}).get("fields", [])
    return [member["name"] if isinstance(member, dict) else member[0] for member in members]


def in_memory(array):
    """Returns an array of one uncompressed chunk in memory, and the key of the chunk."""
    context, kvstore = tensorstore.Context(), {"driver": "memory"}
    shape, length = array.shape[:-1], array.shape[-1]
    metadata = {
        "dtype": f"|{WITHOUT_NUMPY[array.dtype.name]}{length}",
        "shape": shape,
        "chunks": [max(size, 1) for size in shape],
        "compressor": None,
        "filters": None,
        "fill_value": None,
        "order": "C",
    }
    spec = {"driver": "zarr", "kvstore": kvstore, "metadata": metadata, "store_data_equal_to_fill_value": True}
    chunk = ".".join("0" for _ in shape) or "0"
    opened = tensorstore.open(spec, create=True, context=context).result()
    return opened, tensorstore.KvStore.open(kvstore, context=context).result(), chunk, metadata["dtype"]


def read_one(array):
    if array.dtype.name not in WITHOUT_NUMPY:
        return array.read().result()
    copy, kvstore, chunk, data_type = in_memory(array)
    copy.write(array).result()
    data = kvstore.read(chunk).result().value
    return protocol.from_bytes(data, numpy.dtype(data_type), copy.shape[:-1])


def write_one(array, values):
    if array.dtype.name not in WITHOUT_NUMPY:
        return array.write(values).result()
    copy, kvstore, chunk, _ = in_memory(array)
    kvstore.write(chunk, protocol.to_bytes(values)).result()
    return array.write(copy).result()


def data_type_of(array):
    """Returns NumPy's data type, and its shape."""
    letter = WITHOUT_NUMPY.get(array.dtype.name)
    if letter:
        return numpy.dtype(f"{letter}{array.shape[-1]}"), array.shape[:-1]
    return array.dtype.numpy_dtype, array.shape


def info(node):
    with Lacking():
        document = document_of(node)
        names = fields(document)
        array = open_array(node, document, open=True, **({"field": names[0]} if names else {}))
        metadata = array.spec().to_json()["metadata"]
        found = {"zarr_format": metadata["zarr_format"], "node_type": "array", "shape": metadata["shape"]}
        # TensorStore does not know attributes of format 2.
        if metadata["zarr_format"] == 3:
            found["attributes"] = metadata.get("attributes", {})
        return {**found, "data_type": metadata.get("data_type", metadata.get("dtype"))}


def read(node):
    with Lacking():
        document = document_of(node)
        names = fields(document)
        if not names:
            return read_one(open_array(node, document, open=True))
        parts = [read_one(open_array(node, document, open=True, field=name)) for name in names]
        values = numpy.empty(document["shape"], [(name, part.dtype) for name, part in zip(names, parts)])
        for name, part in zip(names, parts):
            values[name] = part
        return values


def list_nodes(store):
    raise protocol.NotImplementedHere("hierarchies are not supported")


def write(node, metadata, elements):
    with Lacking():
        names = fields(metadata)
        choices = [{"field": name} for name in names] or [{}]
        # The first field creates the array.
        how = [{"create": True, "metadata": metadata}] + [{"open": True}] * (len(choices) - 1)
        arrays = [open_array(node, metadata, **choice, **open_as) for choice, open_as in zip(choices, how)]
        shape = data_type_of(arrays[0])[1]
        types = [data_type_of(array)[0] for array in arrays]
        values = elements.array(numpy.dtype(list(zip(names, types))) if names else types[0], shape)
        for array, name in zip(arrays, names or [None]):
            write_one(array, values[name] if name else values)


if __name__ == "__main__":
    protocol.main(sys.modules[__name__])
