"""The watch thread: it tells the host whether the event loop comes round, and what keeps it when it does not."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import threading
import time
from types import FrameType
from typing import Any, cast

from workers_shim import place, well_formed
from workers_shim.logs import Logs
from workers_shim.scope import NEUTRAL, RunTask
from workers_shim.wire.messages import Log, Pulse

PRINTED = 256 * 1024  # bytes of printed lines that one pulse brings
LOOK = 0.02  # seconds that a loop which is not blocked has to come round before its pulse is answered


class Watch:
    """Answers each ``?`` on the watch socket with one line. It costs the loop nothing when nobody asks."""

    def __init__(self, sock: socket.socket, loop: asyncio.AbstractEventLoop, logs: Logs) -> None:
        self._socket = sock
        self._logs = logs
        self._loop = loop
        self._main = threading.main_thread().ident or 0
        self._asked: float | None = None  # when the loop was asked to come round; None when it has
        self._round = threading.Event()

    def start(self) -> None:
        """Begin to answer."""
        threading.Thread(target=self._serve, name="celld-py watch", daemon=True).start()

    def _serve(self) -> None:
        self._socket.setblocking(True)
        while True:
            try:
                asked = self._socket.recv(64)
                if asked:
                    self._socket.sendall(self._answers(asked.count(b"?")))
                    continue
            except OSError:
                pass  # a host that died while it was answered is gone all the same
            os._exit(0)  # without the host nobody can use what this process holds

    def _answers(self, count: int) -> bytes:
        if not count:
            return b""
        pulse = self._pulse()
        last = _line(pulse)
        pulse.pop("log", None)  # the others answer questions that the host gave up; nothing is told twice
        return _line(pulse) * (count - 1) + last

    def _pulse(self) -> Pulse:
        self._ask()
        if self._round.wait(LOOK):
            return {"blocked": 0.0}
        asked = self._asked
        if asked is None:
            return {"blocked": 0.0}
        pulse: Pulse = {"blocked": round(time.monotonic() - asked, 3)}
        self._name_attempt(pulse)
        frame = sys._current_frames().get(self._main)
        where = place.of_stack(frame)
        if where is not None:
            pulse["code"] = str(where)
        if _debugged(frame):
            pulse["debugger"] = True
        if self._logs:
            # The loop cannot send what the blocked code has printed, and may never come round to it.
            pulse["log"] = cast(list[Log], self._logs.take(PRINTED))
        return pulse

    def _ask(self) -> None:
        if self._asked is None:
            self._asked = time.monotonic()
            self._round.clear()
            self._loop.call_soon_threadsafe(self._came_round, context=NEUTRAL)

    def _came_round(self) -> None:
        self._asked = None
        self._round.set()

    def _name_attempt(self, pulse: Pulse) -> None:
        task: asyncio.Task[Any] | None = asyncio.current_task(self._loop)
        if not isinstance(task, RunTask):
            return
        scope = task.scope
        pulse["run"] = scope.run.number
        if scope.call is not None and scope.attempt is not None:
            pulse["attempt"] = scope.attempt
            if not scope.undo:
                pulse["call"] = scope.call.number


def _line(pulse: Pulse) -> bytes:
    text = json.dumps(pulse, separators=(",", ":"))
    if well_formed.MARK in text:
        text = json.dumps(well_formed.tree(pulse), separators=(",", ":"))
    return text.encode("ascii") + b"\n"


def _debugged(frame: FrameType | None) -> bool:
    """Whether a debugger may be what holds the code: pydevd (debugpy, PyCharm) is there, or pdb is on the stack."""
    if "pydevd" in sys.modules:
        return True
    while frame is not None:
        if frame.f_globals.get("__name__") in ("bdb", "pdb"):
            return True
        frame = frame.f_back
    return False
