"""What the Worker-facing modules get from the isolate (`current.Host`)."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from workers_shim import errors, values
from workers_shim.scope import NEUTRAL
from workers_shim.wire.messages import Bound

Send = Callable[[Mapping[str, Any]], None]


class IsolateHost:
    """The isolate's side of `current.Host`."""

    def __init__(self, send: Send, date: str, flags: Mapping[str, bool]) -> None:
        self.env: Any = None
        self.compatibility_date = date
        self.work: set[asyncio.Future[Any]] = set()  # all wait_until work that is not done
        self.idle: Callable[[], None] = lambda: None  # called when some of it is
        self._send = send
        self._flags = flags
        self._said: set[str] = set()
        self._bound: dict[int, asyncio.Future[Bound]] = {}
        self._binds = 0

    def flag(self, name: str) -> bool:
        """Whether a compatibility flag is on, by list or by date."""
        return self._flags.get(name, False)

    async def bind(self, workflow: str, op: str, args: list[Any]) -> Any:
        """Call a Workflow binding's operation."""
        self._binds += 1
        number = self._binds
        answer = self._bound[number] = asyncio.get_running_loop().create_future()
        text = values.encode(args)[0]
        self._send({"t": "bind", "id": number, "workflow": workflow, "op": op, "args": text})
        try:
            bound = await answer
        finally:
            self._bound.pop(number, None)
        if "error" in bound:
            raise errors.revive(bound["error"])
        return values.decode(bound["value"])

    def bound(self, message: Bound) -> None:
        """Take the answer to a `bind`."""
        answer = self._bound.get(message["id"])
        if answer is not None and not answer.done():
            answer.set_result(message)

    def wait_until(self, awaitable: Awaitable[Any]) -> None:
        """Keep the current request's context alive until the awaitable is done; its error is logged."""
        if not inspect.isawaitable(awaitable):
            return
        future = asyncio.ensure_future(awaitable)
        self.work.add(future)
        future.add_done_callback(self._worked, context=NEUTRAL)

    def _worked(self, future: asyncio.Future[Any]) -> None:
        self.work.discard(future)
        if not future.cancelled() and (error := future.exception()) is not None:
            for line in errors.user_traceback(error).splitlines():
                self._send({"t": "log", "stream": "stderr", "text": line})
        self.idle()

    def warn(self, text: str, *, once: str | None = None) -> None:
        """Tell the developer something, at most once for each ``once`` key."""
        if once is not None:
            if once in self._said:
                return
            self._said.add(once)
        self._send({"t": "log", "stream": "warning", "text": text})
