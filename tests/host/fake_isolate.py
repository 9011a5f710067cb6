"""An isolate without a process: it records what it is told, and the test says what the code in it does."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

from runtime.isolates.transport import Listener, Message
from workers_shim.wire import devalue
from workers_shim.wire.messages import Pulse

_pids = itertools.count(1)


class FakeIsolate:
    """`runtime.isolates.transport.Isolate`, played by a test."""

    inspector: str | None = None

    def __init__(self, listener: Listener, role: str = "work", *, parks_by_ending: bool = False) -> None:
        self.role = role
        self.parks_by_ending = parks_by_ending
        self.says_began = not parks_by_ending
        self.pid = next(_pids)
        self.sent: list[dict[str, Any]] = []  # all that it was told
        self.beat: Pulse | None = Pulse(blocked=0)
        self.killed = False
        self.lost = False
        self._listener = listener

    def send(self, message: Message, lane: int | None = None) -> None:
        if not self.lost:
            self.sent.append(dict(message))

    def send_data(self, stream: int, data: bytes) -> None:
        raise AssertionError("these tests send no bodies")

    def send_end(self, stream: int) -> None:
        raise AssertionError("these tests send no bodies")

    async def pulse(self) -> Pulse | None:
        return self.beat

    def kill(self) -> None:
        self.killed = True

    async def wait(self) -> int:
        return 0

    def close(self) -> None:
        """Nothing is open."""

    def says(self, *messages: dict[str, Any]) -> None:
        """Messages arrive from it, all in one go."""
        for message in messages:
            self._listener.on_message(self, message)
        self._listener.on_turn(self)

    def dies(self) -> None:
        """Its process is gone."""
        self.lost = True
        self._listener.on_lost(self)

    def told(self, kind: str) -> list[dict[str, Any]]:
        """The messages of one kind that it was sent."""
        return [message for message in self.sent if message["t"] == kind]

    def codes(self, instance: str) -> list[Code]:
        """The runs of an instance that were started on it, oldest first."""
        return [Code(self, start) for start in self.told("start") if start["instance"] == instance]


class Code:
    """A run, seen from the isolate: what the code of an instance says and hears. Calls are known by their numbers."""

    def __init__(self, isolate: FakeIsolate, start: dict[str, Any]) -> None:
        self.isolate = isolate
        self.start = start
        self.run: int = start["run"]
        self._calls = 0
        self._named: Counter[tuple[str, str]] = Counter()

    @property
    def heard(self) -> list[dict[str, Any]]:
        """All that the run was told after its start."""
        return [m for m in self.isolate.sent if m.get("run") == self.run and m["t"] != "start"]

    @property
    def released(self) -> bool:
        return any(message["t"] == "release" for message in self.heard)

    @property
    def rets(self) -> dict[int, Any]:
        """The answered calls: their values, and of those that failed the errors' messages."""
        answers = [message for message in self.heard if message["t"] == "ret"]
        return {m["call"]: m["error"]["message"] if "error" in m else devalue.parse(m["value"]) for m in answers}

    @property
    def execs(self) -> list[tuple[int, int]]:
        """The attempts it was to run, as (call, attempt)."""
        return [(message["call"], message["attempt"]) for message in self.heard if message["t"] == "exec"]

    @property
    def undos(self) -> list[tuple[str, int]]:
        """The undo functions it was to run, as (step's name, attempt)."""
        return [(message["name"], message["attempt"]) for message in self.heard if message["t"] == "undo"]

    # ------------------------------------------------------------------------------------- messages, to be said

    def message(self, t: str, **fields: Any) -> dict[str, Any]:
        return {"t": t, "run": self.run, **fields}

    def call(self, kind: str, name: str, arg: Any, **more: Any) -> dict[str, Any]:
        self._calls += 1
        self._named["sleep" if kind == "until" else kind, name] += 1
        nth = self._named["sleep" if kind == "until" else kind, name]
        text = devalue.stringify(arg)
        return self.message("call", call=self._calls, kind=kind, name=name, nth=nth, arg=text, **more)

    def value(self, call: int, value: Any, attempt: int = 1) -> dict[str, Any]:
        """The callback of a step returned."""
        text = devalue.stringify(value)
        return self.message("ran", call=call, attempt=attempt, value=text, size=devalue.clone_size(text))

    def error(self, call: int, message: str = "boom", attempt: int = 1, name: str = "Error") -> dict[str, Any]:
        """The callback of a step raised."""
        return self.message("ran", call=call, attempt=attempt, error={"name": name, "message": message})

    # --------------------------------------------------------------------------------------------- what it does

    def do(self, name: str = "a", config: Any = None, **more: Any) -> int:
        self.isolate.says(self.call("do", name, config, **more))
        return self._calls

    def sleep(self, duration: Any, name: str = "s") -> int:
        self.isolate.says(self.call("sleep", name, duration))
        return self._calls

    def until(self, target: Any, name: str = "u", **more: Any) -> int:
        self.isolate.says(self.call("until", name, target, **more))
        return self._calls

    def wait(self, event_type: str = "go", name: str = "w", **options: Any) -> int:
        self.isolate.says(self.call("wait", name, {"type": event_type, **options}))
        return self._calls

    def began(self, call: int, attempt: int = 1) -> None:
        self.isolate.says(self.message("began", call=call, attempt=attempt))

    def returns(self, call: int, value: Any = None, attempt: int = 1) -> None:
        self.isolate.says(self.value(call, value, attempt))

    def raises(self, call: int, message: str = "boom", attempt: int = 1, name: str = "Error") -> None:
        self.isolate.says(self.error(call, message, attempt, name))

    def step(self, name: str = "a", value: Any = None) -> int:
        """A whole step: called, run, done."""
        call = self.do(name)
        self.returns(call, value)
        return call

    def done(self, value: Any = None) -> None:
        text = devalue.stringify(value)
        self.isolate.says(self.message("done", value=text, size=devalue.clone_size(text)))

    def fails(self, message: str = "boom", name: str = "Error") -> None:
        self.isolate.says(self.message("done", error={"name": name, "message": message}))

    def undoing(self, name: str, attempt: int = 1) -> None:
        """The undo function of a step begins."""
        self.isolate.says(self.message("undoing", name=name, nth=1, attempt=attempt))

    def undone(self, name: str, attempt: int = 1, **how: Any) -> None:
        """It has ended: well, or with ``error=`` or ``missing=``."""
        self.isolate.says(self.message("undone", name=name, nth=1, attempt=attempt, **how))

    def parked(self) -> None:
        """Every task of the run waits on the engine."""
        rets = sum(message["t"] == "ret" for message in self.heard)
        self.isolate.says(self.message("parked", calls=self._calls, rets=rets))
