#!/usr/bin/env python3
"""Makes fixtures from the output of an example of zarr-array or zarr-codec-zfp, so that all peers can be asked to read
it:

  cargo run -p zarr-array --example combinations -- FOLDER
  python3 conformance/interop/manifest.py FOLDER
  cargo xtask conformance --fixtures FOLDER

An example writes stores, and beside each `NAME` its elements, `NAME.raw` or `NAME.json`.
"""
import hashlib
import json
import pathlib
import sys


def case(elements):
    store = elements.with_suffix("")
    zarr_format = 3 if (store / "zarr.json").exists() else 2
    document = json.loads((store / ("zarr.json" if zarr_format == 3 else ".zarray")).read_text(encoding="utf8"))
    content = elements.read_bytes()
    if elements.suffix == ".json":
        content = json.dumps(json.loads(content), ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()
    dtype = document["data_type"] if zarr_format == 3 else document["dtype"]
    return {
        "id": store.name, "category": "v%d-written" % zarr_format, "zarr_format": zarr_format, "store": store.name, "array": "",
        "kind": "json" if elements.suffix == ".json" else "raw", "expect": "ok", "shape": document["shape"],
        "dtype": dtype if isinstance(dtype, str) else "", "nbytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def main(folder):
    folder = pathlib.Path(folder)
    written = [*folder.glob("*.raw"), *folder.glob("*.json")]
    found = sorted(elements for elements in written if elements.with_suffix("").is_dir())
    (folder / "manifest.json").write_text(json.dumps({"cases": [case(elements) for elements in found]}, indent=1))
    print("%d cases" % len(found))


if __name__ == "__main__":
    main(sys.argv[1])
