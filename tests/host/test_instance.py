"""The shell around one instance: commit, then act (I1), in one transaction (I2), and heard by nobody else (I3)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from runtime.engine import Failure
from runtime.engine import commands as cmd
from runtime.host.instances import NotFound
from runtime.store import Key, Line, MemoryStore, StoreUnusable
from runtime.store.memory import MemoryJournal
from tests.host.conftest import Hosts
from tests.host.fake_isolate import Code
from tests.host.virtual_clock import rest
from tests.host.world import Host

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")


class SlowDisk:
    """Keeps what an instance appends until the test lets it through."""

    def __init__(self, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
        journal = host.instances._live[A].journal
        assert isinstance(journal, MemoryJournal)
        self.appends: list[list[Line]] = []
        self._pending: list[tuple[Sequence[Line], asyncio.Future[None]]] = []
        self._write = journal.append
        monkeypatch.setattr(journal, "append", self.append)

    def append(self, lines: Sequence[Line]) -> Awaitable[None]:
        self.appends.append(list(lines))
        self._pending.append((lines, asyncio.get_running_loop().create_future()))
        return self._pending[-1][1]

    async def commit(self) -> None:
        lines, future = self._pending.pop(0)
        self._write(lines)
        future.set_result(None)
        await rest()

    async def fail(self) -> None:
        self._pending.pop(0)[1].set_exception(StoreUnusable("a.db", "I/O error"))
        await rest()

    @property
    def kinds(self) -> list[list[str]]:
        return [[line.kind for line in append] for append in self.appends]


# ---------------------------------------------------------------------------------------------------------------- I1


async def test_i1_an_attempt_runs_once_it_is_committed(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    code = await host.code(host.serve())
    disk = SlowDisk(host, monkeypatch)

    call = code.do()
    await rest()
    assert code.heard == []
    await disk.commit()

    assert code.execs == [(call, 1)]


async def test_i1_a_result_is_heard_once_it_is_committed(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    code = await host.code(host.serve())
    call = code.do()
    disk = SlowDisk(host, monkeypatch)

    code.returns(call, "value")
    await rest()
    assert code.rets == {}
    await disk.commit()

    assert code.rets == {call: "value"}


async def test_i1_a_caller_is_answered_once_it_is_committed(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate = host.serve()
    code = await host.code(isolate)
    code.wait("go")
    disk = SlowDisk(host, monkeypatch)

    isolate.says(
        {
            "t": "bind",
            "id": 7,
            "workflow": "wf",
            "op": "sendEvent",
            "args": '[[1,2],"a",{"type":3,"payload":4},"go","[5]"]',
        }
    )
    await rest()
    assert (isolate.told("bound"), code.rets) == ([], {})
    await disk.commit()

    assert isolate.told("bound") == [{"t": "bound", "id": 7, "value": "-1"}]
    assert list(code.rets) == [1]


async def test_i1_a_refusal_waits_for_what_it_was_decided_on(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    code = await host.code(host.serve())
    disk = SlowDisk(host, monkeypatch)

    code.done()
    asked = asyncio.ensure_future(host.instances.ask(A, cmd.Terminate()))
    await rest()
    assert not asked.done()
    await disk.commit()

    assert (await asked).refusal is not None


async def test_i1_nothing_of_a_failed_commit_is_heard(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    code = await host.code(host.serve())
    call = code.do()
    disk = SlowDisk(host, monkeypatch)

    code.returns(call, "value")
    await disk.fail()

    assert code.rets == {}
    assert code.released
    assert await host.kinds() == [
        "created",
        "workflow_queued",
        "workflow_started",
        "workflow_running",
        "step_started",
        "attempt_started",
    ]


async def test_i1_subscribers_hear_once_it_is_committed(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    code = await host.code(host.serve())
    number = await host.bind("subscribe", "a", {"filter": ["workflow_completed"]})
    disk = SlowDisk(host, monkeypatch)

    code.done("out")
    following = asyncio.ensure_future(host.subscriptions.next(number))
    await rest()
    assert not following.done()
    await disk.commit()

    assert (await following)["type"] == "workflow_completed"  # type: ignore[index]


# ---------------------------------------------------------------------------------------------------------------- I2


async def test_i2_all_that_arrives_together_is_committed_together(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate = host.serve()
    code = await host.code(isolate)
    first, second = code.do("a"), code.do("b")
    disk = SlowDisk(host, monkeypatch)

    isolate.says(code.value(first, 1), code.value(second, 2), code.call("sleep", "s", "1 hour"))
    await rest()

    assert disk.kinds == [
        ["attempt_completed", "step_completed", "attempt_completed", "step_completed", "sleep_started"],
    ]
    await disk.commit()
    assert code.rets == {first: 1, second: 2}


async def test_i2_what_arrives_during_a_commit_is_committed_together_after_it(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = await host.code(host.serve())
    disk = SlowDisk(host, monkeypatch)

    code.do("a")
    code.do("b")
    code.do("c")
    await rest()
    assert disk.kinds == [["step_started", "attempt_started"]]
    await disk.commit()

    assert disk.kinds[1:] == [["step_started", "attempt_started"] * 2]
    await disk.commit()
    assert code.execs == [(1, 1), (2, 1), (3, 1)]


async def test_what_decides_nothing_is_not_committed(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    code = await host.code(host.serve())
    code.step("a")
    disk = SlowDisk(host, monkeypatch)

    await host.instances.ask(A, cmd.Resume())

    assert disk.appends == []


# ---------------------------------------------------------------------------------------------------------------- I3


async def test_i3_an_ended_run_is_not_heard(host: Host) -> None:
    isolate = host.serve()
    old = await host.code(isolate)
    call = old.do()
    await host.instances.ask(A, cmd.Restart())
    await rest()
    new = isolate.codes("a")[-1]
    journal = await host.kinds()

    old.returns(call, "late")
    old.do("another")
    old.parked()
    old.began(call)
    old.isolate.says(old.message("awaiting", seconds=900.0, where="x.py:1"), old.message("delayed", call=1, attempt=1))
    old.done("late")
    await rest()

    assert await host.kinds() == journal
    assert (old.released, new.released, old.rets) == (True, False, {})


async def test_i3_an_earlier_attempt_is_not_heard(host: Host) -> None:
    code = await host.code(host.serve())
    call = code.do("a", {"retries": {"limit": 1, "delay": 0}, "timeout": 1000})
    code.began(call)
    await host.later(1)
    assert code.execs == [(call, 1), (call, 2)]

    code.returns(call, "late", attempt=1)
    assert code.rets == {}
    code.returns(call, "in time", attempt=2)

    assert code.rets == {call: "in time"}


async def test_i3_a_call_of_a_run_that_is_aborted_in_the_same_turn_is_not_answered(host: Host) -> None:
    isolate = host.serve()
    code = await host.code(isolate)
    instance = host.instances._live[A]

    terminated = instance.ask(cmd.Terminate())
    isolate.says(code.call("do", "a", None), code.message("done", value="[1]", size=1))
    await terminated

    assert [message["t"] for message in code.heard] == ["release"]
    assert (await host.kinds())[-2:] == ["workflow_running", "workflow_terminated"]


@pytest.mark.parametrize("name", ["fine", "bad\n"])
async def test_i3_a_call_that_was_decided_just_before_the_abort_is_not_answered_either(hosts: Hosts, name: str) -> None:
    host = hosts(MemoryStore(late=True))
    isolate = host.serve()
    code = await host.code(isolate)
    instance = host.instances._live[A]

    host.instances.turns.hold()
    isolate._listener.on_message(isolate, code.call("do", name, None))
    terminated = instance.ask(cmd.Terminate())
    isolate._listener.on_turn(isolate)
    await terminated

    assert [message["t"] for message in code.heard] == ["release"]


async def test_i3_a_call_of_a_run_that_is_lost_in_the_same_turn_is_not_journalled(host: Host) -> None:
    isolate = host.serve()
    code = await host.code(isolate)
    journal = await host.kinds()

    host.instances.turns.hold()
    isolate._listener.on_message(isolate, code.call("do", "a", None))
    host.runs.lose(host.runs.on(isolate)[0])
    isolate._listener.on_turn(isolate)
    await rest()

    assert await host.kinds() == journal
    assert (len(isolate.codes("a")), code.execs) == (2, [])


async def test_i3_a_run_that_is_over_before_it_could_start_is_not_started(host: Host) -> None:
    await host.create("a")

    terminated = host.instances._live[A].ask(cmd.Terminate())
    isolate = host.serve()  # the run begins in the same turn
    await terminated

    assert isolate.told("start") == []
    assert await host.status() == "terminated"


async def test_i3_a_given_up_attempt_is_cancelled_before_the_next_one_runs(host: Host) -> None:
    code = await host.code(host.serve())
    call = code.do("a", {"retries": {"limit": 1, "delay": 0}, "timeout": "2 seconds"})
    code.began(call)

    await host.later(2)

    assert [(m["t"], m["attempt"]) for m in code.heard] == [("exec", 1), ("cancel", 1), ("exec", 2)]


async def test_a_timeout_counts_from_when_the_callback_began(host: Host) -> None:
    code = await host.code(host.serve())
    call = code.do("a", {"timeout": 1000})

    await host.later(5)
    assert code.execs == [(call, 1)]
    code.began(call)
    await host.later(0.999)
    assert not any(message["t"] == "cancel" for message in code.heard)
    await host.later(0.001)

    assert any(message["t"] == "cancel" for message in code.heard)


async def test_an_endless_timeout_never_ends(host: Host) -> None:
    code = await host.code(host.serve())
    call = code.do("a", {"timeout": "Infinity"})
    code.began(call)

    await host.later(400 * 86_400)
    code.returns(call, 1)

    assert code.rets == {call: 1}


# ------------------------------------------------------------------------------------------------- one bad instance


async def test_a_broken_invariant_stops_that_instance_only_once_and_by_name(host: Host) -> None:
    isolate = host.serve()
    code, other = await host.code(isolate), await host.code(isolate, "b")
    code.do()
    broken, sound = host.instances._live[A], host.instances._live[Key("wf", "b")]

    broken.tell(cmd.RunStarted())  # of a second run: what must not be
    outcomes = await asyncio.gather(broken.ask(cmd.Pause()), sound.ask(cmd.Pause()), return_exceptions=True)
    await rest()

    assert isinstance(outcomes[0], AssertionError)
    told = host.err.getvalue()
    assert told.startswith("error: wf/a is stopped: a run starts when nothing of an earlier one is left\n")
    assert told.count("error:") == 1
    assert (code.released, other.released) == (True, True)
    assert await host.status("b") == "paused"
    assert await host.in_memory() == 0


async def test_what_goes_wrong_in_acting_stops_that_instance_only(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    isolate = host.serve()
    codes = [await host.code(isolate, id) for id in "abc"]
    monkeypatch.setattr(host.instances._live[A], "_perform", lambda effect: 1 / 0)

    host.instances.turns.hold()
    for code in codes:
        isolate._listener.on_message(isolate, code.call("do", "x", None))
    isolate._listener.on_turn(isolate)

    assert [code.execs for code in codes] == [[], [(1, 1)], [(1, 1)]]
    assert "wf/a is stopped: division by zero" in host.err.getvalue()


async def test_a_message_that_makes_no_sense_stops_its_instance_only(host: Host) -> None:
    isolate = host.serve()
    code, other = await host.code(isolate), await host.code(isolate, "b")

    isolate.says(code.message("call", call=1, kind="do", name="a", nth=1, arg="no text"), other.call("do", "a", None))

    assert (code.released, other.execs) == (True, [(1, 1)])
    assert "wf/a is stopped" in host.err.getvalue()


async def test_nobody_is_asked_for_a_run_that_is_not_there(host: Host) -> None:
    isolate = host.serve()

    isolate.says({"t": "parked", "run": 99, "calls": 0, "rets": 0}, {"t": "done", "run": 99, "value": "[1]"})

    assert isolate.sent == []


async def test_the_end_waits_for_what_is_being_committed(hosts: Hosts) -> None:
    host = hosts(MemoryStore(late=True))
    code = await host.code(host.serve())

    call = code.do()
    await rest()
    code.returns(call, 1)
    await host.stop()

    assert (await host.kinds())[-2:] == ["attempt_completed", "step_completed"]


async def test_who_asks_an_instance_that_has_just_gone_reaches_it_anew(host: Host) -> None:
    await host.create("a")
    instance = await host.instances.activate(A)
    asked = asyncio.ensure_future(host.instances.ask(A, cmd.Pause()))
    host.instances.broken(instance, StoreUnusable("a.db", "I/O error"))

    assert (await asked).refusal is None
    await host.instances.delete(A)
    with pytest.raises(NotFound):
        await host.instances.ask(A, cmd.Pause())


@pytest.mark.parametrize(
    ("fatal", "message"),
    [
        (
            {"name": "DataCloneError", "message": "The value cannot be serialised."},
            'The execution of the Workflow instance was terminated, as the step "a" returned a value which is not '
            "serialisable",
        ),
        ({"name": "WorkflowFatalError", "message": "a bad stream"}, "a bad stream"),
    ],
)
async def test_a_result_that_nothing_can_keep_ends_the_instance_whatever_its_code_would_do(
    host: Host, code: Callable[..., Awaitable[Code]], fatal: dict[str, str], message: str
) -> None:
    run = await code()
    call = run.do("a")
    run.isolate.says(run.message("ran", call=call, attempt=1, fatal=fatal))
    await rest()

    state = await host.instances.state(Key("wf", "a"))
    assert (state.status, state.error) == ("errored", Failure("WorkflowFatalError", message))
    assert run.released
