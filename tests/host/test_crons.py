"""Cron Triggers: when the `scheduled` handler is called, and what is said when it cannot be."""

from __future__ import annotations

import io
from typing import Any, cast

import pytest

from runtime.cli.terminal import Terminal
from runtime.host.crons import LATE, Crons, Trigger
from runtime.http.ingress import Front, Unavailable
from tests.host.virtual_clock import NOW, VirtualClock, rest
from wrangler_compat.cron import parse

pytestmark = pytest.mark.asyncio

MINUTE = 60_000
START = NOW - NOW % MINUTE  # a full minute


class Fired:
    """Triggers, an isolate that they call, and what is printed."""

    def __init__(self, *expressions: str, answer: dict[str, Any] | Exception | None = None) -> None:
        self.clock = VirtualClock()
        self.calls: list[tuple[str, str, int]] = []
        self.err = io.StringIO()
        self.answer = answer or {"outcome": "ok", "noRetry": False}
        triggers = [Trigger("shop", parse(text)) for text in expressions]
        terminal = Terminal.over(io.StringIO(), self.err, environ={})
        self.crons = Crons(self.clock, triggers, "main", cast(Front, self), terminal)

    async def isolate(self) -> Fired:
        if isinstance(self.answer, Unavailable):
            raise self.answer
        return self

    async def scheduled(self, worker: str, cron: str, time_ms: int) -> dict[str, Any]:
        self.calls.append((worker, cron, time_ms))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def test_each_trigger_fires_at_its_times() -> None:
    fired = Fired("* * * * *", "*/2 * * * *")
    fired.crons.start()

    await fired.clock.advance(2 * MINUTE)
    await rest()

    assert [call for call in fired.calls if call[1] == "* * * * *"] == [
        ("shop", "* * * * *", START + MINUTE),
        ("shop", "* * * * *", START + 2 * MINUTE),
    ]
    assert sum(call[1] == "*/2 * * * *" for call in fired.calls) == 1
    fired.crons.close()
    assert fired.clock.alarms == []


async def test_a_firing_that_is_late_is_not_made() -> None:
    fired = Fired("0 * * * *")
    (at,) = fired.crons.start().values()
    fired.clock.offset_ms += at - fired.clock.now() + LATE + MINUTE  # the machine was asleep

    await fired.clock.advance(3 * MINUTE)

    assert fired.calls == []
    fired.crons.close()


async def test_by_hand_it_is_the_main_worker_and_now() -> None:
    fired = Fired()
    assert await fired.crons.by_hand("0 0 * * *", None) == {"outcome": "ok", "noRetry": False}
    assert fired.calls == [("main", "0 0 * * *", fired.clock.now())]


async def test_a_handler_that_throws_is_told_with_its_stack() -> None:
    error = {"name": "TypeError", "message": "boom"}
    fired = Fired(answer={"outcome": "exception", "noRetry": False, "error": error, "stack": "at src/index.ts:3:1"})

    await fired.crons.by_hand("", 5)

    assert fired.err.getvalue() == (
        "error: The scheduled handler of main failed: TypeError: boom\n  at src/index.ts:3:1\n"
    )


@pytest.mark.parametrize("answer", [ConnectionError(), Unavailable("starting")])
async def test_what_cannot_be_fired_is_told(answer: Exception) -> None:
    fired = Fired("* * * * *", answer=answer)
    fired.crons.start()
    await fired.clock.advance(MINUTE)
    await rest()

    assert 'Cron Trigger "* * * * *" of shop was not fired' in fired.err.getvalue()
    with pytest.raises(Unavailable):
        await fired.crons.by_hand("", None)
    fired.crons.close()
