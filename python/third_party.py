"""Writes THIRD-PARTY.txt, which belongs into wheels: the licences of all crates that the native module is built from."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
from typing import Any

HERE = pathlib.Path(__file__).parent
_NAME = re.compile(r"(un)?(licen[cs]e|copying|notice|copyright)", re.IGNORECASE)
_COPYLEFT = re.compile(r"GNU (LESSER )?GENERAL PUBLIC LICENSE")


def linked(metadata: dict[str, Any]) -> set[str]:
    """Returns the ids of the crates that are linked: the dependencies of the module, and theirs, without those of tests."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found, waiting = set(), [metadata["resolve"]["root"]]
    while waiting:
        for dependency in nodes[waiting.pop()]["deps"]:
            if dependency["pkg"] not in found and any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                found.add(dependency["pkg"])
                waiting.append(dependency["pkg"])
    return found


def licences(crate: pathlib.Path) -> list[str]:
    """Returns the texts of licences in the folder of a crate, also those of libraries in C one folder below."""
    files = sorted({*crate.glob("*"), *crate.glob("*/*")})
    named = (file for file in files if file.is_file() and _NAME.match(file.name) and file.suffix not in (".rs", ".py"))
    texts = ["\n".join(line.rstrip() for line in file.read_text("utf-8", "replace").strip().splitlines()) for file in named]
    # Libraries in C are also offered under these, and are used under the other licence.
    return [text for text in texts if not _COPYLEFT.search(text[:400])]


def main() -> None:
    command = ["cargo", "metadata", "--locked", "--format-version=1", f"--manifest-path={HERE / 'Cargo.toml'}"]
    metadata = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    ids = linked(metadata)
    # Our own crates have the licence of the package.
    crates = [package for package in metadata["packages"] if package["id"] in ids and package["source"]]
    # Texts that differ only in spaces and lines are one.
    texts: dict[str, str] = {}
    users: dict[str, list[str]] = {}
    for crate in crates:
        for text in licences(pathlib.Path(crate["manifest_path"]).parent):
            key = " ".join(text.split())
            texts.setdefault(key, text)
            users.setdefault(key, []).append(crate["name"])
    lines = ["The native module of zarr-rs is built from these crates, besides those of its own repository.", ""]
    lines += [f"{crate['name']} {crate['version']}: {crate['license'] or 'see below'}" for crate in crates]
    for key, names in sorted(users.items(), key=lambda item: item[1]):
        lines += ["", "-" * 80, ", ".join(dict.fromkeys(names)), "", texts[key]]
    (HERE / "THIRD-PARTY.txt").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
