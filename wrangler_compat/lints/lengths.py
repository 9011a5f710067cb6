"""A length of time whose unit is not known counts as milliseconds, so "5 min" is over at once."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wrangler_compat.code import Flow, Step, nodes
from wrangler_compat.durations import UNITS
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject, hit

_TEXT = re.compile(r"\s*-?[0-9]+(?:\.[0-9]+)?\s*([a-zA-Z]*)\s*")
_KNOWN = {f"{unit}{plural}" for unit in (*UNITS, "millisecond") for plural in ("", "s")} | {""}
_MEANT = {
    "ms": "milliseconds", "s": "seconds", "sec": "seconds", "secs": "seconds", "min": "minutes", "mins": "minutes",
    "h": "hours", "hr": "hours", "hrs": "hours", "d": "days", "w": "weeks", "wk": "weeks", "mo": "months",
    "y": "years", "yr": "years",
}  # fmt: skip


def _check(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for step in (*flow.steps, *(step for _, step in flow.nested)):
            for node in _lengths(flow, step):
                wrong = _unknown_unit(node)
                if wrong is not None:
                    meant = _MEANT.get(wrong.lower())
                    near = f'; write "{meant}"' if meant else ""
                    yield hit(flow.module, node, f'"{wrong}" is no unit of time that Cloudflare documents{near}.')


def _lengths(flow: Flow, step: Step) -> Iterator[nodes.Node]:
    call = step.definition
    if step.kind == "sleep":
        yield from call.args[1:2]
        yield from (value for name, value in call.keywords if name == "duration")
    yield from (value for name, value in call.keywords if name == "timeout")
    if step.kind == "waitForEvent" and flow.module.language == "python":
        yield from call.args[2:3]
    for value in (*call.args[1:], *(value for _, value in call.keywords)):
        options = _object(flow, value)
        if options is not None:
            retries = _object(flow, options.get("retries"))
            found = (options.get("timeout"), retries.get("delay") if retries is not None else None)
            yield from (node for node in found if node is not None)


def _object(flow: Flow, node: nodes.Node | None) -> nodes.Object | None:
    if isinstance(node, nodes.Name):
        node = flow.module.names.value(node.id, node)
    return node if isinstance(node, nodes.Object) else None


def _unknown_unit(node: nodes.Node) -> str | None:
    if not isinstance(node, nodes.Literal) or not isinstance(node.value, str):
        return None
    match = _TEXT.fullmatch(node.value)
    return match[1] if match is not None and match[1] not in _KNOWN else None


LINTS = (
    Lint(
        "duration_unit",
        "warning",
        'Cloudflare takes an unknown unit for milliseconds: a sleep of "5 min" lasts 5 of them.',
        "Write second, minute, hour, day, week, month or year, or a number of milliseconds.",
        _check,
        (
            Example(
                "python",
                bad="""
await step.sleep("a while", "5 min")  # <-

@step.do("ask", config={"retries": {"limit": 3, "delay": "10 sec"}})  # <-
async def ask():
    return 1

await ask()
""",
                good="""
await step.sleep("a while", "5 minutes")

@step.do("ask", config={"retries": {"limit": 3, "delay": "10 seconds"}})
async def ask():
    return 1

await ask()
""",
            ),
            Example(
                "javascript",
                bad="""
await step.sleep("a while", "2 hrs"); // <-
""",
                good="""
await step.sleep("a while", "2 hours");
""",
            ),
        ),
    ),
)
