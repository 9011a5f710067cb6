"""Programs that the simulation's instances run: what a workflow's code would do, as data."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from runtime.engine.state import Kind

MINUTE = 60_000


@dataclass(frozen=True, slots=True)
class Op:
    """One use of the step API."""

    kind: Kind
    name: str
    ms: int = 0  # of a sleep, of a wait's timeout, of the delay between attempts
    type: str = "go"  # of the event that a wait wants
    limit: int = 0  # retries
    fails: int = 0  # attempts that raise before one returns
    fatal: bool = False  # what they raise is not to be retried
    timeout: int = 10 * MINUTE
    dynamic: bool = False  # its delay is a function
    quick: bool = True  # its callback ends at once; else when the simulation lets it
    caught: bool = True  # the code goes on when the step fails
    undo: int | None = None  # attempts of its undo function that raise before one returns; None: it has none
    inside: Script = ()  # what its callback calls


@dataclass(frozen=True, slots=True)
class Group:
    """Calls made together. The code awaits all of them, or goes on with the branch of the first that settles."""

    ops: tuple[Op, ...]
    race: bool = False
    branches: tuple[Script, ...] = ()


Script = tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """The code of a workflow."""

    script: Script
    raises: bool = False  # run() ends with an error of its own


def any_program(seed: int, *, undo: bool) -> Program:
    """The program that a seed stands for."""
    random = Random(seed)
    script = tuple(_group(random, depth=0, undo=undo) for _ in range(random.randint(1, 4)))
    return Program(script, raises=random.random() < 0.25)


def _group(random: Random, *, depth: int, undo: bool) -> Group:
    ops = tuple(_op(random, depth=depth, undo=undo) for _ in range(random.choice((1, 1, 1, 2, 3))))
    if len(ops) < 2 or depth or random.random() < 0.5:
        return Group(ops)
    branches = tuple(tuple(Group((_op(random, depth=1, undo=undo),)) for _ in range(random.randint(0, 2))) for _ in ops)
    return Group(ops, True, branches)


def _op(random: Random, *, depth: int, undo: bool) -> Op:
    kind: Kind = random.choice(("do", "do", "do", "sleep", "wait"))
    name = random.choice("ab")
    if kind == "sleep":
        return Op(kind, name, random.choice((0, 100, 2_000, 20_000, 3_600_000)))
    if kind == "wait":
        return Op(kind, name, random.choice((1_000, 30_000, 600_000)), random.choice(("go", "stop")))
    inside: Script = ()
    if depth < 2 and random.random() < 0.2:
        inside = tuple(_group(random, depth=depth + 1, undo=False) for _ in range(random.randint(1, 2)))
    return Op(
        kind,
        name,
        ms=random.choice((0, 0, 50, 10_000)),
        limit=random.randint(0, 2),
        fails=random.choice((0, 0, 0, 1, 2, 9)),
        fatal=random.random() < 0.1,
        timeout=random.choice((500, 10 * MINUTE, 10 * MINUTE)),
        dynamic=random.random() < 0.15,
        quick=random.random() < 0.5,
        caught=random.random() < 0.8,
        undo=random.choice((None, 0, 1, 9)) if undo and not depth else None,
        inside=inside,
    )
