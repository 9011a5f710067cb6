"""Cron Triggers of JavaScript Workers: they call the `scheduled` handler, by the clock or by hand.

Unlike the schedules of Workflows they leave nothing behind that could be doubled or missed: on Cloudflare too a firing
that nobody was there for is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from runtime.cli.terminal import Terminal
from runtime.http.ingress import Front, Unavailable, WorkerFailed
from wrangler_compat import Project

from .clock import Alarm, Clock
from .errors import ProjectError

if TYPE_CHECKING:
    from wrangler_compat.cron import Cron

LATE = 60_000  # ms; after a suspend of the machine a firing that is later than this is not made


class Trigger(NamedTuple):
    """One cron expression of a Worker."""

    worker: str
    cron: Cron


class Scheduling(Protocol):
    """An isolate that can call `scheduled` handlers."""

    async def scheduled(self, worker: str, cron: str, time_ms: int) -> dict[str, Any]:
        """Call the handler; gives its ``outcome``, and ``error`` and ``stack`` when it threw.

        Raises `ConnectionError` when the isolate is lost meanwhile.
        """


def triggers_of(projects: Iterable[Project]) -> tuple[Trigger, ...]:
    """The Cron Triggers of all projects."""
    texts = [(project, text) for project in projects if project.language == "javascript" for text in project.crons]
    if not texts:
        return ()
    from wrangler_compat.cron import CronError, parse  # loads a library that most projects do not need

    found = []
    for project, text in texts:
        try:
            found.append(Trigger(project.name, parse(text)))
        except CronError as error:
            raise ProjectError(
                f'triggers.crons: "{text}" is no cron expression: {error}.',
                detail=str(project.config_path),
                hint="It has five fields: minute, hour, day of month, month, day of week.",
                code="cron",
            ) from error
    return tuple(found)


class Crons:
    """Fires the triggers, all with one alarm, and what is asked for by hand; tells of handlers that fail."""

    def __init__(self, clock: Clock, triggers: Iterable[Trigger], main: str, front: Front, terminal: Terminal) -> None:
        self._clock = clock
        self._next = dict.fromkeys(triggers, 0)
        self._main = main
        self._front = front
        self._terminal = terminal
        self._alarm: Alarm | None = None
        self._firing: set[asyncio.Task[None]] = set()

    def start(self) -> Mapping[Trigger, int]:
        """Count from now on; gives the time (ms) of each trigger's next firing."""
        now = self._clock.now()
        self._next = {trigger: trigger.cron.after(now) for trigger in self._next}
        self._arm()
        return self._next

    def close(self) -> None:
        """Fire no more."""
        if self._alarm is not None:
            self._alarm.cancel()
        for firing in self._firing:
            firing.cancel()

    async def by_hand(self, cron: str, time_ms: int | None) -> Mapping[str, Any]:
        """Fire the main Worker's handler; raises `Unavailable` when nothing can run it."""
        return await self._call(self._main, cron, self._clock.now() if time_ms is None else time_ms)

    def _arm(self) -> None:
        if self._next:
            self._alarm = self._clock.call_at(min(self._next.values()), self._ring)

    def _ring(self) -> None:
        now = self._clock.now()
        for trigger, at in self._next.items():
            if at <= now:
                self._next[trigger] = trigger.cron.after(now)
                latest = trigger.cron.last(now)
                if latest is not None and now - latest <= LATE:
                    self._spawn(self._fire(trigger, latest))
        self._arm()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._firing.add(task)
        task.add_done_callback(self._firing.discard)

    async def _fire(self, trigger: Trigger, at: int) -> None:
        try:
            await self._call(trigger.worker, trigger.cron.text, at)
        except Unavailable as error:
            self._terminal.error(f'Cron Trigger "{trigger.cron.text}" of {trigger.worker} was not fired: {error}')

    async def _call(self, worker: str, cron: str, at: int) -> Mapping[str, Any]:
        try:
            isolate = cast(Scheduling, await self._front.isolate())
            result = await isolate.scheduled(worker, cron, at)
        except WorkerFailed as error:
            raise Unavailable(f"The code does not load: {error}") from None
        except ConnectionError:
            raise Unavailable("The Worker ended before the handler did.") from None
        if "error" in result:
            thrown = result["error"]
            title = f"The scheduled handler of {worker} failed: {thrown['name']}: {thrown['message']}"
            self._terminal.error(title, result.get("stack"), code="scheduled_failed")
        return result
