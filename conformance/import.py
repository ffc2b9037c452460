#!/usr/bin/env python3
"""Copies fixtures from a collection of recorded stores into this folder.

  python3 import.py ../../shared/fixtures CASE-ID-OR-CATEGORY...
  python3 import.py --probes FOLDER          what generators/probes.py has written there

For each named case it copies the store, and all other cases of the same store in the collection's manifest. Stores that
are here already are not changed: a published fixture never changes. Stores of well-formed cases go to `v1/`, `v2/` and
`v3/`, the others to `reject/`. Without names it only completes the manifest: the required features of a case
(`features`), its rule (`rule`), the nodes of a hierarchy (`nodes`). """
import json
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MANIFEST = os.path.join(HERE, "manifest.json")
# The answers of other implementations are long; `confirmed_by` sums them up, and for a copy names the required readers.
DROPPED = ["readers"]

# The section of docs/specification for each category.
RULES = {
    "hier-implicit": "F.2", "hier-v2": "H.8", "hier-v3": "F.3", "demo": "F.3", "v1": "I",
    "neg-bomb": "L.4", "neg-chunk": "L.4", "neg-fs": "E.4", "neg-json": "A.1", "neg-meta-codecs": "A.5", "neg-meta-ext": "A.4",
    "neg-meta-fill": "B.2", "neg-meta-format": "A.1", "neg-meta-huge": "L.4", "neg-meta-missing": "A.1",
    "neg-meta-nodetype": "A.1", "neg-meta-shape": "A.2", "neg-node": "F.2", "neg-shard": "D.7", "neg-traversal": "L106", "neg-traversal-copy": "L106",
    "neg-v1": "I", "neg-v2": "H.1", "neg-vlen": "D.8",
    "v2-blosc": "H.7", "v2-bz2": "H.7", "v2-dtype": "H.2", "v2-fill": "H.3", "v2-fill-null": "H.3", "v2-filter": "H.7",
    "v2-gdal": "J.4", "v2-gzip": "H.7", "v2-layout": "H.4", "v2-lz4": "H.7", "v2-lzma": "H.7", "v2-missing": "H.3",
    "v2-nczarr": "J.4", "v2-object": "H.6", "v2-random": "H", "v2-string": "H.2", "v2-struct": "H.2", "v2-time": "H.2",
    "v2-zerolen": "H.1", "v2-zlib": "H.7", "v2-zstd": "H.7",
    "v3-blosc": "D.4", "v3-bytes-vlen": "D.8", "v3-chain": "D.0", "v3-chunk-key": "C.3", "v3-dtype": "B.1",
    "v3-ext-codec": "D.9", "v3-ext-dtype": "B.5", "v3-fill": "B.3", "v3-fill-hex": "B.3", "v3-fixed-string": "B.5",
    "v3-gzip": "D.3", "v3-missing": "C.1", "v3-numcodecs": "D10", "v3-random": "A", "v3-raw": "B.4",
    "v3-rectilinear": "C.2", "v3-shape": "A.2", "v3-shard": "D.7", "v3-shard-index": "D.7", "v3-shard-missing": "D.7",
    "v3-spelling": "A.4", "v3-string": "D.8", "v3-struct": "B.5", "v3-time": "B.5", "v3-transpose": "D.2",
    "v3-zerolen": "A.2", "v3-zstd": "D.6", "xarray-v2": "J.1", "xarray-v3": "J.1",
}
# The section for cases that are not about the rule of their category.
RULES_OF_CASES = {
    "neg.v2.crc32-bad": "H.7", "neg.v2.dtype-O-nofilter": "H.6", "neg.v2.dtype-empty": "H.2", "neg.v2.dtype-emptylist": "H.2",
    "neg.v2.dtype-i3": "H.2", "neg.v2.fill-b64-len": "H.3", "neg.v2.fill-string": "H.3", "neg.v2.pickle": "L105",
    "neg.v2.raw-long": "D.06", "neg.v2.shuffle-neg": "H.7", "neg.v2.vlen-bad": "H.6", "neg.v2.zlib-empty": "H.7",
}
# The stage at which malformed cases fail, by category and id. All others have a document that is not metadata of a node.
IN_DATA = ("neg-bomb", "neg-chunk", "neg-fs", "neg-shard", "neg-vlen", "neg.v2.crc32-bad", "neg.v2.raw-long",
           "neg.v2.zlib-empty", "neg.v2.vlen-bad", "neg.v2.pickle", "neg.node.cat-group-v3")
IN_EXTENSIONS = ("neg-meta-codecs", "neg-meta-ext", "neg-meta-fill", "neg-meta-huge", "neg.meta-shape.chunk-", "neg.meta-shape.shape-2^64",
                 "neg.v1.compression-unknown", "neg.v2.compressor-unknown", "neg.v2.dtype-", "neg.v2.fill-string",
                 "neg.v2.shuffle-neg")
# Types of variable length, whose elements are compared only as JSON.
OF_ANY_LENGTH = {"type:string", "type:bytes", "type:variable_length_bytes", "type:|O"}
# Categories that peers are not asked to write: output of whole programs, or cases that are not about the array.
NOT_WRITTEN = ("hier-", "neg-", "copy-", "xarray-", "demo", "v1", "v2-gdal", "v2-nczarr", "v2-fill-null", "v2-probe", "v3-probe",
               "v3-spelling")


def main():
    source, wanted = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else (None, [])
    with open(MANIFEST, encoding="utf8") as f:
        manifest = json.load(f)
    if source == "--probes":
        add_probes(manifest, wanted[0])
    elif source:
        add(manifest, source, wanted)
    for case in manifest["cases"]:
        complete(case)
    manifest["cases"].sort(key=lambda c: (c["category"], c["id"]))
    with open(MANIFEST, "w", encoding="utf8") as f:
        head = {k: v for k, v in manifest.items() if k != "cases"}
        f.write(json.dumps(head, ensure_ascii=False, indent=2)[:-2] + ',\n  "cases": [\n')
        f.write(",\n".join("    " + json.dumps(c, ensure_ascii=False) for c in manifest["cases"]))
        f.write("\n  ]\n}\n")


def add(manifest, source, wanted):
    with open(os.path.join(source, "manifest.json"), encoding="utf8") as f:
        cases = json.load(f)["cases"]
    unknown = set(wanted) - {c["id"] for c in cases} - {c["category"] for c in cases}
    if unknown:
        sys.exit("no such case: %s" % ", ".join(sorted(unknown)))
    stores = {c["store"] for c in cases if c["id"] in wanted or c["category"] in wanted}
    have = {c["id"] for c in manifest["cases"]}
    for case in cases:
        if case["store"] not in stores or case["id"] in have:
            continue
        case = {k: v for k, v in case.items() if k not in DROPPED or "args" in case}
        writer, rest = case["store"].split("/", 1)
        place = "reject/" + rest if writer == "neg" else "v%d/%s" % (case["zarr_format"], case["store"])
        target = os.path.join(HERE, place)
        if not os.path.isdir(target):
            shutil.copytree(os.path.join(source, "stores", case["store"]), target, symlinks=True)
        case["store"] = place
        manifest["cases"].append(case)
    # git does not keep empty folders, so a checkout could not restore them.
    for top in ("v1", "v2", "v3", "reject"):
        for folder, folders, files in os.walk(os.path.join(HERE, top)):
            if not folders and not files:
                sys.exit("empty folder, git would lose it: %s" % folder)


def add_probes(manifest, source):
    """Replaces all probes, because their source is here."""
    with open(os.path.join(source, "probes.json"), encoding="utf8") as f:
        cases = json.load(f)["cases"]
    manifest["cases"] = [c for c in manifest["cases"] if not c["id"].startswith("probe.")] + cases
    for case in cases:
        target = os.path.join(HERE, case["store"])
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(os.path.join(source, case["store"]), target)


def complete(case):
    """Adds the fields that follow from the others and from the store."""
    node = os.path.join(HERE, case["store"], case["array"])
    if "args" in case:
        return
    case.setdefault("rule", RULES_OF_CASES.get(case["id"], RULES.get(case["category"], "")))
    if case["kind"] == "neg":
        case.setdefault("features", features(node, case["zarr_format"]))
        if case["expect"] == "error":
            case.setdefault("failure", failure(case))
        if OF_ANY_LENGTH.intersection(features(node, case["zarr_format"])):
            # As bytes it would be refused for any reason.
            case["out_kind"] = "json"
        return
    case["features"] = features(node, case["zarr_format"])
    if case["kind"] == "group" and case["expect"] == "ok":
        case.setdefault("nodes", nodes(node))
    if case["kind"] in ("raw", "json") and case["expect"] == "ok" and not case["array"]:
        if case.pop("write", not case["category"].startswith(NOT_WRITTEN)):
            case["write"] = "zarr.json" if case["zarr_format"] == 3 else ".zarray"


def failure(case):
    """Returns the stage at which a malformed case fails: metadata, extension or data."""
    if case["category"] in IN_DATA or case["id"] in IN_DATA:
        return "data"
    if case["category"] in IN_EXTENSIONS or case["id"].startswith(IN_EXTENSIONS):
        return "extension"
    return "metadata"


def document(node, name):
    """Returns a document if it exists and can be read. Some cases have malformed documents on purpose."""
    try:
        with open(os.path.join(node, name), encoding="utf8") as f:
            found = json.load(f)
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError, RecursionError):
        return {}


def features(node, zarr_format):
    """Returns the features that a case needs: `format:3`, `type:int8`, `codec:zstd`, `grid:…`, `keys:…`."""
    found = ["format:%d" % zarr_format]
    three = document(node, "zarr.json")
    two = document(node, ".zarray") or document(node, "meta")
    if three.get("node_type") == "array":
        found.append("type:" + name(three.get("data_type")))
        found.append("grid:" + name(three.get("chunk_grid")))
        found.append("keys:" + name(three.get("chunk_key_encoding")))
        found += codecs(three.get("codecs"))
    elif two:
        found.append("type:" + name(two.get("dtype")))
        compressor = two.get("compressor", two.get("compression"))
        filters = two.get("filters")
        listed = (filters if isinstance(filters, list) else []) + [compressor]
        found += ["codec:" + name(c) for c in listed if c]
    return list(dict.fromkeys(f for f in found if not f.endswith(":")))


def codecs(found):
    out = []
    for codec in found if isinstance(found, list) else []:
        out.append("codec:" + name(codec))
        inner = codec.get("configuration") if isinstance(codec, dict) else None
        if isinstance(inner, dict) and len(out) < 20:
            out += codecs(inner.get("codecs"))
    return out


def name(value):
    if isinstance(value, dict):
        value = value.get("name", value.get("id"))
    if isinstance(value, list):
        return "struct"
    return value if isinstance(value, str) else ""


def nodes(root):
    """Returns the nodes of a hierarchy, found by their documents."""
    found = {}
    for folder, folders, files in os.walk(root):
        folders.sort()
        three = document(folder, "zarr.json").get("node_type") if "zarr.json" in files else None
        kind = three or ("array" if ".zarray" in files else "group" if ".zgroup" in files else None)
        if kind:
            found["/" + os.path.relpath(folder, root).replace(os.sep, "/").strip(".")] = kind
    return found


if __name__ == "__main__":
    main()
