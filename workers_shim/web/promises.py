"""What JavaScript's promises are here: futures of the running loop, which are at work whether awaited or not."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable
from typing import Any


def started(result: Any) -> asyncio.Future[Any]:
    """The future of a function's result: of the awaitable it gave, or of the value."""
    if inspect.isawaitable(result):
        return asyncio.ensure_future(result)
    return done(result)


def done(value: Any = None) -> asyncio.Future[Any]:
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    future.set_result(value)
    return future


def rejected(error: BaseException) -> asyncio.Future[Any]:
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    future.set_exception(error)
    return future


def observed(future: asyncio.Future[Any]) -> None:
    """As a callback: the future's error is told elsewhere, so it is not an unhandled one."""
    if not future.cancelled():
        future.exception()


async def settled(value: Awaitable[Any] | Any) -> Any:
    """The value, awaited if it is a promise."""
    return await value if inspect.isawaitable(value) else value
