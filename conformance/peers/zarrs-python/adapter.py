"""The adapter for zarrs-python: zarr-python with the codecs of zarrs."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))

import zarr
import zarrs  # noqa: F401, which registers the pipeline

import protocol
import zarr_python_3

if __name__ == "__main__":
    zarr_python_3.LACKS.append("Non-native byte order not supported")
    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    protocol.main(zarr_python_3)
