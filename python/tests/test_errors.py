"""What users are told: exceptions with the numbers of the operating system, warnings, and records of loggers."""

from __future__ import annotations

import contextlib
import errno
import logging
import pathlib
import pickle
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import zarr_rs
from conftest import ours
from zarr_rs import errors

resource = pytest.importorskip("resource")

ROOT = pathlib.Path(__file__).parents[2]


@contextlib.contextmanager
def small_files() -> Iterator[None]:
    """A file may have 64 KiB. Python ignores the signal, so a larger one is an error."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def small_disk(tmp_path: Any) -> Iterator[Any]:
    """A disk of 64 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("only root may mount a disk")
    yield disk
    # An array may still be open.
    subprocess.run(["umount", "--lazy", disk], check=True)


def array_of(place: Any, through: str) -> Any:
    """Creates an array with one chunk of 1 MiB, and opens it."""
    array = zarr_rs.create_array(place, shape=(1 << 20,), chunks=(1 << 20,), dtype="u1", codecs=["bytes"])
    match through:
        case "native":
            return array
        case "Store":
            return ours(zarr_rs.Store(place), mode="r+")
        case _:
            return ours(str(place), mode="r+")


THROUGH = pytest.mark.parametrize("through", ["native", "Store", "LocalStore"])


@THROUGH
def test_a_file_that_is_too_large_is_an_error_of_the_system(through: str, tmp_path: Any) -> None:
    array = array_of(tmp_path / "a", through)
    with small_files(), pytest.raises(OSError, match='"c/0"') as raised:
        array[...] = 1
    check(raised.value, errno.EFBIG, tmp_path / "a/c/0")
    array[...] = 1
    assert np.all(array[...] == 1)


@THROUGH
def test_a_full_disk_is_an_error_of_the_system(through: str, small_disk: Any) -> None:
    array = array_of(small_disk / "a", through)
    with pytest.raises(OSError, match='"c/0"') as raised:
        array[...] = 1
    check(raised.value, errno.ENOSPC, small_disk / "a/c/0")


@pytest.mark.parametrize("way", [zarr_rs.copy, zarr_rs.sync])
def test_an_error_of_the_system_in_a_copy_names_the_file(way: Any, tmp_path: Any) -> None:
    source = array_of(tmp_path / "from", "native")
    source[...] = 1
    (tmp_path / "to").mkdir()
    with small_files(), pytest.raises(OSError, match="c/0") as raised:
        way(source, tmp_path / "to")
    assert (raised.value.errno, type(raised.value)) == (errno.EFBIG, errors.StoreError)
    assert raised.value.filename.startswith(str(tmp_path / "to")) and raised.value.filename.endswith("c/0")


def check(e: Any, number: int, file: Any) -> None:
    assert isinstance(e, errors.StoreError) and not isinstance(e, MemoryError)
    assert (e.errno, e.filename, e.key) == (number, str(file), "c/0")
    again = pickle.loads(pickle.dumps(e))
    assert (str(again), again.errno, again.filename, again.key) == (str(e), e.errno, e.filename, e.key)


@pytest.mark.parametrize(
    ("kind", "number", "error", "found"),
    [
        ("Io", errno.EDQUOT, errors.StoreError, errno.EDQUOT),
        ("Io", errno.ENOENT, errors.NotFoundError, errno.ENOENT),
        ("Io", errno.EEXIST, errors.ExistsError, errno.EEXIST),
        ("PermissionDenied", errno.EACCES, errors.DeniedError, errno.EACCES),
        ("PermissionDenied", errno.EROFS, errors.DeniedError, errno.EROFS),
        ("Io", errno.EPERM, errors.DeniedError, errno.EPERM),
        # Of a store that has no numbers.
        ("PermissionDenied", None, errors.DeniedError, errno.EACCES),
        ("NotFound", None, errors.NotFoundError, errno.ENOENT),
        ("Unavailable", None, errors.StoreError, None),
        # A limit is not one of memory.
        ("LimitExceeded", None, errors.LimitError, None),
    ],
)
def test_a_number_decides_the_class(kind: str, number: int | None, error: Any, found: int | None) -> None:
    e: Any = errors.of_kind(kind, "it failed", "/a", [0], "c/0", (number, "/d/c/0", "/d"))
    assert type(e) is error and str(e) == "it failed" and (e.kind, e.array) == (kind, "/a")
    assert getattr(e, "errno", None) == found
    assert getattr(e, "filename", None) == ("/d/c/0" if found else None)
    assert not isinstance(e, MemoryError)


def test_only_a_lack_of_memory_is_a_memory_error() -> None:
    array = zarr_rs.create_array("memory://", shape=(1 << 46,), chunks=(1 << 20,), dtype="u1")
    with pytest.raises(errors.LimitError) as raised:
        array.read_many([slice(None)])
    assert isinstance(raised.value, MemoryError) == isinstance(raised.value, errors.OutOfMemoryError)
    assert isinstance(errors.of_kind("OutOfMemory", "", None, None, None, (None, None, None)), MemoryError | ValueError)


def test_a_file_in_place_of_a_store_is_named(tmp_path: Any) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(OSError) as raised:
        zarr_rs.open(tmp_path / "a")
    assert (raised.value.errno, raised.value.filename) == (errno.ENOTDIR, str(tmp_path / "a"))


def test_an_error_has_the_location_of_the_store(tmp_path: Any) -> None:
    place = tmp_path / "a"
    array = zarr_rs.create_array(place, "x", shape=4, chunks=2, dtype="f4")
    array[:] = 1
    (place / "x/c/1").write_bytes(b"broken")
    memory = zarr_rs.create_group("memory://weather")
    for call, location in (
        (lambda: array[:], str(place)),
        (lambda: zarr_rs.open(place, "nothing"), str(place)),
        (lambda: zarr_rs.open(tmp_path / "b"), str(tmp_path / "b")),
        (lambda: zarr_rs.create_array(place, "x", shape=4, dtype="f4"), str(place)),
        (lambda: zarr_rs.open(memory.store, "nothing"), "memory://weather"),
        (lambda: memory["nothing"], "memory://weather"),
        (lambda: zarr_rs.open("http://user:secret@127.0.0.1:9/x?key=secret", retries=0), "http://127.0.0.1:9/x?"),
    ):
        with pytest.raises(errors.ZarrError) as raised:
            call()
        e = raised.value
        assert e.location is not None and location.split("//")[-1][:9] in e.location and "secret" not in f"{e} {e.location}"
        assert location in str(e) or "…" in str(e)
        again = pickle.loads(pickle.dumps(e))
        assert (str(again), vars(again)) == (str(e), vars(e))


def test_every_code_of_the_engine_has_a_level() -> None:
    tables = ["crates/zarr-meta/src/code.rs", "crates/zarr-xarray/src/finding.rs"]
    codes = [code for table in tables for code in re.findall(r'^    \w+ "(\w+)" ', (ROOT / table).read_text(), re.M)]
    assert len(codes) > 100
    assert sorted(errors._LEVELS) == sorted(codes)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [("{", "\ufeff{", "ZM001"), ("{", '{"shape": [1], ', "ZM003")],
    ids=["another program may not read it", "another program may read other values"],
)
def test_only_what_changes_values_is_a_warning(old: str, new: str, code: str, tmp_path: Any, caplog: Any) -> None:
    zarr_rs.create_array(tmp_path, shape=(3,), dtype="i4")
    document = tmp_path / "zarr.json"
    document.write_text(document.read_text().replace(old, new, 1))
    caplog.set_level(logging.DEBUG, "zarr_rs")
    if code == "ZM003":
        with pytest.warns(zarr_rs.ZarrDiagnostic, match=code) as said:
            array = zarr_rs.open(tmp_path)
        assert said[0].filename == __file__
        assert not caplog.records
    else:
        array = zarr_rs.open(tmp_path)
        assert [(r.name, r.levelno) for r in caplog.records] == [("zarr_rs.metadata", logging.INFO)]
        assert code in caplog.text
    assert [diagnostic.code for diagnostic in array.diagnostics] == [code]
