"""A step counts when it is awaited, in its turn, and not from within another one."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.code import Flow, Step, nodes
from wrangler_compat.lints.lint import Example, Hit, Insertion, Lint, Subject, hit

_KINDS = {"do": "step", "sleep": "sleep", "sleepUntil": "sleep", "waitForEvent": "wait"}
_CHAINED = {"then", "catch", "finally"}


def _unawaited(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for node in flow.code:
            step = flow.step_of(node)
            if step is not None:
                yield from _dropped(flow, node, step)
        if flow.module.language == "python":
            yield from _never_called(flow)


def _dropped(flow: Flow, node: nodes.Node, step: Step) -> Iterator[Hit]:
    """A call whose result goes nowhere."""
    outer, inner = node.parent, node
    while _is_chained(outer, inner):  # step.do(...).then(...)
        assert outer is not None
        inner, outer = outer, outer.parent
    what = f"This {_KINDS[step.kind]} is not awaited"
    match outer:
        case nodes.Expression():
            mend = _await(flow, node) if inner is node else None
            yield Hit(f"{what}: run goes on, and may end, without it.", flow.module.place(node), mend=mend)
        case nodes.Assign(targets=(nodes.Name(id=name),), value=value) if value is inner and not _used(
            flow, outer, name
        ):
            yield hit(flow.module, node, f"{what}: {name} is never used.")
        case nodes.Function(returns=True, parent=nodes.Call(callee=nodes.Attribute(name="forEach"))):
            yield hit(flow.module, node, f"{what}: forEach drops the promises that its function returns.")


def _is_chained(outer: nodes.Node | None, inner: nodes.Node) -> bool:
    match outer:
        case nodes.Attribute(name=name, value=value):
            return name in _CHAINED and value is inner
        case nodes.Call(callee=callee):
            return callee is inner and isinstance(inner, nodes.Attribute)
        case _:
            return False


def _await(flow: Flow, node: nodes.Node) -> Insertion | None:
    function = next((each for each in node.ancestors() if isinstance(each, nodes.Function)), None)
    if function is None or not function.asynchronous:
        return None
    return Insertion(flow.module, node.start, "await ")


def _used(flow: Flow, assigned: nodes.Assign, name: str) -> bool:
    own = set(assigned.walk())
    return any(
        (isinstance(node, nodes.Name) and node.id == name and node not in own)
        or (isinstance(node, nodes.Export) and any(local == name for local, _ in node.names))
        for node in flow.module.root.walk()
    )


def _never_called(flow: Flow) -> Iterator[Hit]:
    used = {node.id for node in flow.function.walk() if isinstance(node, nodes.Name)}
    for each in flow.function.walk():
        if isinstance(each, nodes.Function):
            used |= each.bound  # a parameter is filled with the result of the step of its name
    for step in flow.steps:
        function = step.callback
        if function is None or len(function.decorators) != 1 or step.calls:  # another decorator may call it
            continue
        if function.name not in used and step.label not in used:
            yield hit(flow.module, step.definition, f"The step {function.name} is defined but never called.")


_RACES = {"Promise.race", "Promise.any", "asyncio.as_completed"}
_FIRST = {"asyncio.FIRST_COMPLETED", "asyncio.FIRST_EXCEPTION"}


def _race(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for node in flow.code:
            if isinstance(node, nodes.Call) and _is_race(flow, node) and _holds_steps(flow, node):
                yield hit(flow.module, node, "Which of these steps comes first may differ at a replay.")


def _is_race(flow: Flow, call: nodes.Call) -> bool:
    names = flow.module.names
    dotted = names.dotted(call.callee)
    return dotted in _RACES or (dotted == "asyncio.wait" and names.dotted(call.keyword("return_when")) in _FIRST)


def _holds_steps(flow: Flow, node: nodes.Node) -> bool:
    if flow.steps_in(node):
        return True
    for part in node.walk():
        value = flow.module.names.value(part.id, part) if isinstance(part, nodes.Name) else None
        if value is not None and not isinstance(value, nodes.Function | nodes.Class) and flow.steps_in(value):
            return True
    return False


def _nested(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for outer, step in flow.nested:
            held = f'the step "{outer.label}"' if outer.label else "another step"
            if step.kind == "do":
                text = f"This step is inside {held}: when that one is tried again, so may be this one."
                yield hit(flow.module, step.definition, text)
            else:
                text = f"This {_KINDS[step.kind]} is inside {held}, which times out while it waits."
                yield hit(flow.module, step.definition, text, "error")


LINTS = (
    Lint(
        "unawaited_step",
        "error",
        "A step that nobody awaits may be left out, and its error is lost.",
        "Write await before it, or collect it with gather (Promise.all) and await that.",
        _unawaited,
        (
            Example(
                "python",
                bad="""
@step.do("charge")
async def charge():
    return 1

charge()  # <-
step.sleep("a day", "1 day")  # <-
""",
                good="""
@step.do("charge")
async def charge():
    return 1

await charge()
await step.sleep("a day", "1 day")
""",
            ),
            Example(
                "javascript",
                bad="""
step.do("charge", async () => 1); // <-
event.payload.items.forEach((item) => step.do(`pack ${item}`, async () => 1)); // <-
""",
                good="""
await step.do("charge", async () => 1);
await Promise.all(event.payload.items.map((item) => step.do(`pack ${item}`, async () => 1)));
""",
            ),
        ),
        mends=True,
    ),
    Lint(
        "race_outside_step",
        "warning",
        "Steps that race outside a step may end in another order at a replay, which then goes another way.",
        "Wait for all of them, or race inside one step. (celld-py keeps the order; Cloudflare does not promise it.)",
        _race,
        (
            Example(
                "python",
                bad="""
import asyncio

@step.do("ask ada")
async def ada():
    return 1

@step.do("ask grace")
async def grace():
    return 2

asked = [asyncio.create_task(ada()), asyncio.create_task(grace())]
done, _ = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)  # <-
""",
                good="""
import asyncio

@step.do("ask ada")
async def ada():
    return 1

@step.do("ask grace")
async def grace():
    return 2

answers = await asyncio.gather(ada(), grace())
""",
            ),
            Example(
                "javascript",
                bad="""
const first = await Promise.race([ // <-
  step.do("ask ada", async () => 1),
  step.do("ask grace", async () => 2),
]);
""",
                good="""
const first = await step.do("ask both", async () => Promise.race([ask("ada"), ask("grace")]));
""",
            ),
        ),
    ),
    Lint(
        "nested_step",
        "warning",
        "A step inside a step is tried again with it, and the outer one's timeout runs while the inner one works.",
        "Call the steps one after the other in run.",
        _nested,
        (
            Example(
                "python",
                bad="""
@step.do("order")
async def order():
    await step.sleep("a minute", "1 minute")  # <-

await order()
""",
                good="""
@step.do("order")
async def order():
    return 1

await step.sleep("a minute", "1 minute")
await order()
""",
            ),
            Example(
                "javascript",
                bad="""
await step.do("order", async () => {
  await step.do("pay", async () => 1); // <-
});
""",
                good="""
await step.do("pay", async () => 1);
await step.do("order", async () => 2);
""",
            ),
        ),
    ),
)
