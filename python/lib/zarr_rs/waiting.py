"""The threads that wait for the engine.

They are not those of the event loop: a store may need these to answer, such as zarr-python's store of a directory. If
calls waited in all of them, they would wait forever.
"""

from __future__ import annotations

import asyncio
import functools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from zarr_rs._native import forget

if TYPE_CHECKING:
    from collections.abc import Callable

_executor: ThreadPoolExecutor | None = None

#: The most threads of one purpose, and tasks that share the items of a call. They wait for stores more than they compute.
TASKS = 32

P = ParamSpec("P")
T = TypeVar("T")


async def run(work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Does the work in a thread. Threads are started when they are needed."""
    global _executor
    if _executor is None:
        _executor = ThreadPoolExecutor(TASKS, thread_name_prefix="zarr_rs")
    call = functools.partial(work, *arguments, **options)
    return await asyncio.get_running_loop().run_in_executor(_executor, call)


async def run_each(work: Callable[[int], None], count: int) -> None:
    """Does the work for each of the numbers below `count`."""

    def some(first: int) -> None:
        for item in range(first, count, TASKS):
            work(item)

    await asyncio.gather(*(run(some, first) for first in range(min(count, TASKS))))


def forget_parent() -> None:
    """Forgets the threads after a fork: they are not in this process."""
    global _executor
    forget(_executor)
    _executor = None
