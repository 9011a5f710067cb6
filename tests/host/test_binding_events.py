"""``sendEvent`` and ``delete``, case by case of Cloudflare's behaviour (C090-C107), and the wire they come over."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.engine import commands as cmd
from runtime.host.binding_rules import Refused
from runtime.store import Key
from tests.host.fake_isolate import FakeIsolate
from tests.host.virtual_clock import rest
from tests.host.world import Host, refusal
from workers_shim.wire import devalue
from workers_shim.wire.neutral import UNDEFINED, Date

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")
NOT_FOUND = "instance.not_found"
MISSING = "WorkflowError: (instance.not_found) Instance does not exist"
MiB = 1 << 20


# ------------------------------------------------------------------------------------------------------------ sendEvent


async def test_c090_a_restart_drops_events_that_nobody_took(host: Host, isolate: FakeIsolate, code: Any) -> None:
    await code()
    await host.bind("sendEvent", "a", {"type": "go", "payload": "[1]"})

    await host.bind("restart", "a")
    again = isolate.codes("a")[-1]
    again.wait("go")

    assert again.rets == {}


async def test_c091_an_event_reaches_the_wait(host: Host, code: Any) -> None:
    run = await code()
    call = run.wait("go")
    await host.later(1)

    assert await host.bind("sendEvent", "a", {"type": "go", "payload": '[{"a":1},5]'}) is UNDEFINED

    assert run.rets == {call: {"payload": {"a": 5}, "timestamp": Date(host.clock.now()), "type": "go"}}


async def test_c092_c094_events_that_came_early_are_taken_in_their_order(host: Host, code: Any) -> None:
    run = await code()
    for n in range(3):
        await host.bind("sendEvent", "a", {"type": "go", "payload": f"[{n}]"})

    for n in range(3):
        call = run.wait("go")
        assert run.rets[call]["payload"] == n


async def test_c093_of_several_waits_the_first_takes_the_first_event(host: Host, code: Any) -> None:
    run = await code()
    calls = [run.wait("go", f"w{n}") for n in range(3)]

    for n in range(3):
        await host.bind("sendEvent", "a", {"type": "go", "payload": f"[{n}]"})

    assert [run.rets[call]["payload"] for call in calls] == [0, 1, 2]


async def test_c095_an_event_of_another_type_is_not_delivered(host: Host, code: Any) -> None:
    run = await code()
    run.wait("go")

    await host.bind("sendEvent", "a", {"type": "stop", "payload": "[1]"})

    assert run.rets == {}


async def test_c096_an_event_sent_during_a_pause_is_delivered_after_it(
    host: Host, isolate: FakeIsolate, code: Any
) -> None:
    run = await code()
    run.wait("go")
    await host.bind("pause", "a")

    await host.bind("sendEvent", "a", {"type": "go", "payload": "[1]"})
    assert await host.status() == "paused"
    await host.bind("resume", "a")

    assert isolate.codes("a")[-1].start["journal"][1][:4] == ["v", "wait", "w", 1]


async def test_c097_an_instance_that_has_ended_takes_no_event(host: Host, code: Any) -> None:
    (await code()).done()

    message = await refusal(host, "sendEvent", "a", {"type": "go", "payload": "[1]"})

    assert message.startswith("WorkflowError: (instance.cannot_send_event)")


async def test_c098_an_event_without_a_payload_has_undefined(host: Host, code: Any) -> None:
    run = await code()
    call = run.wait("go")

    await host.bind("sendEvent", "a", {"type": "go"})

    assert run.rets[call]["payload"] is UNDEFINED


@pytest.mark.parametrize(("args", "kind"), [([], "undefined"), ([None], "null"), ([5], "undefined")], ids=repr)
async def test_c100_without_an_event_it_is_a_type_error(host: Host, args: list[Any], kind: str) -> None:
    with pytest.raises(Refused) as caught:
        await host.bind("sendEvent", "a", *args)

    assert caught.value.failure.name == "TypeError"
    assert caught.value.failure.message == f"Cannot read properties of {kind} (reading 'payload')"


@pytest.mark.parametrize(("size", "fits"), [(MiB, True), (MiB + 1, False)])
async def test_c101_a_payload_is_at_most_1_mib(host: Host, code: Any, size: int, fits: bool) -> None:
    await code()
    event = {"type": "go", "payload": devalue.stringify("x" * size)}

    if fits:
        assert await host.bind("sendEvent", "a", event) is UNDEFINED
    else:
        assert await refusal(host, "sendEvent", "a", event) == (
            "WorkflowError: (body) The payload exceeds the maximum size of 1MiB"
        )


@pytest.mark.parametrize("type", ["a.b", "", "-a", "x" * 101, 5, None])
async def test_c102_a_type_outside_the_pattern_is_refused(host: Host, code: Any, type: Any) -> None:
    await code()

    message = await refusal(host, "sendEvent", "a", {"type": type, "payload": "[1]"})

    assert message == "WorkflowError: workflow.invalid_event_type"


# --------------------------------------------------------------------------------------------------------------- delete


async def test_c103_c107_after_delete_there_is_nothing_to_be_found(host: Host, code: Any) -> None:
    (await code()).done()

    assert await host.bind("delete", "a") is UNDEFINED

    event = {"type": "go", "payload": "[1]"}
    for op, args in {
        "status": [],
        "pause": [],
        "resume": [],
        "restart": [],
        "terminate": [],
        "sendEvent": [event],
    }.items():
        assert await refusal(host, op, "a", *args) == NOT_FOUND
    assert "instance.not_found" in await refusal(host, "subscribe", "a")


async def test_c104_a_second_delete_is_refused(host: Host, code: Any) -> None:
    await code()
    await host.bind("delete", "a")

    assert await refusal(host, "delete", "a") == MISSING
    assert await refusal(host, "delete", 5) == MISSING


async def test_c105_code_that_deletes_itself_hears_nothing_more(host: Host, isolate: FakeIsolate, code: Any) -> None:
    run = await code()

    isolate.says({"t": "bind", "id": 1, "workflow": "wf", "op": "delete", "args": '[[1],"a"]'})
    await rest()

    assert [message["t"] for message in run.heard] == ["release"]


async def test_c106_delete_runs_no_undo_functions(host: Host, code: Any) -> None:
    run = await code()
    run.returns(run.do("a", rollback=True), 1)

    await host.bind("delete", "a")

    assert [message["t"] for message in run.heard] == ["exec", "ret", "release"]


# ------------------------------------------------------------------------------------------------------------- the wire


async def test_an_answer_goes_to_the_isolate_that_asked(host: Host, isolate: FakeIsolate) -> None:
    front = FakeIsolate(host.dispatch, "front")

    front.says({"t": "bind", "id": 3, "workflow": "wf", "op": "create", "args": '[[1],{"id":2},"a"]'})
    front.says({"t": "bind", "id": 4, "workflow": "wf", "op": "create", "args": '[[1],{"id":2},"a"]'})
    await rest()

    text = 'WorkflowError: (instance.already_exists) Workflow instance with id "a" already exists'
    answers = {answer["id"]: answer for answer in front.told("bound")}
    assert answers[3] == {"t": "bound", "id": 3, "value": '[{"id":1},"a"]'}
    assert answers[4] == {"t": "bound", "id": 4, "error": {"name": "Error", "message": text}}
    assert isolate.told("bound") == []


async def test_what_goes_wrong_in_the_host_is_an_internal_error_for_the_code_and_a_text_for_the_developer(
    host: Host, isolate: FakeIsolate
) -> None:
    isolate.says({"t": "bind", "id": 3, "workflow": "unknown", "op": "create", "args": "[[]]"})
    await rest()

    (answer,) = isolate.told("bound")
    assert answer["error"] == {"name": "Error", "message": "WorkflowInternalError: KeyError: 'unknown'"}
    assert host.err.getvalue() == "error: unknown.create failed\n  KeyError: 'unknown'\n"


async def test_a_command_to_a_queued_instance_is_decided_without_a_run(host: Host) -> None:
    await host.create("a")

    assert (await host.instances.ask(A, cmd.Terminate())).refusal is None
    assert await host.bind("get", "a") == {"id": "a"}
