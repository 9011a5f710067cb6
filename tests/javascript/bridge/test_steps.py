"""What a JavaScript author sees of `step`, and what the host hears of it."""

from __future__ import annotations

import asyncio

import pytest

from runtime.javascript.tools import Tools
from tests.javascript.bridge.scripted import CAUGHT, CONFIG, bridge, flow, settled, value
from workers_shim.wire.devalue import parse
from workers_shim.wire.neutral import UNDEFINED, Date

pytestmark = pytest.mark.asyncio


async def test_a_step_is_called_run_and_settled(tools: Tools) -> None:
    async with bridge(tools, flow("return await step.do('a', async () => ({ n: 1 }));")) as world:
        run = await world.start()
        call = await run.next("call")
        assert call == {"t": "call", "call": 1, "kind": "do", "name": "a", "nth": 1, "arg": "[null]"}

        run.exec(call)
        ran = await run.next("ran")
        assert (ran["call"], ran["attempt"], value(ran)) == (1, 1, {"n": 1})

        run.ret(call, {"n": 2})
        assert value(await run.next("done")) == {"n": 2}
        assert [message["t"] for message in run.heard] == ["call", "ran", "done"]


async def test_the_event_is_a_copy_of_its_own_that_may_be_changed(tools: Tools) -> None:
    code = flow("""
        event.payload.n += 1; event.more = true;
        return [Object.keys(event), event.timestamp instanceof Date, +event.timestamp, event.payload, event.instanceId,
          event.workflowName, event.schedule];
    """)
    async with bridge(tools, code) as world:
        plain = await (await world.start(payload={"n": 1})).play()
        keys = ["timestamp", "payload", "instanceId", "workflowName"]
        expected = [[*keys, "more"], True, 1_750_000_000_123, {"n": 2}, "one", "flow", UNDEFINED]
        assert value(plain) == expected

        scheduled = await (await world.start(schedule={"cron": "* * * * *", "scheduledTime": 5})).play()
        assert value(scheduled)[0] == [*keys, "schedule", "more"]
        assert value(scheduled)[-1] == {"cron": "* * * * *", "scheduledTime": 5}


async def test_every_form_of_do(tools: Tools) -> None:
    code = flow("""
        const rollback = () => {};
        await step.do("a", () => 1);
        await step.do("b", { timeout: 5 }, () => 2);
        await step.do("c", null, () => 3);
        await step.do("d", () => 4, { rollback });
        await step.do("e", { timeout: 6 }, () => 5, { rollback, rollbackConfig: { timeout: 7 } });
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.play()
        calls = [{key: call[key] for key in call.keys() - {"t", "call", "nth"}} for call in run.said("call")]
        assert calls == [
            {"kind": "do", "name": "a", "arg": "[null]"},
            {"kind": "do", "name": "b", "arg": '[{"timeout":1},5]'},
            {"kind": "do", "name": "c", "arg": "[null]"},
            {"kind": "do", "name": "d", "arg": "[null]", "rollback": True},
            {
                "kind": "do",
                "name": "e",
                "arg": '[{"timeout":1},6]',
                "rollback": True,
                "rollback_config": '[{"timeout":1},7]',
            },
        ]


async def test_sleeps_and_waits_say_what_they_were_given(tools: Tools) -> None:
    code = flow("""
        await step.sleep("a", "10 seconds");
        await step.sleepUntil("b", new Date(5));
        await step.sleepUntil("c", 6);
        await step.sleepUntil("d", "2030-01-01");
        await step.waitForEvent("e", { type: "go" });
        return step.waitForEvent("f", { type: "go", timeout: "1 hour", more: () => {} });
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        assert value(await run.play()) == {"type": "go", "payload": 1}
        calls = [(call["kind"], call["name"], parse(call["arg"])) for call in run.said("call")]
        assert calls == [
            ("sleep", "a", "10 seconds"),
            ("until", "b", Date(5)),
            ("until", "c", 6),
            ("until", "d", "2030-01-01"),
            ("wait", "e", {"type": "go"}),
            ("wait", "f", {"type": "go", "timeout": "1 hour"}),
        ]


async def test_a_function_is_no_duration(tools: Tools) -> None:
    async with bridge(tools, flow("await step.sleep('a', () => 1);")) as world:
        run = await world.start()
        await run.play()
        assert parse(run.said("call")[0]["arg"]) == {}


async def test_a_wait_without_options_fails_in_v8s_words(tools: Tools) -> None:
    async with bridge(tools, CAUGHT + flow("return caught(() => step.waitForEvent('w'));")) as world:
        run = await world.start()
        assert value(await run.play()) == "TypeError: Cannot read properties of undefined (reading 'timeout')"
        assert run.said("call") == []


async def test_the_context_of_an_attempt_is_a_fresh_copy(tools: Tools) -> None:
    code = flow("return step.do('a', async (ctx) => { ctx.config.timeout = 1; return JSON.stringify(ctx); });")
    async with bridge(tools, code) as world:
        run = await world.start()
        call = await run.next("call")
        seen = []
        for attempt in (1, 2):
            run.exec(call, attempt, {"timeout": "x"})
            seen.append(value(await run.next("ran")))
        expected = '{"step":{"name":"a","count":1},"attempt":%d,"config":{"timeout":1}}'
        assert seen == [expected % attempt for attempt in (1, 2)]


async def test_calls_are_numbered_by_kind_and_name(tools: Tools) -> None:
    code = flow("""
        await Promise.all([step.do("p", () => 1), step.do("p", () => 2), step.sleep("p", 1), step.do("q", () => 3)]);
        await step.sleepUntil("p", 5); await step.waitForEvent("p", { type: "t" });
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.play()
        assert [(call["kind"], call["name"], call["nth"]) for call in run.said("call")] == [
            ("do", "p", 1),
            ("do", "p", 2),
            ("sleep", "p", 1),
            ("do", "q", 1),
            ("until", "p", 2),
            ("wait", "p", 1),
        ]


async def test_messages_travel_many_in_a_frame(tools: Tools) -> None:
    code = flow("return Promise.all(Array.from({ length: 50 }, (_, i) => step.do('p' + i, () => i)));")
    async with bridge(tools, code) as world:
        run = await world.start()
        calls = [await run.next("call") for _ in range(50)]
        run.send(*({"t": "exec", "call": call["call"], "attempt": 1, "config": CONFIG} for call in calls))
        rans = [await run.next("ran") for _ in range(50)]
        run.send(*(settled(ran, value(ran)) for ran in rans))
        assert value(await run.next("done")) == list(range(50))


async def test_nested_calls_name_the_call_they_are_made_in(tools: Tools) -> None:
    code = flow("""
        return step.do("outer", async () => {
          const inner = step.do("inner", async () => { await scheduler.wait(1); return 2; });
          const [a] = await Promise.all([inner, step.sleep("z", 1)]);
          return a + await step.do("inner", async () => 3);
        });
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        assert value(await run.play()) == 5
        calls = [(call["name"], call["nth"], call.get("parent")) for call in run.said("call")]
        assert calls == [("outer", 1, None), ("inner", 1, 1), ("z", 1, 1), ("inner", 2, 1)]


async def test_results_settle_in_the_order_of_the_hosts_answers(tools: Tools) -> None:
    code = flow("""
        const order = [];
        await Promise.all(["a", "b", "c"].map((name) => step.do(name, () => 1).then(() => order.push(name))));
        return order;
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        calls = {call["name"]: call for call in [await run.next("call") for _ in range(3)]}
        run.send(*(settled(calls[name]) for name in ("c", "a", "b")))
        assert value(await run.next("done")) == ["c", "a", "b"]


async def test_a_live_result_is_what_the_host_kept(tools: Tools) -> None:
    async with bridge(tools, flow("return step.do('a', async () => 1);")) as world:
        run = await world.start()
        call = await run.next("call")
        run.exec(call)
        await run.next("ran")
        run.ret(call, [1, Date(0)])
        assert value(await run.next("done")) == [1, Date(0)]


async def test_a_given_up_attempt_goes_on_unheard(tools: Tools) -> None:
    code = """
    """ + flow("""
        return step.do("a", async ({ attempt }) => {
          if (attempt === 2) return "second";
          console.log("begun"); await scheduler.wait(100); console.log("late");
          step.do("nested", () => 1); return "first";
        });
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        call = await run.next("call")
        run.exec(call, 1)
        await world.line("begun")
        run.send({"t": "cancel", "call": call["call"], "attempt": 1})
        run.exec(call, 2)
        ran = await run.next("ran")
        assert (ran["attempt"], value(ran)) == (2, "second")
        await world.line("late")
        run.ret(call, "second")
        await run.next("done")
        assert len(run.said("ran")) == len(run.said("call")) == 1


async def test_methods_may_be_taken_off_the_step(tools: Tools) -> None:
    code = flow("const { do: run, sleep } = step; await sleep('z', 1); return run('a', async () => 1);")
    async with bridge(tools, code) as world:
        assert value(await (await world.start()).play()) == 1


async def test_a_step_may_be_sent_over_rpc(tools: Tools) -> None:
    code = """
    export class Helper extends WorkerEntrypoint {
      async help(step) { return step.do("far", async ({ attempt }) => [attempt]); }
    }
    """ + flow("return this.ctx.exports.Helper.help(step);")
    async with bridge(tools, code) as world:
        run = await world.start()
        assert value(await run.play()) == [1]
        assert run.said("call")[0]["name"] == "far"


async def test_a_call_after_the_end_is_never_answered(tools: Tools) -> None:
    code = flow("scheduler.wait(20).then(() => { console.log('later'); return step.do('a', () => 1); }); return 1;")
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.next("done")
        await asyncio.sleep(0.1)
        assert run.said("call") == []


async def test_closing_the_socket_ends_the_code(tools: Tools) -> None:
    callback = "async () => { console.log('in'); await scheduler.wait(1000); console.log('out'); }"
    code = flow(f"await step.do('a', {callback});")
    async with bridge(tools, code) as world:
        run = await world.start()
        run.exec(await run.next("call"))
        await world.line("in")
        run.release()
        other = await world.start()
        other.exec(await other.next("call"))
        await other.next("ran")
        printed = [text for _, text in world.lines()]
        assert (printed.count("in"), printed.count("out")) == (2, 1)


async def test_another_caller_of_run_gets_what_the_code_gives(tools: Tools) -> None:
    code = (
        flow("return [event, await step.twice(2), step.constructor.name];")
        + """
    class Own extends RpcTarget { twice(n) { return 2 * n; } }
    export default { async fetch(request, env) { return Response.json(await env.FLOW_CLASS.run("e", new Own())); } };
    """
    )
    async with bridge(tools, code) as world:
        assert await world.json() == ["e", 4, "RpcStub"]


async def test_a_run_of_an_unknown_workflow_is_refused(tools: Tools) -> None:
    async with bridge(tools, flow("")) as world:
        response = await world.request(kind="run", headers={"celld-workflow": "other"})
        assert (response.status_code, response.text) == (404, "no such Workflow")
