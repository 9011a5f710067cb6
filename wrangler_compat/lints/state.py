"""Memory is no storage: a replay has the event as it was, and results of steps, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.code import Flow, Step, nodes
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject, hit

_MUTATORS = {
    "append", "extend", "insert", "add", "update", "pop", "popitem", "remove", "discard", "clear", "setdefault",
    "sort", "reverse", "push", "shift", "unshift", "splice", "fill", "set", "delete",
}  # fmt: skip
_CONTAINERS = {
    "list",
    "dict",
    "set",
    "bytearray",
    "Array",
    "Map",
    "Set",
    "Object",
    "collections.defaultdict",
    "collections.deque",
    "collections.Counter",
    "collections.OrderedDict",
}


def _root(node: nodes.Node) -> nodes.Node:
    """The innermost value of ``a.b[c].d``."""
    while isinstance(node, nodes.Attribute | nodes.Item):
        node = node.value
    return node


def _changed(node: nodes.Node) -> Iterator[nodes.Node]:
    """The values that a node changes in place: targets with a dot or an index, and receivers of mutators."""
    match node:
        case nodes.Assign(targets=targets) | nodes.Delete(targets=targets):
            yield from (target.value for target in targets if isinstance(target, nodes.Attribute | nodes.Item))
        case nodes.Call(callee=nodes.Attribute(value=value, name=name)) if name in _MUTATORS:
            yield value
        case nodes.Call(callee=nodes.Attribute(value=nodes.Name(id="Object"), name="assign"), args=(first, *_)):
            yield first


def _mutates_event(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for node in flow.function.walk():
            if any(_is_of_event(flow, value) for value in _changed(node)):
                text = "The event is changed here, but a replay gets it as it was sent."
                yield hit(flow.module, node, text)


def _is_of_event(flow: Flow, value: nodes.Node) -> bool:
    root = _root(value)
    if not isinstance(root, nodes.Name):
        return False
    chain = flow.module.names.chain(root)
    if chain is None or not any(chain[0] == f"param:{name}" for name in flow.event_names):
        return False
    own = root.id in flow.event_names  # an inner function may have a parameter of this name
    return not own or flow.module.names.scope(root.id, root) is flow.function


def _outer_state(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for step in (*flow.steps, *(step for _, step in flow.nested)):
            if step.callback is not None:
                yield from _touched(flow, step, step.callback)


def _touched(flow: Flow, step: Step, callback: nodes.Function) -> Iterator[Hit]:
    python = flow.module.language == "python"
    nonlocals = {name for node in callback.walk() if isinstance(node, nodes.Outer) for name in node.names}
    for node in (each for part in callback.body for each in part.walk()):
        if isinstance(node, nodes.Assign):
            for target in node.targets:
                if isinstance(target, nodes.Name) and _rebinds(
                    flow, callback, node, target, nonlocals if python else None
                ):
                    yield hit(flow.module, node, _lost(target.id))
        for value in _changed(node):
            if isinstance(value, nodes.Name) and _is_outer_container(flow, callback, value):
                yield hit(flow.module, node, _lost(value.id))


def _lost(name: str) -> str:
    return f"{name} is changed inside a step: a replay takes the step's result and leaves {name} as it was."


def _rebinds(
    flow: Flow, callback: nodes.Function, node: nodes.Assign, target: nodes.Name, nonlocals: set[str] | None
) -> bool:
    if nonlocals is not None:
        return target.id in nonlocals and _is_local_of_run(flow, callback, target)
    return not node.declares and _is_local_of_run(flow, callback, target)


def _is_local_of_run(flow: Flow, callback: nodes.Function, name: nodes.Name) -> bool:
    """Whether a variable belongs to a function around the step."""
    scope = flow.module.names.scope(name.id, name)
    return isinstance(scope, nodes.Function) and scope is not callback and callback not in scope.ancestors()


def _is_outer_container(flow: Flow, callback: nodes.Function, name: nodes.Name) -> bool:
    if not _is_local_of_run(flow, callback, name):
        return False
    match flow.module.names.value(name.id, name):
        case nodes.Items() | nodes.Object() | nodes.Each():
            return True
        case nodes.Call(callee=callee):
            return flow.module.names.dotted(callee) in _CONTAINERS
        case _:
            return False


LINTS = (
    Lint(
        "mutates_event",
        "error",
        "The event is given anew to every replay, so what is changed in it is gone.",
        "Copy what you want to change, or return it from a step.",
        _mutates_event,
        (
            Example(
                "python",
                bad="""
event["payload"]["seen"] = True  # <-
order = event["payload"]
order["items"].append("gift")  # <-
""",
                good="""
order = {**event["payload"], "seen": True}
items = [*order["items"], "gift"]
""",
            ),
            Example(
                "javascript",
                bad="""
event.payload.seen = true; // <-
const { items } = event.payload;
items.push("gift"); // <-
""",
                good="""
const order = { ...event.payload, seen: true };
const items = [...order.items, "gift"];
""",
            ),
        ),
    ),
    Lint(
        "state_outside_step",
        "warning",
        "A finished step is not run again at a replay, so what it changed in variables around it is missing then.",
        "Return the value from the step and use the result.",
        _outer_state,
        (
            Example(
                "python",
                bad="""
found = []

@step.do("look")
async def look():
    found.append("book")  # <-

await look()
""",
                good="""
@step.do("look")
async def look():
    return ["book"]

found = await look()
""",
            ),
            Example(
                "javascript",
                bad="""
let total = 0;
await step.do("add up", async () => {
  total += 5; // <-
});
""",
                good="""
const total = await step.do("add up", async () => 5);
""",
            ),
        ),
    ),
)
