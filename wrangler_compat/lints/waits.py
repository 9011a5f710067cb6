"""How long an event is waited for."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.code import Flow, Step, nodes
from wrangler_compat.lints.lint import Example, Hit, Insertion, Lint, Subject


def _no_timeout(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for step in flow.steps:
            if step.kind != "waitForEvent" or _has_timeout(flow, step):
                continue
            text = "This wait has no timeout, so it ends with an error after 24 hours."
            yield Hit(text, flow.module.place(step.definition), mend=_timeout(flow, step))


def _has_timeout(flow: Flow, step: Step) -> bool:
    call = step.definition
    if any(isinstance(arg, nodes.Spread) for arg in call.args):
        return True
    if flow.module.language == "python":
        return call.keyword("timeout") is not None or len(call.args) > 2
    match call.args[1:]:
        case (nodes.Object() as options, *_):
            return options.open or options.get("timeout") is not None
        case _:
            return True  # the options come from elsewhere


def _timeout(flow: Flow, step: Step) -> Insertion | None:
    """The default written down, right after the type."""
    call = step.definition
    if flow.module.language == "python":
        last = [*call.args, *(value for _, value in call.keywords)][-1:]
        return Insertion(flow.module, last[0].end, ', timeout="24 hours"') if last else None
    options = call.args[1]
    if isinstance(options, nodes.Object) and options.entries:
        return Insertion(flow.module, options.entries[-1].end, ', timeout: "24 hours"')
    return None


LINTS = (
    Lint(
        "wait_without_timeout",
        "note",
        "Without a timeout an event is waited for 24 hours, and then the wait fails.",
        "Say how long to wait, and what to do when nothing comes. (--fix writes the 24 hours down.)",
        _no_timeout,
        (
            Example(
                "python",
                bad="""
paid = await step.wait_for_event("payment", "paid")  # <-
""",
                good="""
paid = await step.wait_for_event("payment", "paid", timeout="3 days")
""",
            ),
            Example(
                "javascript",
                bad="""
const paid = await step.waitForEvent("payment", { type: "paid" }); // <-
""",
                good="""
const paid = await step.waitForEvent("payment", { type: "paid", timeout: "3 days" });
""",
            ),
        ),
        mends=True,
    ),
)
