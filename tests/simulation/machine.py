"""Everything that can be done to a host, its isolates and its clock, each checked against the model.

An operation is a name and two numbers, which choose among what is there when it comes to it: so every list of
operations means something, and a failing one can be shortened by leaving operations out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from random import Random
from typing import NamedTuple

from runtime.store import Key
from tests.host.virtual_clock import rest
from tests.host.world import GRACE_MS
from tests.simulation.isolate import ScriptedIsolate
from tests.simulation.model import Life, same_lines
from tests.simulation.programs import Program, any_program
from tests.simulation.story import FINAL, Story
from tests.simulation.world import Answer, Killed, Setting, World

IDS = ("i0", "i1", "i2", "i3", "i4")
MUCH = 10**9
DAY = 86_400_000
NEVER = 2**53
NOT_FOUND = "instance.not_found"
STEPS = (1, 50, 300, 1_000, 3_000, 6_000, 25_000, 650_000, 3_700_000)  # ms that the clock moves on
JUMPS = (0, 0, 0, -90_000, 3_600_000)  # ms by which the wall clock is found to be off after a crash


# What becomes of an instance that stood in line on disk, when somebody's request lets it see that what it waited for
# was lost with the host.
_LOST = {"waitingForPause": ("paused",), "rollingBack": ("errored", "terminated")}


class Operation(NamedTuple):
    """One thing that is done."""

    name: str
    a: int = 0
    b: int = 0


class Machine:
    """A simulated world, and what is known of it from the answers that its callers got."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.done: Counter[str] = Counter()
        self.exists: dict[str, bool | None] = dict.fromkeys(IDS, False)  # None: its caller was not told
        self._events = 0
        self._slow = False  # the isolates read and speak only when an operation lets them

    async def begin(self) -> None:
        """The first host starts, over an empty store."""
        self.world = World(self.setting)
        await self.world.begin()

    async def do(self, operation: Operation) -> bool:
        """Do it, survive what it brings about, and check; False when there was nothing to be done."""
        world = self.world
        try:
            acted = await _DO[operation.name](self, operation.a, operation.b)
            if acted and not world.dead:
                await world.clock.advance(0)  # a timer whose time has passed rings at once
                if not self._slow:
                    await self.pump()
        except Killed:
            acted = True
        if world.dead:
            await world.crash()
        if acted:
            self.done[operation.name] += 1
            self.check()
        return acted

    # ------------------------------------------------------------------------------------------------- requests

    def life(self, id: str) -> Life | None:
        """What is known of an instance that exists."""
        key = Key("wf", id)
        return self.world.model.life(key) if self.exists[id] and key in self.world.model.committed else None

    def _found(self, id: str, answer: Answer) -> bool:
        """Whether the instance was there, which must be what its callers were told before."""
        if not answer.told:
            return False
        missing = answer.refusal is not None and NOT_FOUND in answer.refusal
        assert self.exists[id] is None or self.exists[id] is not missing, f"I8: {id}: {answer}"
        return not missing

    async def create(self, a: int, b: int) -> bool:
        return await self.create_program(IDS[a % len(IDS)], f"[{b}]", any_program(b, undo=True))

    async def create_program(self, id: str, params: str, program: Program) -> bool:
        """Somebody creates an instance."""
        self.world.programs[params] = program
        before = self.exists[id]
        self.exists[id] = None
        answer = await self.world.ask("create", {"id": id, "params": params})
        if answer.ok:
            assert before is not True, "I8: an id is given twice"
            self.exists[id] = True
            assert self.world.model.life(Key("wf", id)).story.params == params
        elif answer.told:
            assert before is not False and "already exists" in str(answer.refusal), answer
            self.exists[id] = True
        return True

    async def delete(self, a: int, b: int) -> bool:
        id = IDS[a % len(IDS)]
        before, self.exists[id] = self.exists[id], None
        answer = await self.world.ask("delete", id)
        if answer.told:
            assert before is None or before is (answer.refusal is None), f"I8: {id}: {answer}"
            self.exists[id] = False
        return True

    async def send(self, a: int, b: int) -> bool:
        id, payload = IDS[a % len(IDS)], self._payload()
        life = self.life(id)
        final = life is not None and life.story.final
        event = {"type": ("go", "stop")[b % 2], "payload": f"[{payload}]"}
        answer = await self.world.ask("sendEvent", id, event)
        if self._found(id, answer):
            assert life is None or answer.ok is not final, f"{id}: {answer}"
            if answer.ok:
                self.world.model.acknowledged(Key("wf", id), f"[{payload}]")
        return True

    def _payload(self) -> str:
        self._events += 1
        return f'"event {self._events}."'

    async def pause(self, a: int, b: int) -> bool:
        def after(story: Story) -> Iterable[str]:
            if story.status not in ("running", "waiting"):
                return (story.status,)
            return ("waitingForPause", "paused") if story.live() else ("paused",)

        return await self._control("pause", IDS[a % len(IDS)], after)

    async def resume(self, a: int, b: int) -> bool:
        def after(story: Story) -> Iterable[str]:
            if story.status == "waitingForPause":
                return ("running",)
            return ("queued", "running") if story.status == "paused" else (story.status,)

        return await self._control("resume", IDS[a % len(IDS)], after)

    async def terminate(self, a: int, b: int) -> bool:
        def after(story: Story) -> Iterable[str] | None:
            return None if story.final else ("terminated",)

        return await self._control("terminate", IDS[a % len(IDS)], after)

    async def undo(self, a: int, b: int) -> bool:
        def after(story: Story) -> Iterable[str] | None:
            owed = story.undo or any(step.undo and not story.undone[step.number] for step in story.steps.values())
            return None if story.final else ("rollingBack",) if owed else ("terminated",)

        return await self._control("terminate", IDS[a % len(IDS)], after, {"rollback": True})

    async def restart(self, a: int, b: int) -> bool:
        return await self._control("restart", IDS[a % len(IDS)], lambda story: ("queued", "running"))

    async def restart_from(self, a: int, b: int) -> bool:
        kind, type = (("do", "do"), ("sleep", "sleep"), ("wait", "waitForEvent"))[b % 3]
        name, count = "ab"[b // 3 % 2], 1 + b // 6 % 2

        def after(story: Story) -> Iterable[str] | None:
            there = sum(step.identity[:2] == (kind, name) for step in story.steps.values())
            return ("queued", "running") if there >= count else None

        origin = {"from": {"name": name, "count": count, "type": type}}
        return await self._control("restart", IDS[a % len(IDS)], after, origin)

    async def _control(
        self, operation: str, id: str, after: Callable[[Story], Iterable[str] | None], *options: object
    ) -> bool:
        """Steer an instance; ``after`` tells the statuses that it may then have, None when it is to be refused."""
        life = self.life(id)
        expected = None if life is None else after(life.story)
        status = "" if life is None else life.story.status
        asleep = Key("wf", id) not in self.world.host.instances._live
        answer = await self.world.ask(operation, id, *options)
        if self._found(id, answer) and life is not None:
            self.world.model.catch_up()
            assert answer.ok is (expected is not None), f"{operation} when {status}: {answer}"
            allowed = expected or (status,)
            if asleep and status in allowed:
                allowed = (*allowed, *_LOST.get(status, ()))
            assert life.story.status in allowed, f"{operation} when {status}: {life.story.status}"
        return True

    async def status(self, a: int, b: int) -> bool:
        id = IDS[a % len(IDS)]
        life = self.life(id)
        answer = await self.world.ask("status", id)
        if self._found(id, answer) and life is not None:
            shown = "running" if life.story.status == "rollingBack" else life.story.status
            assert answer.value["status"] in (shown, "queued" if shown == "running" else shown), f"{id}: {answer}"
        return True

    async def together(self, a: int, b: int) -> bool:
        """Several requests about one instance at the same moment: only what must hold of any order is checked."""
        id = IDS[a % len(IDS)]
        random = Random(b)
        tasks, events = [], []
        for operation in random.choices(("create", "delete", "sendEvent", "pause", "resume", "restart", "status"), k=3):
            if operation == "create":
                self.world.programs[f"[{b}]"] = any_program(b, undo=True)
                tasks.append(self.world.request("create", {"id": id, "params": f"[{b}]"}))
            elif operation == "sendEvent":
                payload = f"[{self._payload()}]"
                events.append((payload, len(tasks)))
                tasks.append(self.world.request("sendEvent", id, {"type": "go", "payload": payload}))
            else:
                tasks.append(self.world.request(operation, id))
        self.exists[id] = None
        await self.world.answers(*tasks)
        return True

    # ------------------------------------------------------------------------------------------------- isolates

    async def pump(self) -> None:
        """Let the isolates read and speak until they have nothing to say."""
        for _ in range(1_000):
            for isolate in [*self.world.model.isolates]:
                isolate.read(MUCH)
                isolate.speak(MUCH)
            moved = self._move()
            await self.world.clock.advance(0)
            if self.world.dead:
                return
            if not moved and not any(isolate.inbox or isolate.outbox for isolate in self.world.model.isolates):
                return
        raise AssertionError("the host and its isolates never come to rest")

    def _move(self) -> int:
        """What the reloader does now and then: take runs off isolates whose code was replaced."""
        moved = 0
        for isolate in [*self.world.retired]:
            moved += len(self.world.host.runs.on(isolate))
            self.world.host.runs.move_idle(isolate)
            moved -= len(self.world.host.runs.on(isolate))
            if not self.world.host.runs.busy(isolate) and not isolate.inbox and not isolate.outbox:
                self.world.retire(isolate)
        return moved

    def _isolate(self, which: int) -> ScriptedIsolate | None:
        isolates = self.world.model.isolates
        return isolates[which % len(isolates)] if isolates else None

    async def read(self, a: int, b: int) -> bool:
        isolate = self._isolate(a)
        return isolate is not None and isolate.read(1 + b % 3) > 0

    async def speak(self, a: int, b: int) -> bool:
        isolate = self._isolate(a)
        said = isolate is not None and isolate.speak(1 + b % 3) > 0
        if said and b % 4:
            await rest()  # else the next thing happens before the loop comes round
        return said

    async def finish(self, a: int, b: int) -> bool:
        """A callback ends."""
        waiting = [one for isolate in self.world.model.isolates for one in isolate.waiting()]
        if not waiting:
            return False
        code, body = waiting[a % len(waiting)]
        code.end_attempt(body)
        return True

    async def answer(self, a: int, b: int) -> bool:
        """A delay function answers."""
        asked = [one for isolate in self.world.model.isolates for one in isolate.asked()]
        if asked:
            code, call = asked[a % len(asked)]
            code.answer_delay(call)
        return bool(asked)

    async def undone(self, a: int, b: int) -> bool:
        """An undo function ends."""
        undoing = [one for isolate in self.world.model.isolates for one in isolate.undoing()]
        if undoing:
            undoing[a % len(undoing)].end_undo()
        return bool(undoing)

    async def haunt(self, a: int, b: int) -> bool:
        """A callback that was given up answers, too late: the journals do not notice."""
        isolate = self._isolate(a)
        if isolate is None or isolate.outbox or not isolate.haunt(b):
            return False
        before = self._lines()
        isolate.speak(1)
        assert self._lines() == before, "I3: a late answer counts"
        await rest()
        assert self._lines() == before, "I3: a late answer counts"
        return True

    def _lines(self) -> dict[Key, int]:
        return {key: len(lines) for key, lines in self.world.model.committed.items()}

    async def slow(self, a: int, b: int) -> bool:
        """From now on the isolates read and speak when they like, or at once."""
        self._slow = not self._slow
        return True

    async def lose(self, a: int, b: int) -> bool:
        """An isolate dies; another one comes at once, or later."""
        isolate = self._isolate(a)
        if isolate is None:
            return False
        self.world.lose(isolate)
        if b % 2:
            await rest()
            await self.serve(a, b)
        return True

    async def serve(self, a: int, b: int) -> bool:
        """An isolate comes."""
        if self.world.isolate is not None:
            return False
        self.world.serve()
        await rest()
        return True

    async def reload(self, a: int, b: int) -> bool:
        """The code is loaded again, on a new isolate: what runs on the old one may finish there."""
        old = self.world.isolate
        if old is None:
            return False
        self.world.reload(old)
        self._move()
        await rest()
        return True

    # ---------------------------------------------------------------------------------------- clock and machines

    async def later(self, a: int, b: int) -> bool:
        await self.world.clock.advance(STEPS[a % len(STEPS)])
        return True

    async def next_alarm(self, a: int, b: int) -> bool:
        """Time passes until the host's next timer."""
        clock = self.world.clock
        wait = min((alarm.at for alarm in clock.alarms), default=clock.now() + NEVER) - clock.now()
        if wait > DAY:  # else all that has ended would be forgotten
            return False
        await clock.advance(max(0, wait))
        return True

    async def offset(self, a: int, b: int) -> bool:
        """The user moves the clock."""
        self.world.clock.offset_ms += STEPS[a % len(STEPS)]
        await self.world.clock.advance(0)
        return True

    async def crash(self, a: int, b: int) -> bool:
        """The host is killed. The next one may find the wall clock moved."""
        if a % 3 == 0 and self.world.model.isolates:
            self.world.model.isolates[0].speak(MUCH)  # what this brought about may not be committed yet
        self.world.clock._now += JUMPS[b % len(JUMPS)]
        await self.world.crash()
        return True

    async def fuse(self, a: int, b: int) -> bool:
        """The host will die at one of the next commit boundaries."""
        self.world.fuse = a % 25
        return True

    async def stop(self, a: int, b: int) -> bool:
        """The host ends in an orderly way, and starts again."""
        await self.world.stop_and_start()
        return True

    async def quiet(self, a: int, b: int) -> bool:
        """Nothing is done for a while: who only waits then is in nobody's memory (I9)."""
        world = self.world
        await self.pump()
        before = self._lines()
        await world.clock.advance(GRACE_MS + 1)
        await self.pump()
        if not world.dead:
            for key in same_lines(before, world.model.committed):
                story = world.model.life(key).story
                if story.status == "waiting":
                    assert key not in world.host.instances._live, "I9: a waiting instance is in memory"
                    assert key not in world.store.journals._open, "I9: a waiting instance's file is open"
        return True

    # --------------------------------------------------------------------------------------------------- checks

    def check(self) -> None:
        """What holds whenever the host has come to rest."""
        world = self.world
        assert world.problems == [], world.problems[0]
        world.model.catch_up()
        now = world.clock.now()
        world.model.rests(now)
        for id in IDS:
            self._check_existence(id)
        for key, instance in world.host.instances._live.items():
            if instance.quiet:
                status = world.model.lives[key].story.status
                assert instance.state.status == status, f"{key} is {instance.state.status}, and {status} on disk"
        for key, row in world.store.catalog.rows.items():
            if row.state == "live" and not row.dirty:
                self._check_row(world.model.lives[key].story, row.status, row.wake_at, now)

    def _check_existence(self, id: str) -> None:
        row = self.world.store.catalog.rows.get(Key("wf", id))
        there = row is not None and row.state == "live"
        if self.exists[id] is None:
            self.exists[id] = there
        assert self.exists[id] is there, f"I8: {id} is {'there' if there else 'gone'}"

    def _check_row(self, story: Story, status: str, wake_at: int | None, now: int) -> None:
        """A clean row is what its journal says, and nobody oversleeps."""
        assert status == story.status, f"{status} in the catalog, {story.status} in the journal"
        if status == "waiting":
            due = [step.due for step in story.opened() if step.due is not None]
            assert wake_at == min(due), "I4: the wake-up is what is due first"
            assert wake_at > now, "I4: a sleeper was not woken"

    # ------------------------------------------------------------------------------------------------------ end

    async def end(self) -> None:
        """Given nothing but time, every instance comes to its end; then nothing is left of them."""
        world = self.world
        world.fuse, self._slow = None, False
        if world.isolate is None:
            world.serve()
        await self._drive(("paused", *FINAL))
        for id in IDS:
            life = self.life(id)
            if life is not None and life.story.status == "paused":
                await self._control("resume", id, lambda story: ("queued", "running"))
        await self._drive(FINAL)
        for key in [*world.model.lives]:
            world.model.ends(key)
        await self._leave_nothing()

    async def _drive(self, until: Iterable[str]) -> None:
        wanted = frozenset(until)
        for _ in range(5_000):
            await self.pump()
            self.check()
            if all(life.story.status in wanted for life in self.world.model.lives.values()):
                return
            moved = [await self.finish(0, 0), await self.answer(0, 0), await self.undone(0, 0)]
            if not any(moved) and not await self.next_alarm(0, 0):
                break
        raise AssertionError(
            f"I4: it hangs: { {key.id: life.story.status for key, life in self.world.model.lives.items()} }"
        )

    async def _leave_nothing(self) -> None:
        world, runs = self.world, self.world.host.runs
        for id in IDS:
            if self.exists[id]:
                await self.delete(IDS.index(id), 0)
        await self.pump()
        assert runs.free == world.store.journals.limit, "every place is given back"
        instances = world.host.instances
        kept = (instances._live, instances._opening, instances._leaving, instances._deleting, instances._fresh)
        assert kept == ({}, {}, {}, {}, {}) and not runs._parked and not runs._queue and not runs._leaving
        assert world.store.journals.committed == {} and world.store.catalog.rows == {}
        await world.host.stop()
        assert world.clock.alarms == []


_DO: dict[str, Callable[[Machine, int, int], Awaitable[bool]]] = {
    name: getattr(Machine, name)
    for name in (
        "create", "delete", "send", "pause", "resume", "terminate", "undo", "restart", "restart_from", "status",
        "together", "read", "speak", "finish", "answer", "undone", "haunt", "slow", "lose", "serve", "reload",
        "later", "next_alarm", "offset", "crash", "fuse", "stop", "quiet",
    )
}  # fmt: skip
WEIGHTS = {
    "create": 10, "delete": 3, "send": 12, "pause": 5, "resume": 8, "terminate": 2, "undo": 2, "restart": 2,
    "restart_from": 3, "status": 3, "together": 3, "read": 10, "speak": 10, "finish": 20, "answer": 6, "undone": 6,
    "haunt": 3, "slow": 2, "lose": 2, "serve": 3, "reload": 2, "later": 10, "next_alarm": 14, "offset": 1,
    "crash": 3, "fuse": 4, "stop": 1, "quiet": 3,
}  # fmt: skip
NAMES = tuple(_DO)
