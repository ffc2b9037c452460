"""The threads that wait for the engine on behalf of event loops.

They are not those of the event loop: a store may need these to answer, such as zarr-python's store of a directory. If
calls waited in all of them, they would wait forever. Python does not wait for them when the process ends.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import threading
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from zarr_rs._native import Calls, forget

if TYPE_CHECKING:
    from collections.abc import Callable

_calls: Calls | None = None

#: Requests to synchronous stores. They have threads of their own, because calls wait for them.
_requests: Calls | None = None

#: The most threads of each of these.
_THREADS = 64

#: The most threads of one purpose, and tasks that share the items of a call. They wait for stores more than they compute.
TASKS = 32

#: The tasks that wait for a call.
_tasks: set[asyncio.Task[Any]] = set()

#: The longest time in seconds for which the end of the process waits for calls, which it cancels.
_END = 5.0

#: The steps of an event loop in which tasks end that were cancelled: more than tasks that wait for each other.
_STEPS = 50

P = ParamSpec("P")
T = TypeVar("T")


async def run(work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Does the work in a thread. Threads are started when they are needed.

    If the task of the caller is cancelled, so is the work: its requests are dropped. The caller does not wait for that.
    """
    global _calls
    if _calls is None:
        _calls = Calls(_THREADS)
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    settle: Callable[..., object] = functools.partial(_settle, future)
    done = functools.partial(loop.call_soon_threadsafe, settle)
    call = _calls.start(functools.partial(work, *arguments, **options), done)
    task = asyncio.current_task()
    assert task is not None
    _tasks.add(task)
    try:
        return await future
    except asyncio.CancelledError:
        call.cancel()
        raise
    finally:
        _tasks.discard(task)


def _settle(future: asyncio.Future[Any], result: Any, raised: BaseException | None) -> None:
    """Gives a future what a call returned or raised, unless it has been cancelled."""
    if future.done():
        return
    if raised is None:
        future.set_result(result)
    else:
        future.set_exception(raised)


async def run_each(work: Callable[[int], None], count: int) -> None:
    """Does the work for each of the numbers below `count`."""

    def some(first: int) -> None:
        for item in range(first, count, TASKS):
            work(item)

    await asyncio.gather(*(run(some, first) for first in range(min(count, TASKS))))


def request(work: Callable[[], object], done: Callable[[Any, BaseException | None], object]) -> None:
    """Does a request to a synchronous store in a thread, and calls `done` with its result or exception."""
    global _requests
    if _requests is None:
        _requests = Calls(_THREADS)
    _requests.start(work, done)


def forget_parent() -> None:
    """Forgets the threads after a fork: they are not in this process."""
    global _calls, _requests
    forget((_calls, _requests, list(_tasks)))
    _calls = _requests = None
    _tasks.clear()


@atexit.register
def _end() -> None:
    """Cancels the calls that are left, such as that of an interrupted read of zarr-python, and the tasks that wait for them."""
    tasks = list(_tasks)
    loops = {task.get_loop() for task in tasks}
    for task in tasks:
        _soon(task.get_loop(), task.cancel)
    for threads in (_calls, _requests):
        if threads is not None:
            threads.end(_END)
    for loop in loops:
        ended = threading.Event()
        if loop.is_running() and _soon(loop, _after_steps, loop, ended, _STEPS):
            ended.wait(_END)


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[..., object], *arguments: Any) -> bool:
    """Makes an event loop call something soon. Returns `False` if the loop is closed."""
    try:
        loop.call_soon_threadsafe(call, *arguments)
    except RuntimeError:
        return False
    return True


def _after_steps(loop: asyncio.AbstractEventLoop, ended: threading.Event, steps: int) -> None:
    """Sets the event after some steps of an event loop, in which tasks that have been cancelled end."""
    if steps == 0:
        ended.set()
    else:
        loop.call_soon(_after_steps, loop, ended, steps - 1)
