"""Awaits outside steps, on a target that limits them: celld ends a run whose await takes more than a minute."""

from __future__ import annotations

import pytest

from runtime.engine.rules import CELLD
from runtime.host.instance import OUTSIDE_LOOK
from runtime.host.workflows import Workflow
from tests.host.fake_isolate import Code
from tests.host.virtual_clock import rest
from tests.host.world import Host

pytestmark = pytest.mark.asyncio

TOO_LONG = "WorkflowTimeoutError: An await outside a step took more than 60000ms: entry.py:7 in run"


async def on_celld(host: Host) -> Code:
    host.declare(Workflow("wf", "Wf", CELLD))
    return await host.code(host.serve())


def awaiting(code: Code, longest: float) -> None:
    code.isolate.says(code.message("awaiting", seconds=longest, longest=longest, where="entry.py:7 in run"))


async def test_a_run_is_asked_though_nothing_of_the_engine_is_pending(host: Host) -> None:
    code = await on_celld(host)
    assert code.heard == []

    await host.later(OUTSIDE_LOOK / 1000)

    assert [message["t"] for message in code.heard] == ["rest"]


async def test_a_busy_run_is_not_asked_with_each_step(host: Host) -> None:
    code = await on_celld(host)

    for name in "abc":
        code.step(name)

    assert code.isolate.told("rest") == []


async def test_a_run_that_came_to_rest_is_asked_again_when_something_has_happened(host: Host) -> None:
    code = await on_celld(host)
    await host.later(1)
    code.parked()
    await host.later(10)
    assert len(code.isolate.told("rest")) == 1

    code.step("a")
    await host.later(1)

    assert len(code.isolate.told("rest")) == 2


async def test_an_await_of_a_minute_fails_the_run_and_its_place_is_named(host: Host) -> None:
    code = await on_celld(host)
    code.sleep("1 hour")

    awaiting(code, 59.999)
    assert await host.status() == "running"
    awaiting(code, 60.0)
    await rest()

    assert code.released
    assert await host.status() == "errored"
    assert (await host.bind("status", "a"))["error"] == {"name": "Error", "message": TOO_LONG}


async def test_a_running_attempt_does_not_excuse_the_await_beside_it(host: Host) -> None:
    code = await on_celld(host)
    code.do()

    awaiting(code, 60.0)
    await rest()

    assert await host.status() == "errored"


async def test_on_cloudflare_an_await_may_take_as_long_as_it_likes(host: Host) -> None:
    code = await host.code(host.serve())
    await host.later(10)
    assert code.heard == []

    awaiting(code, 900.0)

    assert await host.status() == "running"
