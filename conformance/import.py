#!/usr/bin/env python3
"""Copies fixtures from a collection of recorded stores into this folder.

  python3 import.py ../../shared/fixtures CASE-ID...

Each named case brings its store, and every other case of the same store that its writer's manifest has. What is here
already stays as it is. The collection's layout is the one of this folder (README.md), with paths below its `stores/`.
"""
import json
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MANIFEST = os.path.join(HERE, "manifest.json")
# What other implementations answered is bulky, and `confirmed_by` sums it up. Of a copy it names who must read it.
DROPPED = ["readers"]


def main():
    source, wanted = sys.argv[1], sys.argv[2:]
    with open(os.path.join(source, "manifest.json"), encoding="utf8") as f:
        cases = json.load(f)["cases"]
    with open(MANIFEST, encoding="utf8") as f:
        manifest = json.load(f)
    unknown = set(wanted) - {c["id"] for c in cases}
    if unknown:
        sys.exit("no such case: %s" % ", ".join(sorted(unknown)))
    stores = {c["store"] for c in cases if c["id"] in wanted}
    have = {c["id"] for c in manifest["cases"]}
    for case in cases:
        if case["store"] not in stores or case["id"] in have:
            continue
        case = {k: v for k, v in case.items() if k not in DROPPED or "args" in case}
        target = os.path.join(HERE, "stores", case["store"])
        if not os.path.isdir(target):
            shutil.copytree(os.path.join(source, "stores", case["store"]), target, symlinks=True)
        case["store"] = "stores/" + case["store"]
        manifest["cases"].append(case)
    # Nothing that a checkout could not restore: git keeps no empty folders.
    for folder, folders, files in os.walk(os.path.join(HERE, "stores")):
        if not folders and not files:
            sys.exit("empty folder, git would lose it: %s" % folder)
    manifest["cases"].sort(key=lambda c: (c["category"], c["id"]))
    with open(MANIFEST, "w", encoding="utf8") as f:
        head = {k: v for k, v in manifest.items() if k != "cases"}
        f.write(json.dumps(head, ensure_ascii=False, indent=2)[:-2] + ',\n  "cases": [\n')
        f.write(",\n".join("    " + json.dumps(c, ensure_ascii=False) for c in manifest["cases"]))
        f.write("\n  ]\n}\n")


if __name__ == "__main__":
    main()
