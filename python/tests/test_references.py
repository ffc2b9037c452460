"""Files of references of kerchunk and Icechunk repositories, read by the engine."""

from __future__ import annotations

import hashlib
import json
import pathlib
import pickle
import zipfile
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr

import zarr_rs
from zarr_rs.errors import DeniedError, ZarrError


@pytest.fixture
def archive(tmp_path: pathlib.Path) -> tuple[str, pathlib.Path]:
    """A file of references to the chunks of an array of format 2, which lie in one other file."""
    plain, data = tmp_path / "plain", tmp_path / "data"
    data.mkdir()
    values = np.arange(60, dtype="<i4").reshape(10, 6)
    names = {"_ARRAY_DIMENSIONS": ["y", "x"]}
    array = zarr.create_array(
        plain, name="t", shape=(10, 6), chunks=(4, 6), dtype="<i4", fill_value=-1, zarr_format=2, attributes=names
    )
    array[...] = values
    refs: dict[str, Any] = {}
    with open(data / "all.bin", "wb") as written:
        for file in sorted(filter(pathlib.Path.is_file, plain.rglob("*"))):
            key = str(file.relative_to(plain))
            if file.name.startswith(".z"):
                refs[key] = file.read_text()
            else:
                refs[key] = [f"file://{data}/all.bin", written.tell(), file.stat().st_size]
                written.write(file.read_bytes())
    (tmp_path / "a.json").write_text(json.dumps({"version": 1, "refs": refs}))
    return f"{tmp_path / 'a.json'}|kerchunk:", data


def test_references_are_read_from_the_places_that_are_allowed(archive: tuple[str, pathlib.Path]) -> None:
    location, data = archive
    expected = np.arange(60).reshape(10, 6)
    for allowed in (str(data), [f"file://{data}/"], {str(data): None}):
        array = zarr_rs.open_array(location, "t", references=allowed)
        assert np.array_equal(array[...], expected)
    store = zarr_rs.Store(location, references=str(data), read_only=True)
    assert pickle.loads(pickle.dumps(store)) == store != zarr_rs.Store(location, read_only=True)
    assert np.array_equal(zarr.open_array(store, path="t", mode="r")[...], expected)
    opened = xr.open_dataset(location, engine="zarr_rs", storage_options={"references": [str(data)]})
    assert np.array_equal(opened["t"], expected)


def test_content_that_was_moved_is_found(archive: tuple[str, pathlib.Path]) -> None:
    location, data = archive
    data.rename(data.with_name("moved"))
    moved = {f"file://{data}": str(data.with_name("moved"))}
    assert zarr_rs.open_array(location, "t", references=moved)[9, 5] == 59
    with pytest.raises(ZarrError, match="all.bin"):
        zarr_rs.open_array(location, "t", references=str(data))[...]


def test_other_places_are_refused(archive: tuple[str, pathlib.Path]) -> None:
    location, data = archive
    for allowed in (None, [], f"{data}-secret"):
        with pytest.raises(DeniedError, match="with references="):
            zarr_rs.open_array(location, "t", references=allowed)[...]
    with pytest.raises(ValueError, match="references: "):
        zarr_rs.open_array(location, "t", references="here")
    with pytest.raises(ZarrError):
        zarr_rs.open_array(location, "t", mode="r+", references=str(data))[0, 0] = 1


FIXTURES = pathlib.Path(__file__).parents[2] / "conformance/references"


def cases(folder: str, to: pathlib.Path) -> list[dict[str, Any]]:
    """Unpacks what is in a folder of the fixtures, and the files that it refers to, and returns its cases."""
    with zipfile.ZipFile(FIXTURES / "references.zip") as file:
        file.extractall(to, [name for name in file.namelist() if name.startswith((folder, "data/"))])
    return [case for case in json.loads((FIXTURES / "expected.json").read_text()) if case["url"].startswith(folder)]


def check_arrays(case: dict[str, Any], location: str, **options: Any) -> int:
    """Compares all arrays that a case names, and returns their number."""
    for path, expected in case["nodes"]["arrays"].items():
        array = zarr_rs.open_array(location, path, **options)
        assert list(array.shape) == expected["shape"]
        if "strings" not in expected:
            values = np.ascontiguousarray(array[...])
            assert hashlib.sha256(values.tobytes()).hexdigest() == expected["sha256"], (case["id"], path)
    return len(case["nodes"]["arrays"])


def test_references_in_parquet_are_read(tmp_path: pathlib.Path) -> None:
    read = 0
    for case in cases("kerchunk/weather.parq", tmp_path):
        places = {place: str(tmp_path / "data") for place in case["needs"]}
        read += check_arrays(case, f"{tmp_path / case['url']}|kerchunk:", references=places)
    assert read == 7
    with pytest.raises(NotImplementedError, match=r"these are references: open .*weather.parq\|kerchunk:"):
        zarr_rs.open(tmp_path / "kerchunk/weather.parq")


def test_an_icechunk_repository_is_read_at_a_branch_a_tag_or_a_snapshot(tmp_path: pathlib.Path) -> None:
    read = 0
    for case in cases("icechunk/v2-basic", tmp_path):
        if case["url"] != "icechunk/v2-basic":
            continue
        location = f"{tmp_path / case['url']}|icechunk:{(case['ref'] or '').replace(' ', '%20')}"
        if "error" in case:
            with pytest.raises((ZarrError, FileNotFoundError, ValueError), match=case["error"] or "NOTANID"):
                zarr_rs.open_group(location)
            continue
        read += check_arrays(case, location)
    assert read == 64


def test_references_and_repositories_are_read_from_an_archive() -> None:
    archive = FIXTURES / "references.zip"
    # A relative location leads to another file of the archive.
    array = zarr_rs.open_array(f"{archive}|zip:kerchunk/relative.json|kerchunk:", "a")
    with zipfile.ZipFile(archive) as members:
        assert np.ascontiguousarray(array[...]).tobytes() == members.read("data/whole.bin")[:128]
    group = zarr_rs.open_group(f"{archive}|zip:icechunk/v2-basic|icechunk:@tag.v1.0")
    assert group["lat"].shape == (10,)
