"""The methods of `console` that workerd itself prints nothing for."""

from __future__ import annotations

import pytest

from runtime.javascript.tools import Tools
from tests.javascript.bridge.scripted import World, bridge, flow, recorded
from tests.javascript.bridge.test_console import placed

pytestmark = pytest.mark.asyncio


def fetching(body: str) -> str:
    return flow("") + f"export default {{ async fetch(request) {{ {body} return Response.json(null); }} }};"


async def printed(world: World) -> list[str]:
    """All lines that a request to the worker prints, without their places."""
    await world.json()
    await world.line("the end")
    return [text for _, text in placed(world)][:-1]


@pytest.mark.parametrize("date", ["2024-01-01", "2026-11-17"])
async def test_each_prints_once_what_it_prints_in_node(tools: Tools, date: str) -> None:
    code = fetching("""
        console.dir({ a: 1 }, { depth: 0 }); console.dirxml("x", 1);
        console.count(); console.count("a"); console.count(); console.countReset(); console.count();
        console.countReset("b"); console.timeEnd("t");
        console.assert(true, "no"); console.assert(false); console.assert(0, "%d of", 1, { a: 1 });
        console.assert(0, 5);
        console.error("the end");
    """)
    async with bridge(tools, code, date=date) as world:
        assert await printed(world) == [
            *("{ a: 1 }", "x 1"),
            *("default: 1", "a: 1", "default: 2", "default: 1"),
            *("Count for 'b' does not exist", "Timer 't' does not exist"),
            *("Assertion failed", "Assertion failed: 1 of { a: 1 }", "Assertion failed: 5"),
        ]


async def test_timers_tell_the_time(tools: Tools) -> None:
    code = fetching("""
        console.time("t"); console.time("t"); await scheduler.wait(5);
        console.timeLog("t", "%s", { a: 1 }); console.timeEnd("t"); console.timeEnd("t");
        console.error("the end");
    """)
    async with bridge(tools, code) as world:
        exists, log, end, gone = await printed(world)
        assert exists == "Timer 't' already exists"
        assert log.startswith("t: ") and log.endswith("ms %s { a: 1 }")
        assert end.startswith("t: ") and end.endswith("ms")
        assert gone == "Timer 't' does not exist"


async def test_a_trace_has_the_place_of_its_call(tools: Tools) -> None:
    code = "function deep() { console.trace('at %s', 'last'); }\n" + fetching("deep(); console.error('the end');")
    async with bridge(tools, code) as world:
        head, stack = await printed(world)
        assert head == "Trace: at last"
        assert any(frame.strip().startswith("at deep (user.js:") for frame in stack.split("\n"))


async def test_a_table_is_drawn_as_by_node(tools: Tools) -> None:
    code = fetching("""
        console.table([{ a: 1, b: "it's" }, { a: -0, c: [1, 2, 3, 4] }, 7]);
        console.table({ x: { a: { b: { c: 1 } }, d: 1n } }, ["a"]);
        console.table(new Map([["k", undefined]]));
        console.table("no rows");
        console.table({ get broken() { throw new Error("broken"); } });
        console.error("the end");
    """)
    async with bridge(tools, code) as world:
        rows, chosen, map_, plain, broken = await printed(world)
        assert rows.split("\n") == [
            "┌─────────┬────┬────────┬──────────────────────────────┬────────┐",
            "│ (index) │ a  │ b      │ c                            │ Values │",
            "├─────────┼────┼────────┼──────────────────────────────┼────────┤",
            '│ 0       │ 1  │ "it\'s" │                              │        │',
            "│ 1       │ -0 │        │ [ 1, 2, 3, ... 1 more item ] │        │",
            "│ 2       │    │        │                              │ 7      │",
            "└─────────┴────┴────────┴──────────────────────────────┴────────┘",
        ]
        assert "│ x       │ { b: [Object] } │\n" in chosen
        assert "│ 0                 │ 'k' │ undefined │\n" in map_
        assert (plain, broken) == ("no rows", "{ broken: [Getter] }")


async def test_groups_belong_to_the_run_to_the_attempt_in_it_and_to_the_request(tools: Tools) -> None:
    code = flow("""
        console.group("outside");
        await step.do("a", () => { console.group("inside"); console.log("deep"); });
        await step.do("b", () => console.log("not so deep"));
        console.groupEnd(); console.groupEnd();
        console.log("flat");
    """)
    code += "export default { fetch() { console.group('open'); console.log('in it'); return Response.json(1); } };"
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.play()
        await world.line("flat")
        await world.json()
        await world.json()
        await world.until(lambda: sum(text == "in it" for _, text in world.lines()) == 2)
        assert [(text, (place or {}).get("g")) for place, text in placed(world)] == [
            *(("outside", None), ("inside", 1), ("deep", 2), ("not so deep", 1), ("flat", None)),
            *(("open", None), ("in it", 1), ("open", None), ("in it", 1)),
        ]


async def test_a_replay_counts_anew(tools: Tools) -> None:
    code = flow("console.count(); await step.do('a', () => 1); console.count();")
    async with bridge(tools, code) as world:
        for number in range(2):
            run = await world.start(recorded("do", "a", result=1) if number else ())
            await run.play()
        await world.until(lambda: len(placed(world)) == 4)
        assert [(place["r"], text) for place, text in placed(world)] == [
            *((1, "default: 1"), (1, "default: 2")),
            *((2, "default: 1"), (2, "default: 2")),
        ]


async def test_an_inspector_hears_of_them_as_before(tools: Tools) -> None:
    code = "const heard = []; console.table = (...given) => heard.push(given);"
    code += flow("") + "export default { fetch() { console.table([], ['a']); return Response.json(heard); } };"
    entry = """
    import * as worker from "./user.js";
    import {{ wrapDefault }} from "./entry.js";
    export * from "./user.js";
    export default wrapDefault(worker.default, worker);
    """
    async with bridge(tools, code, entry=entry) as world:
        assert await world.json() == [[[], ["a"]]]


async def test_they_look_untouched(tools: Tools) -> None:
    code = flow("") + "export default { fetch: () => Response.json([console.table.name, Object.keys(console)]) };"
    async with bridge(tools, code) as world:
        name, keys = await world.json()
        assert name == "table"
        assert len(keys) == len(set(keys)) and {"table", "group", "assert", "profile"} <= set(keys)
