"""A Worker under test: its lives, one after another, over what is stored and on one clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from datetime import timedelta
from typing import TypeVar

from runtime.host.options import Options
from runtime.isolates.shared_process import Borrowed, Output
from runtime.store import Key, Line, MemoryStore
from wrangler_compat import Project

from .clock import VirtualClock, as_ms
from .errors import WorkerBusy, WorkerClosed
from .frames import caller
from .history import timeline
from .host import Host
from .kept import Kept
from .life import Died, Life

T = TypeVar("T")

PATIENCE = 2.0  # seconds of real time that code which awaits something of its own has before time is moved on

_active: Session | None = None  # a process has one `sys.modules`


def told() -> str:
    """What happened to the instances of the Worker that is under test, if one is."""
    return "" if _active is None else _active.told()


class Session:
    """What the objects that a test handles are made over. All methods block until everything is at rest again."""

    def __init__(
        self,
        project: Project,
        options: Options,
        *,
        patience: float = PATIENCE,
        now: int | None = None,
    ) -> None:
        self.project, self.options, self.patience = project, options, patience
        self.store = MemoryStore(hook=self._committing)
        self.clock = VirtualClock(time.time_ns() // 1_000_000 if now is None else now, self._rest)
        self.kept = Kept(self.clock)
        self.opened_at = ""  # file and line
        self._streams = [Output(name, self._muted) for name in ("stdout", "stderr")]
        self._lock = threading.RLock()
        self._life: Life | None = None
        self._borrowed: Borrowed | None = None

    # ------------------------------------------------------------------------------------------- beginning and end

    def open(self) -> None:
        """Take what only one Worker in a process can have, and let it live."""
        global _active
        if _active is not None:
            raise WorkerBusy(
                f"The Worker in {_active.project.root}, opened at {_active.opened_at}, is still under test in this "
                "process. Two at a time would share modules and output; close it first, or open it in a `with`."
            )
        _active = self
        self.opened_at = caller()
        try:
            self._borrowed = Borrowed(self.project.main)
            self._begin()
            self.host.notify()
        except BaseException:
            self._give_back()
            raise

    def close(self) -> None:
        """End the Worker's life, and leave the process as it was."""
        life, self._life = self._life, None
        if life is None:
            return
        try:
            with self._in_place():
                life.close()
        finally:
            self._give_back()

    def _give_back(self) -> None:
        global _active
        _active = None
        self._life = None
        if self._borrowed is not None:
            self._borrowed.give_back()
            self._borrowed = None

    def _begin(self) -> None:
        assert self._borrowed is not None
        self._borrowed.forget()
        self.clock.alarms.clear()
        life = Life(lambda: Host(self.project, self.options, self.store, self.kept), self.kept.trace)
        with self._in_place():
            life.begin()
            self._life = life
            life.call(self._rest)

    # --------------------------------------------------------------------------------------------------- what happens

    @property
    def closed(self) -> bool:
        """Whether nothing can be asked any more."""
        return self._life is None

    @property
    def host(self) -> Host:
        """The host of this moment."""
        return self._living().host

    def call(self, work: Callable[[Host], Awaitable[T]]) -> T:
        """Do something on the Worker's own loop, and wait until everything is at rest.

        What a crash cuts off is done once more after it, as a client would.
        """
        while True:
            try:
                return self._call(work)
            except Died:
                self._revive()

    def do(self, work: Callable[[Host], Awaitable[T]], happened: Callable[[], bool]) -> T | None:
        """`call` something that must not be done twice: after a crash only if it has not ``happened``; else None."""
        try:
            return self._call(work)
        except Died:
            self._revive()
            return None if happened() else self.call(work)

    def _call(self, work: Callable[[Host], Awaitable[T]]) -> T:
        async def act() -> T:
            try:
                return await work(life.host)
            finally:
                await self._rest()

        with self._lock, self._in_place():
            life = self._living()
            return life.call(act)

    def crash(self) -> None:
        """Lose everything that is only in memory, and go on from what is committed."""
        with self._lock:
            self._living().freeze()
            self._revive()

    def stand_still(self) -> None:
        """Crash here and now, in the Worker's own thread; whoever waits for it goes on with a new life."""
        self._living().stand_still()

    def _revive(self) -> None:
        self.store = self.store.crash()
        self._begin()

    def advance(self, duration: float | str | timedelta) -> None:
        """Let durable time pass, alarm by alarm."""
        end = self.clock.now() + as_ms(duration)
        self.call(lambda host: self.clock.advance(end - self.clock.now()))

    def next_due(self) -> int | None:
        """When (ms) the next sleep, retry, deadline or timeout is due."""
        return self.call(lambda host: host.next_due())

    def has(self, key: Key) -> bool:
        """Whether an instance exists."""
        row = self.store.catalog.rows.get(key)
        return row is not None and row.state == "live"

    def committed(self, key: Key) -> list[Line]:
        """The lines of an instance's journal at this moment."""
        return list(self.store.journals.committed.get(key, ()))

    def told(self) -> str:
        """What happened to all instances, to be read. It asks nobody: the Worker's thread may hang."""
        journals = list(self.store.journals.committed.items())
        return "\n\n".join(timeline(f"{key.workflow}/{key.id}", list(lines)) for key, lines in journals)

    # ---------------------------------------------------------------------------------------------------------- parts

    def _committing(self, point: str, key: Key | None) -> None:
        if "after" in point:
            self.kept.on_commit(point, key)

    async def _rest(self) -> None:
        await self.host.rest(self.patience)

    def _living(self) -> Life:
        if self._life is None:
            raise WorkerClosed("The Worker's test is over; it answers no more.")
        return self._life

    def _muted(self, run: int) -> bool:
        return self._life is not None and self._life.host.work.muted(run)

    def _in_place(self) -> ExitStack:
        """The standard streams as user code is to have them."""
        stack = ExitStack()
        for stream in self._streams:
            stack.enter_context(stream.in_place())
        return stack
