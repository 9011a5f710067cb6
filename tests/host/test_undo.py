"""Undo functions: when their isolate is told to run them, and what becomes of a rollback that is disturbed."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.engine import commands as cmd
from runtime.host import undo
from runtime.host.stuck import UNHEARD
from runtime.store import Key
from tests.host.conftest import Hosts
from tests.host.fake_isolate import Code, FakeIsolate
from tests.host.test_stuck import Watched
from tests.host.virtual_clock import rest
from tests.host.world import Host, crash
from workers_shim.wire import devalue
from workers_shim.wire.messages import Pulse

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")
FAILED = {"name": "Error", "message": "undo failed"}
ONCE = devalue.stringify({"retries": {"limit": 0, "delay": 0}, "timeout": 1000})


async def failed(code: Any, *names: str, **more: Any) -> Code:
    """A run that has called these steps, which can be undone, and then raised."""
    run: Code = await code()
    for name in names:
        run.returns(run.do(name, rollback=True, **more), name.upper())
    run.fails()
    await rest()
    return run


async def test_c220_a_run_that_fails_is_kept_until_it_is_undone(host: Host, code: Any) -> None:
    run = await failed(code, "a", "b")
    assert (run.undos, run.released) == ([("b", 1)], False)
    run.undone("b")
    run.undone("a")
    await rest()
    assert (run.undos, run.released, await host.status()) == ([("b", 1), ("a", 1)], True, "errored")


async def test_c229_the_isolate_is_told_the_context_of_the_step_and_the_error_and_the_output(code: Any) -> None:
    run = await code()
    call = run.do("a", {"retries": {"limit": 1, "delay": 0}}, rollback=True)
    run.raises(call)
    await rest()
    run.returns(call, {"id": 5}, attempt=2)
    run.fails("no stock", "TypeError")
    await rest()
    (message,) = [message for message in run.heard if message["t"] == "undo"]
    config = {"retries": {"limit": 1, "delay": 0, "backoff": "exponential"}, "timeout": "10 minutes"}
    assert message == {
        "t": "undo",
        "run": run.run,
        "name": "a",
        "nth": 1,
        "attempt": 1,
        "context": {"step": {"name": "a", "count": 1}, "attempt": 2, "config": config},
        "error": {"name": "TypeError", "message": "no stock"},
        "output": '[{"id":1},5]',
    }


async def test_c222_a_step_without_an_output_is_undone_without_one(code: Any) -> None:
    run = await code()
    run.raises(run.do("a", {"retries": {"limit": 0, "delay": 0}}, rollback=True))
    run.fails()
    await rest()
    (message,) = [message for message in run.heard if message["t"] == "undo"]
    assert "output" not in message


async def test_c235_what_runs_is_cancelled_before_anything_is_undone(host: Host, code: Any) -> None:
    run = await code()
    run.do("a", rollback=True)
    await host.bind("terminate", "a", {"rollback": True})
    await host.later(0)
    assert [message["t"] for message in run.heard] == ["exec", "cancel", "undo"]


async def test_i1_an_undo_runs_once_it_is_committed(host: Host, code: Any) -> None:
    run = await failed(code, "a")
    kinds = await host.kinds()
    assert kinds[-3:] == ["rollback_started", "rollback_step_started", "rollback_attempt_started"]
    assert run.undos == [("a", 1)]


# ------------------------------------------------------------------------------------------------------------ timeouts


async def test_the_time_of_an_undo_counts_from_its_own_beginning(host: Host, code: Any) -> None:
    run = await failed(code, "a", rollback_config=ONCE)
    await host.later(3600)
    run.undoing("a")
    await host.later(0.999)
    assert not any(message["t"] == "cancel_undo" for message in run.heard)
    await host.later(0.001)
    assert [message["t"] for message in run.heard][-2:] == ["cancel_undo", "release"]
    assert (await host.bind("status", "a"))["rollback"] == {
        "outcome": "failed",
        "error": {"name": "Error", "message": "WorkflowTimeoutError: Execution timed out after 1000ms"},
    }


async def test_the_attempt_after_one_that_timed_out_has_a_time_of_its_own(host: Host, code: Any) -> None:
    config = devalue.stringify({"retries": {"limit": 1, "delay": 0}, "timeout": 1000})
    run = await failed(code, "a", rollback_config=config)
    for attempt in (1, 2):
        run.undoing("a", attempt)
        await host.later(1)
    assert [message["attempt"] for message in run.heard if message["t"] == "cancel_undo"] == [1, 2]


async def test_an_undo_that_ended_in_time_has_no_timeout_any_more(host: Host, code: Any) -> None:
    run = await failed(code, "a", "b", rollback_config=ONCE)
    run.undoing("b")
    run.undone("b")
    await host.later(3600)
    assert run.undos == [("b", 1), ("a", 1)]
    assert not any(message["t"] == "cancel_undo" for message in run.heard)


async def test_i3_a_late_answer_moves_neither_the_rollback_nor_its_clock(host: Host, code: Any) -> None:
    config = devalue.stringify({"retries": {"limit": 1, "delay": 0}, "timeout": 1000})
    run = await failed(code, "a", rollback_config=config)
    run.undoing("a")
    run.undone("a", error=FAILED)
    await host.later(0)
    run.undoing("a", attempt=2)
    await host.later(0.5)
    run.undoing("a", attempt=1)
    run.undone("a", attempt=1)
    await host.later(0.5)
    assert await host.status() == "errored"
    assert [message["t"] for message in run.heard][-2:] == ["cancel_undo", "release"]


async def test_a_timeout_without_end_is_none(code: Any) -> None:
    run = await failed(code, "a", rollback_config=devalue.stringify({"timeout": "Infinity"}))
    instance = run.isolate._listener._runs.owner(run.run)  # type: ignore[attr-defined]
    assert undo.end_of_time(instance.state, 5, instance.home.rules("wf")) == undo.NEVER


# -------------------------------------------------------------------------------------------------------- disturbances


async def test_c078_a_sleeping_instance_gets_a_run_to_be_undone_by(host: Host, isolate: FakeIsolate, code: Any) -> None:
    run = await code()
    run.returns(run.do("a", rollback=True))
    run.sleep("1 hour")
    run.parked()
    await host.later(5)
    assert run.released and await host.in_memory() == 0

    await host.bind("terminate", "a", {"rollback": True})
    await host.later(0)

    again = isolate.codes("a")[-1]
    assert again.start["undo"] is True and [entry[:2] for entry in again.start["journal"]] == [
        ["c", "do"], ["v", "do"], ["c", "sleep"],
    ]  # fmt: skip
    assert again.undos == [("a", 1)]
    again.undone("a")
    await rest()
    assert await host.status() == "terminated" and again.released


async def test_a_run_that_is_no_replay_for_undo_does_not_say_so(code: Any) -> None:
    assert "undo" not in (await code()).start


async def test_i4_after_a_crash_what_is_left_is_undone_by_a_replay(hosts: Hosts) -> None:
    host = hosts()
    run = await failed(lambda: host.code(host.serve()), "a", "b", "c")
    run.undone("c")
    await rest()
    later = hosts(await crash(host))
    isolate = later.serve()
    await later.recover()
    await later.later(0)
    again = isolate.codes("a")[-1]
    assert (again.start["undo"], again.undos) == (True, [("b", 2)])
    again.undone("b", attempt=2)
    await rest()
    again.undone("a")
    await rest()
    assert (again.undos, await later.status()) == ([("b", 2), ("a", 1)], "errored")


async def test_i4_after_a_crash_in_a_retry_delay_the_next_attempt_comes_when_it_was_due(hosts: Hosts) -> None:
    host = hosts()
    run = await failed(lambda: host.code(host.serve()), "a")
    run.undone("a", error=FAILED)
    await host.later(4)
    later = hosts(await crash(host))
    isolate = later.serve()
    await later.recover()
    again = isolate.codes("a")[-1]
    await later.later(5.999)
    assert again.undos == []
    await later.later(0.001)
    assert again.undos == [("a", 2)]


async def test_a_lost_isolate_costs_the_undo_that_ran_there_one_attempt(host: Host, code: Any) -> None:
    run = await failed(code, "a")
    run.isolate.dies()
    new = host.serve()
    await host.later(0)
    (again,) = new.codes("a")
    assert again.undos == [("a", 2)]


async def test_c234_a_missing_undo_function_ends_the_rollback(host: Host, code: Any) -> None:
    run = await failed(code, "a", "b")
    run.undone("b", missing=True)
    await rest()
    assert (await host.bind("status", "a"))["rollback"] == {
        "outcome": "failed",
        "error": {"name": "RollbackMissing", "message": "Rollback function not available in registry"},
    }
    assert run.undos == [("b", 1)] and run.released


async def test_a_rollback_moves_to_new_code_between_two_undo_functions(host: Host, code: Any) -> None:
    run = await failed(code, "a", "b")
    new = host.serve()
    host.runs.hold(run.isolate)
    host.runs.move_idle(run.isolate)
    await rest()
    assert new.codes("a") == [], "the one that runs may finish where it is"

    run.undone("b")
    await rest()
    assert run.undos == [("b", 1)], "no other begins there"
    host.runs.move_idle(run.isolate)
    await host.later(0)

    (moved,) = new.codes("a")
    assert (moved.start["undo"], moved.undos) == (True, [("a", 1)])


async def test_a_run_that_fails_while_it_moves_is_undone_in_new_code(host: Host, code: Any) -> None:
    run = await code()
    run.returns(run.do("a", rollback=True))
    new = host.serve()
    host.runs.hold(run.isolate)
    run.fails()
    await rest()
    assert run.undos == []
    host.runs.move_idle(run.isolate)
    await host.later(0)
    (moved,) = new.codes("a")
    assert moved.undos == [("a", 1)]


async def test_a_step_called_during_a_rollback_is_refused(code: Any) -> None:
    run = await failed(code, "a")
    call = run.do("new")
    await rest()
    assert run.rets[call] == "WorkflowFatalError: Cannot execute steps during rollback phase"


async def test_c232_the_rollback_config_is_judged(code: Any) -> None:
    run = await code()
    call = run.do("n", rollback=True, rollback_config=devalue.stringify({"timeout": 0}))
    await rest()
    assert run.rets[call].startswith('WorkflowFatalError: Rollback config for "n" is in a invalid format.')


# ----------------------------------------------------------------------------------------------------- code that blocks


async def test_an_undo_function_may_block_until_its_timeout(host: Host, code: Any) -> None:
    run = await failed(code, "a", rollback_config=devalue.stringify({"timeout": "40 seconds"}))
    watched = Watched(host, run.isolate)
    pulse = Pulse(blocked=35.0, run=run.run, attempt=1, code="entry.py:5 in refund")

    assert await watched.look(pulse) is None
    await host.later(4.999)
    assert not any(message["t"] == "cancel_undo" for message in run.heard)
    await host.later(0.001)
    assert any(message["t"] == "cancel_undo" for message in run.heard)

    assert await watched.look(pulse) == "an undo function that was given up still blocks: entry.py:5 in refund"


async def test_a_step_that_was_given_up_for_its_undo_may_not_block(host: Host, code: Any) -> None:
    run = await code()
    call = run.do("a", rollback=True)
    await host.instances.ask(A, cmd.Terminate(rollback=True))
    await rest()
    watched = Watched(host, run.isolate)

    pulse = Pulse(blocked=UNHEARD, run=run.run, call=call, attempt=1)
    assert await watched.look(pulse) == "a step that was given up still blocks: native code"


async def test_native_code_in_an_undo_function_has_the_undo_functions_time(host: Host, code: Any) -> None:
    run = await failed(code, "a", rollback_config=ONCE)
    watched = Watched(host, run.isolate)

    assert await watched.look(None) is None
    await host.later(1)
    assert any(message["t"] == "cancel_undo" for message in run.heard)
