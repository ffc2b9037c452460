"""The command `zarr-rs`, also as `python -m zarr_rs`.

zarr-python has a command with the name `zarr`, so this one has another name. It is the same program as the command of the
crate zarr-cli.
"""

import signal
import sys

from zarr_rs import _native


def main() -> int:
    """Runs the command with the arguments of the process and returns its exit code."""
    # Python would only note a Ctrl-C until the command returns.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.command(["zarr-rs", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
