"""An instance has a number of steps, and one machine's memory and time for those that run side by side."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.code import Flow, nodes
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject, hit

DEFAULT_STEPS = 10_000  # Cloudflare's limit where the configuration sets none (paid plans)
SMALL_FANOUT = 10  # steps side by side that are no matter
_TOGETHER = {"asyncio.gather", "Promise.all", "Promise.allSettled"}


def _too_many(subject: Subject) -> Iterator[Hit]:
    if subject.target == "celld":  # whose own limit is not published
        return
    for declared in subject.code.classes:
        limit = _limit(subject, declared.name)
        total, largest = 0, None
        for flow in subject.code.flows_of(declared.name):
            for step in flow.steps if flow.is_run else ():
                count = _count(flow, step.definition) if step.kind == "do" else 0
                if count > 1 and (largest is None or count > largest[0]):
                    largest = (count, flow, step.definition)
                total += count
        if largest is not None and total > limit:
            _, flow, node = largest
            yield hit(flow.module, node, f"{declared.name} runs {total:,} steps, and {limit:,} are allowed.")


def _limit(subject: Subject, class_name: str) -> int:
    for declared in subject.project.workflows:
        if declared.class_name == class_name and declared.steps_limit is not None:
            return declared.steps_limit
    own = subject.code.get(class_name)
    limits = own.settings.get("limits") if own is not None else None
    return int(limits["steps"]) if limits else DEFAULT_STEPS


def _count(flow: Flow, node: nodes.Node) -> int:
    """How often a step certainly runs; 0 when that cannot be told."""
    if any(isinstance(outer, nodes.If | nodes.Choice | nodes.Try | nodes.Function) for outer in flow.around(node)):
        holder = node.parent
        if not (isinstance(holder, nodes.Function) and node in holder.decorators):
            return 0
        return _count(flow, holder)
    count = 1
    for loop in flow.repeats(node):
        count *= turns(flow, loop) or 0
    return count


def turns(flow: Flow, loop: nodes.Node) -> int | None:
    """The number of turns that a loop makes, when it stands there."""
    match loop:
        case nodes.Loop(iterable=nodes.Node() as iterable):
            return _length(flow, iterable)
        case nodes.Loop(
            setup=(nodes.Assign(value=nodes.Literal(value=int() as first)), *_), test=nodes.Operation() as test
        ):
            match test.operator, test.operands:
                case "<", (_, nodes.Literal(value=int() as last)):
                    return last - first
                case "<=", (_, nodes.Literal(value=int() as last)):
                    return last - first + 1
            return None
        case nodes.Each(sources=((_, iterable),), tests=()):
            return _length(flow, iterable)
        case _:
            return None


def _length(flow: Flow, iterable: nodes.Node) -> int | None:
    match iterable:
        case nodes.Items(values=values) if not any(isinstance(value, nodes.Spread) for value in values):
            return len(values)
        case nodes.Call(callee=nodes.Name(id="range"), args=(nodes.Literal(value=int() as last),)):
            return last
        case nodes.Call(
            callee=nodes.Name(id="range"),
            args=(nodes.Literal(value=int() as first), nodes.Literal(value=int() as last)),
        ):
            return last - first
        case _:
            return None


def _fanout(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for node in flow.code:
            if not isinstance(node, nodes.Call) or flow.module.names.dotted(node.callee) not in _TOGETHER:
                continue
            for part in node.walk():
                if _side_by_side(flow, part) is None:
                    text = (
                        "As many steps run side by side as there are items, all in the memory and time of one instance."
                    )
                    yield hit(flow.module, node, text)
                    break


def _side_by_side(flow: Flow, node: nodes.Node) -> int | None:
    """How many steps a comprehension or ``map`` starts; 0 when it starts none or few."""
    match node:
        case nodes.Each(sources=sources, value=value) if any(flow.steps_in(part) for part in value):
            length = _length(flow, sources[0][1])
        case nodes.Call(callee=nodes.Attribute(name="map", value=items), args=(nodes.Function() as function, *_)):
            if not flow.steps_in(function):
                return 0
            length = _length(flow, items)
        case _:
            return 0
    return 0 if length is not None and length <= SMALL_FANOUT else None


LINTS = (
    Lint(
        "too_many_steps",
        "warning",
        "An instance that runs more steps than its limit ends with an error.",
        "Raise limits.steps (to 25,000 at most), do more in one step, or hand parts to other instances.",
        _too_many,
        (
            Example(
                "python",
                bad="""
for number in range(20000):

    @step.do(f"page {number}")  # <-
    async def page():
        return 1

    await page()
""",
                good="""
for number in range(200):

    @step.do(f"100 pages from {number}")
    async def pages():
        return 1

    await pages()
""",
            ),
            Example(
                "javascript",
                bad="""
for (let number = 0; number < 20000; number++) {
  await step.do(`page ${number}`, async () => 1); // <-
}
""",
                good="""
for (let number = 0; number < 200; number++) {
  await step.do(`100 pages from ${number}`, async () => 1);
}
""",
            ),
        ),
    ),
    Lint(
        "fanout_shared_budget",
        "note",
        "Steps that run side by side share the memory and the time of one instance.",
        "Bound the number, or give the items to instances of their own (create_batch, createBatch).",
        _fanout,
        (
            Example(
                "python",
                bad="""
import asyncio

rests = await asyncio.gather(*[step.sleep(f"rest {name}", 10) for name in event["payload"]["names"]])  # <-
""",
                good="""
import asyncio

rests = await asyncio.gather(*[step.sleep(f"rest {number}", 10) for number in range(3)])
""",
            ),
            Example(
                "javascript",
                bad="""
await Promise.all(event.payload.names.map((name) => step.do(`resize ${name}`, async () => name))); // <-
""",
                good="""
await Promise.all(["small", "large"].map((size) => step.do(`resize ${size}`, async () => size)));
""",
            ),
        ),
    ),
)
