"""What is too large to be sent is told by its size."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workers_shim.scripted_host import Base, ScriptedHost, value
from workers_shim import attempt, run
from workers_shim.wire import frames
from workers_shim.wire.messages import MAX_FRAME

pytestmark = pytest.mark.asyncio


async def test_result_too_large_to_send_is_told_by_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt, "MAX_TEXT", 1000)

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            await step.do("large")(lambda: "x" * 1000)()

    host = ScriptedHost()
    number = host.start(Flow)
    host.exec(await host.next("call"))
    told = await host.next("ran")
    assert told["value"] == "-1"
    assert told["size"] == 1000
    host.release(number)
    await host.next("released")


async def test_output_too_large_to_send_fails_the_run_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "MAX_TEXT", 1000)

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            return "x" * 1000

    host = ScriptedHost()
    host.start(Flow)
    said = value(await host.next("done"))
    assert said.endswith("The output of run() is too large: 1004 characters as text; 1000 can be kept.")


async def test_any_text_that_is_sent_fits_into_a_message() -> None:
    worst = 2 * frames.MAX_TEXT  # in JSON a quote or backslash takes two characters, and no other one does

    assert worst + MAX_FRAME <= frames.MAX_MESSAGE


async def test_call_that_is_too_large_to_send_fails_where_it_was_made_and_counts_for_nothing() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            with pytest.raises(frames.FrameError):
                await step.do("s", config={"note": "x" * 1000})(lambda: 0)()
            await step.sleep("nap", 1)

    host = ScriptedHost()
    heard = host.runs._send

    def send(message: Any) -> None:
        if len(message.get("arg", "")) > 1000:
            raise frames.FrameError("a message of 1100 bytes")
        heard(message)

    host.runs._send = send
    number = host.start(Flow)
    await host.next("call")
    host.rest(number)
    assert (await host.next("parked"))["calls"] == 1
    host.release(number)
    await host.next("released")
