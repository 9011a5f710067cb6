"""What the isolate does for the modules that Worker code imports."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from workers_shim import values
from workers_shim.host import IsolateHost

pytestmark = pytest.mark.asyncio


def made() -> tuple[IsolateHost, list[Any]]:
    sent: list[Any] = []
    return IsolateHost(sent.append, "2026-11-01", {}), sent


async def asked(host: IsolateHost, op: str) -> asyncio.Task[Any]:
    task = asyncio.create_task(host.bind("flow", op, ["a"]))
    await asyncio.sleep(0)
    return task


async def test_a_binding_call_gives_what_the_host_answers() -> None:
    host, sent = made()
    task = await asked(host, "get")
    assert sent == [{"t": "bind", "id": 1, "workflow": "flow", "op": "get", "args": values.encode(["a"])[0]}]
    host.bound({"t": "bound", "id": 1, "value": values.encode("b")[0]})
    assert await task == "b"


async def test_arguments_that_cannot_be_sent_leave_nothing_behind() -> None:
    host, sent = made()
    with pytest.raises(TypeError, match="cannot be sent over RPC"):
        await host.bind("flow", "get", [(1, 2)])
    assert sent == []
    assert host._bound == {}


async def test_an_id_with_a_lone_surrogate_is_sent_well_formed_and_a_payload_unchanged() -> None:
    host, sent = made()
    payload = values.encode("\ud800")[0]
    host.tell("flow", "sendEvent", ["\ud800", {"type": "\udfff", "payload": payload}])
    assert values.decode(sent[0]["args"]) == ["\ufffd", {"type": "\ufffd", "payload": payload}]


@pytest.mark.parametrize("answered", [False, True])
async def test_a_subscription_that_arrives_after_its_caller_was_cancelled_is_disposed_of(answered: bool) -> None:
    host, sent = made()
    task = await asked(host, "subscribe")
    number = {"t": "bound", "id": 1, "value": values.encode(7)[0]}
    if answered:
        host.bound(number)  # type: ignore[arg-type]
    task.cancel()
    await asyncio.wait([task])
    if not answered:
        host.bound(number)  # type: ignore[arg-type]
    assert [(message["op"], values.decode(message["args"])) for message in sent[1:]] == [("dispose", [7])]
    assert host._unwanted == {}


async def test_an_answer_that_nobody_waits_for_is_dropped() -> None:
    host, sent = made()
    (await asked(host, "get")).cancel()
    await asyncio.sleep(0)
    host.bound({"t": "bound", "id": 1, "value": values.encode("b")[0]})
    assert [message["op"] for message in sent] == ["get"]
