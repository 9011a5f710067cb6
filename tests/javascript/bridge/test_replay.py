"""Replays: results in their recorded order, and what does not fit is told."""

from __future__ import annotations

import pytest

from runtime.javascript.tools import Tools
from tests.javascript.bridge.scripted import CAUGHT, bridge, flow, recorded, value
from workers_shim.wire.devalue import stringify
from workers_shim.wire.neutral import Date

pytestmark = pytest.mark.asyncio

RACE = flow("""
    const names = ["a", "b"];
    return Promise.race(names.map((name) => step.do(name, async () => 1).then(() => name)));
""")


async def test_settled_calls_need_no_round_trip(tools: Tools) -> None:
    code = flow("""
        const seen = [];
        for (let i = 0; i < 5; i++) seen.push(await step.do("s" + i, async () => { throw new Error("ran again"); }));
        seen.push(await step.sleep("z", 5), (await step.waitForEvent("w", { type: "t" })).payload);
        return seen;
    """)
    journal = [line for n in range(5) for line in recorded("do", f"s{n}", result=n)]
    journal += recorded("sleep", "z", result=None)
    journal += recorded("wait", "w", result={"payload": Date(5)})
    async with bridge(tools, code) as world:
        run = await world.start(journal)
        assert value(await run.next("done")) == [0, 1, 2, 3, 4, None, Date(5)]
        assert [message["t"] for message in run.heard] == ["done"]


async def test_a_recorded_error_is_thrown_again(tools: Tools) -> None:
    error = {"name": "RangeError", "message": "far"}
    async with bridge(tools, CAUGHT + flow("return caught(() => step.do('s', () => 1));")) as world:
        run = await world.start(recorded("do", "s", error=error))
        assert value(await run.next("done")) == "RangeError: far"


async def test_a_call_that_was_not_settled_is_made_again(tools: Tools) -> None:
    async with bridge(tools, flow("return step.do('s', async () => 1);")) as world:
        run = await world.start(recorded("do", "s"))
        await run.step()
        assert value(await run.next("done")) == 1
        assert run.said("mismatch") == []


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
async def test_a_race_takes_the_branch_that_the_journal_has(tools: Tools, order: tuple[str, str]) -> None:
    journal = [["c", "do", "a", 1, 0], ["c", "do", "b", 1, 0]]
    journal += [["v", "do", name, 1, stringify(0)] for name in order]
    async with bridge(tools, RACE) as world:
        assert value(await (await world.start(journal)).next("done")) == order[0]


async def test_a_result_waits_for_the_calls_that_were_journalled_before_it(tools: Tools) -> None:
    code = flow("""
        const order = [];
        const slow = step.do("slow", () => 1).then(() => order.push("slow"));
        await step.do("a", () => 1);
        await scheduler.wait(50); // the code's own time
        order.push("own");
        await step.do("b", () => 1);
        await slow;
        return order;
    """)
    journal = [["c", "do", "slow", 1, 0], *recorded("do", "a", result=1), ["c", "do", "b", 1, 0]]
    journal += [["v", "do", "slow", 1, "[1]"], ["v", "do", "b", 1, "[1]"]]
    async with bridge(tools, code) as world:
        run = await world.start(journal)
        assert value(await run.next("done")) == ["own", "slow"]
        assert run.said("mismatch") == []


async def test_results_of_one_moment_reach_the_code_one_at_a_time(tools: Tools) -> None:
    """What code does after the one, over many hops, is done before the other arrives."""
    code = flow("""
        const order = [];
        const after = async (name) => {
          await step.do(name, () => 1);
          for (let i = 0; i < 100; i++) await null;
          order.push(name);
        };
        await Promise.all(["a", "b", "c"].map(after));
        return order;
    """)
    journal = [["c", "do", name, 1, 0] for name in "abc"]
    journal += [["v", "do", name, 1, "[1]"] for name in "cab"]
    async with bridge(tools, code) as world:
        assert value(await (await world.start(journal)).next("done")) == ["c", "a", "b"]


async def test_a_large_result_is_fetched_by_its_call_and_keeps_its_place(tools: Tools) -> None:
    journal = [["c", "do", "a", 1, 0], ["c", "do", "b", 1, 0], ["l", "do", "a", 1], ["v", "do", "b", 1, "[1]"]]
    async with bridge(tools, RACE) as world:
        run = await world.start(journal)
        call = await run.next("call")
        assert (call["name"], len(run.said("call"))) == ("a", 1)
        run.ret(call, 1)
        assert value(await run.next("done")) == "a"


async def test_new_calls_follow_the_recorded_ones(tools: Tools) -> None:
    code = flow("return [await step.do('s', () => 1), await step.do('s', async () => 2)];")
    async with bridge(tools, code) as world:
        run = await world.start(recorded("do", "s", result=5))
        assert (await run.step())["nth"] == 2
        assert value(await run.next("done")) == [5, 2]


async def test_numbers_of_nested_calls_are_left_out_by_top_level_ones(tools: Tools) -> None:
    code = flow("""
        const outer = await step.do("outer", () => step.do("s", async () => 1));
        return [outer, await step.do("s", async () => 2)];
    """)
    journal = [["c", "do", "outer", 1, 0], ["c", "do", "s", 1, 1], ["v", "do", "s", 1, "[1]"]]
    async with bridge(tools, code) as world:
        run = await world.start(journal)
        names = []
        outer = await run.next("call")
        run.exec(outer, 2)
        names.append((await run.step())["nth"])
        run.ret(outer, (await run.next("ran"))["attempt"])
        names.append((await run.step())["nth"])
        await run.next("done")
        assert names == [2, 3]


async def test_a_nested_call_that_was_refused_leaves_its_number_free(tools: Tools) -> None:
    code = CAUGHT + flow("""
        await step.do("outer", () => caught(() => step.do("s", () => 1)));
        return step.do("s", async () => 2);
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        outer = await run.next("call")
        run.exec(outer)
        refused = await run.next("call")
        run.ret(refused, error={"name": "Error", "message": "WorkflowFatalError: no"}, refused=True)
        await run.next("ran")
        run.ret(outer)
        assert (await run.step())["nth"] == refused["nth"] == 1


async def test_a_call_that_the_journal_has_later_is_told_and_answered(tools: Tools) -> None:
    code = flow("""
        const b = await step.do("b", () => 1);
        return [await step.do("a", () => 1), b];
    """)
    async with bridge(tools, code) as world:
        run = await world.start([*recorded("do", "a", result="A"), *recorded("do", "b", result="B")])
        assert value(await run.next("done")) == ["A", "B"]
        (told,) = run.said("mismatch")
        assert (told["recorded"], told["called"]) == ('step.do("a") number 1', 'step.do("b") number 1')
        assert "at Flow.run (user.js:" in told["stack"].splitlines()[1]


async def test_a_new_call_in_place_of_a_recorded_one_is_told_when_the_host_accepts_it(tools: Tools) -> None:
    code = flow("return [await step.do('new', async () => 1), await step.do('old', async () => 2)];")
    async with bridge(tools, code) as world:
        run = await world.start(recorded("do", "old", result="kept"))
        call = await run.next("call")
        assert run.said("mismatch") == []
        run.exec(call)
        assert (await run.next("mismatch", "ran"))["called"] == 'step.do("new") number 1'
        # The host has the last word before the callback runs: it is asked once more.
        again = await run.next("call", "ran")
        assert {**again, "arg": call["arg"]} == call
        run.exec(again)
        run.ret(call, value(await run.next("ran")))
        assert value(await run.next("done")) == [1, "kept"]


async def test_a_call_that_the_host_refuses_is_no_mismatch(tools: Tools) -> None:
    code = CAUGHT + flow("return [await caught(() => step.do('bad', () => 1)), await step.do('old', async () => 2)];")
    async with bridge(tools, code) as world:
        run = await world.start(recorded("do", "old", result="kept"))
        error = {"name": "Error", "message": "WorkflowFatalError: no"}
        run.ret(await run.next("call"), error=error, refused=True)
        assert value(await run.next("done")) == ["Error: WorkflowFatalError: no", "kept"]
        assert run.said("mismatch") == []


async def test_a_run_that_ends_without_a_recorded_call_says_so(tools: Tools) -> None:
    async with bridge(tools, flow("return step.sleep('z', 1);")) as world:
        run = await world.start([*recorded("sleep", "z", result=None), *recorded("wait", "w")])
        await run.next("done")
        (told,) = run.said("mismatch")
        assert (told["recorded"], told["called"]) == ('step.waitForEvent("w") number 1', "run() ended")


async def test_results_that_wait_for_a_call_which_is_not_made_are_released(tools: Tools) -> None:
    code = flow("""
        const a = step.do("a", async () => 1);
        await step.do("c", async () => 2);
        return a;
    """)
    journal = [*recorded("do", "c", result=5), *recorded("do", "gone"), *recorded("do", "a", result=7)]
    async with bridge(tools, code, hurry=True) as world:
        run = await world.start(journal)
        assert value(await run.next("done")) == 7
        assert ('step.do("gone") number 1', 'step.do("c") number 1') in {
            (told["recorded"], told["called"]) for told in run.said("mismatch")
        }


async def test_a_result_that_was_passed_over_is_given_when_its_call_is_made(tools: Tools) -> None:
    code = flow("""
        const b = await step.do("b", async () => 1);
        return [b, await step.do("a", async () => 1)];
    """)
    journal = [["c", "do", "a", 1, 0], ["c", "do", "b", 1, 0], ["v", "do", "a", 1, "[7]"], ["v", "do", "b", 1, "[8]"]]
    async with bridge(tools, code, hurry=True) as world:
        assert value(await (await world.start(journal)).next("done")) == [8, 7]


async def test_two_thousand_recorded_steps_are_replayed_without_a_call(tools: Tools) -> None:
    code = flow("let sum = 0; for (let i = 0; i < 2000; i++) sum += await step.do('s', async () => 1); return sum;")
    journal = [line for n in range(1, 2001) for line in recorded("do", "s", n, result=n)]
    async with bridge(tools, code) as world:
        run = await world.start(journal)
        assert value(await run.next("done")) == 2000 * 2001 // 2
        assert len(run.heard) == 1
