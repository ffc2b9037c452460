"""Runs a program, and measures its whole process."""
import os
import subprocess
import tempfile
import time


def timed(command, **options):
    """Returns the wall seconds, CPU seconds and peak MiB of a process, or why it failed.

    The peak is at least that of this process, so whoever calls this imports nothing large."""
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, **options)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            lines = [line.strip("| ") for line in errors.read().decode(errors="replace").splitlines()]
            named = [line for line in lines if "Error" in line] or lines or ["no message"]
            return {"failed": f"{named[-1]} (exit {process.returncode})"}
    return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "mib": usage.ru_maxrss / 1024}
