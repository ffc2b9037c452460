"""The adapter for zarr-python 3."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))

import protocol
import zarr_python_3

if __name__ == "__main__":
    protocol.main(zarr_python_3)
