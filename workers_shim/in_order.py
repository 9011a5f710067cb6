"""`asyncio.as_completed` that starts coroutines in the order in which it was given them.

Python's own puts them into a set first, and starts them in the order of their addresses. Calls of one name are known by
their number, so a replay that starts them in another order would hand results to the wrong ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from workers_shim import current, place

_as_completed = asyncio.as_completed


def as_completed(fs: Iterable[Any], *, timeout: float | None = None) -> Any:
    """Give what is awaited in the order of completion; a set of coroutines has no order that a replay could repeat."""
    if asyncio.isfuture(fs) or asyncio.iscoroutine(fs):
        return _as_completed(fs, timeout=timeout)  # it refuses them in its own words
    given = list(dict.fromkeys(fs))
    if isinstance(fs, set | frozenset) and sum(map(asyncio.iscoroutine, given)) > 1:
        _warn()
    return _as_completed([asyncio.ensure_future(each) for each in given], timeout=timeout)


def install() -> None:
    """Put it in the place of Python's."""
    asyncio.as_completed = asyncio.tasks.as_completed = as_completed


def _warn() -> None:
    where = place.of_caller()
    current.host.warn(
        f"{where or 'as_completed'}: a set of coroutines is started in an order that differs from run to run, so a "
        "replay may give the results of steps with the same name to the wrong coroutine. Use a list.",
        once=f"as_completed {where}",
    )
