"""The Worker project that is crashed: one Workflow that does a little of everything, and routes to drive it.

Every step body leaves two lines in a file that is no part of celld-py's store: what is there did happen, whatever the
store says. A line is written by one call with O_APPEND, so lines of several processes do not mix. `journey.js` is the
same in JavaScript, with a step more that returns a stream; change both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.crash import moments
from tests.crash.moments import OF_STREAMS, Victims
from tests.crash.recorder import recorder
from tests.dev import write_project

CODE = """
import asyncio
import json
import os
import random
from urllib.parse import parse_qs, urlsplit

from workers import Response, WorkerEntrypoint, WorkflowEntrypoint, env

EFFECTS = os.open(env.EFFECTS, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
EAGER = {"retries": {"limit": 60, "delay": 20, "backoff": "constant"}}


def note(instance, ctx, phase):
    line = [instance, ctx.step.name, ctx.attempt, phase, os.getpid()]
    os.write(EFFECTS, json.dumps(line).encode() + b"\\n")


def knock(ctx):
    if ctx.attempt < 3:
        raise RuntimeError("nobody opens")
    return "open"


class Journey(WorkflowEntrypoint):
    async def run(self, event, step):
        number = event.payload.number

        async def do(name, work):
            @step.do(name, config=EAGER)
            async def body(ctx):
                note(event.instanceId, ctx, "start")
                await asyncio.sleep(random.uniform(0.002, 0.1))
                try:
                    result = work(ctx)
                except Exception:
                    note(event.instanceId, ctx, "fail")
                    raise
                note(event.instanceId, ctx, "end")
                return result

            return await body()

        async def pick(n):
            picked = await do(f"pick-{n}", lambda ctx: number + n)
            return await do(f"check-{n}", lambda ctx: picked * 10)

        packed = await do("pack", lambda ctx: [number, None])
        checked = await asyncio.gather(*(pick(n) for n in range(3)))
        await step.sleep("rest", 400)
        loaded = await do("load", lambda ctx: packed[0] + sum(checked))
        tokens = []
        for n in (1, 2):
            sign = await step.wait_for_event(f"sign {n}", "sign", timeout="1 hour")
            tokens.append(await do(f"sign-{n}", lambda ctx: sign.payload.token))
        door = await do("knock", knock)
        await do("close", lambda ctx: None)
        return {"loaded": loaded, "tokens": tokens, "door": door}


async def answer(url):
    asked = {name: values[0] for name, values in parse_qs(url.query).items()}
    if url.path == "/front":
        return os.getpid()
    if url.path == "/create":
        await env.JOURNEY.create(id=asked["id"], params={"number": int(asked["number"])})
        return True
    if url.path == "/batch":
        made = await env.JOURNEY.create_batch(
            [{"id": id, "params": {"number": int(asked["number"])}} for id in asked["ids"].split(",")]
        )
        return [instance.id for instance in made]
    instance = await env.JOURNEY.get(asked["id"])
    if url.path == "/sign":
        await instance.send_event({"type": "sign", "payload": {"token": asked["token"]}})
        return True
    if url.path == "/delete":
        await instance.delete()
        return True
    status = await instance.status()
    return {"status": status.status, "output": status.output}


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        try:
            return Response.json({"answer": await answer(urlsplit(request.url))})
        except Exception as error:
            return Response.json({"error": str(error)})
"""

_CHECKS = frozenset({"check-0", "check-1", "check-2"})

SEEN: dict[str, frozenset[str]] = {
    "pack": frozenset(),
    **{f"pick-{n}": frozenset({"pack"}) for n in range(3)},
    **{f"check-{n}": frozenset({f"pick-{n}"}) for n in range(3)},
    "load": _CHECKS,
    "sign-1": frozenset({"load"}),
    "sign-2": frozenset({"sign-1"}),
    "knock": frozenset({"sign-2"}),
    "close": frozenset({"knock"}),
}
"""For each step of the Workflow the steps whose results the code had seen when it called it."""

LAST = "close"


def expected(number: int, tokens: list[str]) -> dict[str, object]:
    """The output of an instance that was created with a number and took these events."""
    return {"loaded": number + sum((number + n) * 10 for n in range(3)), "tokens": tokens, "door": "open"}


@dataclass(frozen=True, slots=True)
class Subject:
    """What is crashed: how its project is made, who of its processes may be killed, and what it may print then."""

    make: Callable[[Path, str], Path]  # the folder, and where the steps leave their lines
    recording: Callable[[Path], AbstractContextManager[str]]  # has those lines put into a file, and says where they go
    victims: Victims
    expected_errors: tuple[str, ...]
    seen: Mapping[str, frozenset[str]]  # for each step those whose results its code had seen
    never_passed: tuple[str, ...] = ()  # points to which its Workflow does not lead


def _python(folder: Path, effects: str) -> Path:
    return write_project(folder, CODE, "Journey", vars={"EFFECTS": effects})


def _javascript(folder: Path, effects: str) -> Path:
    code = Path(__file__).with_name("journey.js").read_text("utf-8")
    form = {"main": "src/main.js", "compatibility_flags": []}
    return write_project(folder, code, "Journey", **form, vars={"EFFECTS": effects})


@contextmanager
def _itself(effects: Path) -> Iterator[str]:
    yield str(effects)


PYTHON = Subject(
    _python,
    _itself,
    moments.PYTHON,
    (
        "isolate was ended by signal 9",
        "The isolate that answered this request ended",
        "of knock-1 failed: RuntimeError: nobody opens",
    ),
    SEEN,
    OF_STREAMS,
)
JAVASCRIPT = Subject(
    _javascript,
    recorder,
    moments.JAVASCRIPT,
    (
        "was ended by signal 9",
        "The isolate that answered this request ended",
        "of knock-1 failed: Error: nobody opens",
    ),
    SEEN | {"film": frozenset({"pack"}), "load": _CHECKS | {"film"}},
)
