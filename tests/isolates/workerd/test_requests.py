from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from pathlib import Path
from typing import Any

import pytest

from runtime.isolates.workerd.connection import Pool
from runtime.isolates.workerd.isolate import WorkerdIsolate
from runtime.isolates.workerd.requests import Requests
from runtime.isolates.workerd.stacks import Stacks
from runtime.javascript.source_maps import SourceMaps
from runtime.javascript.tools import Tools
from workers_shim.wire.messages import STREAM_CREDIT

from .world import Heard, Message, request, running

pytestmark = pytest.mark.asyncio

# What arrives, as JSON.
ECHO = """
export default { async fetch(request) {
  const { url, method, cf } = request;
  return Response.json({ url, method, cf, headers: [...request.headers], body: await request.text() });
} };
"""


async def whole(heard: Heard, id: int) -> str:
    """The whole body of a response."""
    await heard.until(lambda: id in heard.ended)
    return heard.bodies[id].decode()


async def test_a_request_arrives_as_it_was_sent(tools: Tools, tmp_path: Path) -> None:
    async with running(tools, tmp_path, ECHO) as (isolate, heard):
        path = "//a%2Fb%20c/%zz;d?q=%20+&q&%ff"
        headers = [("host", "example.com"), ("x-two", "1"), ("x-two", "2"), ("hostile", "no")]
        isolate.send({**request(1, path), "headers": headers})
        arrived = json.loads(await whole(heard, 1))

        assert arrived["url"] == f"http://example.com{path}"
        assert arrived["method"] == "GET"
        assert arrived["cf"] == {"httpProtocol": "HTTP/1.1"}
        assert arrived["headers"] == [["host", "example.com"], ["hostile", "no"], ["x-two", "1, 2"]]


@pytest.mark.parametrize("framing", [("content-length", "11"), ("transfer-encoding", "chunked")])
async def test_a_body_arrives_however_it_is_framed(framing: tuple[str, str], tools: Tools, tmp_path: Path) -> None:
    async with running(tools, tmp_path, ECHO) as (isolate, heard):
        isolate.send(request(1, method="POST", headers=dict([framing])))
        isolate.send_data(1, b"hello ")
        isolate.send_data(1, b"world")
        isolate.send_end(1)

        assert json.loads(await whole(heard, 1))["body"] == "hello world"
        assert sum(each["bytes"] for each in heard.all("credit", id=1)) == 11


async def test_a_client_can_give_no_orders_to_the_bridge(tools: Tools, tmp_path: Path) -> None:
    async with running(tools, tmp_path, ECHO) as (isolate, heard):
        forged = {"celld-kind": "ping", "Celld-Token": "x", "celld-internal": "drain", "connection": "close"}
        isolate.send(request(1, headers=forged))

        assert json.loads(await whole(heard, 1))["headers"] == [["host", "example.com"]]


async def test_a_response_comes_back_as_it_is(tools: Tools, tmp_path: Path) -> None:
    code = """
        export default { fetch() {
          const headers = [["Set-Cookie", "a=1"], ["Set-Cookie", "b=2"], ["Content-Encoding", "gzip"], ["X-Name", "é"]];
          return new Response(new Uint8Array([0, 255]), { status: 307, headers, encodeBody: "manual" });
        } };
    """
    async with running(tools, tmp_path, code) as (isolate, heard):
        isolate.send(request(1))
        await heard.until(lambda: 1 in heard.ended)
        head = await heard.one("response", id=1)

        assert head["status"] == 307
        headers = [(name, value) for name, value in head["headers"] if name.lower() not in ("content-length",)]
        assert sorted(headers)[:2] == [("Content-Encoding", "gzip"), ("Set-Cookie", "a=1")]
        assert ("Set-Cookie", "b=2") in headers
        assert heard.bodies[1] == b"\x00\xff"


async def test_the_first_piece_comes_before_the_second_is_made(tools: Tools, tmp_path: Path) -> None:
    code = """
        let go = false;
        export default { fetch(request) {
          if (request.url.endsWith("/go")) { go = true; return new Response(""); }
          const { readable, writable } = new TransformStream();
          const writer = writable.getWriter();
          const write = (text) => writer.write(new TextEncoder().encode(text));
          const wait = async () => { while (!go) await scheduler.wait(5); };
          write("first ").then(wait).then(() => write("second")).then(() => writer.close());
          return new Response(readable);
        } };
    """
    async with running(tools, tmp_path, code) as (isolate, heard):
        isolate.send(request(1))
        await heard.until(lambda: heard.bodies[1] == b"first ")
        isolate.send(request(2, "/go"))

        assert await whole(heard, 1) == "first second"


async def test_a_slow_reader_stops_the_worker(tools: Tools, tmp_path: Path) -> None:
    code = """
        let made = 0;
        export default { fetch(request) {
          if (request.url.endsWith("/made")) return new Response(String(made));
          const pull = (controller) => { made += 65536; controller.enqueue(new Uint8Array(65536)); };
          return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
        } };
    """
    async with running(tools, tmp_path, code) as (isolate, heard):
        isolate.send(request(1))
        await heard.until(lambda: len(heard.bodies[1]) >= STREAM_CREDIT)
        before, id = "", 1
        while before != (before := await made(isolate, heard, id := id + 1)):
            pass

        assert len(heard.bodies[1]) < 2 * STREAM_CREDIT
        isolate.send({"t": "credit", "id": 1, "bytes": len(heard.bodies[1])})
        taken = len(heard.bodies[1])
        await heard.until(lambda: len(heard.bodies[1]) > taken)


async def test_a_client_that_leaves_ends_the_stream(tools: Tools, tmp_path: Path) -> None:
    code = """
        export default { fetch(request) {
          const cancel = () => console.log("cancelled");
          const pull = async (controller) => { await scheduler.wait(1); controller.enqueue(new Uint8Array(1)); };
          return new Response(new ReadableStream({ pull, cancel }));
        } };
    """
    async with running(tools, tmp_path, code) as (isolate, heard):
        isolate.send(request(1))
        await heard.until(lambda: heard.bodies[1])

        isolate.send({"t": "disconnect", "id": 1})

        await heard.until(lambda: "cancelled" in heard.printed())
        assert 1 not in heard.ended
        isolate.send({"t": "drain"})
        await heard.one("drained")


async def test_what_the_worker_throws_is_told_with_its_place(tools: Tools, tmp_path: Path) -> None:
    code = 'export default { async fetch() {\n  throw new TypeError("no such luck");\n} };'
    async with running(tools, tmp_path, code) as (isolate, heard):
        isolate.send(request(1))
        failed = await heard.one("request_failed", id=1)

        assert failed["error"] == {"name": "TypeError", "message": "no such luck"}
        assert (failed["file"], failed["line"]) == ("index.js", 2)
        assert str(tmp_path / "app" / "index.js") + ":2:" in failed["traceback"]
        assert not heard.all("response")


async def test_a_worker_cannot_pretend_to_have_failed(tools: Tools, tmp_path: Path) -> None:
    code = 'export default { fetch() { return new Response("{}", { headers: { "celld-failure": "1" } }); } };'
    async with running(tools, tmp_path, code) as (isolate, heard):
        isolate.send(request(1))

        assert await whole(heard, 1) == "{}"
        assert not heard.all("request_failed")


async def test_a_response_that_breaks_off_has_failed(tools: Tools, tmp_path: Path) -> None:
    code = """
        export default { fetch() {
          let pieces = 0;
          const pull = (controller) => {
            if (pieces++) controller.error(new Error("broken")); else controller.enqueue(new Uint8Array(10));
          };
          return new Response(new ReadableStream({ pull }));
        } };
    """
    async with running(tools, tmp_path, code) as (isolate, heard):
        isolate.send(request(1))

        await heard.one("request_failed", id=1)
        assert 1 not in heard.ended


async def test_a_head_request_has_no_body(tools: Tools, tmp_path: Path) -> None:
    code = 'export default { fetch() { return new Response("not sent", { headers: { "x-here": "1" } }); } };'
    async with running(tools, tmp_path, code) as (isolate, heard):
        isolate.send(request(1, method="HEAD"))

        assert await whole(heard, 1) == ""
        assert ("X-Here", "1") in [(name.title(), value) for name, value in (await heard.one("response"))["headers"]]


class Alone:
    """`Requests` without a workerd: what answers is a server of the test's."""

    def __init__(self, port: int) -> None:
        self.said: list[Message] = []
        self.idle = asyncio.Event()
        self.requests = Requests(
            Pool(port),
            "token",
            "app",
            Stacks(SourceMaps(Path()), Path()),
            say=self.said.append,
            give=lambda id, data: None,
            finish=lambda id: None,
            idle=self.idle.set,
        )

    async def ask(self, message: Message) -> list[Message]:
        """What is said of a request until it is over."""
        self.said.clear()
        self.idle.clear()
        self.requests.begin(message)
        await self.idle.wait()
        return self.said


async def test_a_request_that_finds_nobody_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]

    (failed,) = await Alone(port).ask(request(1))
    assert (failed["t"], failed["id"], failed["refused"]) == ("request_failed", 1, True)


@pytest.mark.parametrize(("method", "answers"), [("GET", ["response"]), ("POST", ["request_failed"])])
async def test_a_connection_that_was_closed_meanwhile_costs_no_safe_request(method: str, answers: list[str]) -> None:
    connections: list[Any] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(asyncio.current_task())
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        with contextlib.suppress(asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")  # to the second request there is no answer
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        alone = Alone(server.sockets[0].getsockname()[1])
        assert [each["t"] for each in await alone.ask(request(1))] == ["response"]
        assert [each["t"] for each in await alone.ask(request(2, method=method))] == answers
        assert len(connections) == (2 if method == "GET" else 1)
        alone.requests.pool.close()
        await asyncio.wait(connections)


async def made(isolate: WorkerdIsolate, heard: Heard, id: int) -> str:
    """How much the Worker has made for the slow reader."""
    isolate.send(request(id, "/made"))
    return await whole(heard, id)


async def test_an_error_is_told_also_when_a_file_beside_the_code_is_no_source_map(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app/index.js.map").write_text("This is no source map.")
    code = 'export default { fetch() { throw new TypeError("no") } };'
    async with running(tools, tmp_path, code, no_bundle=True) as (isolate, heard):
        isolate.send(request(1))
        failed = await heard.one("request_failed")
        assert failed["error"] == {"name": "TypeError", "message": "no"}


async def test_what_the_worker_throws_at_a_head_request_is_told_as_for_get(tools: Tools, tmp_path: Path) -> None:
    code = 'export default { fetch() { throw new TypeError("n\\u00f6\\n\\ud800 \\u{1f600}") } };'
    async with running(tools, tmp_path, code) as (isolate, heard):
        isolate.send(request(1))
        isolate.send(request(2, method="HEAD"))
        got, asked = await heard.one("request_failed", id=1), await heard.one("request_failed", id=2)
        assert asked | {"id": 1} == got
        assert asked["error"]["name"] == "TypeError"


async def test_a_long_message_thrown_at_a_head_request_is_cut(tools: Tools, tmp_path: Path) -> None:
    code = 'export default { fetch() { throw new Error("\\u00f6".repeat(100_000)) } };'
    async with running(tools, tmp_path, code) as (isolate, heard):
        isolate.send(request(1, method="HEAD"))
        message = (await heard.one("request_failed"))["error"]["message"]
        assert message == "\u00f6" * 4000
