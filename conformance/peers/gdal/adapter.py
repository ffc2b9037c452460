"""The adapter for the Zarr driver of GDAL, by the C interface of its multidimensional arrays in the library of rasterio."""
import ctypes
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))

import numpy
import rasterio

import protocol

LIBRARY = next((pathlib.Path(rasterio.__file__).parent.parent / "rasterio.libs").glob("libgdal*"))
GDAL = ctypes.CDLL(str(LIBRARY))
HANDLES = [
    "GDALOpenEx", "GDALDatasetGetRootGroup", "GDALGroupOpenGroup", "GDALGroupOpenMDArray", "GDALMDArrayGetDataType",
    "GDALExtendedDataTypeGetName",
]
LISTS = ["GDALGroupGetGroupNames", "GDALGroupGetMDArrayNames", "GDALMDArrayGetDimensions", "GDALExtendedDataTypeGetComponents"]
for name in HANDLES + LISTS + ["GDALEDTComponentGetType"]:
    getattr(GDAL, name).restype = ctypes.c_void_p
for name in ["CPLGetLastErrorMsg", "GDALEDTComponentGetName"]:
    getattr(GDAL, name).restype = ctypes.c_char_p
for name in ["GDALExtendedDataTypeGetSize", "GDALEDTComponentGetOffset", "GDALExtendedDataTypeGetMaxStringLength"]:
    getattr(GDAL, name).restype = ctypes.c_size_t
GDAL.GDALDimensionGetSize.restype = ctypes.c_uint64

MULTIDIMENSIONAL = 0x10
NUMBERS = {
    1: "u1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "<f8", 10: "<c8", 11: "<c16", 12: "<u8", 13: "<i8", 14: "i1",
    15: "<f2",
}
NUMBER, TEXT, STRUCT = 0, 1, 2
LACKS = [
    r"[Uu]nsupported codec: ?'?([^' ]+)",
    r"[Uu]nhandled codec: ?'?([^' ]+)",
    r"Decompressor (\S+) not handled",
    r"Filter (\S+) not handled",
    r'Invalid or unsupported format for data_type: (?:\{ "name": ")?([\w.]+)',
    r"Invalid or unsupported format for dtype: [<>|](?:U\d+|[mM]8\[\w+\]|O|V\d+)$",
]


def failed(what):
    message = (GDAL.CPLGetLastErrorMsg() or b"").decode(errors="replace") or what
    missing = protocol.lacks(message, LACKS)
    return missing or ValueError(message)


def some(handle, what):
    """Returns a handle of GDAL, which is null after an error."""
    if not handle:
        raise failed(what)
    return ctypes.c_void_p(handle)


def names(function, group):
    pointer = function(group, None)
    found, texts = [], ctypes.cast(pointer, ctypes.POINTER(ctypes.c_char_p))
    while pointer and texts[len(found)] is not None:
        found.append(texts[len(found)])
    return found


def items(function, handle):
    """Returns the handles of a list and its length."""
    count = ctypes.c_size_t()
    pointer = function(handle, ctypes.byref(count))
    return [ctypes.c_void_p(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_void_p))[at]) for at in range(count.value)]


def root_of(node):
    protocol.refuse_format_1(node)
    GDAL.CPLErrorReset()
    drivers = (ctypes.c_char_p * 2)(b"Zarr", None)
    dataset = GDAL.GDALOpenEx(str(pathlib.Path(node).resolve()).encode(), MULTIDIMENSIONAL, drivers, None, None)
    return some(GDAL.GDALDatasetGetRootGroup(some(dataset, f"{node} is not recognized")), "there is no root group")


def array_of(node):
    """Returns the array at a node, or `None` at a group."""
    root = root_of(node)
    found = names(GDAL.GDALGroupGetMDArrayNames, root)
    if document_of(node)[1].get("node_type") == "group" or (pathlib.Path(node) / ".zgroup").exists():
        return None
    # The coordinates beside an array are in the group, too.
    name = pathlib.Path(node).resolve().name.encode()
    return some(GDAL.GDALGroupOpenMDArray(root, name if name in found else b"".join(found[:1]), None), "there is no array")


def document_of(node):
    """Returns the format, and the document. GDAL shows neither the format nor whether a byte is a boolean."""
    for name, version in [("zarr.json", 3), (".zarray", 2), (".zgroup", 2)]:
        path = pathlib.Path(node, name)
        if path.exists():
            return version, json.loads(path.read_text(encoding="utf8"))
    raise FileNotFoundError(f"no node at {node}")


def type_of(handle):
    kind = GDAL.GDALExtendedDataTypeGetClass(handle)
    if kind == NUMBER:
        return numpy.dtype(NUMBERS[GDAL.GDALExtendedDataTypeGetNumericDataType(handle)])
    if kind == STRUCT:
        parts = items(GDAL.GDALExtendedDataTypeGetComponents, handle)
        return numpy.dtype({
            "names": [GDAL.GDALEDTComponentGetName(part).decode() for part in parts],
            "formats": [type_of(ctypes.c_void_p(GDAL.GDALEDTComponentGetType(part))) for part in parts],
            "offsets": [GDAL.GDALEDTComponentGetOffset(part) for part in parts],
            "itemsize": GDAL.GDALExtendedDataTypeGetSize(handle),
        })
    raise protocol.NotImplementedHere("texts lose their length in GDAL")


def is_boolean(document):
    return document.get("data_type") == "bool" or str(document.get("dtype")).endswith("b1")


def described(array, node):
    shape = [GDAL.GDALDimensionGetSize(dimension) for dimension in items(GDAL.GDALMDArrayGetDimensions, array)]
    return shape, ctypes.c_void_p(GDAL.GDALMDArrayGetDataType(array))


def info(node):
    array, (version, document) = array_of(node), document_of(node)
    if array is None:
        return {"zarr_format": version, "node_type": "group"}
    shape, handle = described(array, node)
    if is_boolean(document):
        raise protocol.NotImplementedHere("booleans are bytes in GDAL")
    data_type = protocol.packed(type_of(handle))
    shown = data_type.str if data_type.names is None else data_type.descr
    return {"zarr_format": version, "node_type": "array", "shape": shape, "data_type": shown}


def read(node):
    array = array_of(node)
    if array is None:
        raise ValueError("it is a group")
    shape, handle = described(array, node)
    values = numpy.zeros(shape, type_of(handle))
    if values.size == 0:
        return values
    rank = len(shape)
    starts, counts = (ctypes.c_uint64 * rank)(), (ctypes.c_size_t * rank)(*shape)
    destination = values.ctypes.data_as(ctypes.c_void_p)
    GDAL.CPLErrorReset()
    size = ctypes.c_size_t(values.nbytes)
    if not GDAL.GDALMDArrayRead(array, starts, counts, None, None, handle, destination, destination, size):
        raise failed("the elements cannot be read")
    return values


def list_nodes(store):
    root, found = root_of(store), {}

    def walk(group, path):
        found[path or "/"] = "group"
        for name in names(GDAL.GDALGroupGetMDArrayNames, group):
            found[f"{path}/{name.decode()}"] = "array"
        for name in names(GDAL.GDALGroupGetGroupNames, group):
            walk(some(GDAL.GDALGroupOpenGroup(group, name, None), "there is no group"), f"{path}/{name.decode()}")

    walk(root, "")
    return found


if __name__ == "__main__":
    GDAL.GDALAllRegister()
    protocol.main(sys.modules[__name__])
