"""An event reaches the wait that names its type, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wrangler_compat.code import Flow, Module, Step, nodes
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject, hit
from wrangler_compat.lints.lunora import uses_lunora

TYPE = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_-]{0,99}")  # Cloudflare's documented pattern
RESERVED = "lunora:"
_SENDERS = {"sendEvent", "send_event"}

Use = tuple[Module, nodes.Node, str]


def _mismatch(subject: Subject) -> Iterator[Hit]:
    waits = [(flow.module, *pair) for flow in subject.flows for step in flow.steps for pair in _awaited(flow, step)]
    sends = [use for module in subject.code.modules for use in _sent(module)]
    yield from _malformed([*waits, *sends])
    awaited, sent = _types(waits), _types(sends)
    if awaited is None or sent is None or not awaited or not sent or not _sees_all(subject):
        return
    for module, node, text in waits:
        if text not in sent and _is_type(text):
            yield hit(module, node, f'Nothing here sends an event of the type "{text}"{_near(text, sent)}.')
    for module, node, text in sends:
        if text not in awaited and _is_type(text):
            yield hit(module, node, f'No Workflow here waits for an event of the type "{text}"{_near(text, awaited)}.')


def _awaited(flow: Flow, step: Step) -> Iterator[tuple[nodes.Node, str]]:
    """The type that a wait names; an empty text stands for one that is made at run time."""
    if step.kind != "waitForEvent":
        return
    call = step.definition
    if flow.module.language == "python":
        node = call.args[1] if len(call.args) > 1 else call.keyword("event_type")
    else:
        options = call.args[1] if len(call.args) > 1 else None
        node = options.get("type") if isinstance(options, nodes.Object) else None
    yield node or call, _text(node)


def _sent(module: Module) -> Iterator[Use]:
    for node in module.root.walk():
        match node:
            case nodes.Call(callee=nodes.Attribute(name=name), args=args) if name in _SENDERS:
                options = args[0] if args else None
                kind = options.get("type") if isinstance(options, nodes.Object) else node.keyword("type")
                yield module, kind or node, _text(kind)


def _text(node: nodes.Node | None) -> str:
    return node.value if isinstance(node, nodes.Literal) and isinstance(node.value, str) else ""


def _types(uses: list[Use]) -> set[str] | None:
    """The types in use; None when one is not written out."""
    texts = {text for _, _, text in uses}
    return None if "" in texts else texts


def _sees_all(subject: Subject) -> bool:
    """Whether senders and waits of other Workers can be ruled out as far as the project shows."""
    return subject.code.complete and not subject.project.foreign_workflows


def _malformed(uses: list[Use]) -> Iterator[Hit]:
    for module, node, text in uses:
        if text.startswith(RESERVED) and uses_lunora(module):
            yield hit(module, node, f'"{text}": the prefix {RESERVED} is reserved for Lunora itself.')
        elif text and not _is_type(text):
            rule = "1 to 100 letters, digits, - and _, and no - at the start"
            yield hit(module, node, f'"{text}" is no type of an event: it takes {rule}.')


def _is_type(text: str) -> bool:
    return TYPE.fullmatch(text) is not None


def _near(text: str, known: set[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(text, sorted(known), 1)
    return f' (there is "{near[0]}")' if near else ""


_PYTHON = """
from workers import WorkerEntrypoint, WorkflowEntrypoint


class Order(WorkflowEntrypoint):
    async def run(self, event, step):
        await step.wait_for_event("payment", "paid", timeout="1 day")%s


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        instance = await self.env.ORDER.get("1")
        await instance.send_event({"type": "%s", "payload": 5})%s
"""

LINTS = (
    Lint(
        "event_type_mismatch",
        "warning",
        "An event whose type no wait names is kept and never read, and a wait whose type nobody sends times out.",
        "Write the same type on both sides.",
        _mismatch,
        (
            Example(
                "python",
                bad=_PYTHON % ("  # <-", "payed", "  # <-"),
                good=_PYTHON % ("", "paid", ""),
            ),
            Example(
                "javascript",
                bad="""
await step.waitForEvent("payment", { type: "order.paid", timeout: "1 day" }); // <-
""",
                good="""
await step.waitForEvent("payment", { type: "order-paid", timeout: "1 day" });
""",
            ),
        ),
    ),
)
