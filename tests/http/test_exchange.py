"""One request and its response: who may send how much, and how either ends early."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from runtime.http.exchange import PIECE, ClientLeft, Exchange, ResponseCut, is_status
from tests.http.scripted import Client, HttpIsolate, all_is_quiet
from workers_shim.wire.messages import MAX_FRAME, STREAM_CREDIT

pytestmark = pytest.mark.asyncio


def head(status: int = 200, *headers: tuple[str, str]) -> dict[str, Any]:
    return {"t": "response", "id": 7, "status": status, "headers": list(headers)}


def exchange(method: str = "POST") -> tuple[Exchange, HttpIsolate]:
    isolate = HttpIsolate()
    return Exchange(7, isolate, method), isolate


async def ends(task: asyncio.Task[Any]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


# -------------------------------------------------------------------------------------------------------- upload


async def test_a_body_goes_to_the_isolate_in_frames_and_ends() -> None:
    asked, isolate = exchange()
    body = bytes(range(256)) * 600

    upload = asyncio.create_task(asked.upload(Client().says(body[:100], more=True).says(body[100:]).receive))
    await all_is_quiet()

    assert b"".join(data for _, data in isolate.frames) == body
    assert {stream for stream, _ in isolate.frames} == {7}
    assert max(len(data) for _, data in isolate.frames) == PIECE < MAX_FRAME
    assert isolate.ended == [7]
    await ends(upload)


async def test_a_request_without_a_body_only_ends() -> None:
    asked, isolate = exchange()

    upload = asyncio.create_task(asked.upload(Client().says().receive))
    await all_is_quiet()

    assert (isolate.frames, isolate.ended) == ([], [7])
    await ends(upload)


async def test_no_more_is_sent_than_the_isolate_has_room_for() -> None:
    asked, isolate = exchange()

    upload = asyncio.create_task(asked.upload(Client().says(bytes(4 * STREAM_CREDIT)).receive))
    await all_is_quiet()
    first = isolate.taken
    asked.credit(1)  # not enough for a frame
    await all_is_quiet()
    unchanged = isolate.taken
    asked.credit(PIECE)
    await all_is_quiet()
    second = isolate.taken
    asked.credit(first - 1)  # now all of the first was consumed
    await all_is_quiet()

    assert STREAM_CREDIT - PIECE < first <= STREAM_CREDIT
    assert (unchanged, second - first) == (first, PIECE)
    assert second < isolate.taken <= STREAM_CREDIT + first + PIECE
    assert isolate.ended == []
    await ends(upload)


async def test_a_body_of_any_size_passes_when_the_isolate_consumes_it() -> None:
    asked, isolate = exchange()
    size = 5 * STREAM_CREDIT + 1

    upload = asyncio.create_task(asked.upload(Client().says(bytes(size)).receive))
    while isolate.ended == []:
        before = isolate.taken
        await all_is_quiet()
        asked.credit(isolate.taken - before)

    assert isolate.taken == size
    await ends(upload)


@pytest.mark.parametrize("body", ["none", "begun", "whole"])
async def test_the_isolate_hears_that_the_client_left(body: str) -> None:
    asked, isolate = exchange()
    client = Client()
    if body != "none":
        client.says(b"abc", more=body == "begun")
    client.leaves()

    await asked.upload(client.receive)

    assert isolate.told("disconnect") == [{"t": "disconnect", "id": 7}]
    assert isolate.ended == ([7] if body == "whole" else [])
    with pytest.raises(ClientLeft):
        await asked.download(client.send)
    assert client.sent == []


# ------------------------------------------------------------------------------------------------------ download


async def test_the_response_reaches_the_client_piece_by_piece() -> None:
    asked, _ = exchange()
    client = Client()

    download = asyncio.create_task(asked.download(client.send))
    asked.begin(head(201, ("x-a", "1"), ("x-a", "caf\xe9")))
    await all_is_quiet()
    begun = list(client.sent)
    asked.data(b"one")
    await all_is_quiet()
    piece = client.sent[-1]
    asked.data(b"two")
    asked.end()

    assert await download == 201
    assert begun == [{"type": "http.response.start", "status": 201, "headers": [(b"x-a", b"1"), (b"x-a", b"caf\xe9")]}]
    assert piece == {"type": "http.response.body", "body": b"one", "more_body": True}
    assert (client.body, client.complete) == (b"onetwo", True)


async def test_the_isolate_gets_credit_for_what_the_client_has_taken() -> None:
    asked, isolate = exchange()
    client = Client()
    download = asyncio.create_task(asked.download(client.send))
    asked.begin(head())
    await all_is_quiet()

    client.reads.clear()
    asked.data(b"x" * 100)
    asked.data(b"x" * 20)
    await all_is_quiet()
    unread = isolate.told("credit")
    client.reads.set()
    asked.end()
    await download

    assert unread == []
    assert [credit["bytes"] for credit in isolate.told("credit")] == [100, 20]
    assert {credit["id"] for credit in isolate.told("credit")} == {7}


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 204), ("GET", 304)])
async def test_a_body_that_nobody_may_see_is_not_made(method: str, status: int) -> None:
    asked, isolate = exchange(method)
    client = Client()
    asked.begin(head(status, ("content-length", "5")))

    assert await asked.download(client.send) == status

    assert isolate.told("disconnect") == [{"t": "disconnect", "id": 7}]
    assert (client.headers, client.body, client.complete) == ({b"content-length": b"5"}, b"", True)


async def test_how_a_body_travels_is_the_servers_affair() -> None:
    asked, _ = exchange()
    client = Client()
    asked.begin(head(200, ("Connection", "close"), ("Transfer-Encoding", "gzip"), ("Upgrade", "x"), ("ETag", "y")))
    asked.end()

    await asked.download(client.send)

    assert client.headers == {b"ETag": b"y"}


async def test_the_first_head_counts() -> None:
    asked, _ = exchange()
    client = Client()
    asked.begin(head(200))
    asked.begin(head(500))
    asked.end()

    assert await asked.download(client.send) == 200


# ---------------------------------------------------------------------------------------------------- early ends


async def test_a_failure_before_the_head_is_the_answer() -> None:
    asked, _ = exchange()

    assert asked.fail(LookupError("boom"))

    with pytest.raises(LookupError, match="boom"):
        await asked.download(Client().send)


async def test_a_failure_in_the_body_cuts_it_behind_what_has_come() -> None:
    asked, _ = exchange()
    client = Client()
    asked.begin(head())
    asked.data(b"first")

    assert not asked.fail(LookupError("boom"))

    with pytest.raises(ResponseCut):
        await asked.download(client.send)
    assert (client.body, client.complete) == (b"first", False)


async def test_a_failure_after_the_end_takes_nothing_back() -> None:
    asked, _ = exchange()
    client = Client()
    asked.begin(head())
    asked.data(b"all")
    asked.end()

    assert asked.fail(LookupError("boom"))

    assert await asked.download(client.send) == 200
    assert (client.body, client.complete) == (b"all", True)


async def test_a_client_that_leaves_during_the_body_gets_no_more() -> None:
    asked, isolate = exchange()
    client = Client()
    asked.begin(head())
    asked.data(b"first")
    asked.left()

    with pytest.raises(ClientLeft):
        await asked.download(client.send)

    assert client.body == b"first"
    assert isolate.told("disconnect") == [{"t": "disconnect", "id": 7}]


async def test_a_refused_answer_is_not_made_any_further() -> None:
    asked, isolate = exchange()

    asked.refuse(LookupError("no such status"))

    with pytest.raises(LookupError):
        await asked.download(Client().send)
    assert isolate.told("disconnect") == [{"t": "disconnect", "id": 7}]


async def test_what_has_begun_is_not_refused() -> None:
    asked, isolate = exchange()
    asked.begin(head())
    asked.refuse(LookupError("no such status"))
    asked.end()

    assert await asked.download(Client().send) == 200
    assert isolate.told("disconnect") == []


@pytest.mark.parametrize(
    ("status", "verdict"),
    [(200, True), (299, True), (599, True), (101, False), (199, False), (600, False), (0, False), (-200, False)],
)
async def test_the_statuses_of_responses(status: int, verdict: bool) -> None:
    assert is_status(status) is verdict


@pytest.mark.parametrize("status", [None, "200", 200.0, True, [200], 10**400])
async def test_what_is_no_status_at_all(status: object) -> None:
    assert not is_status(status)
