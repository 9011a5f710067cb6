"""`fetch` to the outside: workers.fetch, js.fetch and pyodide's pyfetch."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from typing import Any

import js
import pytest
from pyodide.ffi import JsException
from pyodide.http import pyfetch
from workers import Request, Response, fetch

from tests.workers_shim.web_server import ok, web_server
from workers_shim.http_line import MAX_THREADS, Outbound
from workers_shim.http_messages import incoming
from workers_shim.outbound import send

pytestmark = pytest.mark.asyncio


async def test_an_answer_is_a_response(host: Any) -> None:
    async with web_server({"/x?q=1": ok(b'{"a": 1}', "X-A: 1", "Set-Cookie: a=1", "Set-Cookie: b=2")}) as web:
        response = await fetch(web.url("/x?q=1"), headers={"X-B": "\u00e9"})

    assert isinstance(response, Response)
    assert (response.status, response.ok, response.url) == (200, True, web.url("/x?q=1"))
    assert (response.status_text, response.redirected) == ("OK", False)
    assert response.headers["x-a"] == "1"
    assert response.headers.get_all("set-cookie") == ["a=1", "b=2"]
    assert await response.json() == {"a": 1}
    assert "x-b: \u00c3\u00a9\r\n" in web.heads[0].lower().replace("\u00e3", "\u00c3")
    assert f"Host: 127.0.0.1:{web.port}\r\n" in web.heads[0]


@pytest.mark.parametrize("status", ["404 Not Found", "500 Oops"])
async def test_an_error_status_is_no_failure(host: Any, status: str) -> None:
    async with web_server({"/": ok(b"no", status=status)}) as web:
        assert (await fetch(web.url("/"))).status == int(status[:3])


async def test_bodies_are_sent_whole_or_as_a_stream(host: Any) -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b"one "
        yield b""
        yield b"two"

    from workers_shim.web.streams import stream_of

    async with web_server({"/": ok(b"")}) as web:
        await fetch(web.url("/"), method="POST", body="text")
        await fetch(web.url("/"), method="PUT", body=stream_of(parts()))
        await fetch(Request(web.url("/"), method="POST", body=b"bytes"))
        await fetch(web.url("/"), method="POST")

    assert web.bodies == [b"text", b"one two", b"bytes", b""]
    assert "Content-Type: text/plain;charset=UTF-8\r\n" in web.heads[0]


async def test_a_body_arrives_chunk_by_chunk(host: Any) -> None:
    read = asyncio.Event()

    async def slowly(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        await writer.drain()
        await read.wait()
        writer.write(b"1\r\nb\r\n0\r\n\r\n")

    async with web_server({"/": slowly}) as web:
        reader = (await fetch(web.url("/"))).body.getReader()
        assert (await reader.read()).value.to_bytes() == b"a"
        read.set()
        assert (await reader.read()).value.to_bytes() == b"b"
        assert (await reader.read()).done


@pytest.mark.parametrize(
    ("status", "method", "then"),
    [(301, "POST", "GET"), (302, "POST", "GET"), (303, "PUT", "GET"), (307, "POST", "POST"), (308, "PUT", "PUT")],
)
async def test_redirects_are_followed_as_fetch_does(host: Any, status: int, method: str, then: str) -> None:
    answers: Any = {"/a": ok(b"", "Location: /b", status=f"{status} Moved"), "/b": ok(b"there")}
    async with web_server(answers) as web:
        response = await fetch(web.url("/a"), method=method, body="data")

        assert (await response.text(), response.redirected, response.url) == ("there", True, web.url("/b"))
        assert web.heads[1].startswith(f"{then} /b")
        assert web.bodies[1] == (b"" if then == "GET" else b"data")


async def test_a_redirect_to_another_origin_does_not_carry_credentials(host: Any) -> None:
    async with web_server({"/b": ok(b"")}) as there, web_server({}) as here:
        here.answers["/a"] = ok(b"", f"Location: {there.url('/b')}", status="302 Found")
        await fetch(here.url("/a"), headers={"Authorization": "secret", "X-Kept": "1"})

    assert "secret" in here.heads[0]
    assert "secret" not in there.heads[0]
    assert "X-Kept: 1" in there.heads[0]


async def test_a_redirect_can_be_kept_or_refused(host: Any) -> None:
    async with web_server({"/": ok(b"", "Location: /b", status="302 Found")}) as web:
        response = await fetch(web.url("/"), redirect="manual")
        assert (response.status, response.headers["location"]) == (302, "/b")

        with pytest.raises(OSError, match="redirect"):
            await fetch(web.url("/"), redirect="error")


async def test_redirects_end_after_twenty(host: Any) -> None:
    async with web_server({"/": ok(b"", "Location: /", status="302 Found")}) as web:
        with pytest.raises(OSError, match="Too many redirects"):
            await fetch(web.url("/"))

    assert len(web.heads) == 21


async def test_a_compressed_body_is_given_decoded(host: Any) -> None:
    async with web_server({"/": ok(gzip.compress(b"plain"), "Content-Encoding: gzip")}) as web:
        response = await fetch(web.url("/"))

    assert await response.text() == "plain"
    assert response.headers["content-encoding"] is None


async def test_a_server_that_is_not_there_is_an_os_error(host: Any) -> None:
    async with web_server({}) as web:
        url = web.url("/")

    with pytest.raises(OSError, match=r"refused|111"):
        await fetch(url)
    with pytest.raises(OSError, match=r"refused|111"):
        await pyfetch(url)
    with pytest.raises(JsException, match="TypeError: fetch failed"):
        await js.fetch(url)


async def test_an_answer_that_is_no_http_is_an_os_error(host: Any) -> None:
    async with web_server({"/": b"nonsense\r\n\r\n"}) as web:
        with pytest.raises(OSError, match="failed"):
            await fetch(web.url("/"))


async def test_a_body_that_breaks_off_is_an_os_error(host: Any) -> None:
    async with web_server({"/": b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"}) as web:
        response = await fetch(web.url("/"))
        with pytest.raises(OSError, match="Network connection lost"):
            await response.bytes()


@pytest.mark.parametrize("url", ["ftp://a.test/", "nowhere"])
async def test_an_address_that_cannot_be_fetched_is_an_os_error(host: Any, url: str) -> None:
    with pytest.raises(OSError, match=r"cannot load|Invalid URL"):
        await fetch(url)


async def test_a_second_positional_argument_is_refused() -> None:
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        await fetch("https://a.test", {})  # type: ignore[call-arg]


async def test_a_clients_request_is_passed_on_with_the_host_of_its_new_address(host: Any) -> None:
    lines = [("Host", "localhost:8787"), ("Accept-Encoding", "br"), ("X-A", "1"), ("Connection", "keep-alive")]
    arrived = incoming("GET", "http://localhost:8787/", lines, None)
    async with web_server({"/x": ok(b"")}) as web:
        await fetch(Request(web.url("/x"), headers=arrived.headers))

    assert web.heads[0].lower().split("\r\n")[1:] == [
        f"host: 127.0.0.1:{web.port}",
        "x-a: 1",
        "accept-encoding: gzip, deflate",
        "connection: close",
        "",
        "",
    ]


async def test_js_fetch_takes_options_both_ways_and_gives_javascripts_response(host: Any) -> None:
    async with web_server({"/": ok(b'{"a": {"b": 1}}')}) as web:
        by_keywords = await js.fetch(web.url("/"), method="POST", body="x")
        by_object = await js.fetch(web.url("/"), js.Object.fromEntries([("method", "PUT")]))

        assert (await by_keywords.json()).a.b == 1
        assert (await by_object.json()).a.b == 1
    assert [head.split(" ")[0] for head in web.heads] == ["POST", "PUT"]


async def test_a_head_request_has_no_body(host: Any) -> None:
    async with web_server({"/": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"}) as web:
        assert await (await fetch(web.url("/"), method="HEAD")).bytes() == b""


async def test_more_requests_than_threads_all_end(host: Any) -> None:
    arrived = 0
    full = asyncio.Event()

    async def together(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal arrived
        arrived += 1
        if arrived == MAX_THREADS:
            full.set()
        await full.wait()
        writer.write(ok(b"x"))

    async with web_server({"/": together}) as web:
        answers = await asyncio.gather(*(fetch(web.url("/")) for _ in range(MAX_THREADS + 4)))

        assert [await answer.text() for answer in answers] == ["x"] * (MAX_THREADS + 4)


async def test_a_request_that_is_given_up_leaves_the_loop_free(host: Any) -> None:
    stop = asyncio.Event()

    async def never(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await stop.wait()

    async with web_server({"/": never}) as web:
        asking = asyncio.ensure_future(send(Outbound("GET", web.url("/"), [])))
        while not web.heads:
            await asyncio.sleep(0)
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()
        stop.set()
