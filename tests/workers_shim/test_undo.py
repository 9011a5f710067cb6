"""Undo functions in their run: kept after its end, found again by a replay, and told as missing when they are not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.workers_shim.scripted_host import ScriptedHost, recorded, text, turns
from workers_shim import undo

pytestmark = pytest.mark.asyncio

HEAD = {"name": "a", "nth": 1, "attempt": 1}
MISSING = {"t": "undone", "run": 1, **HEAD, "missing": True}
PHASE = "WorkflowFatalError: Cannot execute steps during rollback phase"


class Base:
    def __init__(self, ctx: Any, env: Any) -> None:
        pass


async def undone(host: ScriptedHost) -> list[Any]:
    """What was said of undo functions, up to the end of one."""
    await host.next("undone")
    return [message for message in host.heard if message["t"] in ("undoing", "undone")]


async def test_after_the_run_has_failed_its_undo_functions_run_without_a_replay() -> None:
    seen: list[Any] = []

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            async def undo_a(given: Any) -> None:
                seen.append((given.ctx.step.name, str(given.error), given.output, given.stepName))

            await step.do("a", rollback=undo_a)(lambda: [1])()
            raise RuntimeError("no stock")

    host = ScriptedHost()
    run = host.start(Flow)
    await host.serve()
    host.undo(run, "a", output=[1])
    assert await undone(host) == [{"t": "undoing", "run": 1, **HEAD}, {"t": "undone", "run": 1, **HEAD}]
    assert seen == [("a", "Error: boom", [1], "a-1")]


@pytest.mark.parametrize("implicit", [True, False])
@pytest.mark.parametrize(("config", "sent"), [({}, {}), ({"rollback_config": {"timeout": 5}}, {"timeout": 5})])
async def test_a_call_tells_that_it_can_be_undone(implicit: bool, config: Any, sent: Any) -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            await step.do("a", rollback=lambda: None, **config)(lambda: 1)()

    host = ScriptedHost(implicit=implicit)
    host.start(Flow)
    call = await host.next("call")
    assert call["rollback"] is True
    assert call.get("rollback_config") == (text(sent) if config else None)


async def test_a_call_without_one_tells_nothing_of_it() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            await step.do("a")(lambda: 1)()

    host = ScriptedHost()
    host.start(Flow)
    assert (await host.next("call")).keys().isdisjoint({"rollback", "rollback_config"})
    assert host.surroundings.warnings == []


async def test_what_an_undo_function_raises_is_told() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            def fail(error: Exception) -> None:
                raise error

            await step.do("a", rollback=fail)(lambda: 1)()

    host = ScriptedHost()
    run = host.start(Flow)
    await host.serve()
    host.undo(run, "a", error={"name": "NonRetryableError", "message": "nn"})
    assert (await host.next("undone"))["error"] == {"name": "NonRetryableError", "message": "nn"}


async def test_system_exit_in_an_undo_function_fails_it_and_not_the_isolate() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            def leave() -> None:
                raise SystemExit(3)

            await step.do("a", rollback=leave)(lambda: 1)()

    host = ScriptedHost()
    run = host.start(Flow)
    await host.serve()
    host.undo(run, "a")
    assert (await host.next("undone"))["error"]["message"].endswith("SystemExit: 3")


async def test_c233_a_step_called_in_an_undo_function_fails_there_and_is_not_sent() -> None:
    texts: list[str] = []

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            async def undo_a() -> None:
                calls = [step.do("in")(lambda: 1), lambda: step.sleep("s", 1), lambda: step.wait_for_event("w", "go")]
                for call in calls:
                    try:
                        await call()
                    except Exception as error:
                        texts.append(str(error))

            await step.do("a", rollback=undo_a)(lambda: 1)()

    host = ScriptedHost()
    run = host.start(Flow)
    await host.serve()
    host.undo(run, "a")
    await host.next("undone")
    assert texts == [f"Error: {PHASE}"] * 3
    assert len(host.told("call")) == 1


async def test_each_attempt_gets_objects_of_its_own() -> None:
    seen: list[Any] = []

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            def undo_a(ctx: Any, output: Any) -> None:
                seen.append((ctx.step.count, list(output)))
                ctx.step.count = 7
                output.append("spoilt")

            await step.do("a", rollback=undo_a)(lambda: 0)()

    host = ScriptedHost()
    run = host.start(Flow)
    await host.serve()
    for attempt in (1, 2):
        host.undo(run, "a", attempt=attempt, output=[])
        await host.next("undone")
    assert seen == [(1, []), (1, [])]


async def test_a_nested_step_is_undone_while_its_run_lives() -> None:
    seen: list[str] = []

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            async def outer() -> None:
                await step.do("inner", rollback=lambda: seen.append("inner"))(lambda: 1)()

            await step.do("outer")(outer)()

    host = ScriptedHost()
    run = host.start(Flow)
    await host.serve()
    host.undo(run, "inner")
    await host.next("undone")
    assert seen == ["inner"]


# --------------------------------------------------------------------------------------------------- cancel and release


async def test_i3_a_given_up_undo_function_is_cancelled_and_not_heard() -> None:
    seen: list[str] = []

    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            async def undo_a() -> None:
                try:
                    await asyncio.sleep(3600)
                finally:
                    seen.append("cancelled")

            await step.do("a", rollback=undo_a)(lambda: 1)()

    host = ScriptedHost()
    run = host.start(Flow)
    await host.serve()
    host.undo(run, "a")
    await host.next("undoing")
    host.cancel_undo(run, "a", attempt=2)
    await turns()
    assert seen == [], "another attempt is meant"
    host.cancel_undo(run, "a")
    await turns()
    assert seen == ["cancelled"] and host.told("undone") == []


async def test_release_ends_an_undo_function() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            await step.do("a", rollback=lambda: asyncio.sleep(3600))(lambda: 1)()

    host = ScriptedHost()
    run = host.start(Flow)
    await host.serve()
    host.undo(run, "a")
    await host.next("undoing")
    host.release(run)
    await host.next("released")
    assert host.told("undone") == []


async def test_release_ends_the_wait_for_a_step() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            await asyncio.sleep(3600)

    host = ScriptedHost()
    run = host.start(Flow, recorded("do", "a"), undo=True)
    host.undo(run, "a")
    found = host.runs.get(run)
    assert found is not None and found.undos._timer is not None
    host.release(run)
    await host.next("released")
    assert found.undos._timer is None and host.told("undone") == []


# ------------------------------------------------------------------------------------------------------------ replay


class Replayed(Base):
    """Two steps, an end."""

    undone: list[Any]

    async def run(self, event: Any, step: Any) -> Any:
        type(self).undone = seen = []
        print("outside")
        await step.do("a", rollback=lambda output: seen.append(("a", output)))(lambda: 0)()
        await step.do("b", rollback=lambda output: seen.append(("b", output)))(lambda: 0)()
        await step.do("beyond")(lambda: 0)()
        raise AssertionError("what is beyond the journal is never answered")


async def test_i4_a_replay_finds_the_undo_functions_again_and_asks_nothing_of_the_host() -> None:
    host = ScriptedHost()
    journal = [*recorded("do", "a", result="A"), ["c", "do", "b", 1, 0]]
    run = host.start(Replayed, journal, undo=True)
    host.undo(run, "b")
    await host.next("undone")
    host.undo(run, "a", output="A")
    await host.next("undone")
    assert Replayed.undone == [("b", None), ("a", "A")]
    assert {message["t"] for message in host.heard} == {"undoing", "undone"}


async def test_an_undo_function_finds_what_the_code_keeps_of_the_recorded_results() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            kept: dict[str, Any] = {}
            kept["a"] = await step.do("a", rollback=lambda: seen.append({**kept}))(lambda: 0)()
            (kept["b"],) = await asyncio.gather(step.do("b", rollback=lambda: seen.append({**kept}))(lambda: 0)())
            await step.do("beyond")(lambda: 0)()

    seen: list[Any] = []
    host = ScriptedHost()
    run = host.start(Flow, recorded("do", "a", result="A") + recorded("do", "b", result="B"), undo=True)
    host.undo(run, "b")
    await host.next("undone")
    host.undo(run, "a")
    await host.next("undone")
    assert seen == [{"a": "A", "b": "B"}] * 2


async def test_i4_a_result_that_was_too_large_to_travel_is_asked_for() -> None:
    host = ScriptedHost()
    run = host.start(Replayed, [["c", "do", "a", 1, 0], ["l", "do", "a", 1], *recorded("do", "b")], undo=True)
    host.undo(run, "b")
    call = await host.next("call")
    assert call["name"] == "a"
    await turns()
    found = host.runs.get(run)
    assert found is not None and not found.undos._at_rest(), "a result is on its way"
    host.ret(call, "long")
    await host.next("undone")
    assert Replayed.undone == [("b", None)] and len(host.told("call")) == 1


async def test_all_that_a_replay_for_undo_prints_is_muted() -> None:
    host = ScriptedHost()
    run = host.start(Replayed, recorded("do", "a") + recorded("do", "b"), undo=True)
    host.undo(run, "b")
    await host.next("undone")
    found = host.runs.get(run)
    assert found is not None and not found.replay.muted
    assert host.runs.muted(run)


async def test_c234_a_step_that_the_code_comes_to_rest_without_is_missing() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            await step.sleep("nap", "1 hour")

    host = ScriptedHost()
    run = host.start(Flow, [*recorded("do", "a"), ["c", "sleep", "nap", 1, 0]], undo=True)
    host.undo(run, "a")
    assert await undone(host) == [MISSING]


async def test_c234_a_step_that_a_run_ends_without_is_missing() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            self.own = asyncio.create_task(asyncio.sleep(3600))
            raise RuntimeError("no stock")

    host = ScriptedHost()
    run = host.start(Flow, recorded("do", "a"), undo=True)
    host.undo(run, "a")
    await host.next("done")
    assert host.told("undone") == [MISSING], "whatever else it has left behind"
    host.release(run)
    await host.next("released")


async def test_c234_a_step_without_its_undo_function_is_missing() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            await step.do("a")(lambda: 0)()

    host = ScriptedHost()
    run = host.start(Flow, recorded("do", "a"), undo=True)
    host.undo(run, "a")
    assert await undone(host) == [MISSING]


async def test_code_that_awaits_something_of_its_own_is_waited_for() -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            await asyncio.sleep(4 * undo.FIRST_LOOK)
            await step.do("a", rollback=lambda: None)(lambda: 0)()

    host = ScriptedHost()
    run = host.start(Flow, recorded("do", "a"), undo=True)
    host.undo(run, "a")
    assert await undone(host) == [{"t": "undoing", "run": 1, **HEAD}, {"t": "undone", "run": 1, **HEAD}]


async def test_a_long_replay_is_waited_for_as_long_as_it_comes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            for number in range(8):
                await step.do(str(number), rollback=lambda: None)(lambda: 0)()
                await asyncio.sleep(undo.FIRST_LOOK)

    monkeypatch.setattr(undo, "LIMIT", 3 * undo.FIRST_LOOK)
    host = ScriptedHost()
    run = host.start(Flow, [entry for number in range(8) for entry in recorded("do", str(number))], undo=True)
    host.undo(run, "7")
    assert "missing" not in await host.next("undone")


async def test_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    class Flow(Base):
        async def run(self, event: Any, step: Any) -> Any:
            await asyncio.sleep(3600)

    monkeypatch.setattr(undo, "LIMIT", 3 * undo.FIRST_LOOK)
    host = ScriptedHost()
    run = host.start(Flow, recorded("do", "a"), undo=True)
    host.undo(run, "a")
    assert await undone(host) == [MISSING]
    host.release(run)
    await host.next("released")
