"""The command that the package brings: the same as that of the crate, under its own name."""

import json
import os
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import numpy as np
import pytest

import zarr_rs

SCRIPT = Path(sysconfig.get_path("scripts")) / ("zarr-rs.exe" if os.name == "nt" else "zarr-rs")
FORMS = {"script": [str(SCRIPT)], "module": [sys.executable, "-m", "zarr_rs"]}


def run(form, *arguments):
    return subprocess.run([*FORMS[form], *map(str, arguments)], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("form", FORMS)
def test_the_command_reads_what_python_wrote(form, tmp_path):
    array = zarr_rs.create_array(str(tmp_path / "a.zarr"), shape=(4, 6), chunks=(2, 3), dtype="int16")
    array[:] = np.arange(24).reshape(4, 6)
    done = run(form, "info", "--json", tmp_path / "a.zarr")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["shape"] == [4, 6]
    done = run(form, "cat", tmp_path / "a.zarr", "--format", "text", "-s", "1,2:5")
    assert (done.returncode, done.stdout.split()) == (0, ["8", "9", "10"]), done


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--version"], 0, f"zarr-rs {zarr_rs.__version__}"),
        (["ls", "--help"], 0, "zarr-rs ls "),
        (["no-such-verb"], 2, "Usage: zarr-rs "),
        ([], 2, "zarr-rs"),
        (["info", "nowhere.zarr"], 3, "zarr-rs: "),
        (["completions", "bash"], 0, "-o default zarr-rs\n"),
    ],
)
def test_messages_and_help_name_the_command_as_it_is_called(form, arguments, code, words):
    done = run(form, *arguments)
    assert done.returncode == code, done
    assert words in done.stdout + done.stderr
    assert "  zarr " not in done.stdout and "`zarr " not in done.stdout + done.stderr


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_an_interrupt_ends_the_command(tmp_path):
    zarr_rs.create_group(str(tmp_path / "a.zarr"))
    process = subprocess.Popen([*FORMS["module"], "serve", str(tmp_path / "a.zarr"), "--listen", "127.0.0.1:0"], stdout=-1, stderr=-1)
    time.sleep(2)
    assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) in {0, 130, -signal.SIGINT}


def test_a_closed_pipe_ends_the_command_without_an_error(tmp_path):
    array = zarr_rs.create_array(str(tmp_path / "a.zarr"), shape=(300000,), chunks=(100000,), dtype="int32")
    array[:] = 7
    process = subprocess.Popen([*FORMS["script"], "cat", "--format", "text", str(tmp_path / "a.zarr")], stdout=-1, stderr=-1)
    assert process.stdout.readline() == b"7\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=20) == 0
