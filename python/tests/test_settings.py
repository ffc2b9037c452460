"""The settings of the process, and the threads that they are about."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import zarr
import zarr_rs
from zarr_rs import settings

CORES = settings._cores()


@pytest.mark.parametrize(
    ("chosen", "variable", "in_zarr", "expected"),
    [
        (None, None, None, CORES),
        (None, None, 5, 5),
        (None, None, 0, CORES),
        (None, "4", 5, 4),
        (3, "4", 5, 3),
        (3, None, None, 3),
    ],
)
def test_the_first_setting_that_is_there_counts(
    chosen: int | None, variable: str | None, in_zarr: int | None, expected: int, monkeypatch: Any
) -> None:
    if variable is not None:
        monkeypatch.setenv("ZARR_RS_THREADS", variable)
    with zarr.config.set({"threading.max_workers": in_zarr}), zarr_rs.set_config(threads=chosen):
        assert (zarr_rs.threads(), zarr_rs.config.threads) == (expected, expected)
    monkeypatch.undo()
    assert zarr_rs.threads() == CORES


def test_other_settings_are_those_of_zarr_python_if_they_were_changed(monkeypatch: Any) -> None:
    assert zarr_rs.config == zarr_rs.Config(threads=CORES, in_flight=None, inline_bytes=256 << 10)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    with zarr.config.set({"async.concurrency": 3, "codec_pipeline.zarr_rs.inline_bytes": 0}):
        assert zarr_rs.config == zarr_rs.Config(threads=CORES, in_flight=3, inline_bytes=0)
        monkeypatch.setenv("ZARR_RS_IN_FLIGHT", "7")
        monkeypatch.setenv("ZARR_RS_INLINE_BYTES", "100")
        assert zarr_rs.config == zarr_rs.Config(threads=CORES, in_flight=7, inline_bytes=100)


def test_a_change_holds_until_the_end_of_its_block_or_until_the_next() -> None:
    with zarr_rs.set_config(threads=2):
        with zarr_rs.set_config(inline_bytes=1):
            zarr_rs.set_config(threads=3)
            assert (zarr_rs.threads(), zarr_rs.config.inline_bytes) == (3, 1)
        assert zarr_rs.threads() == 2
        zarr_rs.set_config(threads=None)
        assert zarr_rs.threads() == CORES


def test_wrong_settings_are_errors_that_name_them(monkeypatch: Any) -> None:
    with pytest.raises(ValueError, match="threads is 0, expected an integer of 1 or more"):
        zarr_rs.set_config(threads=0)
    with pytest.raises(TypeError):
        zarr_rs.set_config(threads="2")  # type: ignore[arg-type]
    monkeypatch.setenv("ZARR_RS_THREADS", "many")
    with pytest.raises(ValueError, match="ZARR_RS_THREADS is 'many'"):
        zarr_rs.threads()
    monkeypatch.undo()
    assert zarr_rs.threads() == CORES


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="threads are counted in /proc")
def test_all_stores_of_a_process_share_its_threads(tmp_path: Any) -> None:
    with zarr_rs.set_config(threads=3):
        for number in range(5):
            array = zarr_rs.create_array(tmp_path / str(number), shape=(4096, 512), chunks=(256, 64), dtype="f8")
            array[:] = 1
            assert array[:].sum() == 4096 * 512
    names = [(task / "comm").read_text() for task in pathlib.Path("/proc/self/task").iterdir()]
    ours = [name for name in names if name.startswith("zarr-") and name.strip()[5:].isdigit()]
    # As many as the settings of the tests before this one, and no more for each store.
    assert 0 < len(ours) <= max(CORES, 5), names


def test_a_worker_of_dask_has_no_more_threads_than_tasks() -> None:
    program = """
import sys, types, zarr_rs
worker = types.SimpleNamespace(state=types.SimpleNamespace(nthreads=1))
sys.modules["distributed.worker"] = types.SimpleNamespace(Worker=types.SimpleNamespace(_instances={1: worker}.values()))
print(zarr_rs.threads())
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "1\n"


def test_a_forked_process_has_threads_of_its_own(tmp_path: Any) -> None:
    program = f"""
import os, numpy as np, zarr_rs
array = zarr_rs.create_array({str(tmp_path)!r}, shape=(4096, 512), chunks=(256, 64), dtype="f8")
array[:] = 1
if os.fork() == 0:
    os._exit(0 if array[:].sum() == 4096 * 512 and zarr_rs.threads() > 0 else 1)
print(os.waitstatus_to_exitcode(os.wait()[1]))
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout == "0\n", found.stderr


def test_numbers_of_numpy_are_settings() -> None:
    with zarr_rs.set_config(threads=np.int64(2)):  # type: ignore[arg-type]
        assert zarr_rs.threads() == 2
