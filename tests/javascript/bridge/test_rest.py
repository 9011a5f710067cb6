"""Runs that wait for the engine alone leave the isolate; others are woken where they are."""

from __future__ import annotations

import pytest

from runtime.javascript.compatibility import NEEDED
from runtime.javascript.tools import Tools
from tests.javascript.bridge.scripted import bridge, flow, recorded, value

pytestmark = pytest.mark.asyncio

LATER = "new Promise((resolve) => setTimeout(resolve, 200))"


@pytest.mark.parametrize(
    "wait",
    [
        "await step.sleep('z', '1 year');",
        "await step.waitForEvent('w', { type: 't' });",
        "await step.do('d', async () => 1);",  # in its retry delay, as far as the host knows
        "await Promise.all([step.sleep('a', 1), step.sleep('b', 1), step.waitForEvent('c', { type: 't' })]);",
        "await Promise.race([step.sleep('a', 1), step.sleep('b', 1)]).then(() => null);",
    ],
)
async def test_a_run_that_only_waits_is_parked(tools: Tools, wait: str) -> None:
    async with bridge(tools, flow(wait)) as world:
        run = await world.start()
        await run.next("call")
        run.rest()
        parked = await run.next("parked")
        assert parked == {"t": "parked", "calls": len(run.said("call")), "rets": 0}


async def test_results_of_all_kinds_do_not_keep_a_run_from_parking(tools: Tools) -> None:
    code = flow("""
        await step.do("object", async () => ({ a: [1], d: new Date(), m: new Map() }));
        await step.do("none", async () => {});
        await step.do("both", { retries: { limit: 1, delay: () => 1 } }, async () => 1, { rollback: () => {} });
        try { await step.do("bad", async () => { throw new Error("x"); }); } catch {}
        await step.do("nested", async () => { await step.sleep("z", 1); return step.do("inner", async () => 1); });
        await step.do("bind", async () => {});
        await step.sleep("z", 1);
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        for _ in range(4):
            await run.step()
        outer = await run.next("call")
        run.exec(outer)
        run.ret(await run.next("call"))
        await run.step()
        await run.next("ran")
        run.ret(outer)
        await run.step()
        await run.next("call")
        run.rest()
        assert await run.next("parked") == {"t": "parked", "calls": 9, "rets": 8}


async def test_a_run_of_its_own_timer_lives_on_and_is_woken(tools: Tools) -> None:
    code = flow(f"""
        const got = await Promise.race([step.waitForEvent("w", {{ type: "t" }}), {LATER}]);
        return [got, await step.do("a", async () => "ran"), await step.sleep("z", 1)];
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        wait = await run.next("call")
        run.rest()
        run.ret(wait, "event")
        await run.step()
        run.ret(await run.next("call"), "slept")
        assert value(await run.next("done")) == ["event", "ran", "slept"]
        assert run.said("parked") == []


async def test_the_timers_branch_is_taken_while_the_wait_is_held(tools: Tools) -> None:
    code = flow(f"""
        const first = await Promise.race([step.sleep("z", "1 year"), {LATER}.then(() => "timer")]);
        return [first, await step.do("a", async () => "ran")];
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.next("call")
        run.rest()
        call = await run.next("call")
        run.exec(call)  # the function is with the code again, so it has to be asked for
        run.ret(call, value(await run.next("ran")))
        assert value(await run.next("done")) == ["timer", "ran"]


async def test_a_held_run_parks_when_its_timer_has_gone_off(tools: Tools) -> None:
    code = flow(f"await Promise.all([step.sleep('z', '1 year'), {LATER}]);")
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.next("call")
        run.rest()
        await run.next("parked")


async def test_many_held_waits_are_woken_and_settle_in_the_hosts_order(tools: Tools) -> None:
    code = flow(f"""
        const order = [];
        const waits = ["a", "b", "c"].map((name) => step.sleep(name, 1).then(() => order.push(name)));
        await Promise.all([...waits, {LATER}]);
        return order;
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        calls = {call["name"]: call for call in [await run.next("call") for _ in range(3)]}
        run.rest()
        for name in ("b", "c", "a"):
            run.ret(calls[name])
        assert value(await run.next("done")) == ["b", "c", "a"]


async def test_a_run_can_be_asked_again_after_it_was_woken(tools: Tools) -> None:
    code = flow(f"await Promise.all([{LATER}, step.sleep('a', 1), step.sleep('b', 1)]);")
    async with bridge(tools, code) as world:
        run = await world.start()
        calls = [await run.next("call"), await run.next("call")]
        run.rest()
        run.ret(calls[0])
        run.rest()
        assert await run.next("parked") == {"t": "parked", "calls": 2, "rets": 1}


async def test_a_held_step_can_be_tried_again(tools: Tools) -> None:
    code = flow(f"const a = step.do('a', async ({{ attempt }}) => attempt); await {LATER}; return a;")
    async with bridge(tools, code) as world:
        run = await world.start()
        call = await run.next("call")
        run.exec(call, 1)
        await run.next("ran")
        run.rest()
        run.exec(call, 2)
        run.ret(call, value(await run.next("ran")))
        assert value(await run.next("done")) == 2


async def test_a_held_delay_function_can_be_asked(tools: Tools) -> None:
    code = flow(f"step.do('a', {{ retries: {{ limit: 1, delay: () => 7 }} }}, async () => 1); await {LATER};")
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.next("call")
        run.rest()
        run.send({"t": "delay", "call": 1, "attempt": 1, "error": {"name": "Error", "message": "m"}, "config": {}})
        assert value(await run.next("delayed")) == 7


async def test_a_running_attempt_is_not_held(tools: Tools) -> None:
    code = flow(f"return step.do('a', async () => {{ await {LATER}; return 1; }});")
    async with bridge(tools, code) as world:
        run = await world.start()
        call = await run.next("call")
        run.exec(call)
        run.rest()
        run.ret(call, value(await run.next("ran")))
        assert value(await run.next("done")) == 1


async def test_a_given_up_attempts_calls_do_not_keep_a_run_from_parking(tools: Tools) -> None:
    code = flow("""
        await step.do("a", async () => {
          console.log("begun"); await scheduler.wait(50); await step.do("late", () => 1);
        }).catch(() => {});
        await step.sleep("z", 1);
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        call = await run.next("call")
        run.exec(call)
        await world.line("begun")
        run.send({"t": "cancel", "call": call["call"], "attempt": 1})
        run.ret(call, error={"name": "Error", "message": "WorkflowTimeoutError: Execution timed out after 1ms"})
        await run.next("call")
        run.rest()
        await run.next("parked")
        assert [call["name"] for call in run.said("call")] == ["a", "z"]


async def test_a_replay_that_still_repeats_is_not_held(tools: Tools) -> None:
    code = flow(f"""
        const wait = step.waitForEvent("w", {{ type: "t" }});
        await {LATER};
        await step.do("a", async () => 1);
        return wait;
    """)
    journal = [["c", "wait", "w", 1, 0], ["c", "do", "a", 1, 0], ["v", "wait", "w", 1, "[5]"]]
    async with bridge(tools, code) as world:
        run = await world.start(journal)
        run.rest()
        await run.step()
        assert value(await run.next("done")) == 5


async def test_code_that_hangs_ends_as_on_cloudflare_once_it_is_asked(tools: Tools) -> None:
    async with bridge(tools, flow("await step.do('a', async () => 1); await new Promise(() => {});")) as world:
        run = await world.start()
        await run.step()
        run.rest()
        assert "had hung and would never generate a response" in (await run.next("done"))["error"]["message"]


async def test_a_step_after_a_rest_with_nothing_to_hold(tools: Tools) -> None:
    code = flow(f"await step.do('a', async () => 1); await {LATER}; return step.do('b', async () => 2);")
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.step()
        run.rest()
        await run.step()
        assert value(await run.next("done")) == 2


async def test_a_run_that_waits_for_itself_opens_its_line_again_only_when_there_is_something_to_say(
    tools: Tools,
) -> None:
    code = flow(f"await {LATER}; await {LATER}; await step.do('a', async () => 1);")
    async with bridge(tools, code) as world:
        run = await world.start()
        run.rest()
        await run.next("resting")
        await world.until(lambda: run.line is None)
        await run.step()
        assert run.lines == 2
        await run.next("done")


async def test_a_run_whose_line_is_gone_is_woken_to_hear_the_host(tools: Tools) -> None:
    code = flow("const timer = scheduler.wait(60_000); return step.sleep('z', 1).then(() => 'slept');")
    async with bridge(tools, code) as world:
        run = await world.start()
        call = await run.next("call")
        run.rest()
        await run.next("resting")
        await world.until(lambda: run.line is None)
        run.ret(call)
        assert value(await run.next("done")) == "slept"
        assert run.lines == 2


async def test_a_line_that_comes_too_early_is_asked_for_again(tools: Tools) -> None:
    code = flow(f"await {LATER}; return step.do('a', async () => 1);")
    async with bridge(tools, code) as world:
        run = await world.start()
        run.rest()
        await run.next("resting")
        run.refusals = 3
        await run.step()
        assert (run.refusals, run.lines) == (0, 2)
        assert value(await run.next("done")) == 1


@pytest.mark.parametrize("date", ["2021-11-02", "2024-01-01", "2026-11-17"])
async def test_a_run_rests_and_is_woken_at_any_date(tools: Tools, date: str) -> None:
    code = flow("const timer = scheduler.wait(60_000); await step.sleep('z', 1); return step.sleep('y', 1);")
    flags = [flag for flag, since in NEEDED.items() if since is None or date < since]
    async with bridge(tools, code, date=date, flags=flags) as world:
        run = await world.start()
        for _ in range(2):
            call = await run.next("call")
            run.rest()
            await run.next("resting")
            await world.until(lambda: run.line is None)
            run.ret(call)
        await run.next("done")
        assert run.lines == 3


async def test_a_line_that_is_opened_anew_is_not_in_the_context_of_the_code_that_opens_it(tools: Tools) -> None:
    code = """import { AsyncLocalStorage } from "node:async_hooks";
    const store = new AsyncLocalStorage();
    """ + flow(f"""
        await {LATER};
        const first = store.run("inside", () => step.do("a", async () => store.getStore() ?? "outside"));
        return [await first, await step.do("b", async () => store.getStore() ?? "outside")];
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        run.rest()
        await run.next("resting")
        assert value(await run.play()) == ["outside", "outside"]


async def test_undo_functions_survive_a_run_that_failed_while_it_was_held(tools: Tools) -> None:
    code = flow(f"""
        await step.do("a", async () => 1, {{ rollback: ({{ output }}) => console.log("undone", output) }});
        await Promise.race([step.sleep("z", "1 year"), {LATER}]);
        throw new Error("boom");
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.step()
        await run.next("call")
        run.rest()
        error = (await run.next("done"))["error"]
        assert (error["message"], "user.js" in error["detail"]) == ("boom", True)
        run.undo("a", output=5)
        await run.next("undone")
        await world.line("undone 5")


async def test_an_undo_function_can_be_asked_of_a_held_run(tools: Tools) -> None:
    code = flow(f"""
        await step.do("a", async () => 1, {{ rollback: () => console.log("undone") }});
        await Promise.all([step.sleep("z", "1 year"), {LATER}]);
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.step()
        await run.next("call")
        run.rest()
        run.undo("a")
        assert "error" not in await run.next("undone")


async def test_older_dates_are_woken_too(tools: Tools) -> None:
    code = flow(f"return Promise.race([step.sleep('z', 1), {LATER}]);")
    flags = ("nodejs_als", "rpc", "handle_cross_request_promise_resolution")  # which the configuration adds
    async with bridge(tools, code, date="2023-06-01", flags=flags) as world:
        run = await world.start()
        call = await run.next("call")
        run.rest()
        run.ret(call, "slept")
        assert value(await run.next("done")) == "slept"


async def test_a_parked_run_goes_on_as_a_replay(tools: Tools) -> None:
    code = flow("const a = await step.do('a', async () => 1); await step.sleep('z', 1); return a;")
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.step()
        await run.next("call")
        run.rest()
        await run.next("parked")
        run.release()
        again = await world.start([*recorded("do", "a", result=1), *recorded("sleep", "z", result=None)])
        assert value(await again.next("done")) == 1
