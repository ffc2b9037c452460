"""References and repositories of strangers: each hostile form of the table in `conformance/references` is an error of a class,
makes no request that is not allowed, and takes little memory."""

from __future__ import annotations

import asyncio
import json
import os
import pathlib
import re
import socket
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import zarr
from zarr.core.buffer import default_buffer_prototype

import zarr_rs
from zarr_rs.errors import CorruptError, DeniedError, LimitError, StoreError, UnsupportedError, ZarrError

TABLES = pathlib.Path(__file__).parents[2] / "conformance/references"

CLASSES: dict[str, type[ZarrError]] = {
    "Corrupt": CorruptError,
    "PermissionDenied": DeniedError,
    "Unsupported": UnsupportedError,
    "LimitExceeded": LimitError,
    "RangeNotSatisfiable": CorruptError,
    "TooLarge": LimitError,
}

ARRAY = {
    "zarr_format": 2,
    "shape": [10],
    "chunks": [2],
    "dtype": "|u1",
    "compressor": None,
    "filters": None,
    "fill_value": 0,
    "order": "C",
}


def table(name: str) -> Any:
    return json.loads((TABLES / name).read_text())


def check(raised: BaseException, row: dict[str, Any]) -> None:
    """Checks the class and the text of an error."""
    assert type(raised) is CLASSES.get(row["kind"], StoreError), (row["said"], repr(raised))
    assert row["said"] in str(raised), (row["said"], str(raised))
    assert "secret@" not in str(raised)


@pytest.fixture
def places(tmp_path: pathlib.Path) -> dict[str, str]:
    """The places that are allowed: `data` below a folder, beside what is not."""
    for name in ("y.bin", "here/x.bin", "data/y.bin", "data-secret/y.bin"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(bytes(range(100)))
    (tmp_path / "data/x y.bin").write_bytes(bytes([0, 0, 0, 12]))
    return {"s3://bucket/data/": f"{tmp_path / 'data'}/"}


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    """Fails if a test takes more than 64 MiB: a hostile form may claim gigabytes."""
    if sys.platform != "linux":
        yield
        return

    def peak() -> int:
        status = pathlib.Path("/proc/self/status").read_text()
        found = re.search(r"VmHWM:\s*(\d+)", status)
        assert found is not None
        return int(found[1])

    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    yield
    assert peak() - before < 64 << 10


@pytest.fixture
def untouched() -> Iterator[int]:
    """A port to which nothing may connect."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_hostile_reference_is_an_error(tmp_path: pathlib.Path, places: dict[str, str], untouched: int) -> None:
    rows = table("hostile.json")["values"]
    if os.name == "posix":
        os.symlink("/etc/passwd", tmp_path / "data/link")
        rows.append({"value": '["s3://bucket/data/link"]', "kind": None, "said": "data/link"})
    values = [f'"h{at}/0": {row["value"].replace("PORT", str(untouched))}' for at, row in enumerate(rows)]
    arrays = [f'"{name}/.zarray": {json.dumps(ARRAY)}' for name in ["fine", *(f"h{at}" for at in range(len(rows)))]]
    fine = '"fine/0": ["x.bin", 7, 2]'
    (tmp_path / "here/refs.json").write_text(f"{{{', '.join([*values, *arrays, fine])}}}")
    location = f"{tmp_path / 'here/refs.json'}|kerchunk:"
    store = zarr_rs.Store(location, references=places, read_only=True)
    expected = [7, 8, *[0] * 8]
    assert np.array_equal(zarr_rs.open_array(location, "fine", references=places)[...], expected)
    assert np.array_equal(zarr.open_array(store, path="fine", mode="r")[...], expected)
    for at, row in enumerate(rows):
        with pytest.raises(ZarrError) as raised:
            asyncio.run(store.get(f"h{at}/0", default_buffer_prototype()))
        if row["kind"] is None:
            row["kind"] = "PermissionDenied" if isinstance(raised.value, DeniedError) else "Io"
        check(raised.value, row)
        # An array has no fill value in its place.
        with pytest.raises(ZarrError):
            zarr_rs.open_array(location, f"h{at}", references=places)[...]
        with pytest.raises(ZarrError):
            zarr.open_array(store, path=f"h{at}", mode="r")[...]


def test_hostile_files_and_directories_are_errors(tmp_path: pathlib.Path, places: dict[str, str]) -> None:
    for row in table("hostile.json")["files"]:
        content = bytes.fromhex(row["hex"]) if "hex" in row else row["text"].encode()
        (tmp_path / "here/refs.json").write_bytes(content)
        with pytest.raises(ZarrError) as raised:
            zarr_rs.open_group(f"{tmp_path / 'here/refs.json'}|kerchunk:")
        check(raised.value, row)
    directory = tmp_path / "here/refs.parq"
    (directory / "a").mkdir(parents=True)
    documents = {"metadata": {".zgroup": {"zarr_format": 2}, "a/.zarray": ARRAY}, "record_size": 5}
    (directory / ".zmetadata").write_text(json.dumps(documents))
    for row in table("hostile.json")["directories"]:
        (directory / "a/refs.0.parq").write_bytes(bytes.fromhex(row["hex"]))
        with pytest.raises(ZarrError) as raised:
            zarr_rs.open_array(f"{directory}|kerchunk:", "a", references=places)[...]
        check(raised.value, row)


def test_a_hostile_repository_is_an_error(tmp_path: pathlib.Path, places: dict[str, str]) -> None:
    repositories = table("hostile-repositories.json")
    values = [10, 11, 12, 13, 0, 15, 0, 0]
    for number, row in enumerate(repositories["cases"]):
        root = tmp_path / f"repo{number}"
        for name, content in (repositories["files"] | row["files"]).items():
            if content is not None:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_bytes(bytes.fromhex(content))
        errors = []
        for at, value in enumerate(values):
            try:
                read = zarr_rs.open_array(f"{root}|icechunk:", "a", references=places)[at]
                assert read == value, (row["said"], at)
            except ZarrError as e:
                errors.append(e)
        assert errors, row["said"]
        check(next((e for e in errors if row["said"] in str(e)), errors[0]), row)
