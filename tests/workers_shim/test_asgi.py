"""`workers.asgi`: an ASGI application behind a Worker, streaming both ways."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any

import asgi as old_name
import js
import pytest
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request as StarletteRequest
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route
from workers import Request, asgi

from workers_shim.http_messages import incoming, outgoing

pytestmark = pytest.mark.asyncio


async def rest() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def app_of(endpoint: Any) -> Starlette:
    return Starlette(routes=[Route("/{path:path}", endpoint, methods=["GET", "POST"])])


async def test_the_old_name_is_the_same_module() -> None:
    assert old_name is asgi


@pytest.mark.parametrize("as_javascript", [False, True])
async def test_an_application_answers(host: Any, as_javascript: bool) -> None:
    async def hello(request: StarletteRequest) -> PlainTextResponse:
        assert request.scope["env"] == "the env"
        text = f"{request.method} {request.url.path} {request.query_params['q']} {(await request.body()).decode()}"
        return PlainTextResponse(text, 201, {"X-A": "1"})

    request = Request("https://a.test/x%20y?q=1", method="POST", body="data")
    given = request.js_object if as_javascript else request
    response = await asgi.fetch(app_of(hello), given, "the env")

    assert (response.status, response.headers.get("x-a")) == (201, "1")
    assert await response.text() == "POST /x y 1 data"


async def test_a_chunk_is_out_before_the_next_is_made(host: Any) -> None:
    made: list[int] = []

    async def numbers() -> AsyncIterator[bytes]:
        for number in range(3):
            made.append(number)
            yield b"%d" % number

    async def endpoint(request: StarletteRequest) -> StreamingResponse:
        return StreamingResponse(numbers())

    _, _, body = outgoing(await asgi.fetch(app_of(endpoint), Request("https://a.test/"), None))
    assert isinstance(body, AsyncIterator)
    await rest()
    assert made == [0]
    assert await anext(body) == b"0"
    await rest()
    assert made == [0, 1]
    assert [chunk async for chunk in body] == [b"1", b"2"]


async def test_the_body_of_the_request_streams_in(host: Any) -> None:
    arrived: list[bytes] = []
    more = asyncio.Event()

    async def upload() -> AsyncIterator[bytes]:
        yield b"first"
        await more.wait()
        yield b"second"

    async def endpoint(request: StarletteRequest) -> PlainTextResponse:
        async for chunk in request.stream():
            arrived.append(chunk)
        return PlainTextResponse("ok")

    answer = asyncio.ensure_future(
        asgi.fetch(app_of(endpoint), incoming("POST", "https://a.test/", [], upload()), None)
    )
    await rest()
    assert arrived == [b"first"]
    more.set()
    await answer
    assert arrived[1] == b"second"


async def test_a_client_that_leaves_ends_the_stream(host: Any) -> None:
    async def forever() -> AsyncIterator[bytes]:
        while True:
            yield b"x"

    async def endpoint(request: StarletteRequest) -> StreamingResponse:
        return StreamingResponse(forever())

    _, _, body = outgoing(await asgi.fetch(app_of(endpoint), Request("https://a.test/"), None))
    assert isinstance(body, AsyncIterator)
    await anext(body)
    await body.aclose()  # type: ignore[attr-defined]

    await host.work[0]  # ends, and without an error: nothing is wrong with the application


async def test_an_error_before_the_response_reaches_the_worker(host: Any) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await asgi.fetch(app, Request("https://a.test/"), None)


async def test_an_error_within_the_body_breaks_the_stream(host: Any) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            return
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
        raise ValueError("broken")

    _, _, body = outgoing(await asgi.fetch(app, Request("https://a.test/"), None))
    assert isinstance(body, AsyncIterator)

    assert await anext(body) == b"x"
    with pytest.raises(ValueError, match="broken"):
        await anext(body)


async def test_an_application_without_an_answer_is_an_error(host: Any) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None: ...

    with pytest.raises(RuntimeError, match="ended without a response"):
        await asgi.fetch(app, Request("https://a.test/"), None)


async def test_work_after_the_response_is_kept_alive(host: Any) -> None:
    done = asyncio.Event()

    async def later() -> None:
        done.set()

    async def endpoint(request: StarletteRequest) -> PlainTextResponse:
        return PlainTextResponse("x", background=BackgroundTask(later))

    await asgi.fetch(app_of(endpoint), Request("https://a.test/"), None)

    assert len(host.work) == 1
    await host.work[0]
    assert done.is_set()


async def test_the_lifespan_begins_and_ends_with_the_request(host: Any) -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            scope["state"]["made"] = 1
            for order in ("startup", "shutdown"):
                assert (await receive())["type"] == f"lifespan.{order}"
                seen.append(order)
                await send({"type": f"lifespan.{order}.complete"})
            return
        seen.append(f"request with {scope['state']}")
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    response = await asgi.fetch(app, Request("https://a.test/"), None)
    await host.work[0]

    assert response.status == 204
    assert seen == ["startup", "request with {'made': 1}", "shutdown"]


async def test_an_entrypoint_class_is_made_for_an_application(host: Any) -> None:
    async def endpoint(request: StarletteRequest) -> PlainTextResponse:
        return PlainTextResponse(request.scope["env"])

    entrypoint: Any = asgi.entrypoint(app_of(endpoint))

    assert entrypoint.__name__ == "Default"
    assert await (await entrypoint(None, "env").fetch(Request("https://a.test/"))).text() == "env"


async def test_cookies_stay_apart(host: Any) -> None:
    async def endpoint(request: StarletteRequest) -> PlainTextResponse:
        response = PlainTextResponse("x")
        response.set_cookie("a", "1")
        response.set_cookie("b", "2")
        return response

    response = await asgi.fetch(app_of(endpoint), js.Request.new("https://a.test/"), None)

    assert len(response.headers.getSetCookie()) == 2


async def test_env_is_a_dependency_of_fastapi(monkeypatch: pytest.MonkeyPatch) -> None:
    fastapi: Any = ModuleType("fastapi")
    fastapi.Request, fastapi.Depends = StarletteRequest, lambda function: function
    monkeypatch.setitem(sys.modules, "fastapi", fastapi)

    dependency: Any = asgi.env

    assert dependency.__annotations__["request"] is StarletteRequest
    assert await dependency(StarletteRequest({"type": "http", "env": "the env"})) == "the env"


async def test_a_websocket_says_that_it_is_not_served() -> None:
    with pytest.raises(NotImplementedError, match="not served by celld-py yet"):
        await asgi.websocket(app_of(None), None, None)
