"""Firing a Cron Trigger by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from runtime.http.exchange import Receive, Send
from runtime.http.ingress import Unavailable
from runtime.http.scheduled import Scheduled, Scope

pytestmark = pytest.mark.asyncio


class Fired:
    """A server in front of an application that answers with 404, and what was fired."""

    def __init__(self, result: Mapping[str, Any] | Exception) -> None:
        self.result = result
        self.fired: list[tuple[str, int | None]] = []

    async def fire(self, cron: str, time_ms: int | None) -> Mapping[str, Any]:
        self.fired.append((cron, time_ms))
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    async def application(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def get(self, path: str, host: str = "localhost:8787", **headers: str) -> httpx.Response:
        transport = httpx.ASGITransport(Scheduled(self.application, self.fire))
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as client:
            return await client.get(path, headers=headers)


OK = {"outcome": "ok", "noRetry": False}


@pytest.mark.parametrize("path", ["/cdn-cgi/handler/scheduled", "/cdn-cgi/local/scheduled"])
async def test_it_fires_with_the_expression_and_the_time_that_are_asked_for(path: str) -> None:
    server = Fired(OK)

    answer = await server.get(f"{path}?cron=*+*+*+*+*&time=1700000000000")

    assert (answer.status_code, answer.text) == (200, "ok")
    assert server.fired == [("* * * * *", 1700000000000)]


async def test_neither_has_to_be_given() -> None:
    server = Fired(OK)
    await server.get("/cdn-cgi/handler/scheduled")
    assert server.fired == [("", None)]


async def test_a_handler_that_throws_is_an_error_and_json_tells_more() -> None:
    server = Fired({"outcome": "exception", "noRetry": True})

    answer = await server.get("/cdn-cgi/handler/scheduled?format=json")

    assert (answer.status_code, answer.json()) == (500, {"outcome": "exception", "noRetry": True})


async def test_everything_else_is_the_applications() -> None:
    server = Fired(OK)
    assert (await server.get("/cdn-cgi/handler/scheduled/more")).status_code == 404
    assert server.fired == []


async def test_without_a_worker_the_client_is_to_come_again() -> None:
    answer = await Fired(Unavailable("later")).get("/cdn-cgi/handler/scheduled")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


@pytest.mark.parametrize(
    ("host", "headers"),
    [
        ("evil.example", {}),
        ("localhost:8787", {"origin": "https://evil.example"}),
        ("localhost:8787", {"sec-fetch-site": "cross-site"}),
    ],
)
async def test_a_page_of_somebody_elses_fires_nothing(host: str, headers: dict[str, str]) -> None:
    server = Fired(OK)
    assert (await server.get("/cdn-cgi/handler/scheduled", host, **headers)).status_code == 400
    assert server.fired == []


async def test_a_time_that_is_none_is_refused() -> None:
    assert (await Fired(OK).get("/cdn-cgi/handler/scheduled?time=soon")).status_code == 400
