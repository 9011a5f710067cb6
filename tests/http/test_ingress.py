"""Requests on their way to the front isolate, and every way in which they end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from runtime.http.error_page import Scope
from runtime.http.exchange import ResponseCut
from runtime.http.ingress import Ingress, Unavailable, WorkerFailed
from tests.http.scripted import Client, HttpIsolate, all_is_quiet, scope
from workers_shim.wire.messages import STREAM_CREDIT

pytestmark = pytest.mark.asyncio
LOST = "The isolate that answered this request ended before it was done."


class Door:
    """A front door that a test opens, and an ingress behind it."""

    def __init__(self) -> None:
        self.opened: asyncio.Future[HttpIsolate] = asyncio.get_running_loop().create_future()
        self.logged: list[tuple[str, str, int]] = []
        self.failed: list[dict[str, Any]] = []
        self.ingress = Ingress(
            self,
            log=lambda method, path, status, seconds: self.logged.append((method, path, status)),
            failed=self.failed.append,
        )

    async def isolate(self) -> HttpIsolate:
        return await asyncio.shield(self.opened)

    def opens(self) -> HttpIsolate:
        """An isolate takes requests, instead of the one before."""
        if self.opened.done():
            self.opened = asyncio.get_running_loop().create_future()
        self.opened.set_result(HttpIsolate().reaches(self.ingress))
        return self.opened.result()

    def request(self, client: Client, asked: Scope) -> asyncio.Task[None]:
        return asyncio.create_task(self.ingress(asked, client.receive, client.send))


@pytest_asyncio.fixture
async def door() -> AsyncIterator[Door]:
    """At the end nothing is left of any request."""
    opened = Door()
    yield opened
    await all_is_quiet()
    assert opened.ingress.busy == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def asked(door: Door, isolate: HttpIsolate, phase: str, **more: Any) -> tuple[Client, asyncio.Task[None]]:
    """A request that has come as far as: the isolate has it, its response has begun, or is complete but unread."""
    client = Client().says()
    request = door.request(client, scope(headers=[(b"host", b"a"), (b"accept", b"application/json")], **more))
    await all_is_quiet()
    if phase != "sent":
        isolate.answers(1)
        isolate.streams(1, b"first")
        await all_is_quiet()
    if phase == "complete":
        client.reads.clear()
        isolate.streams(1, b"last", end=True)
        await all_is_quiet()
    return client, request


def error_of(client: Client) -> dict[str, Any]:
    error: dict[str, Any] = json.loads(client.body)["error"]
    return error


# ------------------------------------------------------------------------------------------------- the way there


async def test_the_isolate_gets_the_request_as_the_client_made_it(door: Door) -> None:
    isolate, client = door.opens(), Client().says(b"abc")
    headers = [(b"host", b"shop.test:8787"), (b"x-a", b"1"), (b"x-a", b"caf\xe9")]

    request = door.request(client, scope("PUT", "/a%2Fb?c=%20d", headers=headers, client=("::1", 5)))
    await all_is_quiet()
    isolate.answers(1, 202)
    isolate.streams(1, end=True)
    await request

    assert isolate.told("request") == [
        {
            "t": "request",
            "id": 1,
            "method": "PUT",
            "url": "http://shop.test:8787/a%2Fb?c=%20d",
            "headers": [("host", "shop.test:8787"), ("x-a", "1"), ("x-a", "caf\xe9")],
            "http_version": "1.1",
            "client": ["::1", 5],
        }
    ]
    assert (isolate.frames, isolate.ended) == ([(1, b"abc")], [1])
    assert (client.status, client.complete) == (202, True)
    assert door.logged == [("PUT", "/a%2Fb", 202)]


async def test_without_a_host_header_the_servers_own_address_counts(door: Door) -> None:
    isolate = door.opens()
    for server in [("127.0.0.1", 8787), ("/run/celld.sock", None), None]:
        request = door.request(Client().says(), scope(headers=[], server=server))
        await all_is_quiet()
        for message in isolate.told("request"):
            isolate.answers(message["id"], 204)
        await request

    assert [message["url"] for message in isolate.told("request")] == ["http://127.0.0.1:8787/", "http://localhost/"]
    assert [status for _, _, status in door.logged] == [204, 400, 204]


@pytest.mark.parametrize("host", [b"a b", b"a/b", b"user@a", b"a:65536", b"a:x", b"[::1", b"a\r\nx: y"])
async def test_a_host_that_is_none_is_a_bad_request(door: Door, host: bytes) -> None:
    isolate, client = door.opens(), Client()

    await door.request(client, scope(headers=[(b"host", host)]))

    assert (client.status, client.body) == (400, b"The Host header does not name a host.\n")
    assert isolate.sent == []


async def test_two_hosts_are_a_bad_request(door: Door) -> None:
    client = Client()

    await door.request(client, scope(headers=[(b"host", b"a"), (b"host", b"a")]))

    assert client.status == 400


async def test_a_target_that_is_no_path_is_a_bad_request(door: Door) -> None:
    client = Client()

    await door.request(client, scope("OPTIONS", "*"))

    assert (client.status, client.body) == (400, b"The request is not for a path.\n")


async def test_a_request_waits_until_there_is_an_isolate(door: Door) -> None:
    client = Client().says()

    request = door.request(client, scope())
    await all_is_quiet()
    waiting = door.ingress.busy, list(client.sent)
    isolate = door.opens()
    await all_is_quiet()
    isolate.answers(1)
    isolate.streams(1, b"late", end=True)
    await request

    assert waiting == (0, [])
    assert client.body == b"late"


async def test_what_cannot_be_taken_may_be_tried_again(door: Door) -> None:
    door.opened.set_exception(Unavailable("In a moment."))
    client = Client()

    await door.request(client, scope())

    assert (client.status, client.headers[b"retry-after"], client.body) == (503, b"1", b"In a moment.\n")
    assert door.failed == []


async def test_code_that_does_not_load_is_shown_to_the_client_and_the_developer(door: Door) -> None:
    failure = {"error": {"name": "Error", "message": "bad syntax"}, "traceback": "line 1"}
    door.opened.set_exception(WorkerFailed(failure))
    client = Client()

    await door.request(client, scope())

    assert client.status == 500
    assert b"<h1>Error: bad syntax</h1>" in client.body
    assert door.failed == [failure]


async def test_web_sockets_are_refused_and_what_else_there_is_ignored(door: Door) -> None:
    client = Client()

    await door.request(client, {"type": "websocket"})
    await door.request(client, {"type": "lifespan"})

    assert client.sent == [{"type": "websocket.close", "code": 1011, "reason": "WebSockets are not served yet"}]


async def test_requests_at_the_same_time_do_not_meet(door: Door) -> None:
    isolate = door.opens()
    clients = [Client().says(str(number).encode()) for number in range(1, 4)]
    requests = [door.request(client, scope("POST")) for client in clients]
    await all_is_quiet()
    assert door.ingress.busy == 3

    for number in (3, 1, 2):
        isolate.answers(number, 200 + number)
    for number in (2, 3, 1):
        isolate.streams(number, f"for {number}".encode(), end=True)
    await asyncio.gather(*requests)

    assert isolate.frames == [(1, b"1"), (2, b"2"), (3, b"3")]
    assert [(client.status, client.body) for client in clients] == [(201, b"for 1"), (202, b"for 2"), (203, b"for 3")]


async def test_credit_of_the_isolate_lets_the_upload_go_on(door: Door) -> None:
    isolate, client = door.opens(), Client().says(bytes(STREAM_CREDIT + 1))

    request = door.request(client, scope("POST"))
    await all_is_quiet()
    held_back = list(isolate.ended)
    isolate.says({"t": "credit", "id": 1, "bytes": isolate.taken})
    await all_is_quiet()
    ended = list(isolate.ended)
    isolate.answers(1, 204)
    await request

    assert (held_back, ended, isolate.taken) == ([], [1], STREAM_CREDIT + 1)


async def test_an_answer_may_come_before_the_body_was_read(door: Door) -> None:
    isolate, client = door.opens(), Client().says(bytes(3 * STREAM_CREDIT))

    request = door.request(client, scope("POST"))
    await all_is_quiet()
    isolate.answers(1, 413)
    isolate.streams(1, end=True)
    await request

    assert (client.status, client.complete, isolate.ended) == (413, True, [])


# --------------------------------------------------------------------------------------------- the Worker's failure


async def test_a_worker_that_raises_gets_the_error_page(door: Door) -> None:
    isolate = door.opens()
    client, request = await asked(door, isolate, "sent")

    isolate.raises(1)
    await request

    assert (client.status, error_of(client)["message"]) == (500, "Error: boom")
    assert [failure["error"]["message"] for failure in door.failed] == ["boom"]
    assert door.logged == [("GET", "/", 500)]


async def test_a_worker_that_raises_in_the_body_cuts_it(door: Door) -> None:
    isolate = door.opens()
    client, request = await asked(door, isolate, "begun")

    isolate.raises(1)
    with pytest.raises(ResponseCut):
        await request

    assert (client.body, client.complete) == (b"first", False)
    assert [failure["error"]["message"] for failure in door.failed] == ["boom"]


@pytest.mark.parametrize("status", [0, 99, 101, 199, 600, 1000, "200", None, 200.5])
async def test_a_status_that_no_response_has_is_an_error_of_the_worker(door: Door, status: object) -> None:
    isolate = door.opens()
    client, request = await asked(door, isolate, "sent")

    isolate.answers(1, status)
    isolate.streams(1, b"unseen", end=True)
    await request

    told = f"The Worker answered with status {status!r}. It must be a whole number from 200 to 599."
    assert (client.status, error_of(client)["message"]) == (500, f"Error: {told}")
    assert [failure["error"]["message"] for failure in door.failed] == [told]
    assert isolate.told("disconnect") == [{"t": "disconnect", "id": 1}], "the rest of it need not be made"


# ------------------------------------------------------------------------------------------------ the client leaves


@pytest.mark.parametrize("told_by", ["connection", "receive"])
@pytest.mark.parametrize("phase", ["sent", "begun"])
async def test_a_client_that_leaves_ends_the_request_and_the_isolate_hears_of_it(
    door: Door, phase: str, told_by: str
) -> None:
    isolate = door.opens()
    gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    client, request = await asked(door, isolate, phase, gone=gone)

    if told_by == "connection":
        gone.set_result(None)
    else:
        client.leaves()
    await request

    assert isolate.told("disconnect") == [{"t": "disconnect", "id": 1}]
    assert door.logged == [("GET", "/", 499)]
    assert door.failed == []


async def test_a_client_that_leaves_while_its_body_has_no_room_is_noticed(door: Door) -> None:
    isolate, client = door.opens(), Client().says(bytes(2 * STREAM_CREDIT))
    gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    request = door.request(client, scope("POST", gone=gone))
    await all_is_quiet()

    gone.set_result(None)
    await request

    assert isolate.told("disconnect") == [{"t": "disconnect", "id": 1}]
    assert isolate.ended == []
    assert door.logged == [("POST", "/", 499)]


async def test_a_client_that_left_before_there_was_an_isolate(door: Door) -> None:
    gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    request = door.request(Client().says(), scope(gone=gone))
    await all_is_quiet()
    gone.set_result(None)
    await all_is_quiet()

    isolate = door.opens()
    await request

    assert [message["t"] for message in isolate.sent] == ["request", "disconnect"]
    assert door.logged == [("GET", "/", 499)]


async def test_a_client_that_leaves_after_the_answer_disturbs_nobody(door: Door) -> None:
    isolate = door.opens()
    gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    _, request = await asked(door, isolate, "begun", gone=gone)
    isolate.streams(1, end=True)
    await request

    gone.set_result(None)
    await all_is_quiet()

    assert isolate.told("disconnect") == []
    assert door.logged == [("GET", "/", 200)]


# ------------------------------------------------------------------------------------------- the isolate is lost


async def test_a_lost_isolate_fails_what_it_has_not_answered(door: Door) -> None:
    isolate = door.opens()
    client, request = await asked(door, isolate, "sent")

    isolate.dies()
    await request

    assert (client.status, error_of(client)["message"]) == (500, f"Error: {LOST}")
    assert [failure["error"]["message"] for failure in door.failed] == [LOST]


async def test_a_request_that_did_not_come_to_the_worker_may_be_made_again(door: Door) -> None:
    isolate = door.opens()
    client, request = await asked(door, isolate, "sent")

    error = {"name": "Error", "message": "workerd cannot be reached"}
    refused = {"t": "request_failed", "id": 1, "error": error, "traceback": error["message"], "refused": True}
    door.ingress.on_message(refused)
    isolate.dies()
    await request

    assert (client.status, client.headers[b"retry-after"]) == (503, b"1")
    assert not door.failed


async def test_a_lost_isolate_cuts_what_it_has_begun(door: Door) -> None:
    isolate = door.opens()
    client, request = await asked(door, isolate, "begun")

    isolate.dies()
    with pytest.raises(ResponseCut):
        await request

    assert (client.body, client.complete) == (b"first", False)


async def test_a_lost_isolate_takes_nothing_from_an_answer_that_is_complete(door: Door) -> None:
    isolate = door.opens()
    client, request = await asked(door, isolate, "complete")

    isolate.dies()
    client.reads.set()
    await request

    assert (client.body, client.complete) == (b"firstlast", True)


async def test_a_lost_isolate_fails_an_upload_that_waits_for_it(door: Door) -> None:
    isolate, client = door.opens(), Client().says(bytes(2 * STREAM_CREDIT))
    request = door.request(client, scope("POST"))
    await all_is_quiet()

    isolate.dies()
    await request

    assert client.status == 500


async def test_the_requests_of_another_isolate_go_on(door: Door) -> None:
    old = door.opens()
    first, request = await asked(door, old, "sent")
    new, second = door.opens(), Client().says()
    other = door.request(second, scope())
    await all_is_quiet()

    old.dies()
    await request
    new.answers(2)
    new.streams(2, b"alive", end=True)
    await other

    assert (first.status, second.status, second.body) == (500, 200, b"alive")


async def test_news_of_a_request_that_is_over_are_dropped(door: Door) -> None:
    isolate = door.opens()
    client, request = await asked(door, isolate, "begun")
    isolate.streams(1, end=True)
    await request
    sent = list(client.sent)

    isolate.answers(1)
    isolate.streams(1, b"more", end=True)
    isolate.raises(1)
    isolate.says({"t": "credit", "id": 1, "bytes": 5})
    await all_is_quiet()

    assert (client.sent, door.failed) == (sent, [])


# ------------------------------------------------------------------------------------------------------------- stop


async def test_stopping_tells_clients_that_have_nothing_yet(door: Door) -> None:
    isolate = door.opens()
    client, request = await asked(door, isolate, "sent")

    door.ingress.stop()
    await request

    assert (client.status, error_of(client)["message"]) == (503, "celld-py is stopping.")
    assert door.failed == []


async def test_stopping_cuts_what_has_begun(door: Door) -> None:
    isolate = door.opens()
    client, request = await asked(door, isolate, "begun")

    door.ingress.stop()
    with pytest.raises(ResponseCut):
        await request

    assert (client.body, client.complete) == (b"first", False)


async def test_stopping_lets_a_complete_answer_reach_its_client(door: Door) -> None:
    isolate = door.opens()
    client, request = await asked(door, isolate, "complete")

    door.ingress.stop()
    client.reads.set()
    await request

    assert (client.body, client.complete) == (b"firstlast", True)
