"""Checks wheels: the native module is not too large, and the licences, types and stubs are there.

usage: python check_wheel.py FOLDER
"""

from __future__ import annotations

import pathlib
import sys
import zipfile

#: The largest native module, in bytes: 29.7 million on x86-64 with the profile for release on 2026-11-29. The goal is 22 million.
LIMIT = 30_500_000
NEEDED = ("zarr_rs/py.typed", "zarr_rs/_native.pyi", "LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY.txt")


def check(wheel: pathlib.Path) -> list[str]:
    """Returns what is wrong with a wheel."""
    files = {file.filename: file.file_size for file in zipfile.ZipFile(wheel).infolist()}
    modules = {name: size for name, size in files.items() if name.endswith((".so", ".pyd"))}
    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes, {len(files)} files, modules {modules}")
    wrong = [f"{name} is missing" for name in NEEDED if not any(file.endswith(name) for file in files)]
    wrong += [f"{name} has {size:,} bytes, the limit is {LIMIT:,}" for name, size in modules.items() if size > LIMIT]
    wrong += [f"{name} does not belong into a wheel" for name in files if "/tests/" in name or "__pycache__" in name]
    return wrong if len(modules) == 1 else [*wrong, f"{len(modules)} native modules"]


if __name__ == "__main__":
    wheels = sorted(pathlib.Path(sys.argv[1]).glob("*.whl"))
    found = [f"{wheel.name}: {message}" for wheel in wheels for message in check(wheel)]
    sys.exit("\n".join(found) if found or wheels else "there is no wheel")
