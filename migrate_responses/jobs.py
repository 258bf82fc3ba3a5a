"""Several processes for one run: each looks at parts of a project that have nothing to do with the others.

Trees cannot be shared (to hand one over takes as long as to parse it), so a part is parsed, looked at and
rewritten where it is given to, and only results come back.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from .room import only_run
from .signals import undisturbed, with_other_processes

_Result = TypeVar("_Result")
Part = Mapping[str, bytes]

# Below this, in bytes of source, other processes take longer to start than they save.
_WORTH = 400_000
_EACH = 1_000  # bytes that a file counts for beside its own: those with little but a call take as long
# Loaded once, for all processes: the engine, and what keeps them quiet while they start.
_PRELOADED = ["migrate_responses.quiet", "migrate_responses.run"]
_MOST = 8  # by default: memory is taken by each


def default() -> int:
    """How many processes to use where nobody says: as many as there are processors for this one."""
    try:
        available = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # neither macOS nor Windows has it
        available = os.cpu_count() or 1
    return min(available, _MOST)


def spread(
    work: Callable[[Part], _Result], parts: Sequence[Part], jobs: int, told: Callable[[int], None]
) -> list[_Result]:
    """``work`` done on each of ``parts``, in their order; by ``jobs`` processes if there is enough to do.

    ``work`` and its results have to be such that pickle can hand them over. ``told`` is called with the
    number of parts that are done.
    """
    if not _is_worth_it(parts, jobs):
        return _in_turn(work, parts, told)
    from concurrent.futures.process import BrokenProcessPool

    with with_other_processes():
        try:
            return _at_once(work, parts, jobs, told)
        except (BrokenProcessPool, ConnectionError, EOFError):
            # One was killed, most likely for want of memory: slowly, then.
            return _in_turn(work, parts, told)


def _is_worth_it(parts: Sequence[Part], jobs: int) -> bool:
    if jobs < 2 or len(parts) < 2:
        return False
    sizes = [_size(part) for part in parts]
    return sum(sizes) - max(sizes) > _WORTH


def _in_turn(
    work: Callable[[Part], _Result], parts: Sequence[Part], told: Callable[[int], None]
) -> list[_Result]:
    """The largest part last: nothing comes after it that its trees would have to make room for."""
    results: dict[int, _Result] = {}
    for number in sorted(range(len(parts)), key=lambda number: _size(parts[number])):
        told(len(results))
        results[number] = work(parts[number])
    return [results[number] for number in range(len(parts))]


def _size(part: Part) -> int:
    return sum(len(data) + _EACH for data in part.values())


def _at_once(
    work: Callable[[Part], _Result], parts: Sequence[Part], jobs: int, told: Callable[[int], None]
) -> list[_Result]:
    import multiprocessing
    from concurrent.futures import Future, ProcessPoolExecutor, as_completed

    # Never a fork of this process: another of its threads may hold a lock.
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(method)
    os.environ["PYTHONSAFEPATH"] = "1"  # new processes would first look for modules in the current directory
    if method == "forkserver":
        context.set_forkserver_preload(_PRELOADED)
        _start_server()
    before = set(multiprocessing.active_children())
    executor = ProcessPoolExecutor(min(jobs, len(parts)), context, _begin)
    try:
        order = sorted(range(len(parts)), key=lambda number: -_size(parts[number]))
        with undisturbed():  # a process that starts and is not told what to do would complain
            waiting: dict[Future[_Result], int] = {
                executor.submit(work, parts[number]): number for number in order
            }
        results: dict[int, _Result] = {}
        for future in as_completed(waiting):
            results[waiting[future]] = future.result()
            told(len(results))
        return [results[number] for number in range(len(parts))]
    except BaseException:  # Ctrl-C: nobody waits for what the others are about
        for child in set(multiprocessing.active_children()) - before:
            child.terminate()
        raise
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def _start_server() -> None:
    """Start the processes that make the others and clean up after them, such that they are quiet.

    The one would tell of Ctrl-C line by line, the other warn of what it finds once this process is gone.
    """
    from multiprocessing import resource_tracker
    from multiprocessing.forkserver import ensure_running

    with undisturbed():
        with _environment("PYTHONWARNINGS", "ignore"):
            resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _begin() -> None:
    """In a process of the pool: end with the one that asked for it, which alone hears Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    only_run()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process
    from multiprocessing.connection import wait

    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
