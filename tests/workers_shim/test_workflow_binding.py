"""Workflow bindings: what they send, and what they make of the answers (case 32)."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import js
import pytest
from pyodide.ffi import to_js

from workers_shim import values
from workers_shim.bindings import WorkflowBinding, WorkflowInstance


def text(value: Any) -> str:
    return values.encode(value)[0]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("args", "options"),
    [
        (({"id": "a", "params": {"x": 1}},), {}),
        ((), {"id": "a", "params": {"x": 1}}),
        ((to_js({"id": "a", "params": {"x": 1}}, dict_converter=js.Object.fromEntries),), {}),
        ((to_js({"id": "a", "params": {"x": 1}}),), {}),
    ],
    ids=["dict", "keywords", "object", "map"],
)
async def test_create_takes_options_in_every_form(host: Any, args: Any, options: Any) -> None:
    host.answers = [{"id": "a"}]

    instance = await WorkflowBinding("orders").create(*args, **options)

    assert host.asked == [("orders", "create", [{"id": "a", "params": text({"x": 1})}])]
    assert instance.id == "a"


@pytest.mark.asyncio
async def test_create_without_options_sends_none(host: Any) -> None:
    host.answers = [{"id": "made"}]

    assert (await WorkflowBinding("orders").create()).id == "made"
    assert host.asked == [("orders", "create", [])]


@pytest.mark.asyncio
async def test_none_given_as_params_or_id_is_sent(host: Any) -> None:
    host.answers = [{"id": "x"}]

    await WorkflowBinding("orders").create(id=None, params=None)

    assert host.asked[0][2] == [{"id": None, "params": text(None)}]


@pytest.mark.asyncio
async def test_params_that_cannot_be_kept_fail_before_anything_is_sent(host: Any) -> None:
    with pytest.raises(TypeError, match="cannot be sent over RPC"):
        await WorkflowBinding("orders").create(params={"a": (1, 2)})

    assert host.asked == []


@pytest.mark.asyncio
async def test_create_batch_encodes_the_params_of_each(host: Any) -> None:
    host.answers = [[{"id": "a"}, {"id": "b"}]]

    made = await WorkflowBinding("orders").create_batch([{"id": "a", "params": 1}, {"id": "b"}])

    assert host.asked[0][1:] == ("createBatch", [[{"id": "a", "params": text(1)}, {"id": "b"}]])
    assert [instance.id for instance in made] == ["a", "b"]


@pytest.mark.asyncio
async def test_an_empty_batch_is_for_the_host_to_judge(host: Any) -> None:
    host.answers = [[]]

    await WorkflowBinding("orders").createBatch([])

    assert host.asked[0][2] == [[]]


@pytest.mark.asyncio
async def test_the_object_forms_of_a_batch(host: Any) -> None:
    answer = {"created": [{"id": "a"}], "errors": [{"index": 1, "code": 10405, "message": "m"}]}
    host.answers = [answer, {"created": [], "errors": []}]
    binding = WorkflowBinding("orders")

    made = await binding.create_batch(instances=[{"id": "a", "params": 1}, {"id": "a"}])
    await binding.create_batch({"count": 2, "params": [3]})

    assert host.asked[0][2] == [{"instances": [{"id": "a", "params": text(1)}, {"id": "a"}]}]
    assert host.asked[1][2] == [{"count": 2, "params": text([3])}]
    assert isinstance(made["created"][0], WorkflowInstance)
    assert made["errors"][0]["code"] == 10405


@pytest.mark.asyncio
async def test_ids_go_to_the_host_as_they_are(host: Any) -> None:
    host.answers = [{"id": "a"}, {"deleted": [], "errors": []}]
    binding = WorkflowBinding("orders")

    await binding.get(5)
    await binding.delete_batch(("a", 1))

    assert [call[1:] for call in host.asked] == [("get", [5]), ("deleteBatch", [["a", 1]])]


@pytest.mark.asyncio
async def test_what_an_instance_can_do(host: Any) -> None:
    host.answers = [{"status": "running"}, None, None, None, None, None, None, None]
    instance = WorkflowInstance("orders", "a")

    assert await instance.status() == {"status": "running"}
    await instance.pause()
    await instance.resume()
    await instance.terminate(rollback=True)
    await instance.restart({"from": {"name": "charge"}})
    await instance.send_event({"type": "paid", "payload": {"sum": 1.5}})
    await instance.sendEvent(type="paid", payload=None)
    await instance.delete()

    assert [call[1:] for call in host.asked] == [
        ("status", ["a"]),
        ("pause", ["a"]),
        ("resume", ["a"]),
        ("terminate", ["a", {"rollback": True}]),
        ("restart", ["a", {"from": {"name": "charge"}}]),
        ("sendEvent", ["a", {"type": "paid", "payload": text({"sum": 1.5})}]),
        ("sendEvent", ["a", {"type": "paid", "payload": text(None)}]),
        ("delete", ["a"]),
    ]


@pytest.mark.asyncio
async def test_a_subscription_is_iterated_and_disposed_of(host: Any) -> None:
    host.answers = [7, {"done": False, "value": {"eventId": 1}}, {"done": True}, None]

    async with await WorkflowInstance("orders", "a").subscribe(cursor=0) as events:
        assert [event async for event in events] == [{"eventId": 1}]

    assert [call[1:] for call in host.asked] == [
        ("subscribe", ["a", {"cursor": 0}]),
        ("next", [7]),
        ("next", [7]),
        ("dispose", [7]),
    ]


@pytest.mark.asyncio
async def test_a_subscription_that_its_code_drops_is_disposed_of(host: Any) -> None:
    host.answers = [7, {"done": False, "value": 1}]
    events = await WorkflowInstance("orders", "a").subscribe()
    async for event in events:
        assert event == 1
        break

    del events
    gc.collect()
    for _ in range(10):  # the loop closes the generator of the `async for` first
        await asyncio.sleep(0)

    assert host.told == [("orders", "dispose", [7])]


@pytest.mark.asyncio
@pytest.mark.parametrize("last", [{"done": True}, None], ids=["read to its end", "disposed of"])
async def test_a_subscription_that_is_over_is_not_disposed_of_again(host: Any, last: Any) -> None:
    host.answers = [7, last]
    events = await WorkflowInstance("orders", "a").subscribe()
    await (events.next() if last else events.dispose())

    del events
    gc.collect()
    await asyncio.sleep(0)

    assert host.told == []


def test_a_binding_is_true_and_no_container() -> None:
    binding: Any = WorkflowBinding("orders")

    assert binding
    with pytest.raises(TypeError, match="Workflow"):
        iter(binding)
    with pytest.raises(TypeError, match="Workflow"):
        len(binding)
