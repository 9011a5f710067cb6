"""A user's default export, whatever it is: its handlers work as without us, and the bridge gets its answers."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.javascript.tools import Tools
from tests.javascript.bridge.scripted import World, bridge, flow, value

pytestmark = pytest.mark.asyncio

FLOW = flow("return 1;")
CRON = {"cron": "*/5 * * * *", "scheduledTime": 1_750_000_000_123}


async def handlers(world: World) -> list[str]:
    """The handlers that the bridge tells of."""
    answer = await world.request(kind="worker")
    assert answer.status_code == 200, answer.text
    found: list[str] = answer.json()["handlers"]
    return found


async def scheduled(world: World) -> dict[str, Any]:
    """What the bridge answers to a cron trigger."""
    answer = await world.request(kind="scheduled", method="POST", json=CRON)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


@pytest.mark.parametrize(
    "code",
    [
        "export default Object.freeze({ fetch() { return new Response('ok'); } });",
        "export default { get fetch() { return () => new Response('ok'); } };",  # a namespace that was bundled
        "class App { #text = 'ok'; fetch() { return new Response(this.#text); } }\nexport default new App();",
        "class App { fetch = async () => new Response('ok'); }\nexport default new App();",
        "export default class extends WorkerEntrypoint { fetch() { return new Response('ok'); } }",
        "export default class extends WorkerEntrypoint { fetch = async () => new Response('ok'); }",
        "class Base extends WorkerEntrypoint { fetch() { return new Response('ok'); } }\n"
        "export default class extends Base { get broken() { return this.env.NONE.x; } }",
    ],
)
async def test_every_kind_of_default_export_answers(tools: Tools, code: str) -> None:
    async with bridge(tools, FLOW + code) as world:
        await handlers(world)
        assert (await world.request()).text == "ok"


@pytest.mark.parametrize(
    "code",
    ["", "export default () => 1;", "export default class {}", "export default function () {}", "export default 5;"],
)
async def test_what_has_no_handlers_starts_and_says_so_when_it_is_asked(tools: Tools, code: str) -> None:
    async with bridge(tools, FLOW + code) as world:
        assert await handlers(world) == []
        failed = await world.request()
        assert (failed.status_code, failed.headers["celld-failure"]) == (500, "1")
        assert failed.json()["error"]["message"] == "Handler does not export a fetch() function."


async def test_other_handlers_are_called_on_the_object_itself(tools: Tools) -> None:
    code = """
    class App { #n = 7; fetch(request, env) { return env.SELF.add(1).then((sum) => new Response(sum)); }
      add(other) { return this.#n + other; } }
    export default new App();
    """
    async with bridge(tools, FLOW + code, date="2026-05-01") as world:
        assert await handlers(world) == ["add", "fetch"]
        assert (await world.request()).text == "8"


async def test_rpc_methods_of_a_default_class_are_called(tools: Tools) -> None:
    code = """
    export default class App extends WorkerEntrypoint {
      async fetch() { return new Response(await this.env.SELF.add(1)); }
      add(n) { return `${this.constructor.name} ${n + 1}`; }
    }
    """
    async with bridge(tools, FLOW + code) as world:
        assert (await world.request()).text == "App 2"


async def test_a_constructor_that_throws_fails_the_requests_and_not_the_start(tools: Tools) -> None:
    code = """
    let broken = false;
    export default class App extends WorkerEntrypoint {
      constructor(ctx, env) { super(ctx, env); if (broken) throw new RangeError("no"); }
      add() { return "called"; }
      async fetch() { broken = true; return new Response(await this.env.SELF.add().catch(String)); }
    }
    """
    async with bridge(tools, FLOW + code) as world:
        assert (await world.request()).text == "RangeError: no"
        failed = (await world.request()).json()
        assert failed["error"] == {"name": "RangeError", "message": "no"}
        assert "new App (user.js:" in failed["stack"]
        assert await handlers(world) == ["add", "fetch"]
        assert (await world.request(kind="drain")).status_code == 200


@pytest.mark.parametrize(
    "code",
    [
        "export default { scheduled(controller, env, ctx) { BODY } };",
        "export default class extends WorkerEntrypoint { scheduled(controller) { const { ctx } = this; BODY } }",
    ],
)
async def test_cron_calls_the_handler_with_a_controller(tools: Tools, code: str) -> None:
    body = """
    if (controller.scheduledTime % 1000 === 123) controller.noRetry();
    const { cron } = controller;
    ctx.waitUntil((async () => { await scheduler.wait(5); ctx.waitUntil(scheduler.wait(5).then(() => {
      console.log(cron); if (globalThis.fails) throw new TypeError("late"); globalThis.fails = true; })); })());
    """
    async with bridge(tools, FLOW + code.replace("BODY", body)) as world:
        assert await scheduled(world) == {"outcome": "ok", "noRetry": True}
        assert ("log", CRON["cron"]) in world.lines()
        failed = await scheduled(world)
        assert (failed["outcome"], failed["error"]) == ("exception", {"name": "TypeError", "message": "late"})
        assert "user.js:" in failed["stack"]


async def test_cron_without_a_handler_fails(tools: Tools) -> None:
    async with bridge(tools, FLOW + "export default {};") as world:
        message = "Handler does not export a scheduled() function."
        assert (await scheduled(world))["error"] == {"name": "Error", "message": message}


async def test_what_wait_until_is_given_runs_once(tools: Tools) -> None:
    code = """
    let runs = 0;
    const query = { then(resolve) { runs += 1; resolve(); } };
    export default { async fetch(request, env, ctx) {
      ctx.waitUntil(query); await scheduler.wait(5); return new Response(runs); } };
    """
    async with bridge(tools, FLOW + code) as world:
        assert (await world.request()).text == "1"


async def test_a_response_with_a_header_of_ours_keeps_the_rest(tools: Tools) -> None:
    code = """
    export default { fetch() {
      const headers = [["celld-failure", "1"], ["x-own", "2"], ["set-cookie", "a"], ["set-cookie", "b"]];
      return new Response("body", { status: 418, headers }); } };
    """
    async with bridge(tools, FLOW + code) as world:
        response = await world.request()
        assert (response.status_code, response.text, response.headers["x-own"]) == (418, "body", "2")
        assert response.headers.get_list("set-cookie") == ["a", "b"]
        assert "celld-failure" not in response.headers


async def test_every_line_of_whatever_console_method_has_one_mark_before_it(tools: Tools) -> None:
    code = flow("""
        for (const name of Object.keys(console)) console[name]("x");
        console.log(Symbol("s"), new Proxy({}, { get() { throw new Error("asked"); } }));
    """)
    async with bridge(tools, code) as world:
        await (await world.start()).next("done")
        await world.line("Symbol(s)")
        marks = [text.startswith("\u0001celld ") for _, text in world.lines()]
        assert marks == [True, False] * (len(marks) // 2)


async def test_a_sparse_array_with_named_properties_is_kept_without_them(tools: Tools) -> None:
    async with bridge(tools, flow("const a = [, , , , , 1]; a.name = 2; return a;")) as world:
        done = await (await world.start()).next("done")
        assert done["value"] == "[[-7,6,5,1],1]"


@pytest.mark.parametrize("flags", [["nodejs_compat"], ["nodejs_als", "disallow_importable_env"]])
@pytest.mark.parametrize(
    "code",
    [
        "export default { fetch: (_, env) => keys(env) };",
        "export default class extends WorkerEntrypoint { fetch() { return keys(this.env); } }",
        "export default class extends WorkerEntrypoint { made = keys(this.env); fetch() { return this.made; } }",
    ],
)
async def test_code_sees_no_binding_of_ours(tools: Tools, code: str, flags: list[str]) -> None:
    workflow = """
    import { env as imported } from "cloudflare:workers";
    const process = globalThis.process?.env ?? {};
    const keys = (env) => Response.json([env, imported, process].map((each) => Object.keys(each).join()));
    export class Flow extends WorkflowEntrypoint {
      async run(_, step) {
        return await step.do("keys", async () => Object.keys(this.env).join());
      }
    }
    """
    async with bridge(tools, workflow + code, flags=flags) as world:
        keys = "FLOW,SELF,FLOW_CLASS"
        assert (await world.json())[0] == keys
        assert all(each in (keys, "") for each in await world.json())
        run = await world.start()
        assert value(await run.play()) == keys
