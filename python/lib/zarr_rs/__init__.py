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
from zarr_rs.api import (
    array,
    consolidate_metadata,
    create,
    create_hierarchy,
    empty,
    empty_like,
    from_array,
    full,
    full_like,
    group,
    load,
    ones,
    ones_like,
    open_consolidated,
    open_like,
    print_debug_info,
    save,
    save_array,
    save_group,
    tree,
    zeros,
    zeros_like,
)
from zarr_rs.array import Array, Explanation
from zarr_rs.copying import Copied, CopyPlan, Estimate, Synced, copy, copy_async, plan_copy, sync
from zarr_rs.engine import with_engine
from zarr_rs.errors import ZarrDiagnostic, ZarrError
from zarr_rs.group import Group
from zarr_rs.multiscale import Multiscale, open_multiscale
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
    "Multiscale",
    "Store",
    "Synced",
    "ZarrDiagnostic",
    "ZarrError",
    "__version__",
    "array",
    "blocks",
    "config",
    "consolidate_metadata",
    "copy",
    "copy_async",
    "counts",
    "create",
    "create_array",
    "create_group",
    "create_hierarchy",
    "empty",
    "empty_like",
    "errors",
    "from_array",
    "full",
    "full_like",
    "group",
    "load",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_async",
    "open_consolidated",
    "open_group",
    "open_like",
    "open_multiscale",
    "partitions",
    "plan_copy",
    "print_debug_info",
    "save",
    "save_array",
    "save_group",
    "set_config",
    "sync",
    "threads",
    "tree",
    "with_engine",
    "zeros",
    "zeros_like",
]

# A program that configures no logging prints nothing.
logging.getLogger(__name__).addHandler(logging.NullHandler())

# zarr-python finds a pipeline by the name that its users write.
CodecPipeline.__module__ = "zarr_rs"

#: Names of zarr-python that are not here, and what to use.
_REFUSED = {
    "AsyncArray": "use open_async, and read_async and write_async of an array",
    "AsyncGroup": "use open_async",
    "copy_all": "use copy, which copies all nodes below",
    "copy_store": "use copy, or sync, which copies stored objects",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name == "config":
            return settings.current()
        advice = _REFUSED.get(name)
        raise AttributeError(f"module 'zarr_rs' has no attribute {name!r}" + (f": {advice}" if advice else ""))
