"""Results reach the code in the journal's order, whichever call was made last."""

from __future__ import annotations

import asyncio
from itertools import permutations
from typing import Any

import pytest

from runtime.javascript.tools import Tools
from tests.inbox import Message
from tests.javascript.bridge.scripted import Run, bridge, flow, settled, value
from workers_shim.wire.devalue import stringify

pytestmark = pytest.mark.asyncio

# What follows on a result takes its time, but no longer than until the next result comes.
CODE = flow("""
    const log = [];
    const note = async (turns, name) => { for (let i = 0; i < turns; i++) await null; log.push(name); };
    const timer = event.payload.timer ? setInterval(() => {}, 1000) : undefined;
    await Promise.all([
      step.do("a", async () => 1).then(() => note(200, "a")),
      step.do("b", async () => 1).catch(() => note(1, "b")),
      step.sleep("c", 1).then(() => note(50, "c")),
      step.waitForEvent("d", { type: "t" }).then(() => note(0, "d")),
    ]);
    clearInterval(timer);
    return log.join("");
""")
KINDS = {"a": "do", "b": "do", "c": "sleep", "d": "wait"}
ORDERS = ["".join(names) for names in permutations("abcd")]
LARGE = "x" * 100_000


def outcome(name: str) -> dict[str, Any]:
    """What a call settles with: a large value, an error, nothing, an event."""
    if name == "b":
        return {"error": {"name": "Error", "message": "no"}}
    return {"value": stringify({"a": LARGE, "d": {"type": "t", "payload": 1}}.get(name))}


def settlement(name: str) -> list[Any]:
    """The line of the journal for it."""
    found = outcome(name)
    head = [KINDS[name], name, 1]
    return ["e", *head, found["error"]] if "error" in found else ["v", *head, found["value"]]


async def test_a_replay_settles_calls_as_the_journal_has_it(tools: Tools) -> None:
    made = [["c", KINDS[name], name, 1, 0] for name in "abcd"]
    async with bridge(tools, CODE) as world:
        for order in ORDERS:
            run = await world.start([*made, *map(settlement, order)])
            assert value(await run.next("done")) == order
            run.release()


@pytest.mark.parametrize("held", [False, True])
async def test_results_of_one_frame_settle_in_its_order(tools: Tools, held: bool) -> None:
    async with bridge(tools, CODE) as world:
        for order in ORDERS:
            run = await world.start(payload={"timer": held})
            calls: dict[str, Message] = {}
            for _ in range(4):
                call = await run.next("call")
                calls[call["name"]] = call
            if held:
                run.rest()
            run.send(*[settled(calls[name]) | outcome(name) for name in order])
            assert value(await run.next("done")) == order
            run.release()


CROWD = flow("""
    const log = [];
    const branch = async (name) => {
      for (let i = 0; i < 4; i++) { await step.do(name, async () => 1); log.push(name); await step.sleep(name, 1); }
    };
    await Promise.all(["a", "b", "c", "d"].map(branch));
    return log.join("");
""")


async def settle_all(run: Run) -> None:
    """Answer everything at once, and see that the code gets the results of its steps in the order of the answers."""
    names: dict[int, str] = {}
    order = ""
    while True:
        message = await run.next("call", "ran", "done")
        if message["t"] == "done":
            assert value(message) == order
            return
        names.setdefault(message["call"], message.get("name", ""))
        if message["t"] == "ran":
            run.ret(message)
            order += names[message["call"]]
        elif message["kind"] == "do":
            run.exec(message)
        else:
            run.ret(message)


async def test_results_of_runs_that_vie_for_the_isolate_keep_their_order(tools: Tools) -> None:
    async with bridge(tools, CROWD) as world:
        for _ in range(5):
            runs = [await world.start() for _ in range(8)]
            await asyncio.gather(*(settle_all(run) for run in runs))
            for run in runs:
                run.release()


async def test_a_call_that_cannot_be_sent_holds_no_other_up(tools: Tools) -> None:
    code = flow("""
        const bad = step.sleep("bad", class {}).catch((error) => error.name);
        const worse = step.do("worse", { timeout: Symbol("x") }, async () => 1).catch((error) => error.name);
        return [await step.do("good", async () => 1), await bad, await worse];
    """)
    async with bridge(tools, code) as world:
        done = await (await world.start()).play()
        assert value(done)[0] == 1
        assert value(done)[2] == "DataCloneError"


async def test_code_that_v8_has_compiled_goes_on_in_its_own_request(tools: Tools) -> None:
    code = flow("for (let i = 0; i < 400; i++) await step.do(`${i}`, async () => i); return 'end';")
    async with bridge(tools, code, v8_flags=["--invocation-count-for-turbofan=10"]) as world:
        for _ in range(3):
            run = await world.start()
            assert value(await run.play()) == "end"
            run.release()


async def test_code_may_put_a_promise_of_its_own_in_the_place_of_the_runtimes(tools: Tools) -> None:
    code = """
    globalThis.Promise = class Zone { static withResolvers() { throw new Error("not the runtime's"); } };
    globalThis.structuredClone = () => { throw new Error("not the runtime's"); };
    """ + flow("return [await step.do('a', async () => ({ a: 1 })), await step.do('b', async () => new Map())];")
    async with bridge(tools, code) as world:
        run = await world.start()
        assert value(await run.play())[0] == {"a": 1}
