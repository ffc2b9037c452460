"""What users are told: warnings, and records of loggers."""

from __future__ import annotations

import logging
import pathlib
import re
from typing import Any

import pytest
import zarr_rs
from zarr_rs import errors

ROOT = pathlib.Path(__file__).parents[2]


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
