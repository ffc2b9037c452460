"""Zarr for Python, written in Rust: arrays and groups, and a codec pipeline and a store for zarr-python.

>>> import zarr_rs
>>> a = zarr_rs.create_array("memory://", shape=(4, 6), chunks=(2, 3), dtype="float32")
>>> a[:] = 1
>>> float(a[:].sum())
24.0

The pipeline is for all arrays that zarr-python opens afterwards:

>>> import zarr
>>> _ = zarr.config.set({"codec_pipeline.path": "zarr_rs.CodecPipeline"})
"""

import logging
from typing import TYPE_CHECKING, Any

from zarr_rs import errors, settings
from zarr_rs._native import __version__
from zarr_rs.array import Array, Explanation
from zarr_rs.copying import Copied, CopyPlan, Estimate, Synced, copy, copy_async, plan_copy, sync
from zarr_rs.errors import ZarrDiagnostic, ZarrError
from zarr_rs.group import Group
from zarr_rs.opening import create_array, create_group, open, open_array, open_async, open_group
from zarr_rs.partition import blocks, partitions
from zarr_rs.pipeline import CodecPipeline
from zarr_rs.report import Counts, FallbackWarning, counts
from zarr_rs.settings import Config, set_config, threads
from zarr_rs.store import Store

if TYPE_CHECKING:
    #: The settings that hold now.
    config: Config

__all__ = [
    "Array",
    "CodecPipeline",
    "Config",
    "Copied",
    "CopyPlan",
    "Counts",
    "Estimate",
    "Explanation",
    "FallbackWarning",
    "Group",
    "Store",
    "Synced",
    "ZarrDiagnostic",
    "ZarrError",
    "__version__",
    "blocks",
    "config",
    "copy",
    "copy_async",
    "counts",
    "create_array",
    "create_group",
    "errors",
    "open",
    "open_array",
    "open_async",
    "open_group",
    "partitions",
    "plan_copy",
    "set_config",
    "sync",
    "threads",
]

# A program that configures no logging prints nothing.
logging.getLogger(__name__).addHandler(logging.NullHandler())

# zarr-python finds a pipeline by the name that its users write.
CodecPipeline.__module__ = "zarr_rs"


def __getattr__(name: str) -> Any:
    if name == "config":
        return settings.current()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
