"""A Workflow's binding: what code calls, and what the host is asked."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.javascript.tools import Tools
from tests.inbox import Message
from tests.javascript.bridge.scripted import CAUGHT, bridge, flow
from workers_shim.wire.devalue import parse
from workers_shim.wire.neutral import UNDEFINED, Date, Map

pytestmark = pytest.mark.asyncio


def worker(body: str) -> str:
    """A worker whose `fetch` answers with what this gives, as JSON."""
    handler = f"async fetch(request, env, ctx) {{ return Response.json({body}); }}"
    return f"{CAUGHT}{flow('')} export default {{ {handler} }};"


def one(asked: Message) -> Any:
    """A host with one instance."""
    answers: dict[str, Any] = {
        "create": {"id": "made"},
        "get": {"id": "found"},
        "status": {"status": "complete", "output": Date(5)},
        "subscribe": 7,
        "next": {"done": False, "value": {"type": "workflow_queued", "when": Date(5)}},
    }
    return answers.get(asked["op"])


async def test_methods_of_the_binding(tools: Tools) -> None:
    calls: dict[str, tuple[str, list[Any]]] = {
        "create()": ("create", []),
        "create(null)": ("create", [None]),
        "create({ id: 5, retention: {} })": ("create", [{"id": 5, "retention": {}}]),
        "get('i')": ("get", ["i"]),
        "get(undefined)": ("get", [UNDEFINED]),
        "deleteBatch(['a', 'b'])": ("deleteBatch", [["a", "b"]]),
        "deleteBatch('a')": ("deleteBatch", ["a"]),
    }
    code = worker(f"[{', '.join(f'await env.FLOW.{call}' for call in calls)}].length")
    async with bridge(tools, code, answer=one) as world:
        await world.json()
        assert world.bound == [{"workflow": "flow", "op": op, "args": args} for op, args in calls.values()]


async def test_methods_of_an_instance(tools: Tools) -> None:
    calls: dict[str, tuple[str, list[Any]]] = {
        "status()": ("status", []),
        "pause()": ("pause", []),
        "resume()": ("resume", []),
        "terminate()": ("terminate", []),
        "terminate({ rollback: true })": ("terminate", [{"rollback": True}]),
        "restart()": ("restart", []),
        "restart({ from: { name: 'a' } })": ("restart", [{"from": {"name": "a"}}]),
        "delete()": ("delete", []),
        "subscribe()": ("subscribe", []),
        "subscribe({ cursor: 5 })": ("subscribe", [{"cursor": 5}]),
    }
    code = worker(f"""await (async () => {{
      const made = await env.FLOW.get("i");
      return [{", ".join(f"await made.{call}" for call in calls)}].length;
    }})()""")
    async with bridge(tools, code, answer=one) as world:
        await world.json()
        asked = [each for each in world.bound[1:] if each["op"] != "dispose"]
        assert asked == [{"workflow": "flow", "op": op, "args": ["found", *args]} for op, args in calls.values()]


async def test_handles_and_statuses(tools: Tools) -> None:
    code = worker("""await (async () => {
      const made = await env.FLOW.create({ id: "x" });
      const { status, output } = await made.status();
      return [made.constructor.name, made.id, (await env.FLOW.get("y")).id, status, output instanceof Date];
    })()""")
    async with bridge(tools, code, answer=one) as world:
        assert await world.json() == ["InstanceImpl", "made", "found", "complete", True]


async def test_the_users_values_travel_as_texts_of_their_own(tools: Tools) -> None:
    code = worker("""await (async () => {
      const made = await env.FLOW.create({ params: { when: new Date(5), map: new Map([[1, 2n]]) } });
      await made.sendEvent({ type: "go", payload: new Date(6) });
      await made.sendEvent({ type: "go" });
    })() ?? null""")
    async with bridge(tools, code, answer=one) as world:
        await world.json()
        create, first, second = (asked["args"] for asked in world.bound)
        params = parse(create[0]["params"])
        assert params["when"] == Date(5)
        assert isinstance(params["map"], Map)
        assert first[1]["type"] == "go"
        assert parse(first[1]["payload"]) == Date(6)
        assert second[1] == {"type": "go"}


async def test_batches(tools: Tools) -> None:
    def answer(asked: Message) -> Any:
        if isinstance(asked["args"][0], list):
            return ["a", "b"]
        return {"created": [{"id": "a"}], "errors": [{"index": 1, "id": "b", "code": 10405, "message": "m"}]}

    code = worker("""await (async () => {
      const legacy = await env.FLOW.createBatch([{ id: "a", params: 1 }, { id: "b" }]);
      const given = await env.FLOW.createBatch({ instances: [{ id: "a", params: 2 }, { id: "b" }] });
      await env.FLOW.createBatch({ count: 2, params: 3 });
      return [legacy.map((made) => made.id), given.created.map((made) => made.id), given.errors];
    })()""")
    async with bridge(tools, code, answer=answer) as world:
        errors = [{"index": 1, "id": "b", "code": 10405, "message": "m"}]
        assert await world.json() == [["a", "b"], ["a"], errors]
        assert [asked["args"] for asked in world.bound] == [
            [[{"id": "a", "params": "[1]"}, {"id": "b"}]],
            [{"instances": [{"id": "a", "params": "[2]"}, {"id": "b"}]}],
            [{"count": 2, "params": "[3]"}],
        ]


async def test_errors_of_the_host_reach_the_code(tools: Tools) -> None:
    def answer(asked: Message) -> Any:
        names = {"create": "Error", "get": "TypeError"}
        return {"error": {"name": names[asked["op"]], "message": f"no {asked['op']}"}}

    code = worker("[await caught(() => env.FLOW.create()), await caught(() => env.FLOW.get('i'))]")
    async with bridge(tools, code, answer=answer) as world:
        assert await world.json() == ["Error: no create", "TypeError: no get"]


@pytest.mark.parametrize("value", ["() => 1", "{ f() {} }"])
async def test_a_value_that_cannot_be_kept_is_refused(tools: Tools, value: str) -> None:
    code = worker(f"""await (async () => {{
      const made = await env.FLOW.get("i");
      return [await caught(() => env.FLOW.create({{ params: {value} }})),
        await caught(() => made.sendEvent({{ type: "t", payload: {value} }}))];
    }})()""")
    async with bridge(tools, code, answer=one) as world:
        assert await world.json() == ["DataCloneError: RpcStub cannot be serialized in this context."] * 2


async def test_a_subscription_gives_events_until_it_is_disposed_of(tools: Tools) -> None:
    code = worker("""await (async () => {
      const subscription = await (await env.FLOW.get("i")).subscribe();
      const { done, value } = await subscription.next();
      subscription[Symbol.dispose]();
      await scheduler.wait(100);
      return [done, value.type, value.when instanceof Date];
    })()""")
    async with bridge(tools, code, answer=one) as world:
        assert await world.json() == [False, "workflow_queued", True]
        asked = [(asked["op"], asked["args"]) for asked in world.bound]
        assert asked == [("get", ["i"]), ("subscribe", ["found"]), ("next", [7]), ("dispose", [7])]


async def test_a_subscription_that_is_left_is_disposed_of(tools: Tools) -> None:
    code = worker("await (async () => { await (await env.FLOW.get('i')).subscribe(); return 1; })()")
    async with bridge(tools, code, answer=one) as world:
        await world.json()
        await world.until(lambda: [asked["op"] for asked in world.bound] == ["get", "subscribe", "dispose"])


async def test_a_binding_works_inside_steps(tools: Tools) -> None:
    code = flow("return step.do('a', async () => (await this.env.FLOW.create({ id: 'x' })).id);")
    async with bridge(tools, code, answer=one) as world:
        run = await world.start()
        call = await run.next("call")
        run.exec(call)
        assert parse((await run.next("ran"))["value"]) == "made"
        run.ret(call)
        await run.next("done")
        second = await world.start()
        await second.next("call")
        second.rest()
        await second.next("parked")
