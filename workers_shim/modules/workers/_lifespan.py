"""The lifespan of an ASGI application around one request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any


class _Lifespan:
    """The application's lifespan task, and what it has said."""

    def __init__(self, app: Any) -> None:
        self.state: dict[str, Any] = {}
        self._orders: asyncio.Queue[dict[str, str]] = asyncio.Queue()
        self._answers: asyncio.Queue[Any] = asyncio.Queue()
        self._task = asyncio.ensure_future(self._run(app))

    async def _run(self, app: Any) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": self.state}
        try:
            await app(scope, self._orders.get, self._answers.put)
        finally:
            self._answers.put_nowait(None)

    async def say(self, order: str) -> bool:
        """Tell the application to start up or to shut down; whether it speaks this protocol."""
        self._orders.put_nowait({"type": f"lifespan.{order}"})
        answer = await self._answers.get()
        if answer is None:
            return False  # it raised or returned at once: by the specification it has no lifespan
        if answer["type"] == f"lifespan.{order}.failed":
            raise RuntimeError(f"The ASGI application's {order} failed: {answer.get('message', '')}")
        return True

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.exception()  # what it raised is its way to say that it has no lifespan


@asynccontextmanager
async def lifespan(app: Any) -> AsyncIterator[dict[str, Any] | None]:
    """Start the application up and shut it down; gives its state, or None if it has no lifespan."""
    life = _Lifespan(app)
    try:
        supported = await life.say("startup")
        try:
            yield life.state if supported else None
        finally:
            if supported:
                await life.say("shutdown")
    finally:
        await life.end()
