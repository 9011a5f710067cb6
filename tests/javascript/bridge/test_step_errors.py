"""How what fails in a step or in `run()` reaches the host, and the code."""

from __future__ import annotations

import pytest

from runtime.javascript.tools import Tools
from tests.javascript.bridge.scripted import CAUGHT, bridge, flow, value

pytestmark = pytest.mark.asyncio


async def test_a_failed_attempt_is_told_as_it_comes_over_rpc(tools: Tools) -> None:
    code = """
    class PaymentError extends Error { name = "PaymentError"; }
    const thrown = {
      named: () => new PaymentError("boom"), range: () => new RangeError("far"),
      final: () => new NonRetryableError("no"),
      text: () => "plain", object: () => ({ a: 1 }), nothing: () => undefined,
      empty: () => new PaymentError(""),
    };
    """ + flow("for (const [name, make] of Object.entries(thrown)) await step.do(name, async () => { throw make(); });")
    async with bridge(tools, code) as world:
        run = await world.start()
        told = {}
        for _ in range(7):
            call = await run.next("call")
            run.exec(call)
            error = (await run.next("ran"))["error"]
            told[call["name"]] = (error["name"], error["message"])
            run.ret(call)
        assert told == {
            "named": ("Error", "PaymentError: boom"),
            "range": ("RangeError", "far"),
            "final": ("Error", "NonRetryableError: no"),
            "text": ("Error", "plain"),
            "object": ("Error", "#<Object>"),
            "nothing": ("Error", "undefined"),
            "empty": ("Error", "PaymentError"),
        }


async def test_the_stack_of_a_failed_attempt_is_told_to_the_developer(tools: Tools) -> None:
    code = """
    function charge() { throw new Error("boom", { cause: new TypeError("inner") }); }
    """ + flow("await step.do('a', async () => charge());")
    async with bridge(tools, code) as world:
        run = await world.start()
        run.exec(await run.next("call"))
        detail = (await run.next("ran"))["error"]["detail"]
        assert detail.startswith("Error: boom\n    at charge (user.js:")
        assert "Caused by: TypeError: inner" in detail


async def test_an_error_of_the_host_reaches_the_code_by_name_and_message(tools: Tools) -> None:
    code = CAUGHT + flow("""
        const seen = [];
        for (const name of ["a", "b"]) seen.push(await caught(() => step.do(name, () => 1)));
        try { await step.do("c", () => 1); } catch (e) { seen.push(e instanceof RangeError, e.remote); }
        return seen;
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        timed_out = {"name": "Error", "message": "WorkflowTimeoutError: Execution timed out after 5ms"}
        for error in (timed_out, {"name": "TypeError", "message": "t"}, {"name": "RangeError", "message": "r"}):
            run.ret(await run.next("call"), error=error)
        assert value(await run.next("done")) == [f"Error: {timed_out['message']}", "TypeError: t", True, True]


async def test_what_no_step_may_return_ends_the_instance(tools: Tools) -> None:
    code = """
    class Target extends RpcTarget {}
    const values = {
      function: () => () => 1, nested: () => ({ a: [1, () => 1] }), target: () => new Target(),
      response: () => new Response("x"), request: () => new Request("http://x/"),
      stream: () => ({ s: new ReadableStream() }),
    };
    """ + flow("for (const [name, make] of Object.entries(values)) await step.do(name, make);")
    async with bridge(tools, code) as world:
        run = await world.start()
        for name in ("function", "nested", "target", "response", "request", "stream"):
            call = await run.next("call")
            run.exec(call)
            ran = await run.next("ran")
            text = f'as the step "{name}" returned a value which is not serialisable'
            assert ran["fatal"] == {
                "name": "WorkflowFatalError",
                "message": f"The execution of the Workflow instance was terminated, {text}",
            }
            assert "value" not in ran
            run.ret(call)


async def test_what_cannot_be_cloned_fails_its_attempt_only(tools: Tools) -> None:
    code = """
    class P { x = 1; }
    const values = [
      () => new P(), () => Symbol("s"), () => ({ p: Promise.resolve(1) }), () => Object.create(null),
      () => new WeakMap(),
    ];
    """ + flow("for (const make of values) await step.do('s', make);")
    async with bridge(tools, code) as world:
        run = await world.start()
        told = []
        for _ in range(5):
            call = await run.next("call")
            run.exec(call)
            told.append((await run.next("ran"))["error"])
            run.ret(call)
        assert {error["name"] for error in told} == {"DataCloneError"}
        unsupported = 'Could not serialize object of type "{}". This type does not support serialization.'
        assert [error["message"] for error in told] == [
            unsupported.format("P"),
            "Symbol(s) could not be cloned.",
            "#<Promise> could not be cloned.",
            unsupported.format("Object"),
            "#<WeakMap> could not be cloned.",
        ]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ("() => 1", "RpcStub cannot be serialized in this context."),
        ("new ReadableStream()", "ReadableStream can only be serialized for RPC."),
        ("Symbol('s')", "Symbol(s) could not be cloned."),
    ],
)
async def test_what_run_may_not_return_ends_it_with_an_error(tools: Tools, result: str, message: str) -> None:
    async with bridge(tools, flow(f"return {result};")) as world:
        error = (await (await world.start()).play())["error"]
        assert (error["name"], error["message"]) == ("DataCloneError", message)


async def test_an_error_of_run_is_told_with_its_stack(tools: Tools) -> None:
    for how in ("throw new MyError('boom');", "await step.do('a', () => 1); throw new MyError('boom');"):
        async with bridge(tools, "class MyError extends Error { name = 'MyError'; }" + flow(how)) as world:
            error = (await (await world.start()).play())["error"]
            assert (error["name"], error["message"]) == ("Error", "MyError: boom")
            assert error["detail"].startswith("MyError: boom\n    at Flow.run (user.js:")
