"""Small numbers: the types of ml_dtypes."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import zarr_rs
from zarr_rs import errors, small

ml_dtypes = pytest.importorskip("ml_dtypes")

TYPES = [name for name, ml in small.NAMES.items() if hasattr(ml_dtypes, ml)]


@pytest.mark.parametrize("name", TYPES)
def test_small_numbers_are_written_and_read(name: str, tmp_path: Any) -> None:
    dtype = np.dtype(getattr(ml_dtypes, small.NAMES[name]))
    largest = 1 if "uint" in name else -1 if "8m0" not in name else 2
    values = np.array([[1, largest, 2 if "2" not in name[-1] else 1], [1, 1, largest]], dtype)
    array = zarr_rs.create_array(tmp_path, shape=(2, 4), chunks=(2, 3), dtype=dtype, fill_value=dtype.type(1))
    array[:, :3] = values
    for found in (array, zarr_rs.open_array(tmp_path)):
        assert found.dtype == dtype and found.metadata["data_type"] == name
        assert found.fill_value == dtype.type(1) and type(found.fill_value) is dtype.type
        np.testing.assert_array_equal(found[:, :3].astype("c8"), values.astype("c8"))
        np.testing.assert_array_equal(found[:, 3].astype("c8"), [1, 1])
    array[0] = [1, 1, 1, 1]
    assert np.all(array[0].astype("c8") == 1)
    assert array.append(values[:, [0, 0, 0, 0]]) == (4, 4)
    assert array[3, 3] == dtype.type(1)


@pytest.mark.parametrize(
    ("name", "values", "error"),
    [
        ("int4", [8], ValueError),
        ("int4", [-9], ValueError),
        ("uint2", [-1], ValueError),
        ("uint4", np.array([3], "int32") + 13, ValueError),
        ("int4", [1.0], TypeError),
        ("int4", np.ones(1, ml_dtypes.bfloat16), ValueError),
        ("bfloat16", ["a"], TypeError),
        ("bfloat16", [1j], TypeError),
    ],
)
def test_values_that_do_not_fit_are_an_error(name: str, values: Any, error: Any) -> None:
    array = zarr_rs.create_array("memory://", shape=(1,), dtype=name)
    with pytest.raises(error, match=f"do not fit the type {name}"):
        array[:] = values


def test_floats_are_rounded() -> None:
    array = zarr_rs.create_array("memory://", shape=(3,), dtype="bfloat16", fill_value=float("nan"))
    assert np.isnan(array.fill_value.astype("f4"))
    array[:] = np.array([0.1, 1e38, -3], "f8")
    np.testing.assert_array_equal(array[:], np.array([0.1, 1e38, -3]).astype(ml_dtypes.bfloat16))


def test_elements_need_the_package() -> None:
    code = """if True:
        import sys; sys.modules["ml_dtypes"] = None
        import zarr_rs
        array = zarr_rs.create_array("memory://", shape=(2,), dtype="bfloat16")
        print(array, array.metadata["data_type"])
        try:
            array[:]
        except NotImplementedError as e:
            print(e)
        """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "the data type bfloat16 needs the package ml_dtypes: pip install zarr-rs[ml]" in done.stdout


@pytest.mark.parametrize("dtype", [[("a", "i4", (2, 3))], [("a", ml_dtypes.bfloat16)]])
def test_fields_that_zarr_has_not_are_refused(dtype: Any) -> None:
    with pytest.raises(errors.UnsupportedError, match="field 'a' has the type"):
        zarr_rs.create_array("memory://", shape=2, dtype=np.dtype(dtype))
