"""An isolate whose code is a `Program`: it reads and speaks when the simulation lets it."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Mapping
from typing import Any, Protocol

from runtime.isolates.transport import Listener
from tests.simulation.code import Body, Code, Watcher
from tests.simulation.programs import Program
from workers_shim.wire.messages import Pulse

_pids = itertools.count(1)


class Judge(Watcher, Protocol):
    """A watcher who also hears what the host says to the isolate, in the moment in which it does."""

    def told(self, isolate: ScriptedIsolate, message: Mapping[str, Any]) -> None:
        """The host sends this to the isolate."""


class ScriptedIsolate:
    """`runtime.isolates.transport.Isolate` without a process."""

    says_began = True
    parks_by_ending = False

    def __init__(self, listener: Listener, programs: Mapping[str, Program], judge: Judge) -> None:
        self.role = "work"
        self.pid = next(_pids)
        self.lost = False
        self.inbox: deque[dict[str, Any]] = deque()
        self.outbox: deque[dict[str, Any]] = deque()
        self.codes: dict[int, Code] = {}
        self.ghosts: list[tuple[int, int, int]] = []  # (run, call, attempt) of callbacks that were given up
        self._listener = listener
        self._programs = programs
        self._judge = judge

    # ---------------------------------------------------------------------------------------- as the host sees it

    def send(self, message: Mapping[str, Any], lane: int | None = None) -> None:
        if not self.lost:
            self._judge.told(self, message)
            self.inbox.append(dict(message))

    def send_data(self, stream: int, data: bytes) -> None:
        raise AssertionError("the simulation sends no bodies")

    def send_end(self, stream: int) -> None:
        raise AssertionError("the simulation sends no bodies")

    async def pulse(self) -> Pulse | None:
        return Pulse(blocked=0)

    def kill(self) -> None:
        raise AssertionError("nothing blocks in the simulation")

    def close(self) -> None:
        """Nothing is open."""

    # ---------------------------------------------------------------------------------- as the simulation moves it

    def read(self, most: int) -> int:
        """Take up to so many messages from the host; gives how many there were."""
        count = min(most, len(self.inbox))
        for _ in range(count):
            self._take(self.inbox.popleft())
        return count

    def _take(self, message: dict[str, Any]) -> None:
        kind, run = message["t"], message["run"]
        if kind == "start":
            program = self._programs[message["event"]["payload"]]
            self.codes[run] = Code(message, program, self._judge, self.outbox.append)
        elif kind == "release":
            code = self.codes.pop(run, None)
            if code is not None:
                self.ghosts += [(run, call, body.attempt) for call, body in code.attempts.items()]
            self.outbox.append({"t": "released", "run": run})
        elif run in self.codes:
            code = self.codes[run]
            if kind == "cancel" and message["call"] in code.attempts:
                self.ghosts.append((run, message["call"], message["attempt"]))
            code.hear(message)

    def speak(self, most: int) -> int:
        """Say up to so many of the messages that wait, in one go."""
        count = min(most, len(self.outbox))
        for _ in range(count):
            self._listener.on_message(self, self.outbox.popleft())
        if count:
            self._listener.on_turn(self)
        return count

    def haunt(self, which: int) -> bool:
        """A callback that was given up answers all the same, as one in JavaScript may."""
        if not self.ghosts:
            return False
        run, call, attempt = self.ghosts.pop(which % len(self.ghosts))
        self.outbox.append({"t": "ran", "run": run, "call": call, "attempt": attempt, "value": '["late"]', "size": 4})
        return True

    def dies(self) -> None:
        """Its process is gone."""
        self.lost = True
        self.codes.clear()
        self._listener.on_lost(self)

    def waiting(self) -> list[tuple[Code, Body]]:
        """The callbacks that end when the simulation lets them."""
        return [(code, body) for code in self.codes.values() for body in code.attempts.values() if body.at_the_end]

    def asked(self) -> list[tuple[Code, int]]:
        """The delay functions that have not answered yet."""
        return [(code, call) for code in self.codes.values() for call in code.asked]

    def undoing(self) -> list[Code]:
        """The runs whose undo function runs."""
        return [code for code in self.codes.values() if code.undo is not None]
