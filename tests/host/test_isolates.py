"""The isolates of a project: who serves, what happens when one dies or does not load, and how they are replaced."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from runtime.host.errors import InterpreterError
from runtime.host.front import FrontDoor
from runtime.host.isolates import Isolates, Loaded
from runtime.host.launcher import RunningIsolate
from runtime.host.problem import DoesNotLoad, Problem
from runtime.host.roles import Kind
from runtime.http.ingress import WorkerFailed
from runtime.isolates.streams import StreamStore
from runtime.isolates.transport import Isolate, Listener
from tests.host.fake_isolate import FakeIsolate
from wrangler_compat import Project

pytestmark = pytest.mark.asyncio

LOADED = {"t": "loaded", "workflows": ["Wf"], "entrypoints": [], "handlers": ["fetch"], "code": "digest"}
BROKEN = Problem("SyntaxError", "bad", "SyntaxError: bad", "src/index.ts", 3)
FAILED = {"t": "load_failed", "error": {"name": "Error", "message": "top"}, "traceback": "Error: top"}

Start = Callable[["Launched"], None]


def loads(isolate: Launched) -> None:
    """The code loads."""
    isolate.says(LOADED)


def fails(isolate: Launched) -> None:
    """The code throws while it is loaded."""
    isolate.says(FAILED)


class Launched(FakeIsolate):
    """A process that ends when it is told to."""

    def __init__(self, listener: Listener, kind: Kind) -> None:
        super().__init__(listener, kind)
        self.over = asyncio.Event()

    async def wait(self) -> int:
        await self.over.wait()
        return -9 if self.killed else 0

    def kill(self) -> None:
        super().kill()
        self.close()

    def close(self) -> None:
        if not self.lost:
            self.over.set()
            self.dies()


class Launching:
    """`Launcher` and listener of a test: what each start leads to is in ``starts``, and then the code loads."""

    exclusive = False

    def __init__(self, *kinds: Kind) -> None:
        self.kinds: Sequence[Kind] = kinds
        self.starts: list[Start | Exception] = []
        self.launched: list[Launched] = []
        self.trials: list[bool] = []  # of each start, whether it was on trial
        self.serving: list[Loaded] = []
        self.lost: list[tuple[Loaded, int]] = []
        self.problems: list[Problem] = []
        self.isolates = Isolates(
            self,
            cast(Listener, self),
            cast(StreamStore, None),
            on_serving=self.serving.append,
            on_lost=lambda loaded, status: self.lost.append((loaded, status)),
            on_problem=self.problems.append,
        )

    # `Launcher`

    def begin(self) -> None:
        """Nothing to do."""

    async def launch(
        self, kind: Kind, listener: Listener, streams: StreamStore, *, trial: bool = False
    ) -> RunningIsolate:
        self.trials.append(trial)
        start = self.starts.pop(0) if self.starts else loads
        if isinstance(start, Exception):
            raise start
        isolate = Launched(listener, kind)
        self.launched.append(isolate)
        start(isolate)
        return isolate

    def ended(self, pid: int) -> None:
        """Nothing is kept of it."""

    def inputs(self) -> frozenset[Path] | None:
        return None

    def engine(self) -> str:
        return "fake"

    def served(self, project: Project) -> Sequence[str]:
        return ()

    def advice(self) -> str | None:
        return None

    # `Listener`

    def on_message(self, isolate: Isolate, message: dict[str, Any]) -> None:
        self.isolates.answered(isolate, message)

    def on_turn(self, isolate: Isolate) -> None:
        """Nothing is collected."""

    def on_lost(self, isolate: Isolate) -> None:
        self.isolates.lost(isolate)

    # What a test sees

    @property
    def current(self) -> tuple[Isolate | None, Isolate | None]:
        """The isolates that take requests and run workflows."""
        front, work = (self.isolates.current[role] for role in ("front", "work"))
        return (front.isolate if front else None, work.isolate if work else None)


async def begun(*kinds: Kind) -> Launching:
    launching = Launching(*kinds)
    assert await launching.isolates.begin()
    await settled()
    return launching


async def settled() -> None:
    """Let everything that can happen happen."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_one_isolate_may_have_both_roles() -> None:
    launching = await begun("both")

    (isolate,) = launching.launched
    front, work = launching.current
    assert front is work is isolate
    assert [loaded.role for loaded in launching.serving] == ["both"]
    await launching.isolates.close()
    assert isolate.lost


async def test_two_isolates_may_have_a_role_each() -> None:
    launching = await begun("front", "work")

    assert launching.current == tuple(launching.launched)
    assert [isolate.role for isolate in launching.launched] == ["front", "work"]
    await launching.isolates.close()


async def test_an_isolate_that_dies_is_replaced_in_both_roles() -> None:
    launching = await begun("both")

    launching.launched[0].kill()
    assert not any(launching.current)
    await settled()

    first, second = launching.launched
    assert launching.current == (second, second)
    assert [(loaded.isolate, status) for loaded, status in launching.lost] == [(first, -9)]
    await launching.isolates.close()


@pytest.mark.parametrize("failure", [DoesNotLoad(BROKEN), fails])
async def test_code_that_does_not_load_is_told_and_shown_to_clients(failure: Start | Exception) -> None:
    launching = Launching("both")
    launching.starts = [failure]

    assert not await launching.isolates.begin()

    assert launching.problems == [launching.isolates.problem]
    with pytest.raises(WorkerFailed):
        await FrontDoor(launching.isolates).isolate()
    await launching.isolates.close()


async def test_mended_code_serves() -> None:
    launching = Launching("both")
    launching.starts = [DoesNotLoad(BROKEN)]
    await launching.isolates.begin()

    fresh = await launching.isolates.prepare()
    assert fresh is not None
    assert await launching.isolates.admit(fresh) == []

    assert launching.isolates.problem is None
    assert await FrontDoor(launching.isolates).isolate() is launching.launched[0]
    await launching.isolates.close()


async def test_code_that_does_not_load_any_more_leaves_those_that_serve_alone() -> None:
    launching = await begun("both")
    launching.starts = [DoesNotLoad(BROKEN)]

    assert await launching.isolates.prepare() is None

    assert launching.current == (launching.launched[0],) * 2
    assert launching.problems == [BROKEN]
    await launching.isolates.close()


async def test_a_prepared_isolate_serves_when_it_is_admitted_and_gives_what_it_replaces() -> None:
    launching = await begun("both")
    (old,) = launching.launched

    fresh = await launching.isolates.prepare()
    assert fresh is not None
    assert launching.current == (old, old)
    replaced = await launching.isolates.admit(fresh)

    assert [loaded.isolate for loaded in replaced] == [old]
    assert launching.current == (launching.launched[1],) * 2
    await launching.isolates.close()


async def test_requests_wait_while_those_that_serve_are_withdrawn() -> None:
    launching = await begun("both")
    fresh = await launching.isolates.prepare()
    assert fresh is not None

    (old,) = launching.isolates.withdraw()
    waiting = asyncio.create_task(FrontDoor(launching.isolates).isolate())
    old.isolate.kill()
    await settled()
    assert (waiting.done(), launching.lost, len(launching.launched)) == (False, [], 2)

    assert await launching.isolates.admit(fresh) == []
    assert await waiting is launching.launched[1]
    await launching.isolates.close()


async def test_what_cannot_be_started_for_a_reload_is_raised_and_nothing_is_left_of_the_others() -> None:
    launching = await begun("front", "work")
    launching.starts = [loads, InterpreterError("gone")]

    with pytest.raises(InterpreterError):
        await launching.isolates.prepare()
    await settled()

    assert launching.launched[2].lost
    assert launching.current == tuple(launching.launched[:2])
    await launching.isolates.close()


async def test_an_isolate_that_dies_before_it_has_loaded_is_a_problem() -> None:
    launching = Launching("both")
    launching.starts = [lambda isolate: isolate.kill()]

    assert not await launching.isolates.begin()

    assert [problem.message for problem in launching.problems] == [
        "The isolate ended while it imported the project's code."
    ]
    await launching.isolates.close()
