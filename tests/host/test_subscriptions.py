"""``subscribe()``: what happened, then what happens (C108...)."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from runtime.host.binding_rules import Refused
from runtime.host.instances import NewInstance
from runtime.store import Key
from tests.host.fake_isolate import Code, FakeIsolate
from tests.host.virtual_clock import rest
from tests.host.world import Host
from workers_shim.wire.neutral import UNDEFINED

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")
OVER = {"done": True, "value": UNDEFINED}
ONCE = {"retries": {"limit": 0, "delay": 0}}


class Reader:
    """A subscription as user code reads it."""

    def __init__(self, host: Host, number: int) -> None:
        self.host = host
        self.number = number

    @classmethod
    async def of(cls, host: Host, *options: Any) -> Reader:
        return cls(host, await host.bind("subscribe", "a", *options))

    async def next(self) -> Any:
        return await self.host.bind("next", self.number)

    async def all(self) -> list[dict[str, Any]]:
        """Everything up to the end."""
        events = []
        while not (answer := await self.next())["done"]:
            events.append(answer["value"])
        return events

    async def types(self) -> list[str]:
        return [event["type"] for event in await self.all()]


async def finished(host: Host, isolate: FakeIsolate) -> Code:
    """An instance that ran one step."""
    code = await host.code(isolate)
    code.step("a", [1])
    code.done("out")
    await rest()
    return code


async def test_c108_c121_c124_all_that_happened_and_then_the_end(host: Host, isolate: FakeIsolate) -> None:
    await finished(host, isolate)
    reader = await Reader.of(host)

    events = await reader.all()

    common = {"instanceId": "a", "timestamp": host.clock.now()}
    config = {"retries": {"limit": 5, "delay": 10_000, "backoff": "exponential"}, "timeout": "10 minutes"}
    assert events == [
        {"type": "workflow_queued", "eventId": 1, **common},
        {"type": "workflow_started", "eventId": 2, "params": {}, **common},
        {"type": "workflow_running", "eventId": 3, **common},
        {"type": "step_started", "eventId": 4, "stepName": "a-1", "config": config, **common},
        {"type": "attempt_started", "eventId": 5, "stepName": "a-1", "attempt": 1, **common},
        {"type": "attempt_completed", "eventId": 6, "stepName": "a-1", "attempt": 1, **common},
        {"type": "step_completed", "eventId": 7, "stepName": "a-1", "output": [1], **common},
        {"type": "workflow_completed", "eventId": 8, "output": "out", **common},
    ]
    assert await reader.next() == OVER
    assert await host.in_memory() == 0, "reading wakes nobody"


async def test_what_happens_is_heard_as_it_happens(host: Host, isolate: FakeIsolate) -> None:
    await host.create("a")
    reader = await Reader.of(host, {"cursor": 3})

    pending = asyncio.ensure_future(host.bindings.call("wf", "next", f"[[1],{reader.number}]"))
    await rest()
    assert not pending.done()
    isolate.codes("a")[0].done("out")

    assert '"workflow_completed"' in await pending
    assert await reader.next() == OVER


async def test_c109_a_step_that_fails_for_good(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    code.raises(code.do("a", ONCE))
    code.fails("boom")

    events = await (await Reader.of(host, {"cursor": 5})).all()

    boom = {"name": "Error", "message": "boom"}
    assert [(event["type"], event.get("error")) for event in events] == [
        ("attempt_errored", boom),
        ("step_errored", None),
        ("workflow_errored", boom),
    ]
    assert "retryDelayMs" not in events[0]


async def test_c110_retries_tell_their_delays(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    call = code.do("a", {"retries": {"limit": 2, "delay": 0}})
    for attempt in (1, 2, 3):
        code.raises(call, attempt=attempt)
    code.done()

    events = await (await Reader.of(host, {"filter": ["attempt_errored", "step_errored"]})).all()

    assert [(event["type"], event.get("attempt"), event.get("retryDelayMs")) for event in events] == [
        ("attempt_errored", 1, 0),
        ("attempt_errored", 2, 0),
        ("attempt_errored", 3, None),
        ("step_errored", None, None),
    ]


async def test_c111_a_delay_function_is_asked_after_each_failure(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    config = {"retries": {"limit": 3, "delay": "[dynamic]", "backoff": "linear"}}
    call = code.do("a", config, delay_function=True)
    for attempt in (1, 2, 3):
        code.raises(call, attempt=attempt)
        isolate.says(code.message("delayed", call=call, attempt=attempt, value="[20]"))
        await host.later(1)
    code.raises(call, attempt=4)
    code.done()

    events = await (await Reader.of(host, {"filter": ["step_started", "attempt_errored"]})).all()

    assert events[0]["config"]["retries"]["delay"] == "[dynamic]"
    assert [event.get("retryDelayMs") for event in events[1:]] == [20, 40, 60, None]
    asked = [message for message in code.heard if message["t"] == "delay"]
    assert [message["attempt"] for message in asked] == [1, 2, 3]
    assert asked[0]["error"] == {"name": "Error", "message": "boom"}
    assert "delay" not in asked[0]["config"]["retries"]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"timeout": True}, "did not return within 5 seconds"),
        ({"error": "oops"}, "threw an error: oops"),
        ({"value": "[-1]"}, "returned an invalid delay value (expected a number of ms or a duration string like"),
    ],
    ids=str,
)
async def test_a_delay_function_that_fails_fails_its_step(
    host: Host, isolate: FakeIsolate, answer: dict[str, Any], text: str
) -> None:
    code = await host.code(isolate)
    call = code.do("a", {"retries": {"limit": 3, "delay": "[dynamic]"}}, delay_function=True)
    code.raises(call)

    isolate.says(code.message("delayed", call=call, attempt=1, **answer))

    assert code.rets[call].startswith(f'NonRetryableDelayError: The delay function for step "a-1" {text}')


async def test_c112_sleeps_are_counted_by_name_and_duration(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    for duration in (10, 10, 20):
        code.sleep(duration)
        await host.later(1)
    code.done()

    events = await (await Reader.of(host, {"filter": ["sleep_started"]})).all()

    assert [(event["stepName"], event["durationMs"]) for event in events] == [("s-1", 10), ("s-2", 10), ("s-1", 20)]


async def test_c113_a_wait_that_times_out_shows_its_start_and_its_end(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    code.wait("go", timeout=1000)
    await host.later(1)
    code.done()

    events = await (await Reader.of(host, {"filter": ["wait_started", "wait_timed_out"]})).all()

    assert [(event["type"], event.get("eventType")) for event in events] == [
        ("wait_started", "go"),
        ("wait_timed_out", None),
    ]


async def test_c114_the_output_of_a_sensitive_step_is_not_shown(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    code.returns(code.do("a", {"sensitive": "output"}), "secret")
    code.done("secret")

    events = await (await Reader.of(host, {"filter": ["step_completed", "workflow_completed"]})).all()

    assert [event["output"] for event in events] == ["[REDACTED]", "secret"]


async def test_c115_a_pause_shows_that_it_waits_and_what_follows(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    call = code.do()
    await host.bind("pause", "a")
    code.returns(call)
    await host.bind("resume", "a")
    isolate.codes("a")[-1].done()

    types = await (await Reader.of(host, {"cursor": 5})).types()

    assert types == [
        "workflow_waiting_for_pause",
        "attempt_completed",
        "step_completed",
        "workflow_paused",
        "workflow_running",
        "workflow_completed",
    ]


async def test_c116_only_events_after_the_cursor_are_shown(host: Host, isolate: FakeIsolate) -> None:
    await finished(host, isolate)

    answer = await (await Reader.of(host, {"cursor": 5})).next()

    assert answer["value"]["eventId"] == 6


@pytest.mark.parametrize("cursor", [8, 9, 1000])
async def test_c117_a_cursor_at_the_end_is_done_at_once(host: Host, isolate: FakeIsolate, cursor: int) -> None:
    await finished(host, isolate)

    assert await (await Reader.of(host, {"cursor": cursor})).next() == OVER


@pytest.mark.parametrize(("wanted", "types"), [(["step_completed"], ["step_completed"]), ([], [])], ids=repr)
async def test_c118_c119_only_events_that_the_filter_names_are_shown(
    host: Host, isolate: FakeIsolate, wanted: list[str], types: list[str]
) -> None:
    await finished(host, isolate)

    assert await (await Reader.of(host, {"filter": wanted})).types() == types


@pytest.mark.parametrize(
    "options",
    [
        {"filter": ["nonsense"]},
        {"filter": ["created"]},
        {"filter": "step_completed"},
        {"filter": None},
        {"cursor": -1},
        {"cursor": 1.5},
        {"cursor": "1"},
        {"cursor": True},
        {"cursor": None},
        {"cursor": math.nan},
        {"cursor": math.inf},
        {"extra": 1},
        None,
        [],
    ],
    ids=repr,
)
async def test_c120_options_other_than_a_filter_and_a_cursor_are_refused(host: Host, options: Any) -> None:
    await host.create("a")

    with pytest.raises(Refused, match=r"^Invalid Workflow subscription options$"):
        await Reader.of(host, options)


async def test_c122_a_pending_read_hears_of_the_end(host: Host, isolate: FakeIsolate) -> None:
    await host.create("a")
    reader = await Reader.of(host, {"cursor": 3})

    reading = asyncio.ensure_future(host.subscriptions.next(reader.number))
    await host.bind("terminate", "a")

    assert (await reading)["type"] == "workflow_terminated"  # type: ignore[index]


async def test_c123_a_pending_read_fails_when_the_instance_is_deleted(host: Host, isolate: FakeIsolate) -> None:
    await host.create("a")
    reader = await Reader.of(host, {"cursor": 3})

    reading = asyncio.ensure_future(host.bindings.call("wf", "next", f"[[1],{reader.number}]"))
    await rest()
    await host.bind("delete", "a")

    with pytest.raises(Refused, match=r"^Aborting engine: User called delete$"):
        await reading
    assert await reader.next() == OVER


async def test_an_old_subscription_hears_nothing_of_a_new_instance_of_the_same_id(
    host: Host, isolate: FakeIsolate
) -> None:
    await host.create("a")
    reader = await Reader.of(host, {"cursor": 3})
    await host.bind("delete", "a")
    await finished(host, isolate)

    with pytest.raises(Refused, match="User called delete"):
        await reader.next()
    assert await reader.next() == OVER


async def test_there_is_nothing_to_follow_of_what_does_not_exist(host: Host) -> None:
    with pytest.raises(Refused, match=r"instance\.not_found"):
        await Reader.of(host)


async def test_a_read_that_is_pending_when_the_subscription_is_disposed_is_done(
    host: Host, isolate: FakeIsolate
) -> None:
    await host.create("a")
    reader = await Reader.of(host, {"cursor": 3})

    reading = asyncio.ensure_future(host.subscriptions.next(reader.number))
    await rest()
    assert await host.bind("dispose", reader.number) is UNDEFINED

    assert await reading is None
    assert await reader.next() == OVER
    assert await host.bind("dispose", reader.number) is UNDEFINED


async def test_reads_at_the_same_time_are_served_in_their_order(host: Host, isolate: FakeIsolate) -> None:
    await finished(host, isolate)
    number = (await Reader.of(host)).number

    shown = await asyncio.gather(*(host.subscriptions.next(number) for _ in range(10)))

    assert [event["eventId"] for event in shown if isinstance(event, dict)] == list(range(1, 9))
    assert shown[8:] == [None, None]


async def test_a_full_restart_numbers_events_from_one_again_and_readers_go_on(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    reader = await Reader.of(host)
    code.step("a")

    await host.bind("restart", "a")
    isolate.codes("a")[-1].done()

    events = await reader.all()
    assert [event["eventId"] for event in events] == [1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4]
    assert [event["type"] for event in events[7:]] == [
        "workflow_queued",
        "workflow_started",
        "workflow_running",
        "workflow_completed",
    ]


async def test_what_is_committed_while_the_history_is_read_is_heard_once(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    lines = host.subscriptions._lines

    async def slow(key: Key) -> Any:
        before = await lines(key)
        code.step("a")
        await rest()
        return before

    host.subscriptions._lines = slow
    number = await host.subscriptions.open(A, {})
    host.subscriptions._lines = lines
    code.done()

    assert isinstance(number, int)
    events = await Reader(host, number).all()
    assert [event["eventId"] for event in events] == list(range(1, 9))


async def test_a_subscription_that_cannot_be_filled_is_not_kept(host: Host) -> None:
    await host.create("a")

    async def broken(key: Key) -> Any:
        raise OSError("unreadable")

    host.subscriptions._lines = broken
    with pytest.raises(OSError, match="unreadable"):
        await host.subscriptions.open(A, {})

    assert (host.subscriptions._by_number, host.subscriptions._by_key) == ({}, {})


async def test_a_subscription_read_to_its_end_is_not_kept(host: Host, isolate: FakeIsolate) -> None:
    await finished(host, isolate)

    await (await Reader.of(host)).all()

    assert (host.subscriptions._by_number, host.subscriptions._by_key) == ({}, {})


async def test_new_instances_have_no_readers_yet(host: Host) -> None:
    await host.instances.create("wf", [NewInstance("a", "[1]")])

    assert host.subscriptions._by_key == {}
