"""Code that does not give its thread back: what may go on, what is ended, and what is said of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from runtime.engine import commands as cmd
from runtime.host.isolates import Isolates, Loaded
from runtime.host.launcher import RunningIsolate
from runtime.host.roles import ROLES, Kind, has
from runtime.host.run import Run
from runtime.host.stuck import OUTSIDE, UNHEARD, StuckWatch
from runtime.isolates.transport import Listener
from runtime.store import Key
from tests.host.fake_isolate import FakeIsolate
from tests.host.virtual_clock import rest
from tests.host.world import Host
from workers_shim.wire.messages import Pulse

pytestmark = pytest.mark.asyncio


class Watched:
    """A watch over one isolate, which looks when the test says so."""

    def __init__(self, host: Host, isolate: FakeIsolate, *, requests: bool = False, kills: bool = True) -> None:
        self.isolate = isolate
        nothing: frozenset[str] = frozenset()
        loaded = Loaded(cast(RunningIsolate, isolate), cast(Kind, isolate.role), nothing, nothing, nothing, "")
        current = {role: loaded if has(isolate.role, role) else None for role in ROLES}
        self.isolates: Any = SimpleNamespace(current=current)
        self.said: list[str] = []
        self.failures: list[Exception] = []
        self.printed: list[Mapping[str, Any]] = []
        self.watch = StuckWatch(
            cast(Isolates, self.isolates),
            host.runs,
            host.clock,
            has_requests=lambda: requests,
            printed=self.printed.extend,
            report=lambda loaded, reason, killed: self.said.append(reason),
            failed=self.failures.append,
            kills=kills,
        )

    async def look(self, pulse: Pulse | None) -> str | None:
        """Look once at an isolate whose watch thread says this; gives the reason to kill it."""
        self.isolate.beat = pulse
        self.said.clear()
        watching = asyncio.create_task(self.watch.watch())
        await rest()
        self.watch.look_now(cast(Run, SimpleNamespace(isolate=FakeIsolate(cast(Listener, None)))))
        await rest()
        watching.cancel()
        await asyncio.wait([watching])
        return self.said[0] if self.said else None


async def test_code_outside_steps_may_block_for_half_a_minute(host: Host) -> None:
    isolate = host.serve()
    await host.code(isolate)
    watched = Watched(host, isolate)

    assert await watched.look(Pulse(blocked=OUTSIDE - 0.1, code="entry.py:3 in run")) is None
    assert not isolate.killed

    assert await watched.look(Pulse(blocked=OUTSIDE, code="entry.py:3 in run")) == (
        "code outside steps has blocked for 30 s: entry.py:3 in run"
    )
    assert isolate.killed


async def test_a_running_attempt_may_block_until_its_timeout_which_counts_from_when_it_began_to_block(
    host: Host,
) -> None:
    isolate = host.serve()
    code = await host.code(isolate)
    call = code.do("a", {"timeout": "40 seconds"})
    watched = Watched(host, isolate)
    pulse = Pulse(blocked=35.0, run=code.run, call=call, attempt=1, code="entry.py:5 in charge")

    assert await watched.look(pulse) is None
    await host.later(4.999)
    assert not any(message["t"] == "cancel" for message in code.heard)
    await host.later(0.001)
    assert any(message["t"] == "cancel" for message in code.heard)

    pulse["blocked"] = 40.0
    assert await watched.look(pulse) == "a step that was given up still blocks: entry.py:5 in charge"
    assert isolate.killed


async def test_an_attempt_that_was_given_up_has_a_moment_to_stop(host: Host) -> None:
    isolate = host.serve()
    code = await host.code(isolate)
    other = await host.code(isolate, "b")
    call = code.do()
    await host.instances.ask(Key("wf", "a"), cmd.Terminate())
    watched = Watched(host, isolate)
    pulse = Pulse(blocked=UNHEARD - 0.1, run=code.run, call=call, attempt=1)

    assert await watched.look(pulse) is None
    pulse["blocked"] = UNHEARD
    assert await watched.look(pulse) == "a step that was given up still blocks: native code"
    assert not other.released


async def test_an_isolate_that_a_debugger_holds_may_stand_still(host: Host) -> None:
    isolate = host.serve()
    await host.code(isolate)

    assert await Watched(host, isolate).look(Pulse(blocked=3600.0, debugger=True)) is None
    assert not isolate.killed


async def test_native_code_outside_steps_may_hold_the_interpreter_for_half_a_minute(host: Host) -> None:
    isolate = host.serve()
    await host.code(isolate)
    watched = Watched(host, isolate)

    assert await watched.look(None) is None
    await host.later(OUTSIDE - 0.001)
    assert await watched.look(None) is None
    await host.later(0.001)
    assert await watched.look(None) == "native code has held the interpreter for 30 s"
    assert isolate.killed


async def test_native_code_in_a_step_may_hold_the_interpreter_until_the_timeout(host: Host) -> None:
    isolate = host.serve()
    code = await host.code(isolate)
    code.do("a", {"timeout": "40 seconds", "retries": {"limit": 0, "delay": 0}})
    watched = Watched(host, isolate)

    assert await watched.look(None) is None
    await host.later(39.999)
    assert await watched.look(None) is None
    await host.later(0.001)
    assert any(message["t"] == "cancel" for message in code.heard)
    assert await watched.look(None) == "native code has held the interpreter for 40 s"


async def test_a_pulse_ends_the_silence(host: Host) -> None:
    isolate = host.serve()
    await host.code(isolate)
    watched = Watched(host, isolate)

    for _ in range(3):
        assert await watched.look(None) is None
        await host.later(OUTSIDE - 1)
        assert await watched.look(Pulse(blocked=0)) is None


async def test_a_failure_of_the_watch_is_told_and_does_not_end_it(host: Host) -> None:
    isolate = host.serve()
    await host.code(isolate)
    watched = Watched(host, isolate)

    assert await watched.look(cast(Pulse, {})) is None
    assert [type(error) for error in watched.failures] == [KeyError]
    assert await watched.look(Pulse(blocked=OUTSIDE)) is not None


@pytest.mark.parametrize(
    ("role", "requests", "looked"), [("work", True, False), ("front", False, False), ("front", True, True)]
)
async def test_only_isolates_with_work_are_looked_at(host: Host, role: str, requests: bool, looked: bool) -> None:
    isolate = FakeIsolate(host.dispatch, role)

    reason = await Watched(host, isolate, requests=requests).look(Pulse(blocked=60.0))

    assert (reason is not None) == looked


async def test_an_isolate_that_was_replaced_meanwhile_is_left_alone(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    isolate = host.serve()
    await host.code(isolate)
    watched = Watched(host, isolate)

    async def replaced() -> Pulse:
        watched.isolates.current["work"] = cast(Loaded, None)
        return Pulse(blocked=60.0)

    monkeypatch.setattr(isolate, "pulse", replaced)

    assert await watched.look(None) is None
    assert not isolate.killed


async def test_what_blocked_code_has_printed_is_shown_all_the_same(host: Host) -> None:
    isolate = host.serve()
    code = await host.code(isolate)
    watched = Watched(host, isolate)
    line: Any = {"t": "log", "stream": "stdout", "text": "still here", "run": code.run}

    assert await watched.look(Pulse(blocked=20.0, log=[line])) is None

    assert watched.printed == [line]


async def one_thread(host: Host) -> tuple[FakeIsolate, Watched]:
    """An isolate that does everything on one thread, and the watch over it."""
    isolate = host.serve(parks_by_ending=True)
    isolate.role = "both"
    return isolate, Watched(host, isolate)


async def test_where_one_thread_does_everything_code_that_was_given_up_is_what_blocks(host: Host) -> None:
    isolate, watched = await one_thread(host)
    code, other = await host.code(isolate, "a"), await host.code(isolate, "b")
    code.do("a", {"timeout": "10 seconds", "retries": {"limit": 0, "delay": 0}})
    other.do("b", {"timeout": "1 hour"})
    assert await watched.look(None) is None

    await host.later(9.999)
    assert await watched.look(None) is None
    await host.later(0.001)
    watched.watch.look_now(cast(Run, SimpleNamespace(isolate=isolate)))
    await host.later(UNHEARD)

    assert await watched.look(None) == "a step that was given up still blocks, for 11 s now"
    assert isolate.killed


async def test_code_that_was_given_up_and_yields_is_not_what_blocks_later(host: Host) -> None:
    isolate, watched = await one_thread(host)
    (await host.code(isolate)).do("a", {"timeout": "1 hour"})
    watched.watch.look_now(cast(Run, SimpleNamespace(isolate=isolate)))
    assert await watched.look(Pulse(blocked=0)) is None

    await host.later(60)
    assert await watched.look(None) is None
    await host.later(60)
    assert await watched.look(None) is None


async def test_requests_that_block_have_half_a_minute(host: Host) -> None:
    isolate = FakeIsolate(host.dispatch, "both")
    watched = Watched(host, isolate, requests=True)

    assert await watched.look(None) is None
    await host.later(OUTSIDE - 0.001)
    assert await watched.look(None) is None
    await host.later(0.001)
    assert await watched.look(None) == "the code has blocked for 30 s"


async def test_what_is_to_be_inspected_is_named_and_lives(host: Host) -> None:
    isolate = FakeIsolate(host.dispatch, "both")
    watched = Watched(host, isolate, requests=True, kills=False)

    assert await watched.look(None) is None
    await host.later(OUTSIDE)

    assert await watched.look(None) == "the code has blocked for 30 s"
    assert not isolate.killed
