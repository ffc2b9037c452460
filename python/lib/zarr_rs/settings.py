"""The settings of the process: threads, requests at once, and which calls of the pipeline need no thread.

The first of these that is there counts: an argument of a call, `set_config`, a variable of the environment, zarr-python's own
setting if somebody changed it, and the default.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import os
import sys
from typing import TYPE_CHECKING, Any, Self

from zarr.core.config import config as zarr_config

from zarr_rs._native import Threads, available_threads, forget

if TYPE_CHECKING:
    from types import TracebackType

#: The most bytes of decoded chunks that the pipeline reads or writes on the thread of the event loop.
INLINE_BYTES = 256 << 10


@dataclasses.dataclass(frozen=True)
class Config:
    """The settings that hold now."""

    #: The number of threads of the process that decode and encode chunks.
    threads: int
    #: The largest number of requests that a service gets at once, or `None` for that of its client.
    in_flight: int | None
    #: The most bytes of decoded chunks that the pipeline reads or writes without another thread; 0: it always uses one.
    inline_bytes: int


#: What `set_config` has set.
_chosen: dict[str, int] = {}

#: The threads of this process.
_pool: Threads | None = None

_KEEP: Any = object()


class Changed:
    """The settings before a change, which the end of a `with` block brings back."""

    def __init__(self, before: dict[str, int]) -> None:
        self._before = before

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        _choose(self._before)


def set_config(
    *, threads: int | None = _KEEP, in_flight: int | None = _KEEP, inline_bytes: int | None = _KEEP
) -> Changed:
    """Changes settings of the process, for good or for a `with` block. `None` takes a change back.

    - `threads`: the number of threads that decode and encode chunks, of all stores together. Default: as many as the
      process may use cores, by its affinity and the quota of its control group, and in a worker of Dask no more than the
      worker has threads;
    - `in_flight`: the largest number of requests at once, for services that are opened afterwards;
    - `inline_bytes`: the most bytes of decoded chunks that the pipeline reads or writes without another thread.

    >>> with zarr_rs.set_config(threads=1):
    ...     zarr_rs.threads()
    1
    """
    before, after = dict(_chosen), dict(_chosen)
    for name, value in (("threads", threads), ("in_flight", in_flight), ("inline_bytes", inline_bytes)):
        if value is None:
            after.pop(name, None)
        elif value is not _KEEP:
            after[name] = _number(name, value, operator.index(value))
    _choose(after)
    return Changed(before)


def current() -> Config:
    """Returns the settings that hold now."""
    return Config(threads=_width(), in_flight=in_flight(), inline_bytes=inline_bytes())


def _width() -> int:
    found = _first("threads", "threading.max_workers")
    return _default_threads() if found is None else found


def in_flight() -> int | None:
    """Returns the largest number of requests that a service gets at once, if it is set."""
    return _first("in_flight", "async.concurrency")


def inline_bytes() -> int:
    """Returns the most bytes of decoded chunks that the pipeline reads or writes without another thread."""
    found = _first("inline_bytes", "codec_pipeline.zarr_rs.inline_bytes")
    return INLINE_BYTES if found is None else found


def threads() -> int:
    """Returns the number of threads of this process that decode and encode chunks. They start when they are needed."""
    return pool().width


def pool() -> Threads:
    """Returns the threads of this process, as many as the settings say now."""
    global _pool
    width = _width()
    if _pool is None:
        _pool = Threads(width)
    elif _pool.width != width:
        _pool.resize(width)
    return _pool


def forget_parent() -> None:
    """Forgets the threads after a fork: they are not in this process."""
    global _pool
    forget(_pool)
    _pool = None
    _cores.cache_clear()


def _choose(chosen: dict[str, int]) -> None:
    _chosen.clear()
    _chosen.update(chosen)
    if _pool is not None:
        pool()


def _first(name: str, in_zarr: str) -> int | None:
    """Returns a setting, or `None` for its default."""
    if name in _chosen:
        return _chosen[name]
    variable = f"ZARR_RS_{name.upper()}"
    if text := os.environ.get(variable):
        return _number(variable, text, int(text) if text.isdecimal() else -1)
    found = zarr_config.get(in_zarr, None)
    is_set = isinstance(found, int) and found >= _least(in_zarr) and found != _zarr_default(in_zarr)
    return found if is_set else None


def _least(name: str) -> int:
    return 0 if name.lower().endswith("inline_bytes") else 1


def _number(name: str, given: object, value: int) -> int:
    least = _least(name)
    if value < least:
        raise ValueError(f"{name} is {given!r}, expected an integer of {least} or more")
    return value


@functools.cache
def _zarr_default(name: str) -> Any:
    """Returns the value of a setting of zarr-python that nobody changed."""
    found: Any = zarr_config.defaults[0]
    for part in name.split("."):
        found = found.get(part, None) if isinstance(found, dict) else None
    return found


#: The system is asked once in a process.
_cores = functools.cache(available_threads)


def _default_threads() -> int:
    """Returns the number of cores that the process may use, or of the threads of its Dask workers if they are fewer."""
    cores = _cores()
    worker = sys.modules.get("distributed.worker")
    workers = () if worker is None else tuple(worker.Worker._instances)
    ours = sum(worker.state.nthreads for worker in workers)
    return min(cores, ours) if ours else cores
