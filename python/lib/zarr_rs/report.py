"""What users are told: warnings, records of the loggers `zarr_rs.*`, and counts of the calls of the pipeline."""

from __future__ import annotations

import dataclasses
import logging
import sys
import threading
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

    from zarr_rs.errors import ZarrDiagnostic


class FallbackWarning(UserWarning):
    """An array or a call is left to zarr-python's own pipeline. The warning is given once for each reason."""


@dataclasses.dataclass(frozen=True)
class Counts:
    """The number of calls in this process: a selection of an array that is read or written is one call."""

    reads: int = 0
    writes: int = 0
    fallback_reads: int = 0
    fallback_writes: int = 0


_counts = dict.fromkeys((field.name for field in dataclasses.fields(Counts)), 0)
_said: set[str] = set()
_lock = threading.Lock()


def counts() -> Counts:
    """Returns how many calls this package did itself, and how many zarr-python's own pipeline did."""
    with _lock:
        return Counts(**_counts)


def count(name: str) -> None:
    """Adds 1 to a field of the counts."""
    with _lock:
        _counts[name] += 1


def fall_back(reason: str) -> None:
    """Warns that zarr-python's own pipeline is used, unless this reason was said before."""
    with _lock:
        if reason in _said:
            return
        _said.add(reason)
    message = f"zarr_rs leaves this to zarr-python's own codec pipeline: {reason}"
    logging.getLogger("zarr_rs.pipeline").info(message)
    warnings.warn(message, FallbackWarning, stacklevel=2)


def diagnosed(path: str, diagnostic: ZarrDiagnostic) -> None:
    """Warns of a diagnostic of a node if another program may read other values; otherwise only logs it."""
    if diagnostic.level >= logging.WARNING:
        warnings.warn(diagnostic, stacklevel=callers_level())
    else:
        logging.getLogger("zarr_rs.metadata").log(diagnostic.level, "node %r: %s", path, diagnostic)


def callers_level() -> int:
    """Returns the level in the stack of the first function that is not of this package."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith("zarr_rs."):
        frame, level = frame.f_back, level + 1
    return level


class Unknown(Exception):
    """The engine does not know an array or a call. The text says what it does not know."""
