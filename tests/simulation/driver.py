"""Random lives of a host, from seeds; a failing one is shortened, and told as a test that can be pasted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from random import Random

from runtime import faults
from tests.simulation.loop import simulated_loop
from tests.simulation.machine import NAMES, WEIGHTS, Machine, Operation
from tests.simulation.world import Setting

LIFE = 250  # operations of one world
_CUMULATED = [sum(WEIGHTS[name] for name in NAMES[: i + 1]) for i in range(len(NAMES))]


def over(loop: asyncio.AbstractEventLoop) -> None:
    """Nothing of a simulated world is left behind."""
    faults._armed = None
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


class Failure(Exception):
    """A law is broken; the text tells how to see it again."""


def setting_of(seed: int) -> Setting:
    """What kind of world a seed stands for."""
    random = Random(f"setting {seed}")
    return Setting(
        late=random.random() < 0.5,
        places=random.choice((1, 2, 256, 256)),
        concurrency=random.choice((None, None, None, 1, 2)),
        repeats=random.choice((0, 0, 0, 1_000)),
    )


def operations_of(seed: int, count: int = LIFE) -> list[Operation]:
    """The operations that a seed stands for."""
    random = Random(f"operations {seed}")
    names = random.choices(NAMES, cum_weights=_CUMULATED, k=count)
    return [Operation(name, random.randrange(10_000), random.randrange(10_000)) for name in names]


class Tally:
    """What was simulated."""

    def __init__(self) -> None:
        self.operations: Counter[str] = Counter()
        self.laws: Counter[str] = Counter()
        self.crashes = self.boundaries = self.worlds = 0

    @property
    def total(self) -> int:
        return sum(self.operations.values())

    def add(self, machine: Machine) -> None:
        self.operations += machine.done
        self.laws += machine.world.model.laws
        self.crashes += machine.world.crashes
        self.boundaries += machine.world.boundaries
        self.worlds += 1

    def __str__(self) -> str:
        laws = ", ".join(f"{count} {name}" for name, count in sorted(self.laws.items()))
        head = f"{self.total} operations in {self.worlds} worlds, {self.crashes} crashes"
        lines = [f"{head}, {self.boundaries} commit boundaries, {laws}"]
        lines += [f"  {name:14}{count:9}" for name, count in self.operations.most_common()]
        return "\n".join(lines)


def simulate(setting: Setting, operations: Sequence[Operation], tally: Tally | None = None) -> None:
    """One world, from its first host to the end of all its instances; raises what breaks."""
    loop = simulated_loop()
    machine = Machine(setting)

    async def live() -> None:
        await machine.begin()
        for operation in operations:
            await machine.do(operation)
        await machine.end()

    try:
        loop.run_until_complete(live())
    except Exception as error:
        error.add_note(journals(machine))
        raise
    finally:
        over(loop)
    if tally is not None:
        tally.add(machine)


def journals(machine: Machine) -> str:
    """All that was committed, and the programs that ran."""
    told = [f"{params}: {program}" for params, program in machine.world.programs.items()]
    for key, lines in machine.world.model.committed.items():
        told += [f"{key.id}:", *(f"  {line.data}" for line in lines)]
    return "\n".join(told)


def simulate_seed(seed: int, tally: Tally | None = None) -> None:
    """The world of a seed; a failure is shortened and told."""
    setting, operations = setting_of(seed), operations_of(seed)
    try:
        simulate(setting, operations, tally)
    except Exception as error:
        raise Failure(told(seed, setting, operations, error)) from error


def told(seed: int, setting: Setting, operations: Sequence[Operation], error: Exception) -> str:
    """How to see the failure again."""
    short = shortened(setting, operations, error)
    notes = ""
    try:
        simulate(setting, short)
    except Exception as again:
        notes = "\n".join(again.__notes__)
    body = "\n".join(f"        Operation({name!r}, {a}, {b})," for name, a, b in short)
    return (
        f"seed {seed}: {type(error).__name__}: {error}\n\n{notes}\n\n"
        f"def test_seed_{seed}() -> None:\n    operations = [\n{body}\n    ]\n    simulate({setting!r}, operations)\n"
    )


def shortened(setting: Setting, operations: Sequence[Operation], error: Exception) -> list[Operation]:
    """The operations without those that the failure does not need."""
    short, size = [*operations], len(operations) // 2
    while size:
        start = 0
        while start < len(short):
            fewer = short[:start] + short[start + size :]
            if fails_alike(setting, fewer, error):
                short = fewer
            else:
                start += size
        size //= 2
    return short


def fails_alike(setting: Setting, operations: Sequence[Operation], error: Exception) -> bool:
    """Whether the operations end in the same kind of failure."""
    try:
        simulate(setting, operations)
    except Exception as other:
        return type(other) is type(error) and str(other)[:16] == str(error)[:16]
    return False
