"""The result of a step is stored, so it has to be data."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.code import Flow, nodes
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject, hit
from wrangler_compat.lints.services import FETCHES

_OBJECTS = {"Response", "Request", "workers.Response", "workers.Request", "js.Response.new", "js.Request.new"}
_STREAMS = {"ReadableStream", "TransformStream", "WritableStream", "js.ReadableStream.new"}
_PYTHON = {  # what the Python SDK refuses to store
    "uuid.uuid1": "a UUID",
    "uuid.uuid4": "a UUID",
    "uuid.UUID": "a UUID",
    "decimal.Decimal": "a Decimal",
    "datetime.timedelta": "a timedelta",
    "datetime.date": "a date",
    "datetime.date.today": "a date",
    "frozenset": "a frozenset",
    "bytearray": "a bytearray",
    "range": "a range",
    "tuple": "a tuple",
}


def _check(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for step in flow.steps:
            for value in _returned(step.callback) if step.callback is not None else ():
                what = _unstorable(subject, flow, value)
                if what is not None:
                    yield hit(flow.module, value, f"This step returns {what}, which cannot be stored as its result.")


def _returned(function: nodes.Function) -> Iterator[nodes.Node]:
    if function.returns:
        yield from function.body
        return
    pending = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, nodes.Return):
            yield from () if node.value is None else (node.value,)
        elif not isinstance(node, nodes.Function | nodes.Class):
            pending.extend(node.children())


def _unstorable(subject: Subject, flow: Flow, value: nodes.Node) -> str | None:
    names = flow.module.names
    python = flow.module.language == "python"
    awaited = isinstance(value, nodes.Await)
    match value.value if isinstance(value, nodes.Await) else value:
        case nodes.Function():
            return "a function"
        case nodes.Items(kind="tuple") if python:
            return "a tuple"
        case nodes.Each(kind="generator"):
            return "a generator"
        case nodes.Call(callee=callee):
            dotted = names.dotted(callee)
            if dotted in _STREAMS:
                return "a stream (celld stores none)" if subject.target == "celld" else None
            if dotted in _OBJECTS:
                return f"a {dotted.removesuffix('.new').rpartition('.')[2]}"
            if dotted in FETCHES and (awaited or not python):
                return "a Response" if dotted.rpartition(".")[2] == "fetch" else None
            return _PYTHON.get(dotted) if python else None
        case _:
            return None


LINTS = (
    Lint(
        "large_or_unserialisable_result",
        "warning",
        "A result is stored as data: a response, a function or a tuple is not, and 1 MiB is the most.",
        "Return plain data; put what is large into R2 and return its key.",
        _check,
        (
            Example(
                "python",
                bad="""
from workers import fetch

@step.do("load")
async def load():
    return await fetch("https://example.com")  # <-

@step.do("measure")
async def measure():
    return 1, 2  # <-

await load()
await measure()
""",
                good="""
from workers import fetch

@step.do("load")
async def load():
    return await (await fetch("https://example.com")).text()

@step.do("measure")
async def measure():
    return [1, 2]

await load()
await measure()
""",
            ),
            Example(
                "javascript",
                bad="""
await step.do("load", async () => fetch("https://example.com")); // <-
""",
                good="""
await step.do("load", async () => (await fetch("https://example.com")).text());
""",
            ),
            Example(
                "javascript",
                bad="""
await step.do("load", async () => new ReadableStream()); // <-
""",
                good="""
await step.do("load", async () => "the key of an object in R2");
""",
                target="celld",
            ),
        ),
    ),
)
