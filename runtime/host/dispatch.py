"""Where everything that an isolate says goes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runtime.cli.terminal import Terminal
from runtime.faults import fault
from runtime.http.ingress import Ingress
from runtime.isolates.transport import Isolate

from .binding import Bindings, error_data
from .binding_rules import Refused
from .isolates import Isolates
from .mismatch import Mismatches
from .run_messages import RunMessages
from .runs import Runs
from .turns import Turns

_LIFE = frozenset({"loaded", "load_failed", "drained"})
_HTTP = frozenset({"response", "request_failed", "credit"})


class Dispatch:
    """The `Listener` of all isolates."""

    isolates: Isolates
    ingress: Ingress

    def __init__(
        self, turns: Turns, runs: Runs, run_messages: RunMessages, bindings: Bindings, terminal: Terminal
    ) -> None:
        self._turns = turns
        self._runs = runs
        self._run_messages = run_messages
        self._bindings = bindings
        self._terminal = terminal
        self.mismatches = Mismatches(runs, terminal)
        self._answering: set[asyncio.Task[None]] = set()
        self._tell: dict[str, Callable[[dict[str, Any]], None]] = {
            "log": self._log,
            "mismatch": self.mismatches.happened,
            "released": self._released,
        }

    def on_message(self, isolate: Isolate, message: dict[str, Any]) -> None:
        self._turns.hold()
        if self._run_messages.handles(message):
            return
        kind = message["t"]
        if kind in _HTTP:
            self.ingress.on_message(message)
        elif kind == "bind":
            task = asyncio.create_task(self._answer(isolate, message))
            self._answering.add(task)
            task.add_done_callback(self._answering.discard)
        elif kind in _LIFE:
            self.isolates.answered(isolate, message)
        else:
            self._tell[kind](message)

    def printed(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Show `log` messages that came another way, because the code that wrote them blocks its isolate."""
        for message in messages:
            self._log({**message})

    def on_data(self, isolate: Isolate, stream: int, data: bytes) -> None:
        self.ingress.on_data(stream, data)

    def on_end(self, isolate: Isolate, stream: int) -> None:
        self.ingress.on_end(stream)

    def on_turn(self, isolate: Isolate) -> None:
        self._turns.take()

    def on_lost(self, isolate: Isolate) -> None:
        self._runs.lost(isolate)
        self._bindings.lost(isolate)
        self.ingress.lost(isolate)
        self.isolates.lost(isolate)

    async def _answer(self, isolate: Isolate, message: dict[str, Any]) -> None:
        answer: dict[str, Any] = {"t": "bound", "id": message["id"]}
        try:
            answer["value"] = await self._bindings.call(message["workflow"], message["op"], message["args"], isolate)
        except Refused as refused:
            answer["error"] = error_data(refused)
        except Exception as error:
            # The caller's code must not hang on a failure of ours; the developer sees the whole of it.
            text = f"{type(error).__name__}: {error}"
            answer["error"] = {"name": "Error", "message": f"WorkflowInternalError: {text}"}
            self._terminal.error(f"{message['workflow']}.{message['op']} failed", text)
        fault("binding.before_answer")
        isolate.send(answer)

    # ------------------------------------------------------------------------------------------------ to the person

    def _log(self, message: dict[str, Any]) -> None:
        key = self._runs.name(message["run"]) if "run" in message else None
        if message["stream"] == "warning":
            step = f", step {message['step']}" if "step" in message else ""
            where = f"{key.workflow}/{key.id}{step}: " if key is not None else ""
            self._terminal.warning(where + message["text"])
            return
        self._terminal.user_output(
            message["stream"],
            message["text"],
            key.workflow if key else None,
            key.id if key else None,
            message.get("step"),
            message.get("attempt"),
        )

    def _released(self, message: dict[str, Any]) -> None:
        self._runs.released(message["run"])
        key = self._runs.name(message["run"])
        if message.get("deaf") and key is not None:
            self._terminal.warning(
                f"{key.workflow}/{key.id}: code that was cancelled goes on, unheard",
                "It caught CancelledError and did not stop; its results count for nothing.",
            )
