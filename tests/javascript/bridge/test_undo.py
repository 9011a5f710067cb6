"""Undo functions, which live in the code."""

from __future__ import annotations

import pytest

from runtime.javascript.tools import Tools
from tests.javascript.bridge.scripted import CAUGHT, CONFIG, bridge, flow, recorded, value
from workers_shim.wire.neutral import Date

pytestmark = pytest.mark.asyncio

# A run that fails after two steps which can be undone.
TWO = """
const undo = (name) => ({ rollback: async (given) => { console.log(name, JSON.stringify(given)); } });
""" + flow("""
    await step.do("a", async () => 1, undo("undo a"));
    await step.do("b", async () => 2, undo("undo b"));
    await step.sleep("z", 1);
    throw new Error("boom");
""")


async def test_undo_functions_run_after_the_end(tools: Tools) -> None:
    async with bridge(tools, TWO) as world:
        run = await world.start()
        await run.play()
        for name in ("b", "a"):
            run.undo(name, output=5)
            assert await run.next("undoing") == {"t": "undoing", "name": name, "nth": 1, "attempt": 1}
            assert await run.next("undone") == {"t": "undone", "name": name, "nth": 1, "attempt": 1}
        assert await world.line("undo b") < await world.line("undo a")


async def test_what_an_undo_function_is_given(tools: Tools) -> None:
    code = flow("""
        await step.do("a", async () => 1, { rollback: (given) => {
          const { ctx, error, output, stepName } = given;
          const kinds = [error instanceof TypeError, error.message, output instanceof Date];
          console.log("given", Object.keys(given).join(), JSON.stringify(ctx), ...kinds, stepName);
        } });
        throw new Error("boom");
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.play()
        run.undo("a", output=Date(5), error={"name": "TypeError", "message": "t"})
        await run.next("undone")
        _, line = world.lines()[await world.line("given")]
        context = '{"step":{"name":"a","count":1},"attempt":1,"config":'
        assert line.startswith(f"given ctx,error,output,stepName {context}")
        assert line.endswith("true t true a-1")

        run.undo("a", attempt=2)
        await run.next("undone")
        assert "false a-1" in world.lines()[-1][1]


async def test_an_error_of_an_undo_function(tools: Tools) -> None:
    code = flow("""
        await step.do("a", async () => 1, { rollback: async () => { throw new NonRetryableError("no"); } });
        throw new Error("boom");
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.play()
        run.undo("a")
        error = (await run.next("undone"))["error"]
        assert (error["name"], error["message"]) == ("Error", "NonRetryableError: no")
        assert "user.js" in error["detail"]


async def test_a_given_up_attempt_of_an_undo_function_is_not_heard(tools: Tools) -> None:
    code = flow("""
        let attempt = 0;
        const rollback = async () => {
          attempt += 1;
          if (attempt === 1) await scheduler.wait(100);
          console.log("end", attempt);
        };
        await step.do("a", async () => 1, { rollback });
        throw new Error("boom");
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.play()
        run.undo("a", attempt=1)
        await run.next("undoing")
        run.send({"t": "cancel_undo", "name": "a", "nth": 1, "attempt": 1})
        run.undo("a", attempt=2)
        assert (await run.next("undone"))["attempt"] == 2
        await world.line("end 2")
        assert len(run.said("undone")) == 1


@pytest.mark.parametrize("call", ["do('x', async () => 1)", "sleep('x', 1)", "waitForEvent('x', { type: 't' })"])
async def test_an_undo_function_may_not_use_steps(tools: Tools, call: str) -> None:
    code = CAUGHT + flow(f"""
        await step.do("a", async () => 1, {{ rollback: () => step.{call} }});
        await step.sleep("z", 1);
        throw new Error("boom");
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.step()
        sleep = await run.next("call")
        run.undo("a", attempt=1)
        while_it_runs = (await run.next("undone"))["error"]["message"]
        run.ret(sleep)
        await run.next("done")
        run.undo("a", attempt=2)
        after_its_end = (await run.next("undone"))["error"]["message"]
        assert while_it_runs == "WorkflowFatalError: Cannot execute steps during rollback phase"
        assert after_its_end == "RPC stub used after being disposed."
        assert len(run.said("call")) == 2


async def test_an_undo_function_can_be_asked_while_the_run_goes_on(tools: Tools) -> None:
    async with bridge(tools, TWO) as world:
        run = await world.start()
        await run.step()
        await run.step()
        await run.next("call")
        run.undo("b")
        assert "missing" not in await run.next("undone")


async def test_a_repeated_run_is_not_answered_beyond_the_journal(tools: Tools) -> None:
    async with bridge(tools, TWO) as world:
        run = await world.start([*recorded("do", "a", result=1), ["c", "do", "b", 1, 0]], undo=True)
        for name in ("b", "a"):
            run.undo(name)
            assert "missing" not in await run.next("undone")
        assert run.said("call", "began") == []


async def test_a_repeated_run_may_end(tools: Tools) -> None:
    async with bridge(tools, TWO) as world:
        journal = [*recorded("do", "a", result=1), *recorded("do", "b", result=1), *recorded("sleep", "z", result=None)]
        run = await world.start(journal, undo=True)
        run.undo("b")
        assert "missing" not in await run.next("undone")


async def test_a_repeated_run_fetches_large_results(tools: Tools) -> None:
    async with bridge(tools, TWO) as world:
        run = await world.start([["c", "do", "a", 1, 0], ["l", "do", "a", 1], ["c", "do", "b", 1, 0]], undo=True)
        run.ret(await run.next("call"), 1)
        run.undo("b")
        assert "missing" not in await run.next("undone")


@pytest.mark.parametrize("undo", [True, False])
async def test_a_step_that_the_code_no_longer_comes_to_has_no_undo_function(tools: Tools, undo: bool) -> None:
    async with bridge(tools, TWO, hurry=True) as world:
        run = await world.start(recorded("do", "a", result=1), undo=undo)
        run.undo("gone")
        assert await run.next("undone") == {"t": "undone", "name": "gone", "nth": 1, "attempt": 1, "missing": True}


async def test_a_step_without_an_undo_function_has_none_after_the_end(tools: Tools) -> None:
    async with bridge(tools, flow("await step.do('a', async () => 1); throw new Error('boom');")) as world:
        run = await world.start()
        await run.play()
        run.undo("a")
        assert (await run.next("undone"))["missing"] is True


async def test_the_step_context_is_passed_on(tools: Tools) -> None:
    async with bridge(tools, TWO) as world:
        run = await world.start()
        assert "error" in await run.play()
        run.undo("a")
        await run.next("undone")
        _, line = world.lines()[await world.line("undo a")]
        assert f'"timeout":"{CONFIG["timeout"]}"' in line


async def test_a_rollback_config_with_a_delay_function_is_told_as_dynamic(tools: Tools) -> None:
    code = flow("""
        await step.do("a", async () => 1, { rollback() {}, rollbackConfig: { retries: { limit: 1, delay: () => 1 } } });
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        await run.play()
        told = run.said("call")[0]
        assert value({"value": told["rollback_config"]}) == {"retries": {"limit": 1, "delay": "[dynamic]"}}
