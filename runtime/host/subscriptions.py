"""Live views of instances: ``subscribe()`` replays what happened and then waits for what does.

A subscription holds nothing of a hibernated instance: history comes from the journal, news from each commit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from runtime.engine import Event, Failure, decode
from runtime.engine.views import PUBLIC, TERMINAL, PublicEvents
from runtime.store.types import Key, Line

from .binding_rules import is_whole

INVALID_OPTIONS = Failure("Error", "Invalid Workflow subscription options")
DELETED = Failure("Error", "Aborting engine: User called delete")

MAX_UNREAD = 10_000  # new events that a reader may leave unread
FELL_BEHIND = Failure("Error", "The subscription was dropped: its reader left more than 10,000 events unread")

Shown = dict[str, Any]


class Subscription:
    """One reader of one instance's public events."""

    def __init__(self, key: Key, cursor: int, wanted: frozenset[str] | None, reader: object) -> None:
        self.key = key
        self.reader = reader
        self._cursor = cursor
        self._wanted = wanted
        self._view = PublicEvents()
        self._seen = 0  # the last journal line shown
        self._early: list[tuple[int, Event]] | None = []  # news that came before the history was read
        self._ready: list[Shown] = []
        self._history = 0  # how many events were there to read at the beginning
        self._over = False
        self._error: Failure | None = None
        self._news = asyncio.Event()
        self._turn = asyncio.Lock()

    def catch_up(self, lines: Sequence[Line]) -> None:
        """Take the history; news may have come in the meantime."""
        for line in lines:
            self._take(line.seq, decode(line.data))
        early, self._early = self._early or [], None
        for seq, event in early:
            self._take(seq, event)
        self._history = len(self._ready)

    def hear(self, seq: int, event: Event) -> None:
        """Take one new line."""
        if self._early is not None:
            self._early.append((seq, event))
        else:
            self._take(seq, event)
            if len(self._ready) > self._history + MAX_UNREAD:
                self._ready.clear()
                self.fail(FELL_BEHIND)

    def _take(self, seq: int, event: Event) -> None:
        if seq <= self._seen or self._over:
            return
        assert seq == self._seen + 1, "a subscription misses no line"
        self._seen = seq
        shown = self._view.show(event)
        if shown is None:
            return
        if shown["eventId"] > self._cursor and (self._wanted is None or shown["type"] in self._wanted):
            self._ready.append(shown)
        self._over = shown["type"] in TERMINAL
        self._news.set()

    def fail(self, error: Failure) -> None:
        """Let the reader's next read fail."""
        self._error = error
        self._news.set()

    def close(self) -> None:
        """End it: a pending read says done."""
        self._over = True
        self._ready.clear()
        self._news.set()

    async def next(self) -> Shown | Failure | None:
        """The next event, None at the end, or the error that ended it. Reads are served one at a time."""
        async with self._turn:
            while True:
                if self._ready:
                    return self._ready.pop(0)
                if self._error is not None:
                    error, self._error, self._over = self._error, None, True
                    return error
                if self._over:
                    return None
                self._news.clear()
                await self._news.wait()


class Subscriptions:
    """All subscriptions, by number."""

    def __init__(self, lines: Callable[[Key], Awaitable[list[Line]]]) -> None:
        self._lines = lines
        self._by_number: dict[int, Subscription] = {}
        self._by_key: dict[Key, set[int]] = {}
        self._count = 0

    async def open(self, key: Key, options: Any, reader: object = None) -> int | Failure:
        """A new subscription's number; the options are judged strictly. ``reader`` is whose end is also its end."""
        parsed = _options(options)
        if parsed is None:
            return INVALID_OPTIONS
        self._count += 1
        number = self._count
        subscription = self._by_number[number] = Subscription(key, *parsed, reader)
        self._by_key.setdefault(key, set()).add(number)
        try:
            subscription.catch_up(await self._lines(key))
        except BaseException:
            self.close(number)
            raise
        return number

    async def next(self, number: int) -> Shown | Failure | None:
        """The next event of a subscription; None when it is at its end or was closed."""
        subscription = self._by_number.get(number)
        event = None if subscription is None else await subscription.next()
        if event is None:
            self.close(number)  # many readers stop at the end and never say that they are done
        return event

    def close(self, number: int) -> None:
        """Forget a subscription."""
        subscription = self._by_number.pop(number, None)
        if subscription is not None:
            subscription.close()
            numbers = self._by_key.get(subscription.key, set())
            numbers.discard(number)
            if not numbers:
                self._by_key.pop(subscription.key, None)

    def lost(self, reader: object) -> None:
        """A reader is gone: nobody will ask any more."""
        for number in [number for number, one in self._by_number.items() if one.reader is reader]:
            self.close(number)

    def published(self, key: Key, first: int, events: Sequence[Event]) -> None:
        """Events were committed to an instance's journal, from line ``first`` on."""
        for number in self._by_key.get(key, ()):
            for seq, event in enumerate(events, first):
                self._by_number[number].hear(seq, event)

    def deleted(self, key: Key) -> None:
        """The instance is gone."""
        for number in self._by_key.pop(key, ()):  # a new instance of the same id is not theirs
            self._by_number[number].fail(DELETED)


def _options(given: Any) -> tuple[int, frozenset[str] | None] | None:
    """(cursor, wanted types), None when the options are invalid: a strict object with ``cursor`` and ``filter``."""
    if not isinstance(given, dict) or given.keys() - {"cursor", "filter"}:
        return None
    cursor, wanted = given.get("cursor", 0), given.get("filter")
    if not is_whole(cursor) or cursor < 0:
        return None
    if "filter" not in given:
        return int(cursor), None
    if not isinstance(wanted, list) or not all(isinstance(kind, str) and kind in PUBLIC for kind in wanted):
        return None
    return int(cursor), frozenset(wanted)
