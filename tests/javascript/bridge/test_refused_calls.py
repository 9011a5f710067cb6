"""Calls of `step` that are refused, each in the words of production."""

from __future__ import annotations

import pytest

from runtime.javascript.tools import Tools
from tests.javascript.bridge.scripted import CAUGHT, bridge, flow, value

pytestmark = pytest.mark.asyncio

HELP = "See https://developers.cloudflare.com/workflows/build/sleeping-and-retrying/"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("step.do('n')", 'Step "n" requires a callback function'),
        ("step.do('n', {})", 'Step "n" requires a callback function'),
        ("step.do('n', () => 1, 'x')", 'Rollback options for "n" must be an object'),
        ("step.do('n', () => 1, null)", 'Rollback options for "n" must be an object'),
        ("step.do('n', () => 1, [])", 'Rollback options for "n" must be an object'),
        ("step.do('n', () => 1, () => 1)", 'Rollback options for "n" must be an object'),
        ("step.do('n', () => 1, {})", 'Rollback for "n" must be a function'),
        ("step.do('n', () => 1, { rollback: 1 })", 'Rollback for "n" must be a function'),
        ("step.do('n', { timeout: () => 1 }, () => 1)", f'Step config for "n" is in a invalid format. {HELP}'),
        (
            "step.do('n', () => 1, { rollback() {}, rollbackConfig: { timeout: () => 1 } })",
            f'Rollback config for "n" is in a invalid format. {HELP}',
        ),
    ],
)
async def test_a_do_that_is_none_is_refused(tools: Tools, call: str, message: str) -> None:
    code = CAUGHT + flow(f"return [await caught(() => {call}), await step.do('n', async () => 1)];")
    async with bridge(tools, code) as world:
        run = await world.start()
        assert value(await run.play()) == [f"Error: WorkflowFatalError: {message}", 1]
        assert [call["nth"] for call in run.said("call")] == [1]


@pytest.mark.parametrize("name", ["undefined", "null"])
async def test_a_step_needs_a_name(tools: Tools, name: str) -> None:
    async with bridge(tools, CAUGHT + flow(f"return caught(() => step.do({name}, () => 1));")) as world:
        error = f"TypeError: Cannot read properties of {name} (reading 'length')"
        assert value(await (await world.start()).play()) == error


async def test_a_name_that_is_no_text_is_shown_as_it_is(tools: Tools) -> None:
    async with bridge(tools, flow("return step.do(5, (ctx) => ctx.step.name);")) as world:
        run = await world.start()
        assert value(await run.play()) == 5
        assert run.said("call")[0]["name"] == "5"


async def test_a_lone_surrogate_in_a_name_is_replaced(tools: Tools) -> None:
    async with bridge(tools, flow("return step.do('a\\ud800', () => 1);")) as world:
        run = await world.start()
        await run.play()
        assert run.said("call")[0]["name"] == "a\ufffd"


async def test_steps_beyond_the_limit_are_refused_and_sleeps_do_not_count(tools: Tools) -> None:
    code = CAUGHT + flow("""
        const seen = [];
        for (const i of [1, 2, 3]) {
          await step.sleep("z", 1);
          seen.push(await caught(() => step.do("s", async () => i)));
        }
        return seen;
    """)
    async with bridge(tools, code) as world:
        run = await world.start(limit=2)
        text = "The limit of 2 steps has been reached. This limit can be changed in your worker configuration."
        assert value(await run.play()) == [[1], [2], f"Error: WorkflowFatalError: {text}"]
        assert len(run.said("call")) == 5


async def test_a_call_that_the_host_refuses_can_be_caught(tools: Tools) -> None:
    async with bridge(tools, CAUGHT + flow("return caught(() => step.do('', () => 1));")) as world:
        run = await world.start()
        run.ret(await run.next("call"), error={"name": "Error", "message": "WorkflowFatalError: bad"}, refused=True)
        assert value(await run.next("done")) == "Error: WorkflowFatalError: bad"
