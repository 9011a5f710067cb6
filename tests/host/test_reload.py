"""How a reload takes runs and requests from the old code to the new one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio

from runtime.host import isolates
from runtime.host import reload as module
from runtime.host.isolates import Isolates
from runtime.host.problem import DoesNotLoad, Problem
from runtime.host.reload import Reloader
from runtime.host.sources import Sources
from runtime.isolates.transport import Isolate
from tests.host.fake_isolate import Code
from tests.host.test_isolates import Launched, Launching, fails, loads
from tests.host.virtual_clock import rest
from tests.host.world import Host

pytestmark = pytest.mark.asyncio

FILE = Path("/project/src/index.ts")


class Reloading:
    """A host whose one isolate is replaced when a file changes."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.launching = Launching("both")
        self.requests: dict[Isolate, int] = {}
        self.isolates = Isolates(
            self.launching,
            host.dispatch,
            host.streams,
            on_serving=lambda loaded: host.runs.serve(loaded.isolate, host.workflows, loaded.workflows),
            on_lost=lambda loaded, status: None,
            on_problem=lambda problem: None,
        )
        host.dispatch.isolates = self.isolates
        self.reloader = Reloader(
            cast(Sources, _Root()),
            self.isolates,
            host.runs,
            host.terminal,
            requests=lambda isolate: self.requests.get(isolate, 0),
            reloaded=lambda: None,
        )

    @property
    def old(self) -> Launched:
        return self.launching.launched[0]

    @property
    def new(self) -> Launched:
        return self.launching.launched[-1]

    @property
    def serving(self) -> Isolate | None:
        front = self.isolates.current["front"]
        return None if front is None else front.isolate

    def edit(self) -> asyncio.Task[None]:
        """A file changes."""
        return asyncio.create_task(self.reloader.reload([FILE]))

    async def code(self, id: str = "a") -> Code:
        """An instance's run on the old isolate."""
        return await self.host.code(self.old, id)


class _Root:
    root = Path("/project")


@pytest_asyncio.fixture
async def reloading(host: Host, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(module, "LOOK", 0.001)
    found = Reloading(host)
    assert await found.isolates.begin()
    yield found
    await found.isolates.close()


async def test_new_code_serves_at_once_and_idle_runs_go_on_there(reloading: Reloading, host: Host) -> None:
    code = await reloading.code()
    code.sleep("1 day")

    await reloading.edit()
    assert reloading.serving is reloading.new
    await rest()
    reloading.old.says({"t": "released", "run": code.run})
    await asyncio.sleep(0.01)

    assert code.released
    assert reloading.new.codes("a")
    assert "Reloaded" in host.out.getvalue()


async def test_the_old_isolate_may_finish_its_responses(reloading: Reloading) -> None:
    await reloading.edit()
    await asyncio.sleep(0.01)
    assert reloading.old.told("drain") and not reloading.old.lost

    reloading.old.says({"t": "drained"})
    await asyncio.sleep(0.01)

    assert reloading.old.lost


async def test_attempts_that_take_too_long_are_cut_off_and_the_responses_are_not(
    reloading: Reloading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FINISH", 0.01)
    code = await reloading.code()
    code.do()

    await reloading.edit()
    await asyncio.sleep(0.05)

    assert code.released and not reloading.old.killed
    assert not reloading.new.codes("a"), "something of the run may be left in the old isolate"
    reloading.old.says({"t": "released", "run": code.run})
    await rest()
    assert reloading.new.codes("a")


async def test_where_two_must_not_serve_the_old_one_is_dead_before_the_new_one_is_admitted(
    reloading: Reloading, host: Host
) -> None:
    reloading.launching.exclusive = True
    code = await reloading.code()
    call = code.do()
    reloading.requests[reloading.old] = 1

    task = reloading.edit()
    await asyncio.sleep(0.05)
    assert reloading.launching.trials == [False, True]
    assert reloading.serving is reloading.old, "an attempt is running, and requests are answered meanwhile"
    code.returns(call, "kept")
    await asyncio.sleep(0.1)
    held: object = reloading.serving
    assert held is None and not reloading.old.lost, "a request is being answered"
    reloading.requests.clear()
    await asyncio.sleep(0.1)
    assert not reloading.old.lost, "a cron handler may be running, or what was left to waitUntil"
    reloading.old.says({"t": "drained"})
    await task

    assert reloading.old.killed
    assert reloading.launching.trials == [False, True, False]
    assert reloading.launching.launched[1].lost, "what was on trial does not serve"
    assert reloading.serving is reloading.new
    await rest()
    (replay,) = reloading.new.codes("a")
    assert ["v", "do", "a", 1] in [entry[:4] for entry in replay.start["journal"]]


async def test_there_what_does_not_come_to_its_end_is_cut_off(
    reloading: Reloading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FINISH", 0.1)
    monkeypatch.setattr(module, "VACATE", 0.01)
    reloading.launching.exclusive = True
    code = await reloading.code()
    code.do()

    await reloading.edit()
    await rest()

    assert reloading.old.killed
    assert reloading.new.codes("a")


async def test_there_too_code_that_does_not_load_changes_nothing(reloading: Reloading, host: Host) -> None:
    reloading.launching.exclusive = True
    code = await reloading.code()
    reloading.launching.starts = [DoesNotLoad(Problem("BuildFailed", "bad", "bad"))]

    await reloading.edit()

    assert reloading.serving is reloading.old
    assert not code.released and not reloading.old.killed


async def test_should_it_not_load_after_all_it_is_tried_again(
    reloading: Reloading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolates, "LAST_BACKOFF", 0.01)
    reloading.launching.exclusive = True
    reloading.launching.starts = [loads, fails]

    await reloading.edit()
    assert reloading.serving is None
    await asyncio.sleep(0.05)

    assert reloading.serving is reloading.new
