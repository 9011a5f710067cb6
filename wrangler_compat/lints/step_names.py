"""A step's result is found by its name and by which one of that name it is."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.code import Flow, Step, nodes
from wrangler_compat.lints.budget import turns
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject, hit


def _duplicates(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        first: dict[tuple[str, str], Step] = {}
        for step in flow.steps:
            if step.label is None:
                continue
            earlier = first.setdefault((step.kind, step.label), step)
            if earlier is not step and not _exclusive(flow, earlier.definition, step.definition):
                line = flow.module.place(earlier.definition).line
                text = (
                    f'"{step.label}" is the name of another one in line {line} too: they are told apart by order only.'
                )
                # A sleep has no result that another one could get, only the time that it was first to be over.
                yield hit(flow.module, step.definition, text, "note" if step.kind.startswith("sleep") else None)


def _exclusive(flow: Flow, first: nodes.Node, second: nodes.Node) -> bool:
    """Whether two nodes are in different arms of one condition, so that one of them runs at most."""
    arms = dict(_arms(flow, first))
    if any(arms.get(outer, arm) != arm for outer, arm in _arms(flow, second)):
        return True
    inside = set(second.ancestors())
    return any(outer not in inside and _leaves(outer, arm) for outer, arm in arms.items())


def _leaves(outer: nodes.Node, arm: int) -> bool:
    """Whether an arm of a condition ends the function, so that nothing after the condition runs."""
    if not isinstance(outer, nodes.If):
        return False
    body = outer.body if arm else outer.orelse
    while body and isinstance(body[-1], nodes.Other):  # the block of a branch in JavaScript
        body = tuple(body[-1].children())
    return bool(body) and isinstance(body[-1], nodes.Return | nodes.Raise)


def _arms(flow: Flow, node: nodes.Node) -> Iterator[tuple[nodes.Node, int]]:
    inner = node
    for outer in flow.around(node):
        match outer:
            case nodes.If(body=body, orelse=orelse):
                if inner in body:
                    # All arms of a switch or match are in one body: each statement counts as an arm of its own.
                    yield outer, 1 if orelse or _is_plain(outer) else 2 + body.index(inner)
                elif inner in orelse:
                    yield outer, 0
            case nodes.Choice(then=then, other=other) if inner in (then, other):
                yield outer, 1 if inner is then else 0
            case nodes.Try(body=body, handlers=handlers):
                if inner in body:
                    yield outer, 1
                elif inner in handlers:
                    yield outer, 2 + handlers.index(inner)
        inner = outer


def _is_plain(node: nodes.If) -> bool:
    return isinstance(node.test, nodes.Operation | nodes.Call | nodes.Await)


def _in_loops(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for step in flow.steps:
            if step.kind != "do" or step.label is None:
                continue
            places = [step.definition, *step.calls]
            if any(_goes_over(flow, loop) for place in places for loop in flow.repeats(place)):
                text = (
                    f'Every turn of the loop runs a step called "{step.label}": its result is found by the turn only.'
                )
                yield hit(flow.module, step.definition, text)


def _goes_over(flow: Flow, loop: nodes.Node) -> bool:
    """Whether a loop goes over things that may be others at the replay.

    One that waits for something has nothing to name a step after, and the turns of one with a fixed number stay.
    """
    over = not isinstance(loop, nodes.Loop) or loop.target is not None or bool(loop.setup)
    return over and turns(flow, loop) is None


LINTS = (
    Lint(
        "duplicate_step_name",
        "warning",
        "Steps of one name are told apart by their order, so an edit may give one the result of the other.",
        "Give each step a name of its own.",
        _duplicates,
        (
            Example(
                "python",
                bad="""
@step.do("send mail")
async def welcome():
    return 1

@step.do("send mail")  # <-
async def follow_up():
    return 2

await welcome()
await follow_up()
""",
                good="""
@step.do("send welcome mail")
async def welcome():
    return 1

@step.do("send follow-up mail")
async def follow_up():
    return 2

await welcome()
await follow_up()
""",
            ),
            Example(
                "javascript",
                bad="""
await step.do("send mail", async () => 1);
await step.do("send mail", async () => 2); // <-
""",
                good="""
await step.do("send welcome mail", async () => 1);
if (event.payload.paid) {
  await step.do("send receipt", async () => "paid");
} else {
  await step.do("send receipt", async () => "free");
}
""",
            ),
        ),
    ),
    Lint(
        "loop_constant_name",
        "warning",
        "In a loop a constant name ties each result to the turn: other items in between shift all results.",
        "Put what the turn is about into the name.",
        _in_loops,
        (
            Example(
                "python",
                bad="""
for item in event["payload"]["items"]:

    @step.do("pack")  # <-
    async def pack():
        return item

    await pack()
""",
                good="""
for item in event["payload"]["items"]:

    @step.do(f"pack {item['id']}")
    async def pack():
        return item

    await pack()
""",
            ),
            Example(
                "javascript",
                bad="""
for (const item of event.payload.items) {
  await step.do("pack", async () => item); // <-
}
""",
                good="""
for (const item of event.payload.items) {
  await step.do(`pack ${item.id}`, async () => item);
}
while (event.payload.patient) {
  await step.do("look again", async () => 1);
}
""",
            ),
        ),
    ),
)
