"""Whatever happens to instances of a Workflow with a limit, in whatever order: no slot is lost, none is given twice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random

import pytest

from runtime.engine import commands as cmd
from runtime.host.workflows import Workflow
from runtime.store import Key
from tests.host.conftest import Hosts
from tests.host.fake_isolate import Code, FakeIsolate
from tests.host.virtual_clock import rest
from tests.host.world import crash

pytestmark = pytest.mark.asyncio

LIMIT = 3
IDS = [f"i{number}" for number in range(12)]
MOVES = 60


class Play:
    """A host, and what a random player does to its instances."""

    def __init__(self, hosts: Hosts, random: Random) -> None:
        self.hosts = hosts
        self.random = random
        self.taken: set[str] = set()
        self.host = hosts()
        self.isolate = self.serve()

    def serve(self) -> FakeIsolate:
        self.host.declare(Workflow("wf", "Wf", concurrency=LIMIT))
        return self.host.serve()

    @property
    def running(self) -> list[Code]:
        """The runs that the isolate holds."""
        runs = [Code(self.isolate, start) for start in self.isolate.told("start")]
        return [code for code in runs if not code.released]

    async def move(self) -> None:
        moves: list[Callable[[], Awaitable[None]]] = [
            self.create, self.park, self.park, self.finish, self.finish, self.fail, self.ask, self.ask, self.ask,
            self.later, self.delete, self.lose, self.crash,
        ]  # fmt: skip
        await self.random.choice(moves)()
        await rest()

    async def create(self) -> None:
        id = self.random.choice(IDS)
        self.taken.add(id)
        await self.host.create(id)

    async def park(self) -> None:
        if self.running:
            code = self.random.choice(self.running)
            instance = self.host.runs.owner(code.run)
            if instance is None or instance.state.open:
                return
            name = f"n{instance.state.last_step}"
            code.isolate.says(code.message("call", call=1, kind="wait", name=name, nth=1, arg='[{"type":1},"go"]'))
            code.isolate.says(code.message("parked", calls=1, rets=0))

    async def finish(self) -> None:
        if self.running:
            self.random.choice(self.running).done()

    async def fail(self) -> None:
        if self.running:
            self.random.choice(self.running).fails()

    async def ask(self) -> None:
        commands: list[cmd.Command] = [
            cmd.SendEvent("go", "[1]"),
            cmd.Pause(),
            cmd.Resume(),
            cmd.Terminate(),
            cmd.Restart(),
        ]
        if self.taken:
            id = self.random.choice(sorted(self.taken))
            await self.host.instances.ask(Key("wf", id), self.random.choice(commands))

    async def later(self) -> None:
        await self.host.later(self.random.choice([1, 60, 90_000]))

    async def delete(self) -> None:
        if self.taken:
            id = self.random.choice(sorted(self.taken))
            self.taken.discard(id)
            await self.host.instances.delete(Key("wf", id))

    async def lose(self) -> None:
        self.isolate.dies()
        await rest()
        self.isolate = self.serve()

    async def crash(self) -> None:
        self.host = self.hosts(await crash(self.host))
        self.isolate = self.serve()
        await self.host.recover()

    def check(self) -> None:
        """At rest, who holds a slot has a run or is on its way to one, and nobody waits while there is room."""
        runs = self.host.runs
        line = runs._slots._lines["wf"]
        owners = {instance.key for instance in runs._owners.values()}
        assert line.holders == owners | set(runs._pending) | runs._coming | set(runs._queue)
        assert len(line.holders) <= LIMIT
        assert len(line.holders) == LIMIT or not (line.begun or line.new)

    async def end(self) -> None:
        """Everybody who may go on does so, and ends."""
        for _ in range(len(IDS) + 1):
            for code in self.running:
                code.done()
            await rest()
        left = [await self.host.status(id) for id in sorted(self.taken)]
        assert not {"queued", "running"} & set(left), left


@pytest.mark.parametrize("seed", range(40))
async def test_no_slot_is_lost_and_none_is_given_twice(hosts: Hosts, seed: int) -> None:
    play = Play(hosts, Random(seed))
    play.host.wakeups.start()

    for _ in range(MOVES):
        await play.move()
        play.check()

    await play.end()
    play.check()
