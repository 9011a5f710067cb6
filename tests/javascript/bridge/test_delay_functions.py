"""A function for the delay between attempts stays in the code, and is asked."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.javascript.tools import Tools
from tests.javascript.bridge.scripted import bridge, flow, value
from workers_shim.wire.devalue import parse

pytestmark = pytest.mark.asyncio


async def test_a_delay_function_stays_in_the_code_and_is_asked(tools: Tools) -> None:
    code = flow("""
        const delay = ({ ctx, error }) => [ctx.attempt, ctx.step.count, error instanceof RangeError, error.message];
        return step.do("a", { retries: { limit: 3, delay, backoff: "linear" } }, async () => 1);
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        call = await run.next("call")
        assert call["delay_function"] is True
        assert parse(call["arg"]) == {"retries": {"limit": 3, "delay": "[dynamic]", "backoff": "linear"}}
        for attempt in (1, 2):
            error = {"name": "RangeError", "message": "far"}
            run.send({"t": "delay", "call": 1, "attempt": attempt, "error": error, "config": {}})
            delayed = await run.next("delayed")
            assert (delayed["call"], delayed["attempt"], value(delayed)) == (1, attempt, [attempt, 1, True, "far"])


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("throw new Error('dd')", {"error": "dd"}),
        ("throw new (class Own extends Error { name = 'Own' })('dd')", {"error": "Own: dd"}),
        ("return undefined", {"value": "-1"}),
        ("return () => 1", {"value": "[{}]"}),
        ("return new Promise(() => {})", {"timeout": True}),
    ],
)
async def test_what_a_delay_function_may_do(tools: Tools, body: str, answer: Any) -> None:
    code = flow(f"return step.do('a', {{ retries: {{ limit: 3, delay: () => {{ {body} }} }} }}, async () => 1);")
    async with bridge(tools, code, hurry=True) as world:
        run = await world.start()
        await run.next("call")
        run.send({"t": "delay", "call": 1, "attempt": 1, "error": {"name": "Error", "message": "m"}, "config": {}})
        assert await run.next("delayed") == {"t": "delayed", "call": 1, "attempt": 1, **answer}


async def test_an_answer_that_comes_too_late_is_not_one_to_the_next_question(tools: Tools) -> None:
    code = flow("""
        let first;
        const delay = async ({ ctx }) => {
          if (ctx.attempt === 1) return new Promise((resolve) => (first = resolve));
          first("of the first");
          await scheduler.wait(50);
          return "of the second";
        };
        return step.do("a", { retries: { limit: 3, delay } }, async () => 1);
    """)
    async with bridge(tools, code, hurry=True) as world:
        run = await world.start()
        await run.next("call")
        delayed = []
        for attempt in (1, 2):
            error = {"name": "Error", "message": "m"}
            run.send({"t": "delay", "call": 1, "attempt": attempt, "error": error, "config": {}})
            delayed.append(await run.next("delayed"))
        assert delayed[0] == {"t": "delayed", "call": 1, "attempt": 1, "timeout": True}
        assert (delayed[1]["attempt"], value(delayed[1])) == (2, "of the second")


async def test_a_delay_function_that_the_code_no_longer_has(tools: Tools) -> None:
    async with bridge(tools, flow("return step.do('a', async () => 1);")) as world:
        run = await world.start()
        await run.next("call")
        run.send({"t": "delay", "call": 1, "attempt": 1, "error": {"name": "Error", "message": "m"}, "config": {}})
        error = 'the code has no delay function for step.do("a") number 1'
        assert await run.next("delayed") == {"t": "delayed", "call": 1, "attempt": 1, "error": error}
