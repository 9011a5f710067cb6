"""The `Start` message: all that a replay needs, and no more than fits."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.engine import Schedule
from runtime.engine import commands as cmd
from runtime.host import run as module
from runtime.host.run import Run, start_message
from tests.engine.driver import ONCE, Instance
from tests.host.fake_isolate import FakeIsolate
from workers_shim.wire import devalue
from workers_shim.wire.neutral import Date


def start(instance: Instance) -> dict[str, Any]:
    isolate: Any = FakeIsolate.__new__(FakeIsolate)
    return start_message(Run(7, isolate), instance.state, "Wf", 100)


def journal(instance: Instance) -> list[list[Any]]:
    entries: list[list[Any]] = start(instance)["journal"]
    return entries


def test_it_tells_what_to_run_and_with_what() -> None:
    instance = Instance().start()

    assert start(instance) == {
        "t": "start",
        "run": 7,
        "workflow": "wf",
        "class_name": "Wf",
        "instance": "id",
        "event": {"payload": "{}", "timestamp": instance.now},
        "step_limit": 100,
        "journal": [],
    }


def test_a_scheduled_instance_is_told_which_entry_created_it() -> None:
    instance = Instance().start()
    instance.state.scheduled_by = Schedule("0 3 * * *", 42)

    assert start(instance)["event"] == {
        "payload": "{}",
        "timestamp": instance.now,
        "schedule": {"cron": "0 3 * * *", "scheduledTime": 42},
    }


def test_calls_and_settlements_stand_in_the_order_in_which_they_happened() -> None:
    instance = Instance().start()
    slow, quick = instance.do("slow"), instance.do("quick")
    instance.sleep(1000)
    instance.done(quick, '["q"]')
    instance.later(1000).ring()
    instance.done(slow, '["s"]')

    assert journal(instance) == [
        ["c", "do", "slow", 1, 0],
        ["c", "do", "quick", 1, 0],
        ["c", "sleep", "s", 1, 0],
        ["v", "do", "quick", 1, '["q"]'],
        ["v", "sleep", "s", 1, "-1"],
        ["v", "do", "slow", 1, '["s"]'],
    ]


def test_a_failed_step_and_a_timed_out_wait_are_errors() -> None:
    instance = Instance().start()
    instance.failed(instance.do("a", config=ONCE))
    instance.wait("go", timeout=1000)
    instance.later(1000).ring()

    errors = [entry for entry in journal(instance) if entry[0] == "e"]

    timed_out = "WorkflowTimeoutError: Execution timed out after 1000ms"
    assert errors == [
        ["e", "do", "a", 1, {"name": "Error", "message": "boom"}],
        ["e", "wait", "w", 1, {"name": "Error", "message": timed_out}],
    ]


def test_a_satisfied_wait_has_its_event() -> None:
    instance = Instance().start()
    instance.wait("go")
    instance.later(5).send("go", '["news"]')

    value = devalue.parse(journal(instance)[-1][4])

    assert value == {"payload": "news", "timestamp": Date(instance.now), "type": "go"}


def test_calls_made_inside_a_step_are_marked_and_their_results_are_not_sent() -> None:
    instance = Instance().start()
    outer = instance.do("outer")
    inner = instance.do("inner", **instance.inside(outer))
    instance.done(inner)
    instance.done(outer, '["o"]')

    assert journal(instance) == [
        ["c", "do", "outer", 1, 0],
        ["c", "do", "inner", 1, 1],
        ["v", "do", "outer", 1, '["o"]'],
    ]


def test_a_step_that_gave_nothing_is_undefined() -> None:
    instance = Instance().start()
    instance.done(instance.do("a"), "-1")

    assert journal(instance)[-1] == ["v", "do", "a", 1, "-1"]


def test_a_large_value_is_left_for_the_call_to_fetch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "INLINE_VALUE", 10)
    instance = Instance().start()
    instance.done(instance.do("fits"), '["123456"]')
    instance.done(instance.do("large"), '["1234567"]')

    settled = [entry for entry in journal(instance) if entry[0] != "c"]

    assert settled == [["v", "do", "fits", 1, '["123456"]'], ["l", "do", "large", 1]]


def test_all_values_together_are_bounded_and_small_ones_still_fit_after_one_that_did_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "INLINE_TOTAL", 25)
    instance = Instance().start()
    for name, text in {"a": '["123456"]', "b": '["123456"]', "c": '["123456"]', "d": "[1]"}.items():
        instance.done(instance.do(name), text)

    settled = [entry[:3] for entry in journal(instance) if entry[0] != "c"]

    assert settled == [["v", "do", "a"], ["v", "do", "b"], ["l", "do", "c"], ["v", "do", "d"]]


def test_a_call_that_a_restart_makes_begin_anew_stands_where_it_was_first_made() -> None:
    instance = Instance().start()
    instance.do("slow")
    instance.done(instance.do("quick"), '["q"]')
    instance.done(instance.do("then"), '["t"]')
    instance.tell(cmd.Restart("then", partial=True))
    instance.start()
    kept = [["c", "do", "slow", 1, 0], ["c", "do", "quick", 1, 0], ["v", "do", "quick", 1, '["q"]']]

    assert journal(instance) == kept

    instance.done(instance.do("slow"), '["s"]')

    assert journal(instance) == [*kept, ["v", "do", "slow", 1, '["s"]']]
