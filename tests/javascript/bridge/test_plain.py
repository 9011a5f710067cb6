"""Plain values do not go over RPC on their way between code and journal; it must not show."""

from __future__ import annotations

import pytest

from runtime.javascript.tools import Tools
from tests.javascript.bridge.scripted import bridge, flow, value

pytestmark = pytest.mark.asyncio

VALUES = [
    *("1", "'text'", "'\\ud800'", "null", "undefined", "-0", "NaN", "-Infinity", "12345678901234567890n", "true"),
    *("new Date(5)", "new Date(NaN)", "Object.assign(new Date(5), { more: 1 })", "[]", "{}", "[1, [2, [undefined]]]"),
    *("[1, , 3]", "Object.assign([1], { more: 2 })", "new Array(3)", "new Map([[{ a: 1 }, 2]])", "new Set(['a'])"),
    *("{ a: { b: [1, { c: 'd' }] } }", "Object.freeze({ a: 1 })", "{ ['__proto__']: 1, a: 2 }", "{ constructor: 1 }"),
    *("{ [Symbol('s')]: 1, a: 2 }", "Object.defineProperty({ a: 1 }, 'hidden', { value: 2 })", "{ then: 1 }"),
    *("((a) => [a, a, { a }])({ shared: 1 })", "{ get a() { return 1; } }"),
    *("Array.from({ length: 20_000 }, (_, i) => i)", "'x'.repeat(2_000_000)", "new Uint8Array([1, 2])", "/x/g"),
    "[...Array(300)].reduce((inner) => [inner], 'deep')",
]


@pytest.mark.parametrize("expression", VALUES)
async def test_a_result_is_what_rpc_would_make_of_it(tools: Tools, expression: str) -> None:
    code = flow(f"""
        const plain = await step.do("plain", async () => ({expression}));
        const other = await step.do("other", async () => [new Map(), {expression}]); // a Map goes over RPC
        const same = await step.do("mirror", async () => plain);
        return [plain, other[1], same];
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        results = value(await run.play())
        plain, other, _ = (value(ran) for ran in run.said("ran"))
        assert repr(plain) == repr(other[1])
        assert {repr(each) for each in results} == {repr(plain)}


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("new (class Own {})()", 'Could not serialize object of type "Own". This type does not support serialization.'),
        (
            "[new (class Own {})()]",
            'Could not serialize object of type "Own". This type does not support serialization.',
        ),
        (
            "Object.create(null)",
            'Could not serialize object of type "Object". This type does not support serialization.',
        ),
        ("{ a: [new Proxy([], {})] }", "Proxy could not be serialized because it is not a valid RPC receiver type."),
        ("Object.create(Date.prototype)", 'Could not serialize object of type "Date". This type does not support'),
    ],
)
async def test_what_rpc_refuses_is_refused(tools: Tools, expression: str, message: str) -> None:
    async with bridge(tools, flow(f"await step.do('a', async () => ({expression}));")) as world:
        run = await world.start()
        run.exec(await run.next("call"))
        error = (await run.next("ran"))["error"]
        assert error["name"] == "DataCloneError"
        assert message in error["message"]


@pytest.mark.parametrize("expression", ["() => 1", "[{ f() {} }]", "new Proxy({ a: 1 }, {})"])
async def test_what_rpc_makes_a_stub_of_ends_the_instance(tools: Tools, expression: str) -> None:
    async with bridge(tools, flow(f"await step.do('a', async () => ({expression}));")) as world:
        run = await world.start()
        run.exec(await run.next("call"))
        assert "returned a value which is not serialisable" in (await run.next("ran"))["fatal"]["message"]


async def test_a_getter_is_asked_once(tools: Tools) -> None:
    code = flow("""
        let asked = 0;
        await step.do("a", async () => ({ get a() { return (asked += 1); } }));
        return asked;
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        assert value(await run.play()) == 1


async def test_what_a_call_was_given_is_read_when_it_is_made(tools: Tools) -> None:
    code = flow("""
        const config = { retries: { limit: 1, delay: 5 }, timeout: "1 minute" };
        const first = step.do("a", config, async () => 1);
        config.retries.limit = 9;
        await first;
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        call = await run.next("call")
        assert value({"value": call["arg"]}) == {"retries": {"limit": 1, "delay": 5}, "timeout": "1 minute"}


async def test_what_a_step_gave_is_read_when_it_ends(tools: Tools) -> None:
    code = flow("""
        const shared = { n: 1 };
        const got = await step.do("a", async () => shared);
        got.n = 5;
        shared.n = 7;
        return [got, shared, await step.do("b", async () => shared)];
    """)
    async with bridge(tools, code) as world:
        run = await world.start()
        assert value(await run.play()) == [{"n": 5}, {"n": 7}, {"n": 7}]
