"""What the host asks the bridge besides runs."""

from __future__ import annotations

import gzip

import pytest

from runtime.javascript.tools import Tools
from tests.javascript.bridge.scripted import bridge, flow

pytestmark = pytest.mark.asyncio

FLOW = flow("")


def handlers(body: str) -> str:
    """A worker with these handlers."""
    return FLOW + f"export default {{ {body} }};"


async def test_only_the_host_is_answered(tools: Tools) -> None:
    async with bridge(tools, handlers("")) as world:
        for token in ("", "other"):
            assert (await world.request(headers={"celld-token": token})).status_code == 403
        assert (await world.request(kind="ping")).text == "pong"
        assert (await world.request(kind="nothing")).status_code == 400


async def test_a_request_reaches_the_worker_as_the_client_made_it(tools: Tools) -> None:
    code = handlers("""async fetch(request) {
      const ours = [...request.headers.keys()].filter((name) => name.startsWith("celld-"));
      const { method, url, headers, cf } = request;
      return Response.json([method, url, headers.get("x-a"), await request.text(), cf?.colo, ours]);
    }""")
    async with bridge(tools, code) as world:
        headers = {"x-a": "b", "host": "example.org", "celld-cf": '{"colo":"ABC"}', "celld-internal": "wake"}
        answer = await world.request("/p/a?q=1", method="PUT", content=b"body", headers=headers)
        assert answer.json() == ["PUT", "http://example.org/p/a?q=1", "b", "body", "ABC", []]


async def test_a_response_reaches_the_client_as_the_worker_made_it(tools: Tools) -> None:
    code = handlers("""fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/redirect") return Response.redirect("http://elsewhere.example/", 307);
      const forged = { "celld-failure": "1", "x-a": "b" };
      if (pathname === "/forged") return new Response("mine", { status: 201, headers: forged });
      const headers = [["set-cookie", "a=1"], ["set-cookie", "b=2"]];
      return new Response("teapot", { status: 418, statusText: "I am", headers });
    }""")
    async with bridge(tools, code) as world:
        answer = await world.request()
        assert (answer.status_code, answer.reason_phrase, answer.text) == (418, "I am", "teapot")
        assert answer.headers.get_list("set-cookie") == ["a=1", "b=2"]
        assert (await world.request("/redirect")).headers["location"] == "http://elsewhere.example/"
        forged = await world.request("/forged")
        assert (forged.status_code, forged.text, forged.headers["x-a"]) == (201, "mine", "b")
        assert "celld-failure" not in forged.headers


async def test_a_compressed_body_is_passed_on_as_it_is(tools: Tools) -> None:
    packed = gzip.compress(b"abc" * 1000)
    code = handlers(f"""fetch() {{
      const body = Uint8Array.from({list(packed)});
      return new Response(body, {{ encodeBody: "manual", headers: {{ "content-encoding": "gzip" }} }});
    }}""")
    async with bridge(tools, code) as world:
        answer = await world.request()
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.content == b"abc" * 1000


async def test_what_a_worker_throws_is_told_with_its_stack(tools: Tools) -> None:
    handler = handlers("async fetch() { throw new MyError('boom'); }")
    code = f"class MyError extends Error {{ name = 'MyError'; }}\n{handler}"
    async with bridge(tools, code) as world:
        answer = await world.request()
        assert (answer.status_code, answer.headers["celld-failure"]) == (500, "1")
        told = answer.json()
        assert told["error"] == {"name": "MyError", "message": "boom"}
        assert told["stack"].startswith("MyError: boom\n    at Object.fetch (user.js:")


@pytest.mark.parametrize("code", ["", "export default {};", "export default class extends WorkerEntrypoint {}"])
async def test_a_worker_without_a_handler_for_requests(tools: Tools, code: str) -> None:
    async with bridge(tools, FLOW + code) as world:
        told = (await world.request()).json()
        assert told["error"]["message"] == "Handler does not export a fetch() function."


async def test_a_worker_that_is_a_class(tools: Tools) -> None:
    code = (
        FLOW
        + """
    export default class Api extends WorkerEntrypoint {
      #secret = 5;
      async fetch() {
        const twice = await this.env.SELF.twice(2);
        return Response.json([this.#secret, this.constructor.name, typeof this.env.FLOW, twice]);
      }
      twice(n) { return 2 * n; }
    }
    """
    )
    async with bridge(tools, code) as world:
        assert await world.json() == [5, "Api", "object", 4]


async def test_assets_stand_in_front_of_the_worker(tools: Tools) -> None:
    front = """export default { async fetch(request, env) {
      if (new URL(request.url).pathname === "/asset") return new Response("asset");
      return env.BEHIND.fetch(request);
    } };"""
    code = handlers("fetch() { throw new Error('boom'); }")
    async with bridge(tools, code, front=front) as world:
        assert (await world.request("/asset")).text == "asset"
        told = (await world.request()).json()
        assert (told["error"]["message"], "user.js" in told["stack"]) == ("boom", True)


async def test_what_a_worker_offers(tools: Tools) -> None:
    code = (
        FLOW
        + """
    export class Helper extends WorkerEntrypoint {}
    export default { fetch() {}, async scheduled() {} };
    """
    )
    async with bridge(tools, code) as world:
        told = (await world.request(kind="worker")).json()
        assert told == {"workflows": ["Flow"], "entrypoints": ["Helper"], "handlers": ["fetch", "scheduled"]}


async def test_the_exports_that_code_sees_are_its_own(tools: Tools) -> None:
    code = "export class Helper extends WorkerEntrypoint {}\n" + handlers(
        "fetch(_, env, ctx) { return Response.json(Object.keys(ctx.exports).sort()); }"
    )
    async with bridge(tools, code) as world:
        assert await world.json() == ["Helper", "default"]


CRON = """async scheduled({ cron, scheduledTime, noRetry }) {
  console.log("cron", cron, scheduledTime);
  if (cron === "bad") { noRetry(); throw new RangeError("boom"); }
}"""


async def test_cron(tools: Tools) -> None:
    async with bridge(tools, handlers(CRON)) as world:
        asked = {"cron": "* * * * *", "scheduledTime": 1_750_000_000_000}
        answer = await world.request(kind="scheduled", method="POST", json=asked)
        assert answer.json() == {"outcome": "ok", "noRetry": False}
        await world.line("cron * * * * * 1750000000000")

        answer = await world.request(kind="scheduled", method="POST", json={**asked, "cron": "bad"})
        told = answer.json()
        assert (told["outcome"], told["noRetry"]) == ("exception", True)
        assert told["error"] == {"name": "RangeError", "message": "boom"}
        assert "user.js" in told["stack"]


async def test_a_drain_waits_for_what_requests_have_left_behind(tools: Tools) -> None:
    code = handlers("""fetch(_, env, ctx) {
      ctx.waitUntil(scheduler.wait(200).then(() => console.log("done")));
      return new Response("ok");
    }""")
    async with bridge(tools, code) as world:
        await world.request()
        assert (await world.request(kind="drain")).text == "drained"
        assert ("log", "done") in world.lines()
