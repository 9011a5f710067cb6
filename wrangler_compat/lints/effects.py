"""What reaches outside the Worker belongs into a step, which runs until it succeeded and then never again."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.code import Flow, nodes
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject, hit
from wrangler_compat.lints.services import READS, WRITES, Reach, reach

_PLAIN_KINDS = {"Environment Variable"}
_TIMERS = {
    "asyncio.sleep",
    "scheduler.wait",
    "js.scheduler.wait",
    "timers/promises.setTimeout",
    "node:timers/promises.setTimeout",
}


def effect(subject: Subject, flow: Flow, node: nodes.Node) -> Reach | None:
    """The write that a node of the code is."""
    found = reach(flow.module, node) if isinstance(node, nodes.Call) else None
    if found is None:
        return None
    kind = subject.bindings.get(found.service.removeprefix("env."), "")
    if kind in _PLAIN_KINDS or found.service.removeprefix("env.") in subject.project.vars:
        return None
    if found.service == "fetch" or found.method in WRITES:
        return found
    return found if kind == "Worker" and found.method not in READS else None


def _side_effect(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for node in flow.code:
            found = effect(subject, flow, node)
            if found is not None:
                what = found.method if found.service == "fetch" else f"{found.service}: {found.method}"
                yield hit(flow.module, node, f"{what} outside a step happens again at every replay.")


def _long_await(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for node in flow.code:
            call = node.value if isinstance(node, nodes.Await) else None
            if not isinstance(call, nodes.Call) or flow.step_of(call) is not None:
                continue
            if _is_timer(flow, call):
                text = "This wait is outside a step: it is lost when the instance leaves memory, and begins anew."
                yield hit(flow.module, node, text)
            elif subject.target == "celld" and _is_read(flow, call):
                yield hit(flow.module, node, "celld ends an await outside a step after 60 seconds.")


def _is_timer(flow: Flow, call: nodes.Call) -> bool:
    names = flow.module.names
    if names.dotted(call.callee) in _TIMERS:
        match call.args:
            case (nodes.Literal(value=int() | float() as length), *_):
                second = 1 if flow.module.language == "python" else 1000
                return length >= second  # a shorter one only lets others run
            case _:
                return True
    promise = call.new and names.dotted(call.callee) == "Promise"
    return promise and any(
        isinstance(node, nodes.Call) and names.dotted(node.callee) == "setTimeout" for node in call.walk()
    )


def _is_read(flow: Flow, call: nodes.Call) -> bool:
    found = reach(flow.module, call)
    return found is not None and found.method in READS


LINTS = (
    Lint(
        "side_effect_outside_step",
        "error",
        "What changes the world outside a step is done again at every replay.",
        "Move the call into a step.",
        _side_effect,
        (
            Example(
                "python",
                bad="""
await self.env.MAILS.send({"to": event["payload"]["to"]})  # <-
""",
                good="""
@step.do("send mail")
async def send():
    await self.env.MAILS.send({"to": event["payload"]["to"]})

await send()
""",
            ),
            Example(
                "javascript",
                bad="""
await fetch("https://example.com/hook"); // <-
await this.env.DB.prepare("DELETE FROM carts").run(); // <-
""",
                good="""
await step.do("hook", async () => {
  await fetch("https://example.com/hook");
});
await step.do("empty carts", async () => {
  await this.env.DB.prepare("DELETE FROM carts").run();
});
""",
            ),
        ),
    ),
    Lint(
        "long_await_outside_step",
        "warning",
        "A wait outside a step keeps the instance in memory, begins anew at a replay, and is cut short by celld.",
        "Use step.sleep for time, and a step for everything else.",
        _long_await,
        (
            Example(
                "python",
                bad="""
import asyncio
await asyncio.sleep(3600)  # <-
""",
                good="""
await step.sleep("an hour", "1 hour")
""",
            ),
            Example(
                "javascript",
                bad="""
await new Promise((done) => setTimeout(done, 60000)); // <-
""",
                good="""
await step.sleep("a minute", "1 minute");
""",
            ),
            Example(
                "javascript",
                bad="""
const rate = await this.env.RATES.get("eur"); // <-
await step.do("convert", async () => rate * 2);
""",
                good="""
const rate = await step.do("read rate", async () => this.env.RATES.get("eur"));
await step.do("convert", async () => rate * 2);
""",
                target="celld",
            ),
        ),
    ),
)
