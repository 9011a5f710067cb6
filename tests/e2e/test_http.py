"""Requests and responses through the real command: what a client sends is what the Worker gets, and the other way."""

from __future__ import annotations

import http.client
import json
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.dev import dev, write_project
from tests.e2e.conftest import Stage

ECHO = """
class Default(WorkerEntrypoint):
    async def fetch(self, request):
        body = await request.bytes()
        return Response(body, headers={"x-method": request.method, "x-size": str(len(body))})
"""


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_every_method_reaches_the_worker(stage: Stage, method: str) -> None:
    path = stage.worker(ECHO)

    answer = stage.server.http.request(method, path)

    assert (answer.status_code, answer.headers["x-method"]) == (200, method)


def test_the_url_is_as_the_client_asked_for_it(stage: Stage) -> None:
    path = stage.worker("""
    class Default(WorkerEntrypoint):
        def fetch(self, request):
            return Response(request.url)
    """)

    target = f"{path}/a%2Fb%20c/%C3%BC?q=1&q=2&empty=&s=%26"

    assert stage.server.get(target).text == f"{stage.server.url}{target}"
    assert stage.server.get(path, headers={"host": "shop.test"}).text == f"http://shop.test{path}"


def test_headers_reach_the_worker(stage: Stage) -> None:
    path = stage.worker("""
    class Default(WorkerEntrypoint):
        def fetch(self, request):
            js = request.js_object
            return Response.json([js.headers.get("x-two"), js.headers.get("X-LATIN"), len(js.headers.get("x-large"))])
    """)

    asked = [("x-two", "a"), ("x-two", "b"), ("x-latin", "caf\u00e9".encode("latin-1")), ("x-large", "z" * 60_000)]

    assert stage.server.json(path, headers=asked) == ["a, b", "caf\u00e9", 60_000]


def test_headers_reach_the_client(stage: Stage) -> None:
    path = stage.worker("""
    class Default(WorkerEntrypoint):
        def fetch(self, request):
            headers = js.Headers.new()
            headers.append("set-cookie", "a=1; Path=/")
            headers.append("set-cookie", "b=2, with a comma")
            headers.set("x-large", "z" * 60_000)
            headers.set("x-latin", "caf\u00e9")
            for number in range(200):
                headers.set(f"x-many-{number}", str(number))
            return Response("", headers=headers)
    """)

    answer = stage.server.get(path)

    assert answer.headers.get_list("set-cookie") == ["a=1; Path=/", "b=2, with a comma"]
    assert answer.headers["x-large"] == "z" * 60_000
    assert dict(answer.headers.raw)[b"x-latin"].decode("latin-1") == "caf\u00e9"
    assert [answer.headers[f"x-many-{number}"] for number in range(200)] == [str(number) for number in range(200)]


@pytest.mark.parametrize("body", [b"", b'{"a": [1, null]}', bytes(range(256)) * 4000], ids=["empty", "json", "binary"])
def test_a_body_comes_back_as_it_was_sent(stage: Stage, body: bytes) -> None:
    path = stage.worker(ECHO)

    answer = stage.server.post(path, content=body)

    assert answer.content == body
    assert answer.headers["x-size"] == answer.headers["content-length"] == str(len(body))


def test_a_chunked_upload_is_one_body(stage: Stage) -> None:
    path = stage.worker(ECHO)

    answer = stage.server.post(path, content=(b"x" * size for size in (1, 70_000, 300_000)))

    assert answer.headers["x-size"] == "370001"


def test_a_form_and_json_are_read(stage: Stage) -> None:
    path = stage.worker("""
    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            if request.method == "PUT":
                return Response.json(await request.json())
            form = await request.form_data()
            return Response.json([form["name"], await form["file"].text()])
    """)

    form = stage.server.json(path, "POST", data={"name": "ada"}, files={"file": b"contents"})

    assert form == ["ada", "contents"]
    assert stage.server.json(path, "PUT", json={"a": ["\u00fc", None, 1.5]}) == {"a": ["\u00fc", None, 1.5]}


def test_the_answer_to_head_has_the_length_and_no_body(stage: Stage) -> None:
    path = stage.worker("""
    class Default(WorkerEntrypoint):
        def fetch(self, request):
            return Response("five!")
    """)

    answer = stage.server.http.head(path)

    assert (answer.status_code, answer.headers["content-length"], answer.content) == (200, "5", b"")
    assert stage.server.get(path).text == "five!"  # on the same connection


@pytest.mark.parametrize("status", [204, 304])
def test_statuses_without_a_body(stage: Stage, status: int) -> None:
    path = stage.worker(f"""
    class Default(WorkerEntrypoint):
        def fetch(self, request):
            return Response(None, status={status}, headers={{"etag": "x"}})
    """)

    answer = stage.server.get(path)

    assert (answer.status_code, answer.headers["etag"], answer.content) == (status, "x", b"")
    assert "transfer-encoding" not in answer.headers
    assert stage.server.get(path).status_code == status


@pytest.mark.parametrize("body", ['"longer than told"', "js.ReadableStream.new()"], ids=["text", "stream"])
def test_the_server_and_not_the_worker_tells_how_a_body_is_sent(stage: Stage, body: str) -> None:
    path = stage.worker(f"""
    class Default(WorkerEntrypoint):
        def fetch(self, request):
            headers = {{"Content-Length": "3", "Transfer-Encoding": "gzip", "Connection": "upgrade"}}
            return Response({body}, headers=headers)
    """)

    with stage.server.http.stream("GET", path) as answer:
        assert answer.headers.get("content-length") in ("16", None)
        assert answer.headers.get("transfer-encoding") in ("chunked", None)
        assert "upgrade" not in answer.headers.get("connection", "")


def test_requests_are_served_at_the_same_time(stage: Stage) -> None:
    path = stage.worker("""
    everybody = asyncio.Barrier(20)

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            await everybody.wait()
            return Response(request.url[-2:])
    """)
    address = urlsplit(stage.server.url)
    connections = [http.client.HTTPConnection(address.hostname or "", address.port) for _ in range(20)]

    for number, connection in enumerate(connections):
        connection.request("GET", f"{path}?{number:02}")

    assert [connection.getresponse().read().decode() for connection in connections] == [f"{n:02}" for n in range(20)]
    for connection in connections:
        connection.close()


def test_work_given_to_wait_until_outlives_the_response(stage: Stage) -> None:
    path = stage.worker("""
    gate = asyncio.Event()
    done = []

    class Default(WorkerEntrypoint):
        def fetch(self, request):
            if request.method == "POST":
                gate.set()
            elif request.method == "PUT":
                self.ctx.waitUntil(self.later())
            return Response.json(done)

        async def later(self):
            await gate.wait()
            done.append("later")
    """)

    assert stage.server.json(path, "PUT") == []
    stage.server.post(path)

    stage.server.until(path, lambda done: done == ["later"])


def test_an_asgi_application(stage: Stage) -> None:
    path = stage.worker("""
    more = asyncio.Event()

    async def app(scope, receive, send):
        if scope["method"] == "POST":
            more.set()
        size = 0
        while (message := await receive())["more_body"]:
            size += len(message["body"])
        size += len(message["body"])
        await send({"type": "http.response.start", "status": 201, "headers": [(b"x-query", scope["query_string"])]})
        await send({"type": "http.response.body", "body": b"first ", "more_body": True})
        await more.wait()
        await send({"type": "http.response.body", "body": str(size).encode()})

    Default = asgi.entrypoint(app)
    """)

    with stage.server.http.stream("GET", f"{path}?a=b") as answer:
        chunks = answer.iter_raw()
        assert next(chunks) == b"first "
        assert stage.server.post(path, content=b"x" * 100_000).text == "first 100000"
        assert b"".join(chunks) == b"0"
    assert (answer.status_code, answer.headers["x-query"]) == (201, "a=b")


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_the_loopback_addresses_of_both_families_answer(stage: Stage, host: str) -> None:
    if host == "::1" and not _has_ipv6():
        pytest.skip("this machine has no IPv6")
    path = stage.worker(ECHO)
    connection = http.client.HTTPConnection(host, urlsplit(stage.server.url).port, timeout=10)

    connection.request("GET", path)

    assert connection.getresponse().status == 200
    connection.close()


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as sock:
            sock.bind(("::1", 0))
    except OSError:
        return False
    return True


def test_a_legacy_handler_serves_a_project_of_its_date(tmp_path: Path) -> None:
    project = write_project(
        tmp_path,
        """
        from js import Response

        async def on_fetch(request, env, ctx):
            return Response.new(f"{request.method} {env.NAME} {await request.text()}")
        """,
        compatibility_date="2025-06-01",
        vars={"NAME": "shop"},
    )

    with dev(project, "--no-watch") as server:
        assert server.post("/", content="text").text == "POST shop text"


def test_each_request_is_told_in_one_line(stage: Stage) -> None:
    path = stage.worker("""
    class Default(WorkerEntrypoint):
        def fetch(self, request):
            print("seen by", request.method)
            return Response("", status=202)
    """)
    mark = len(stage.server.lines)

    stage.server.get(f"{path}/%0Aforged%1B[31m?secret=1")

    line = stage.server.printed("202 Accepted", since=mark)
    assert line.startswith(f"GET {path}/%0Aforged%1B[31m 202 Accepted (")
    stage.server.printed("seen by GET", since=mark)


def test_output_of_a_request_stands_as_it_was_printed(stage: Stage) -> None:
    path = stage.worker("""
    import sys

    class Default(WorkerEntrypoint):
        def fetch(self, request):
            print("two\\nlines, \u00fc\u4e16", end="")
            print("to stderr", file=sys.stderr)
            return Response("")
    """)
    mark = len(stage.server.lines)

    stage.server.get(path)

    stage.server.printed("200 OK", since=mark)
    told = stage.server.lines[mark:]
    assert {"two", "lines, \u00fc\u4e16", "to stderr"} <= set(told), json.dumps(told)
