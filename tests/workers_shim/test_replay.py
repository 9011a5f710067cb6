"""Replays: results in their recorded order, one at a time, and what does not fit is told."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.workers_shim.scripted_host import ScriptedHost, recorded, text, turns, value
from workers_shim import values

pytestmark = pytest.mark.asyncio


class Base:
    def __init__(self, ctx: Any, env: Any) -> None:
        pass


async def test_settled_calls_need_no_round_trip() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            return [await step.do(f"s{n}")(lambda: 0)() for n in range(5)]

    host = ScriptedHost()
    host.start(Flow, [entry for n in range(5) for entry in recorded("do", f"s{n}", result=n)])
    assert value(await host.next("done")) == [0, 1, 2, 3, 4]
    assert [m["t"] for m in host.heard] == ["done"]


async def test_recorded_error_is_raised_again() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            try:
                await step.do("s")(lambda: 0)()
            except Exception as error:
                return str(error)

    host = ScriptedHost()
    error = {"name": "Error", "message": "WorkflowTimeoutError: Execution timed out after 5ms"}
    host.start(Flow, [["c", "do", "s", 1, 0], ["e", "do", "s", 1, error]])
    assert value(await host.next("done")) == "Error: WorkflowTimeoutError: Execution timed out after 5ms"


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
async def test_race_takes_the_branch_that_the_journal_has(order: tuple[str, str]) -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            tasks = [asyncio.create_task(step.do(name)(lambda: 0)(), name=name) for name in ("a", "b")]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return [task.get_name() for task in done]

    host = ScriptedHost()
    journal = [["c", "do", "a", 1, 0], ["c", "do", "b", 1, 0]]
    host.start(Flow, journal + [["v", "do", name, 1, text(name)] for name in order])
    assert value(await host.next("done")) == [order[0]]


async def test_results_that_arrive_together_are_handed_over_one_at_a_time() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            log: list[str] = []

            async def chain(name: str) -> None:
                await step.do(name)(lambda: 0)()
                log.append(name)
                for _ in range(5):
                    await asyncio.sleep(0)
                log.append(name + " at rest")

            await asyncio.gather(chain("a"), chain("b"))
            return log

    host = ScriptedHost()
    host.start(Flow)
    calls = [await host.next("call"), await host.next("call")]
    for call in reversed(calls):
        host.ret(call)
    assert value(await host.next("done")) == ["b", "b at rest", "a", "a at rest"]


async def test_result_waits_for_a_call_that_was_made_before_it() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            log: list[str] = []

            async def slow() -> None:
                await asyncio.sleep(0.1)
                log.append("slow calls")
                await step.do("slow")(lambda: 0)()

            async def quick() -> None:
                await step.do("quick")(lambda: 0)()
                log.append("quick has")

            await asyncio.gather(quick(), slow())
            return log

    host = ScriptedHost()
    host.start(Flow, [["c", "do", "quick", 1, 0], *recorded("do", "slow"), ["v", "do", "quick", 1, text(0)]])
    assert value(await host.next("done")) == ["slow calls", "quick has"]
    assert not host.told("mismatch")


async def test_call_that_code_no_longer_makes_is_told_and_passed_over() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            return await step.do("new")(lambda: "new")()

    host = ScriptedHost()
    host.start(Flow, recorded("do", "old"))
    assert value(await host.serve()) == "new"
    (told,) = host.told("mismatch")
    assert (told["recorded"], told["called"]) == ('step.do("old") number 1', 'step.do("new") number 1')
    assert told["file"] == __file__
    assert told["line"] > 0


async def test_the_callback_of_a_call_that_does_not_fit_runs_only_when_the_host_has_heard_of_it() -> None:
    ran: list[int] = []

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            return await step.do("new")(lambda: ran.append(1))()

    host = ScriptedHost()
    host.start(Flow, recorded("do", "old"))
    call = await host.next("call")
    host.exec(call)
    await turns()
    assert ran == []
    assert [m["t"] for m in host.heard] == ["call", "mismatch", "call"]

    again = await host.next("call")
    assert (again["call"], again["name"], again["nth"]) == (call["call"], "new", 1)
    host.exec(again)
    await turns()
    assert ran == [1]


async def test_a_host_that_lets_the_run_go_at_a_mismatch_keeps_the_callback_from_running() -> None:
    ran: list[int] = []

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            return await step.do("new")(lambda: ran.append(1))()

    host = ScriptedHost()
    run = host.start(Flow, recorded("do", "old"))
    host.exec(await host.next("call"))
    host.release(run)
    await host.next("released")
    assert ran == []


async def test_calls_made_in_another_order_are_told_and_get_their_own_results() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            return [await step.do(name)(lambda: 0)() for name in ("b", "a")]

    host = ScriptedHost()
    host.start(Flow, recorded("do", "a", result="A") + recorded("do", "b", result="B"))
    assert value(await host.next("done")) == ["B", "A"]
    assert [(m["recorded"], m["called"]) for m in host.told("mismatch")] == [
        ('step.do("a") number 1', 'step.do("b") number 1')
    ]


async def test_run_that_ends_before_the_journal_does_is_told() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            return "short"

    host = ScriptedHost()
    host.start(Flow, recorded("sleep", "nap"))
    await host.next("done")
    assert [(m["recorded"], m["called"]) for m in host.told("mismatch")] == [
        ('step.sleep("nap") number 1', "run() ended")
    ]


async def test_refused_call_is_no_mismatch() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            try:
                await step.do("bad\n")(lambda: 0)()
            except Exception as error:
                assert str(error) == "Error: no"
            return await step.do("good")(lambda: 0)()

    host = ScriptedHost()
    host.start(Flow, recorded("do", "good", result="kept"))
    host.ret(await host.next("call"), error={"name": "Error", "message": "no"}, refused=True)
    assert value(await host.next("done")) == "kept"
    assert not host.told("mismatch")


async def test_large_value_is_asked_for_and_keeps_its_place() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            log: list[str] = []

            async def chain(name: str) -> None:
                log.append(await step.do(name)(lambda: 0)())

            await asyncio.gather(chain("small"), chain("large"))
            return log

    host = ScriptedHost()
    calls = [["c", "do", "small", 1, 0], ["c", "do", "large", 1, 0]]
    host.start(Flow, [*calls, ["l", "do", "large", 1], ["v", "do", "small", 1, text("small")]])
    call = await host.next("call")
    await turns()
    assert not host.told("done")
    host.rest(1)
    await turns()
    assert host.told("parked")[0]["rets"] == 0
    host.ret(call, "large")
    assert value(await host.next("done")) == ["large", "small"]
    assert len(host.told("call")) == 1


async def test_top_level_calls_skip_numbers_of_calls_made_in_callbacks() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            async def outer() -> Any:
                return await step.do("x")(lambda: "again")()

            async def top() -> Any:
                return await step.do("x")(lambda: "top")()

            return [await top(), await step.do("outer")(outer)(), await top()]

    host = ScriptedHost()
    journal = [*recorded("do", "x", 1, "kept"), ["c", "do", "outer", 1, 0], ["c", "do", "x", 2, 1]]
    host.start(Flow, journal)  # the host died in the first attempt of outer
    assert value(await host.serve()) == ["kept", "again", "top"]
    assert [(m["name"], m["nth"]) for m in host.told("call")] == [("outer", 1), ("x", 3), ("x", 4)]


async def test_output_outside_steps_is_muted_until_the_replay_has_caught_up() -> None:
    seen: list[bool] = []

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            seen.append(host.runs.muted(1))
            await step.do("a")(lambda: 0)()
            seen.append(host.runs.muted(1))
            task = asyncio.create_task(step.do("b")(lambda: 0)())
            await asyncio.sleep(0)
            seen.append(host.runs.muted(1))
            await task

    host = ScriptedHost()
    host.start(Flow, [*recorded("do", "a"), ["c", "do", "b", 1, 0]])
    await host.serve()
    assert seen == [True, True, False]


async def test_code_that_only_yields_still_gets_its_results() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            tasks = [asyncio.create_task(step.do(name)(lambda: 0)()) for name in ("a", "b")]
            while not all(task.done() for task in tasks):
                await asyncio.sleep(0)
            return [task.result() for task in tasks]

    host = ScriptedHost()
    calls = [["c", "do", "a", 1, 0], ["c", "do", "b", 1, 0]]
    host.start(Flow, [*calls, ["v", "do", "b", 1, text("B")], ["v", "do", "a", 1, text("A")]])
    assert value(await host.next("done")) == ["A", "B"]


async def test_number_of_a_refused_call_in_a_callback_is_given_back() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            async def outer() -> str:
                try:
                    await step.do("x")(lambda: 0)()
                except Exception as error:
                    return str(error)
                return "accepted"

            return [await step.do("outer")(outer)(), await step.do("x")(lambda: "top")()]

    host = ScriptedHost()
    host.start(Flow)
    call = await host.next("call")
    host.exec(call)
    host.ret(await host.next("call"), error={"name": "Error", "message": "no"}, refused=True)
    host.ret(call, value(await host.next("ran")))
    assert value(await host.serve()) == ["Error: no", "top"]
    assert [(m["name"], m["nth"]) for m in host.told("call")] == [("outer", 1), ("x", 1), ("x", 1)]


async def test_mismatch_names_the_function_when_its_task_has_no_caller() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            await asyncio.gather(step.do("b")(lambda: 0)(), step.do("a")(lambda: 0)())

    host = ScriptedHost()
    host.start(Flow, recorded("do", "a") + recorded("do", "b"))
    await host.next("done")
    (told,) = host.told("mismatch")
    assert told["file"] == __file__


async def test_large_value_counts_as_an_answer() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            await step.do("large")(lambda: 0)()
            await step.sleep("nap", "1 hour")

    host = ScriptedHost()
    number = host.start(Flow, [["c", "do", "large", 1, 0], ["l", "do", "large", 1]])
    host.ret(await host.next("call"), "large")
    await host.next("call")
    host.rest(number)
    told = await host.next("parked")
    assert (told["calls"], told["rets"]) == (2, 1)
    host.release(number)
    await host.next("released")


async def test_call_in_a_callback_is_not_held_against_the_journal() -> None:
    inner_called = asyncio.Event()

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            async def outer() -> None:
                await step.do("inner")(lambda: 0)()
                inner_called.set()

            async def late() -> None:
                await inner_called.wait()
                await step.do("late")(lambda: 0)()

            await asyncio.gather(step.do("outer")(outer)(), late())

    host = ScriptedHost()
    host.start(Flow, [["c", "do", "outer", 1, 0], ["c", "do", "late", 1, 0]])
    await host.serve()
    assert not host.told("mismatch")


async def test_a_name_with_a_lone_surrogate_is_known_again_as_the_journal_has_it() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            given = [await step.do("step \udcff")(lambda ctx: ctx.step.name)()]
            given.append(await step.do("\ud83d\ude00")(lambda: 0)())
            await step.sleep("nap \ud800", 1)
            await step.wait_for_event("wait \ud800", "type \ud800")
            return given

    host = ScriptedHost()
    host.start(Flow)
    assert value(await host.serve()) == ["step \ufffd", 0]
    calls = host.told("call")
    assert [call["name"] for call in calls] == ["step \ufffd", "\U0001f600", "nap \ufffd", "wait \ufffd"]
    assert values.decode(calls[-1]["arg"])["type"] == "type \ufffd"

    again = ScriptedHost()
    again.start(Flow, [entry for call in calls for entry in recorded(call["kind"], call["name"], result="kept")])
    assert value(await again.next("done")) == ["kept", "kept"]
    assert [message["t"] for message in again.heard] == ["done"]


async def test_recorded_results_are_handed_over_one_at_a_time() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            log: list[str] = []

            async def chain(name: str) -> None:
                await step.do(name)(lambda: 0)()
                for _ in range(5):
                    await asyncio.sleep(0)
                    log.append(name)

            await asyncio.gather(chain("a"), chain("b"))
            return "".join(log)

    host = ScriptedHost()
    calls = [["c", "do", "a", 1, 0], ["c", "do", "b", 1, 0]]
    host.start(Flow, [*calls, ["v", "do", "b", 1, text(0)], ["v", "do", "a", 1, text(0)]])
    assert value(await host.next("done")) == "bbbbbaaaaa"


async def test_new_call_in_front_of_the_recorded_ones_is_told() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            new, old = step.do("new")(lambda: 0)(), step.do("old")(lambda: 0)()
            await asyncio.gather(new, old)

    host = ScriptedHost()
    host.start(Flow, recorded("do", "old"))
    await host.serve()
    assert [(m["recorded"], m["called"]) for m in host.told("mismatch")] == [
        ('step.do("old") number 1', 'step.do("new") number 1')
    ]


async def test_recorded_call_that_the_code_does_not_make_is_told_when_it_comes_to_rest() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            await step.do("first")(lambda: 0)()
            await step.do("last")(lambda: 0)()

    host = ScriptedHost()
    calls = [["c", "do", name, 1, 0] for name in ("first", "gone")]
    host.start(Flow, [*calls, ["v", "do", "first", 1, text(0)]])
    await host.next("call")
    assert [(m["recorded"], m["called"]) for m in host.told("mismatch")] == [
        ('step.do("gone") number 1', 'step.do("first") number 1')
    ]
    host.release(1)
    await host.next("released")


async def test_calls_made_together_in_another_order_are_told() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            return await asyncio.gather(*(step.do(name)(lambda: 0)() for name in ("b", "a")))

    host = ScriptedHost()
    host.start(Flow, recorded("do", "a", result="A") + recorded("do", "b", result="B"))
    assert value(await host.next("done")) == ["B", "A"]
    assert [(m["recorded"], m["called"]) for m in host.told("mismatch")] == [
        ('step.do("a") number 1', 'step.do("b") number 1')
    ]
