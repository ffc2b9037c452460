"""A codec pipeline and a store for zarr-python, written in Rust.

Use the pipeline for all arrays that are opened afterwards:

>>> import zarr, zarr_rs
>>> _ = zarr.config.set({"codec_pipeline.path": "zarr_rs.CodecPipeline"})
"""

from zarr_rs._native import __version__
from zarr_rs.pipeline import CodecPipeline
from zarr_rs.report import Counts, FallbackWarning, counts
from zarr_rs.store import Store

__all__ = ["CodecPipeline", "Counts", "FallbackWarning", "Store", "__version__", "counts"]

# zarr-python finds a pipeline by the name that its users write.
CodecPipeline.__module__ = "zarr_rs"
