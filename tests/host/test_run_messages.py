"""What the host makes of a call's words."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tests.host.fake_isolate import Code
from tests.host.virtual_clock import rest
from tests.host.world import Host

pytestmark = pytest.mark.asyncio

CodeMaker = Callable[..., Coroutine[Any, Any, Code]]


async def test_sleeping_until_now_is_no_time_travel_though_the_call_takes_its_time(host: Host, code: CodeMaker) -> None:
    run = await code()
    now = host.clock.now()

    on_time = run.until(now - 5, at=now - 5)
    too_late = run.until(now - 5, "late", at=now - 4)
    await rest()

    answers = {message["call"]: message for message in run.heard if message["t"] == "ret"}
    assert answers[on_time]["value"] == "-1"
    assert "time-traveler" in answers[too_late]["error"]["message"]
