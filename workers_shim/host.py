"""What the Worker-facing modules get from the isolate (`current.Host`)."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from workers_shim import errors, values, well_formed
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
        self._unwanted: dict[int, str] = {}  # subscriptions on their way to who was cancelled: their workflows
        self._binds = 0

    def flag(self, name: str) -> bool:
        """Whether a compatibility flag is on, by list or by date."""
        return self._flags.get(name, False)

    async def bind(self, workflow: str, op: str, args: list[Any]) -> Any:
        """Call a Workflow binding's operation."""
        number = self._ask(workflow, op, args)
        answer = self._bound[number] = asyncio.get_running_loop().create_future()
        try:
            bound = await answer
        except asyncio.CancelledError:
            if op == "subscribe":
                self._unwanted[number] = workflow
                if answer.done() and not answer.cancelled():
                    self.bound(answer.result())
            raise
        finally:
            self._bound.pop(number, None)
        if "error" in bound:
            raise errors.revive(bound["error"])
        return values.decode(bound["value"])

    def tell(self, workflow: str, op: str, args: list[Any]) -> None:
        """Call a Workflow binding's operation whose answer nobody waits for."""
        self._ask(workflow, op, args)

    def _ask(self, workflow: str, op: str, args: list[Any]) -> int:
        text = well_formed.encoded(values.encode(args)[0])
        self._binds += 1
        self._send({"t": "bind", "id": self._binds, "workflow": workflow, "op": op, "args": text})
        return self._binds

    def bound(self, message: Bound) -> None:
        """Take the answer to a `bind`."""
        answer = self._bound.get(message["id"])
        if answer is not None and not answer.done():
            answer.set_result(message)
            return
        workflow = self._unwanted.pop(message["id"], None)
        if workflow is not None and "value" in message:
            self.tell(workflow, "dispose", [values.decode(message["value"])])

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
