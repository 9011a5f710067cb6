"""Between the wire and the objects of a handler."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import js
import pytest
from workers import Response

from workers_shim.http_messages import incoming, outgoing
from workers_shim.web.headers import Headers
from workers_shim.web.response import received


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


@pytest.mark.asyncio
async def test_a_request_arrives_as_it_was_sent(host: Any) -> None:
    lines = [("Content-Type", "text/plain"), ("Cookie", "a=1"), ("X", "1"), ("x", "2")]
    request = incoming("PATCH", "http://localhost:8787/a%20b?q=1", lines, chunks(b"ab", b"c"))

    assert (request.method, request.url) == ("PATCH", "http://localhost:8787/a%20b?q=1")
    assert (request.headers["x"], request.headers["cookie"]) == ("1, 2", "a=1")
    assert await request.text() == "abc"


@pytest.mark.asyncio
async def test_a_request_without_a_body_reads_as_nothing(host: Any) -> None:
    request = incoming("GET", "http://a.test/", [], None)

    assert not request.body
    assert await request.bytes() == b""


def test_a_response_leaves_with_its_header_lines_apart() -> None:
    response = Response("x", status=201, headers=[("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("X-Case", "\u20ac")])

    status, lines, body = outgoing(response)

    assert (status, body) == (201, b"x")
    assert [value for name, value in lines if name == "Set-Cookie"] == ["a=1", "b=2"]
    assert ("X-Case", "\u20ac".encode().decode("latin-1")) in lines


def test_a_javascript_response_leaves_as_well() -> None:
    assert outgoing(js.Response.new(None, status=204)) == (204, [], None)


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (None, "The handler returned nothing (None). It must return a Response."),
        (
            {"a": 1},
            "The handler returned a dict: {'a': 1}. It must return a Response; Response.json(...) makes one from",
        ),
        ("hi", "The handler returned a str: 'hi'. It must return a Response."),
    ],
)
def test_anything_else_is_refused_and_named(returned: object, text: str) -> None:
    with pytest.raises(TypeError) as error:
        outgoing(returned)

    assert str(error.value).startswith(text)


@pytest.mark.parametrize("status", [0, 101, 199, 600, 999])
def test_a_status_that_no_server_may_send_is_refused_and_named(status: int) -> None:
    passed_on = received(status, Headers.new(), None, "http://a.test/", redirected=False)

    with pytest.raises(ValueError, match=f"The handler returned a Response with status {status}; it must be from 200"):
        outgoing(passed_on)


def test_a_response_that_stands_for_an_error_is_refused() -> None:
    with pytest.raises(ValueError, match="status 0"):
        outgoing(js.Response.error())


@pytest.mark.asyncio
async def test_a_body_that_was_read_cannot_be_sent() -> None:
    response = Response("x")
    await response.text()

    with pytest.raises(Exception, match="Body has already been used"):
        outgoing(response)


@pytest.mark.asyncio
async def test_a_requests_stream_can_be_the_responses_body(host: Any) -> None:
    request = incoming("POST", "http://a.test/", [], chunks(b"a", b"b"))

    _, _, body = outgoing(Response(request.body))

    assert isinstance(body, AsyncIterator)
    assert [chunk async for chunk in body] == [b"a", b"b"]
