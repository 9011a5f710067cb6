"""An isolate inside the host's own process, for tests: the shim's code on the host's event loop.

Whatever passes between the two passes as the frames that would go through a socket, so both sides get what they would
get there. What the shim takes of the process is in `shared_process`.
"""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Callable, Iterator
from contextvars import copy_context
from pathlib import Path
from typing import Any

import msgspec

from workers_shim import current
from workers_shim.bindings import WorkflowInstance
from workers_shim.exchange import Exchange
from workers_shim.inbox import Inbox
from workers_shim.rest import own_wait
from workers_shim.run import Run
from workers_shim.scope import SCOPE, task_factory
from workers_shim.transport import Transport
from workers_shim.wire.frames import Data, FrameReader, FrameWriter
from workers_shim.wire.messages import Pulse

from .transport import Listener, Message

AT_ONCE = 128 * 1024  # bytes handed over in one go; no more than the shim's end reads at once

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_numbers = itertools.count(1)


class InProcessIsolate:
    """`Isolate` without a process. It must be made on the event loop that it and the host share."""

    says_began = True
    parks_by_ending = False

    def __init__(self, listener: Listener, role: str = "work") -> None:
        self.role = role
        self.pid = -next(_numbers)  # no process has it
        self.lost = False
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._loop.set_task_factory(task_factory)  # type: ignore[arg-type]  # typeshed has no word for its options
        self._context = copy_context()  # the host's: user code's must not be in its tasks
        self._writer, self._reader = FrameWriter(), FrameReader()
        self._flush_due = False
        self._shim = Transport(self._loop)
        self._inbox = Inbox(self._loop, self._shim, alone=False)
        self._shim.attach(self._inbox)
        self._shim.connection_made(_Pipe(self._arrive))

    # ------------------------------------------------------------------------------------------------------ to it

    def send(self, message: Message, lane: int | None = None) -> None:
        self._writer.message(_encode(message), lane)
        self._flush_soon()

    def send_data(self, stream: int, data: bytes) -> None:
        self._writer.data(stream, data)
        self._flush_soon()

    def send_end(self, stream: int) -> None:
        self._writer.end(stream)
        self._flush_soon()

    def _flush_soon(self) -> None:
        if not self._flush_due and not self.lost:
            self._flush_due = True
            self._loop.call_soon(self._flush, context=self._context)

    def _flush(self) -> None:
        self._flush_due = False
        while self._writer and not self.lost:
            data = self._writer.take(AT_ONCE)
            for start in range(0, len(data), AT_ONCE):
                piece = data[start : start + AT_ONCE]
                self._shim.get_buffer(len(piece))[: len(piece)] = piece
                self._shim.buffer_updated(len(piece))

    async def pulse(self) -> Pulse | None:
        return Pulse(blocked=0)

    def kill(self) -> None:
        """Nothing more is said or heard; the code in it cannot be ended from outside."""
        self._hang_up()

    def close(self) -> None:
        """Let everything in it go."""
        for run in self._inbox.runs.all():
            run.release()
        self._hang_up()

    def _hang_up(self) -> None:
        if not self.lost:
            self.lost = True
            self._listener.on_lost(self)

    # ---------------------------------------------------------------------------------------------------- from it

    def _arrive(self, data: bytes) -> None:
        # Not at once: the shim is in the middle of its turn, as the other process would be.
        self._loop.call_soon(self._receive, data, context=self._context)

    def _receive(self, data: bytes) -> None:
        if self.lost:
            return
        try:
            for frame in self._reader.feed(data):
                if isinstance(frame, bytes):
                    self._listener.on_message(self, _decode(frame))
                elif isinstance(frame, Data):
                    self._listener.on_data(self, frame.stream, frame.data)
                else:
                    self._listener.on_end(self, frame.stream)
        finally:
            self._listener.on_turn(self)

    # --------------------------------------------------------------------------------------------- what it looks like

    @property
    def env(self) -> Any:
        """The Worker's ``env``; its bindings are to be used on the loop."""
        return current.host.env

    def instance(self, workflow: str, id: str) -> WorkflowInstance:
        """An instance as the Worker's code would have it."""
        return WorkflowInstance(workflow, id)

    def muted(self, run: int) -> bool:
        """Whether the output of a run outside steps is the echo of a replay."""
        return self._inbox.runs.muted(run)

    def awaited(self) -> frozenset[object]:
        """What user code awaits besides the engine: it is the same as long as none of that code has moved."""
        runs = (found for run in self._inbox.runs.all() for found in self._awaited_by(run))
        return frozenset([*runs, *map(_with_waiter, self._inbox.work)])

    def _awaited_by(self, run: Run) -> Iterator[object]:
        awaits, _ = own_wait(self._loop, run.tasks, lambda scope: scope.run is run)
        judging = bool(run.replay.queue) and run.unanswered()  # whether a call is a mismatch is told a second later
        if awaits or judging or run.undos.waiting:
            yield run
            for task in run.tasks:
                if not task.done():
                    yield _with_waiter(task)

    def places(self, folder: Path) -> list[str]:
        """The lines below a folder at which the handlers of requests wait."""
        found = {_waits_at(task.get_coro(), f"{folder}{os.sep}") for task in asyncio.all_tasks(self._loop)}
        return sorted(place for place in found if place)

    def __repr__(self) -> str:
        return f"<{self.role} isolate in this process>"


def _with_waiter(task: asyncio.Future[Any]) -> tuple[object, object]:
    """A task and what it waits for: the pair is another one as soon as the task has moved."""
    return task, getattr(task, "_fut_waiter", None)


def _waits_at(coroutine: Any, inside: str) -> str | None:
    """The innermost line of a handler, and of what it awaits, in a file whose name begins so."""
    place = None
    if getattr(coroutine, "cr_code", None) is not Exchange.serve.__code__:
        return None
    while (frame := getattr(coroutine, "cr_frame", None)) is not None:
        if frame.f_code.co_filename.startswith(inside):
            place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        coroutine = coroutine.cr_await
    return place


def outside_steps() -> bool:
    """Whether what runs in this context is a run's code outside of its steps."""
    scope = SCOPE.get()
    return scope is not None and scope.call is None and not scope.dead


def in_a_run() -> bool:
    """Whether what runs in this context is a run's code, in a step or not."""
    scope = SCOPE.get()
    return scope is not None and not scope.dead


class _Pipe(asyncio.Transport):
    """The shim's way out: what it writes arrives."""

    def __init__(self, arrive: Callable[[bytes], None]) -> None:
        super().__init__()
        self._arrive = arrive

    def write(self, data: Any) -> None:
        """Take bytes."""
        self._arrive(bytes(data))
