#!/usr/bin/env python3
"""Writes the fixtures `probe.*`, byte by byte from the specification: stores that no implementation writes correctly.

  python3 generators/probes.py FOLDER

Each is the smallest store for one rule. Most come from docs/specification/interoperability.md (section L.1) and from
regressions of other implementations. It uses only the standard library, and always writes the same bytes. `cargo xtask
fixtures generate` runs it and checks that the committed stores are equal.
"""
import gzip
import hashlib
import json
import os
import struct
import sys
import zlib

CASES = []


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return struct.pack("<I", crc ^ 0xFFFFFFFF)


LITTLE, BIG = ({"name": "bytes", "configuration": {"endian": endian}} for endian in ("little", "big"))


def array(shape, data_type, fill, codecs=None, chunks=None, **extra):
    return {
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks or [max(n, 1) for n in shape]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": fill, "codecs": codecs or [LITTLE], "attributes": {}, **extra,
    }


def sharded(inner, codecs=None, index=LITTLE):
    return {"name": "sharding_indexed", "configuration": {
        "chunk_shape": inner, "codecs": codecs or [LITTLE],
        "index_codecs": [index, {"name": "crc32c"}], "index_location": "end"}}


def shard(chunks, order="<"):
    """Returns a shard: consecutive inner chunks, then the index."""
    index, body = b"", b""
    for chunk in chunks:
        index += struct.pack(order + "QQ", len(body), len(chunk))
        body += chunk
    return body + index + crc32c(index)


def case(name, rule, notes, files, **more):
    """Adds a store with a file for each key. Values other than bytes become JSON."""
    zarr_format = 3 if any(key.endswith("zarr.json") for key in files) else 2
    # Cases that may be refused, but otherwise must be read like this.
    or_error = more.pop("or_error", False)
    malformed = or_error or "failure" in more
    top = "reject/probe" if malformed else "v%d/probe" % zarr_format
    store = "%s/%s.zarr" % (top, name)
    entry = {"id": "probe." + name, "category": ("neg-probe" if malformed else "v%d-probe" % zarr_format), "tier": "core",
             "writer": "hand-written", "zarr_format": zarr_format, "store": store, "array": more.pop("array", ""),
             "rule": rule, "notes": notes}
    if malformed:
        entry.update(kind="neg", verb="cat", expect="ok_or_error" if or_error else "error")
    document = files.get(os.path.join(entry["array"], "zarr.json")) or files.get(os.path.join(entry["array"], ".zarray"))
    if "elements" in more:
        elements = more.pop("elements")
        as_json = not isinstance(elements, bytes)
        if as_json:
            elements = json.dumps(elements, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()
        dtype = document.get("data_type", document.get("dtype"))
        kind = "json" if as_json else "raw"
        entry.update({"out_kind": kind} if malformed else {"kind": kind, "expect": "ok"})
        entry.update(shape=document["shape"], dtype=dtype if isinstance(dtype, str) else dtype["name"],
                     nbytes=len(elements), sha256=hashlib.sha256(elements).hexdigest())
        if not malformed:
            entry["attributes"] = {}
    entry.update(more)
    CASES.append((entry, files))


def int32s(*values):
    return struct.pack("<%di" % len(values), *values)


# Fill values, where nothing is stored.
case("uint64-fill-max", "L3", "the fill value is the largest uint64, which float64 cannot represent", write=True,
     files={"zarr.json": array([2], "uint64", 2**64 - 1)}, elements=struct.pack("<2Q", *[2**64 - 1] * 2))
case("int64-fill-min", "L3", "the fill value is the smallest int64 plus 1, which float64 cannot represent",
     files={"zarr.json": array([2], "int64", -2**63 + 1)}, elements=struct.pack("<2q", *[-2**63 + 1] * 2))
case("float32-fill-nan-payload", "L11", "the fill value is a NaN with a payload", write=True,
     files={"zarr.json": array([2], "float32", "0x7fc12345")}, elements=struct.pack("<2I", *[0x7FC12345] * 2))
case("float64-fill-nan-payload", "L11", "the fill value is a negative NaN with a payload", write=True,
     files={"zarr.json": array([2], "float64", "0xfff8000000abcdef")}, elements=struct.pack("<2Q", *[0xFFF8000000ABCDEF] * 2))
case("float64-fill-negative-zero", "L92", "the fill value is -0.0, which is not 0.0", write=True,
     files={"zarr.json": array([2], "float64", -0.0)}, elements=struct.pack("<2d", -0.0, -0.0))
case("float32-fill-hex", "L4", "the fill value 0x3fc00000 is the bit pattern of 1.5, not an integer",
     files={"zarr.json": array([2], "float32", "0x3fc00000")}, elements=struct.pack("<2f", 1.5, 1.5))
case("float32-fill-hex-of-float64", "L10", "the fill value of a float32 has the 16 hexadecimal digits of a float64",
     failure="extension", files={"zarr.json": array([2], "float32", "0x7ff8000000000001")})
case("bytes-fill-integers", "L43", "the fill value of a byte string is a list of integers", files={
    "zarr.json": array([2], "bytes", [1, 255], [{"name": "vlen-bytes"}])}, elements=["Af8=", "Af8="])
case("utf32-fill-too-long", "L12", "the fill value has three characters, the data type two", failure="extension",
     files={"zarr.json": array([2], {"name": "fixed_length_utf32", "configuration": {"length_bytes": 8}}, "abc")})
case("utf32-length-6", "L12", "length_bytes is not a multiple of 4", failure="extension",
     files={"zarr.json": array([2], {"name": "fixed_length_utf32", "configuration": {"length_bytes": 6}}, "")})
STRUCT = {"name": "struct", "configuration": {"fields": [
    {"name": "a", "data_type": "uint8"}, {"name": "b", "data_type": "int16"}]}}
case("struct-fill", "B.5", "the fill value of a struct names all fields",
     files={"zarr.json": array([2], STRUCT, {"a": 7, "b": -2})}, elements=struct.pack("<BhBh", 7, -2, 7, -2))
case("struct-fill-missing-field", "L18", "the fill value of a struct lacks a field", failure="extension",
     files={"zarr.json": array([2], STRUCT, {"a": 7})})
case("datetime-generic-zero", "L19", "a datetime of 0 is not NaT", files={
    "zarr.json": array([3], {"name": "numpy.datetime64", "configuration": {"unit": "generic", "scale_factor": 1}}, "NaT"),
    "c/0": struct.pack("<3q", 0, 1, -2**63)}, elements=struct.pack("<3q", 0, 1, -2**63))
case("bool-fill-false", "L9", "the fill value is the JSON value false",
     files={"zarr.json": array([3], "bool", False, [{"name": "bytes"}])},
     elements=b"\0\0\0")

case("negative-zero", "L92", "a chunk of -0.0 must be stored although -0.0 equals the fill value 0.0", write=True,
     files={"zarr.json": array([4], "float64", 0.0, chunks=[2]), "c/0": struct.pack("<2d", -0.0, -0.0),
            "c/1": struct.pack("<2d", 1.5, 0.0)}, elements=struct.pack("<4d", -0.0, -0.0, 1.5, 0.0))

# Chunks.
case("bool-bytes", "L78", "bool bytes other than 0 and 1 must be read as true or refused", or_error=True,
     files={"zarr.json": array([4], "bool", False, [{"name": "bytes"}]), "c/0": b"\x00\x01\x02\xff"}, elements=b"\0\1\1\1")
case("transpose-before-shards", "L5", "transpose before sharding, array of 2 x 4", files={
    "zarr.json": array([2, 4], "int32", 0, [
        {"name": "transpose", "configuration": {"order": [1, 0]}}, sharded([2, 2])]),
    "c/0/0": shard([int32s(0, 4, 1, 5), int32s(2, 6, 3, 7)])}, elements=int32s(0, 1, 2, 3, 4, 5, 6, 7))
case("transpose-in-shards", "D.2", "transpose among the codecs of inner chunks", files={
    "zarr.json": array([2, 4], "int32", 0, [
        sharded([2, 2], [{"name": "transpose", "configuration": {"order": [1, 0]}}, LITTLE])]),
    "c/0/0": shard([int32s(0, 4, 1, 5), int32s(2, 6, 3, 7)])}, elements=int32s(0, 1, 2, 3, 4, 5, 6, 7))
case("shards-in-reverse", "D7", "inner chunks are not in order, and two share the same bytes", files={
    "zarr.json": array([6], "int32", 0, [sharded([2])]),
    "c/0": (lambda body, index: body + index + crc32c(index))(
        int32s(5, 6) + int32s(1, 2), struct.pack("<6Q", 8, 8, 0, 8, 8, 8))}, elements=int32s(1, 2, 5, 6, 1, 2))
case("shard-index-big-endian", "D7.4", "the shard index is big-endian, the inner chunks are little-endian",
     write=True, files={
    "zarr.json": array([4], "int32", 0, [sharded([2], index=BIG)]),
    "c/0": shard([int32s(1, 2), int32s(3, 4)], ">")}, elements=int32s(1, 2, 3, 4))
case("shard-index-checksum", "L7", "the checksum of the shard index is wrong", failure="data", files={
    "zarr.json": array([4], "int32", 0, [sharded([2])]),
    "c/0": shard([int32s(1, 2), int32s(3, 4)])[:-4] + b"\0\0\0\0"})
case("chunk-checksum", "L7", "the checksum of a chunk is wrong", failure="data", files={
    "zarr.json": array([2], "int32", 0, [LITTLE, {"name": "crc32c"}]), "c/0": int32s(1, 2) + b"\0\0\0\0"})
case("chunk-empty", "L8", "an empty object is not a missing chunk", failure="data", files={
    "zarr.json": array([2], "int32", 7), "c/0": b""})
case("chunk-with-one-byte-more", "L8", "the chunk has one byte too many, which must not be cut off",
     failure="data", files={
    "zarr.json": array([2], "int32", 7), "c/0": int32s(1, 2) + b"\0"})
case("gzip-two-members", "L21", "two gzip members are decoded as one stream (RFC 1952, section 2.2)", files={
    "zarr.json": array([4], "int32", 0, [LITTLE, {"name": "gzip", "configuration": {"level": 5}}]),
    "c/0": gzip.compress(int32s(1, 2), mtime=0) + gzip.compress(int32s(3, 4), mtime=0)}, elements=int32s(1, 2, 3, 4))
case("adler32-in-shards", "D10.1", "inner chunks have their checksum before the data", files={
    "zarr.json": array([4], "int32", 0, [sharded([2], [LITTLE, {"name": "numcodecs.adler32", "configuration": {"location": "start"}}])]),
    "c/0": shard([struct.pack("<I", zlib.adler32(part)) + part for part in (int32s(1, 2), int32s(3, 4))])},
    elements=int32s(1, 2, 3, 4))
STRINGS = [{"name": "vlen-utf8"}]
case("strings-like-fill", "L92", "[\"aa\", \"\"] has the same text as two fill values \"a\", but is not equal to them",
     write=True, files={
    "zarr.json": array([2], "string", "a", STRINGS),
    "c/0": struct.pack("<II2sI", 2, 2, b"aa", 0)}, elements=["aa", ""])
case("zero-dimensions", "C.t1", "the chunk of a 0-dimensional array has the key `c`", files={
    "zarr.json": array([], "int32", 0), "c": int32s(42)}, elements=int32s(42))
case("zero-dimensions-v2-keys", "C.t2", "the chunk of a 0-dimensional array has the key `0` with the v2 chunk key encoding",
     files={
    "zarr.json": array([], "int32", 0, chunk_key_encoding={"name": "v2", "configuration": {"separator": "."}}),
    "0": int32s(42)}, elements=int32s(42))
case("bytes-without-endian", "L16", "the bytes codec of a type larger than one byte has no endian",
     failure="extension", files={
    "zarr.json": array([2], "int32", 0, [{"name": "bytes"}]), "c/0": int32s(1, 2)})
case("codecs-out-of-order", "L2", "a compressor comes before the bytes codec", failure="extension", files={
    "zarr.json": array([2], "int32", 0, [{"name": "gzip", "configuration": {"level": 5}}, LITTLE]),
    "c/0": gzip.compress(int32s(1, 2), mtime=0)})
case("keys-unknown", "L1", "an array with an unknown chunk key encoding must not be read as empty",
     failure="extension", files={
    "zarr.json": array([2], "int32", 0, chunk_key_encoding={"name": "zorder", "configuration": {"separator": "/"}}),
    "c/0": int32s(1, 2)})
case("must-understand", "A.6", "an unknown member without must_understand false is refused", failure="metadata", files={
    "zarr.json": array([2], "int32", 0, riddle={"name": "riddle"}), "c/0": int32s(1, 2)})
case("need-not-understand", "A.6", "an unknown member has must_understand false", files={
    "zarr.json": array([2], "int32", 0, riddle={"name": "riddle", "must_understand": False}), "c/0": int32s(1, 2)},
     elements=int32s(1, 2))

# Format 2.
DELTA = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i4", "compressor": None, "fill_value": 0, "order": "C",
         "filters": [{"id": "delta", "dtype": "<i4", "astype": "<i2"}]}
case("delta-astype", "L6", "the delta filter stores differences in a smaller type", files={
    ".zarray": DELTA, "0": struct.pack("<4h", 10, 5, -20, 1)}, elements=int32s(10, 15, -5, -4))
case("offset-and-scale", "D10", "a stored value is divided by the scale before the offset is added", write=True, files={
    ".zarray": {**DELTA, "dtype": "<f8", "fill_value": 0.0, "filters": [
        {"id": "fixedscaleoffset", "offset": 1000, "scale": 10, "dtype": "<f8", "astype": "|u1"}]},
    "0": bytes([0, 5, 20, 255])}, elements=struct.pack("<4d", 1000, 1000.5, 1002, 1025.5))
case("order-F", "H.4", "chunks in Fortran order", files={
    ".zarray": {**DELTA, "shape": [2, 3], "chunks": [2, 3], "order": "F", "filters": None},
    "0.0": int32s(0, 3, 1, 4, 2, 5)}, elements=int32s(0, 1, 2, 3, 4, 5))
case("foreign-node-type", "H3", "node_type, a member of format 3, in a document of format 2", files={
    ".zarray": {**DELTA, "shape": [2], "chunks": [2], "filters": None, "node_type": "array"}, "0": int32s(1, 2)},
     elements=int32s(1, 2))
case("fill-null", "H.3", "with a fill value of null, stored chunks are still read", files={
    ".zarray": {**DELTA, "shape": [2], "chunks": [2], "filters": None, "fill_value": None}, "0": int32s(1, 2)},
     elements=int32s(1, 2))
case("filters-empty", "H.1", "an empty list of filters means no filters", files={
    ".zarray": {**DELTA, "shape": [2], "chunks": [2], "filters": []}, "0": int32s(1, 2)}, elements=int32s(1, 2))
STRUCTURED = {**DELTA, "shape": [2], "chunks": [2], "filters": None, "dtype": [["x", "<i4"], ["y", "|u1"]], "fill_value": None}
case("group-with-struct", "F25", "an array of structs does not hide its sibling arrays", kind="group", expect="ok",
     attributes={}, nodes={"/": "group", "/a": "array", "/b": "array"}, files={
         ".zgroup": {"zarr_format": 2}, "a/.zarray": {**DELTA, "filters": None}, "b/.zarray": STRUCTURED})
case("dtype-unknown", "H.2", "a data type that NumPy does not have", failure="extension", files={
    ".zarray": {**DELTA, "dtype": "<i5", "filters": None}, "0": int32s(1, 2, 3, 4)})

# Hierarchies.
GROUP = {"zarr_format": 3, "node_type": "group", "attributes": {}}
PLAIN, ODD = array([2], "int32", 0), array([2], "quaternion", [0, 0, 0, 1])
case("name-with-underscores", "L23", "an array named `__x`", array="__x", files={
    "zarr.json": GROUP, "__x/zarr.json": PLAIN, "__x/c/0": int32s(1, 2)}, elements=int32s(1, 2))
case("consolidated-with-unknown-type", "L22", "a node of an unknown data type does not hide its siblings",
     kind="group", expect="ok",
     attributes={}, nodes={"/": "group", "/a": "array", "/b": "array"}, files={
         "zarr.json": {**GROUP, "consolidated_metadata": {
             "kind": "inline", "must_understand": False, "metadata": {"a": PLAIN, "b": ODD}}},
         "a/zarr.json": PLAIN, "b/zarr.json": ODD, "a/c/0": int32s(1, 2)})
case("consolidated-beside-unknown-type", "L22", "an array beside a node of an unknown data type can be read",
     array="a", files={
    "zarr.json": {**GROUP, "consolidated_metadata": {
        "kind": "inline", "must_understand": False, "metadata": {"a": PLAIN, "b": ODD}}},
    "a/zarr.json": PLAIN, "b/zarr.json": ODD, "a/c/0": int32s(1, 2)}, elements=int32s(1, 2))
case("consolidated-null", "F.5", "consolidated_metadata null means not consolidated", kind="group", expect="ok",
     attributes={}, nodes={"/": "group", "/a": "array"}, files={
         "zarr.json": {**GROUP, "consolidated_metadata": None}, "a/zarr.json": PLAIN})


def main():
    root = sys.argv[1]
    for entry, files in CASES:
        for key, content in files.items():
            path = os.path.join(root, entry["store"], key)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if not isinstance(content, bytes):
                content = (json.dumps(content, indent=1) + "\n").encode()
            with open(path, "wb") as f:
                f.write(content)
    with open(os.path.join(root, "probes.json"), "w", encoding="utf8") as f:
        json.dump({"cases": [entry for entry, _ in CASES]}, f, indent=1)


if __name__ == "__main__":
    main()
