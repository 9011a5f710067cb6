"""Output and where it belongs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runtime.javascript.tools import Tools
from tests.javascript.bridge.scripted import World, bridge, flow, recorded

pytestmark = pytest.mark.asyncio

MARK = "\x01celld "


def placed(world: World) -> list[tuple[Any, str]]:
    """Every line with its place, None where it has none."""
    found, place = [], None
    for _, text in world.lines():
        if text.startswith(MARK + '{"told"'):
            continue
        if text.startswith(MARK):
            assert place is None
            place = json.loads(text[len(MARK) :])
        else:
            found.append((place, text))
            place = None
    return found


async def test_lines_of_runs_have_a_place(tools: Tools) -> None:
    code = flow("""
        console.log("begin");
        await step.do("a", async () => { console.warn("in", { a: 1 });
          await scheduler.wait(1); console.error("later"); });
        setTimeout(() => console.log("timer"), 1);
        await step.sleep("z", 1);
        console.log("%s end", "the");
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.step()
        sleep = await run.next("call")
        await world.line("timer")
        run.ret(sleep)
        await run.next("done")
        await world.line("the end")
        step = {"r": 1, "s": "a-1", "a": 1, "c": 1, "v": 0}
        assert placed(world) == [
            ({"r": 1, "c": 0, "v": 0}, "begin"),
            (step, "in { a: 1 }"),
            (step, "later"),
            ({"r": 1, "c": 2, "v": 1}, "timer"),
            ({"r": 1, "c": 2, "v": 2}, "the end"),
        ]


async def test_lines_of_requests_have_none(tools: Tools) -> None:
    code = flow("") + "console.log('top'); export default { fetch() { console.log('here'); return new Response(); } };"
    async with bridge(tools, code) as world:
        await world.request()
        await world.line("here")
        assert placed(world) == [(None, "top"), (None, "here")]


async def test_lines_of_a_replay_tell_how_far_it_is(tools: Tools) -> None:
    code = flow("""
        console.log("first");
        await step.do("a", async () => 1);
        console.log("second");
        await step.do("b", async () => 1);
        console.log("third");
    """)
    async with bridge(tools, code) as world:
        run = await world.start([*recorded("do", "a", result=1), *recorded("do", "b", result=1)])
        await run.next("done")
        await world.line("third")
        assert [(place["c"], place["v"]) for place, _ in placed(world)] == [(0, 0), (1, 1), (2, 2)]


async def test_lines_of_undo_and_delay_functions_belong_to_their_step(tools: Tools) -> None:
    code = flow("""
        const delay = () => { console.log("delay"); return 1; };
        await step.do("a", { retries: { limit: 1, delay } }, async () => 1, { rollback: () => console.log("undo") });
        throw new Error("boom");
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        call = await run.next("call")
        run.send({"t": "delay", "call": 1, "attempt": 1, "error": {"name": "Error", "message": "m"}, "config": {}})
        await run.next("delayed")
        run.ret(call)
        await run.next("done")
        run.undo("a", attempt=3)
        await run.next("undone")
        await world.line("undo")
        places = {text: place for place, text in placed(world)}
        assert (places["delay"]["s"], places["delay"]["a"]) == ("a-1", 1)
        assert (places["undo"]["s"], places["undo"]["a"]) == ("a-1", 3)


async def test_an_error_that_is_final_by_its_class_and_not_by_its_name_is_warned_of_once_for_each_step(
    tools: Tools,
) -> None:
    code = """
    class Mine extends NonRetryableError {}
    const thrown = {
      renamed: () => new NonRetryableError("no", "Declined"), plain: () => new NonRetryableError("no"),
      mine: () => new Mine("no"), also: () => new NonRetryableError("no", "NonRetryableErrorToo"),
    };
    """ + flow("for (const [name, make] of Object.entries(thrown)) await step.do(name, () => { throw make(); });")
    async with bridge(tools, code) as world:
        run = await world.start()
        for _ in range(4):
            call = await run.next("call")
            for attempt in (1, 2):
                run.exec(call, attempt)
                error = (await run.next("ran"))["error"]
            run.ret(call)
        assert error["message"] == "NonRetryableErrorToo: no"
        await run.next("done")
        marks = [json.loads(text[len(MARK) :]) for _, text in world.lines() if text.startswith(MARK)]
        (warning,) = (mark for mark in marks if "warning" in mark)
        assert (warning["r"], warning["s"], warning["a"]) == (1, "renamed-1", 1)
        assert "with the name Declined is retried" in warning["warning"]


async def test_the_console_looks_untouched(tools: Tools) -> None:
    code = f"""{flow("")}
    export default {{ fetch() {{
      return Response.json([console.log.name, Object.keys(console).includes("log"), typeof console.table]);
    }} }};
    """
    async with bridge(tools, code) as world:
        assert await world.json() == ["log", True, "function"]
