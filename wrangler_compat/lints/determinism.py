"""Code outside steps runs again at every replay, so it must come out the same."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.code import Flow, nodes
from wrangler_compat.lints.clocks import is_changing, shown
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject, hit
from wrangler_compat.lints.printing import prints


def _outside(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        excused = set(_harmless(flow))
        for node in flow.code:
            if is_changing(flow.module, node) and node not in excused:
                text = f"{shown(flow.module, node)} gives another value at each replay of {flow.function.name}."
                yield hit(flow.module, node, text)


def _harmless(flow: Flow) -> Iterator[nodes.Node]:
    """Where a changing value does no harm, or another lint speaks of it."""
    for step in flow.steps:
        if step.name is not None:
            yield from step.name.walk()
        if step.kind in ("sleep", "sleepUntil"):  # the due time that was journalled first holds
            for arg in step.definition.args[1:]:
                yield from arg.walk()
    for node in flow.code:
        if isinstance(node, nodes.If | nodes.Loop | nodes.Choice):
            yield from node.test.walk() if node.test is not None else ()
        elif _ends(flow, node) or prints(flow.module, node):
            yield from node.walk()


def _ends(flow: Flow, node: nodes.Node) -> bool:
    """Whether a value only becomes the result or the error, after which no step comes."""
    if isinstance(node, nodes.Raise):
        return True
    return isinstance(node, nodes.Return) and flow.is_run and not flow.steps_in(node)


def _step_name(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for step in (*flow.steps, *(step for _, step in flow.nested)):
            if step.name is None:
                continue
            for node in step.name.walk():
                source = _changing(flow, node)
                if source is not None:
                    text = (
                        f"The name of this step holds {shown(flow.module, source)}, so a replay does not find it again."
                    )
                    yield hit(flow.module, node, text)


def _condition(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for node in flow.code:
            test = node.test if isinstance(node, nodes.If | nodes.Loop | nodes.Choice) else None
            for part in test.walk() if test is not None else ():
                source = _changing(flow, part)
                if source is not None:
                    text = f"This condition hangs on {shown(flow.module, source)}: a replay may take the other way."
                    yield hit(flow.module, part, text)


def _changing(flow: Flow, node: nodes.Node) -> nodes.Node | None:
    """The clock or random call that a node is, or that a variable was set from outside any step."""
    if is_changing(flow.module, node):
        return node
    if not isinstance(node, nodes.Name):
        return None
    value = flow.module.names.value(node.id, node)
    if value is None or isinstance(value, nodes.Function | nodes.Class):
        return None
    return next((part for part in value.walk() if flow.runs(part) and is_changing(flow.module, part)), None)


LINTS = (
    Lint(
        "nondeterministic_outside_step",
        "error",
        "A replay runs the code outside steps again, where clocks and random numbers give other values.",
        "Move the call into a step: its result is stored and comes back at every replay.",
        _outside,
        (
            Example(
                "python",
                bad="""
import uuid
key = str(uuid.uuid4())  # <-

@step.do("charge")
async def charge():
    return pay(key)

await charge()
""",
                good="""
import uuid

@step.do("make key")
async def make_key():
    return str(uuid.uuid4())

key = await make_key()

@step.do("charge")
async def charge():
    return pay(key)

await charge()
""",
            ),
            Example(
                "javascript",
                bad="""
const key = crypto.randomUUID(); // <-
await step.do("charge", async () => pay(key));
""",
                good="""
const key = await step.do("make key", async () => crypto.randomUUID());
await step.do("charge", async () => pay(key));
await step.sleepUntil("tomorrow", new Date(Date.now() + 86400000));
""",
            ),
        ),
    ),
    Lint(
        "nondeterministic_step_name",
        "error",
        "A step is found again by its name, so the name must be the same at every replay.",
        "Build the name from the payload or from results of steps.",
        _step_name,
        (
            Example(
                "python",
                bad="""
import time

@step.do(f"report {time.time()}")  # <-
async def report():
    return 1

await report()
""",
                good="""
@step.do(f"report {event['payload']['day']}")
async def report():
    return 1

await report()
""",
            ),
            Example(
                "javascript",
                bad="""
const at = Date.now(); // nondeterministic_outside_step
await step.do("report " + at, async () => 1); // <-
""",
                good="""
await step.do(`report ${event.payload.day}`, async () => 1);
""",
            ),
        ),
    ),
    Lint(
        "condition_on_nondeterminism",
        "error",
        "A branch taken by the clock or by chance may be another one at the replay, with other steps.",
        "Decide inside a step and branch on its result.",
        _condition,
        (
            Example(
                "python",
                bad="""
import random

@step.do("special offer")
async def offer():
    return 1

if random.random() < 0.5:  # <-
    await offer()
""",
                good="""
import random

@step.do("draw lots")
async def draw():
    return random.random() < 0.5

@step.do("special offer")
async def offer():
    return 1

if await draw():
    await offer()
""",
            ),
            Example(
                "javascript",
                bad="""
if (Date.now() > event.payload.deadline) { // <-
  await step.do("remind", async () => 1);
}
""",
                good="""
const late = await step.do("look at the clock", async () => Date.now() > event.payload.deadline);
if (late) {
  await step.do("remind", async () => 1);
}
""",
            ),
        ),
    ),
)
