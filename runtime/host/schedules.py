"""Cron entries of Workflows: they create instances while the server runs, and what was missed is told.

A firing that nobody made in time is not made up: a nightly job should not run ten times in the morning. The catalog
keeps the time up to which every firing was made, so that the next start can say what fell into the gap.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import TYPE_CHECKING, NamedTuple

from runtime.engine import Schedule
from runtime.store import StoreError
from runtime.store.types import CatalogStore, Key
from wrangler_compat import Project

from .clock import Alarm, Clock
from .instances import Instances
from .new_instance import NewInstance
from .values import EMPTY_OBJECT

if TYPE_CHECKING:
    from wrangler_compat.cron import Cron

LATE = 60_000  # ms; a firing that is later than this is missed
ALIVE = 60_000  # ms between two notes in the catalog that the server is there
RETRY = 5_000  # ms until a firing that failed is tried again
COUNTED = 100  # missed firings of one entry; counting more would hold up the start
META = "schedules"  # the catalog's name for that note

DOWN = "while the server was down"
HELD_UP = "because the server could not make them in time"


class Entry(NamedTuple):
    """One cron expression of a Workflow."""

    workflow: str
    cron: Cron

    def instance(self, at: int) -> NewInstance:
        """What its firing for ``at`` (ms) creates; the id is the one that Cloudflare gives."""
        text = self.cron.text
        return NewInstance(f"{text}-{at}", EMPTY_OBJECT, trigger="cron", schedule=Schedule(text, at))


@dataclass(frozen=True, slots=True)
class Missed:
    """Firings that were not made; more than ``count`` when ``more`` is set."""

    entry: Entry
    count: int
    more: bool
    first: int  # ms
    last: int  # ms


def entries_of(project: Project) -> tuple[Entry, ...]:
    """The schedules of a project's Workflows, each once."""
    if not any(declared.schedules for declared in project.workflows):
        return ()
    from wrangler_compat.cron import parse  # loads a library that most projects do not need

    return tuple(
        Entry(declared.name, parse(text))
        for declared in project.workflows
        for text in dict.fromkeys(declared.schedules)
    )


class Schedules:
    """Makes the firings of all entries, with one alarm."""

    def __init__(
        self,
        clock: Clock,
        catalog: CatalogStore,
        instances: Instances,
        entries: Iterable[Entry],
        *,
        missed: Callable[[Missed, str], None],
        failed: Callable[[Entry | None, Exception], None],
    ) -> None:
        self._clock = clock
        self._catalog = catalog
        self._instances = instances
        self._next = dict.fromkeys(entries, 0)  # the next firing of each, which is not made yet
        self._missed = missed
        self._failed = failed
        self._noted = 0  # when it was last noted that the server is there
        self._alarm: Alarm | None = None
        self._rung = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    @property
    def next(self) -> Mapping[Entry, int]:
        """The time of each entry's next firing."""
        return self._next

    async def open(self) -> None:
        """Tell what was missed since the last server, and count from now on."""
        now = self._clock.now()
        note = await self._catalog.get_meta(META)
        alive, known = _read(note)
        for entry in self._next:
            if [entry.workflow, entry.cron.text] in known:
                await self._tell_missed_since(alive, entry, now)
            self._next[entry] = entry.cron.after(now)
        if self._next or note is not None:
            await self._note(now)

    async def _tell_missed_since(self, alive: int, entry: Entry, now: int) -> None:
        first = entry.cron.after(alive)
        if first <= now and await self._catalog.get(Key(entry.workflow, entry.instance(first).id)) is not None:
            alive = first  # it was made, and the server killed before it could note that
        self._tell_missed(entry, alive, now, DOWN)

    def start(self) -> None:
        """Begin to watch the time."""
        if self._next:
            self._task = asyncio.create_task(self._watch())

    async def close(self) -> None:
        """Make no more firings."""
        self._closing = True
        if self._alarm is not None:
            self._alarm.cancel()
        if self._task is None:
            return
        self._rung.set()
        await asyncio.wait([self._task])
        try:
            await self._note(self._clock.now())
        except StoreError as error:
            self._failed(None, error)

    async def _watch(self) -> None:
        while not self._closing:
            self._rung.clear()
            try:
                again = await self._look()
            except Exception as error:
                # Were this task to end, nothing would fire any more.
                self._failed(None, error)
                again = self._clock.now() + RETRY
            if not self._closing:
                self._alarm = self._clock.call_at(again, self._rung.set)
                await self._rung.wait()

    async def _look(self) -> int:
        """Make what is due; gives the time of the next look."""
        now = self._clock.now()
        due = [entry for entry, at in self._next.items() if at <= now]
        await asyncio.gather(*(self._fire(entry, now) for entry in due))
        if due or now >= self._noted + ALIVE:
            await self._note(now)
        return min(self._noted + ALIVE, *(at if at > now else now + RETRY for at in self._next.values()))

    async def _fire(self, entry: Entry, now: int) -> None:
        """Make the latest firing that is due; earlier ones are missed, as after a suspend of the machine."""
        at = entry.cron.last(now)
        assert at is not None and at >= self._next[entry], "an entry is due at its next firing"
        in_time = now - at <= LATE
        if in_time:
            try:
                # Where the id exists already, this firing was made: it is not doubled.
                await self._instances.create(entry.workflow, [entry.instance(at)])
            except Exception as error:
                self._failed(entry, error)  # it stays due, and is tried again until it is late
                return
        self._tell_missed(entry, self._next[entry] - 1, at - 1 if in_time else at, HELD_UP)
        self._next[entry] = entry.cron.after(at)

    def _tell_missed(self, entry: Entry, after: int, until: int, reason: str) -> None:
        firings = takewhile(lambda at: at <= until, entry.cron.firings(after))
        found = list(islice(firings, COUNTED + 1))
        if not found:
            return
        more = len(found) > COUNTED
        last = entry.cron.last(until) if more else found[-1]
        assert last is not None
        self._missed(Missed(entry, min(len(found), COUNTED), more, found[0], last), reason)

    async def _note(self, now: int) -> None:
        """Keep the time up to which all firings were made, or told to be missed."""
        alive = min(now, *(at - 1 for at in self._next.values())) if self._next else now
        entries = [[entry.workflow, entry.cron.text] for entry in self._next]
        await self._catalog.set_meta(META, json.dumps({"alive": alive, "entries": entries}))
        self._noted = now


def _read(note: str | None) -> tuple[int, list[list[str]]]:
    """Until when the last server was there, and with which entries: others were not missed."""
    if note is None:
        return 0, []
    read = json.loads(note)
    return int(read["alive"]), read["entries"]
