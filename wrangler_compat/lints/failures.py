"""What happens when a step fails for good."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.code import Flow, Step, nodes
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject, hit

_FINAL = "NonRetryableError"
_CATCH_ALL = {"Exception", "BaseException"}


def _swallowed(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for node in flow.code:
            if not isinstance(node, nodes.Try):
                continue
            final = [step for part in node.body for step in flow.steps_in(part) if _gives_up(flow, step)]
            handler = _first_that_takes_it(flow, node)
            if final and handler is not None and _hides(flow, handler):
                label = f'"{final[0].label}"' if final[0].label else "a step"
                text = f"This also hides the {_FINAL} of {label}, and run goes on as if nothing had happened."
                yield hit(flow.module, handler, text)


def _gives_up(flow: Flow, step: Step) -> bool:
    """Whether the step's own code raises NonRetryableError."""
    if step.callback is None:
        return False
    for node in step.callback.walk():
        if isinstance(node, nodes.Raise) and node.value is not None:
            made = node.value.callee if isinstance(node.value, nodes.Call) else node.value
            if (flow.module.names.chain(made) or ("",))[-1] == _FINAL:
                return True
    return False


def _first_that_takes_it(flow: Flow, node: nodes.Try) -> nodes.Handler | None:
    """The handler that NonRetryableError gets to, if that is one for everything."""
    for handler in node.handlers:
        kinds = handler.type.values if isinstance(handler.type, nodes.Items) else (handler.type,)
        named = {"" if kind is None else (flow.module.names.chain(kind) or ("?",))[-1] for kind in kinds}
        if _FINAL in named:
            return None
        if "" in named or named & _CATCH_ALL:
            return handler
    return None


def _hides(flow: Flow, handler: nodes.Handler) -> bool:
    """Whether a handler neither raises, nor looks at the error, nor runs a step that makes up for it."""
    for part in handler.body:
        for node in part.walk():
            if isinstance(node, nodes.Raise) or (isinstance(node, nodes.Name) and node.id == handler.name):
                return False
        if flow.steps_in(part):
            return False
    return True


def _rollback(subject: Subject) -> Iterator[Hit]:
    if subject.target != "celld":
        return
    for flow in subject.flows:
        for step in flow.steps:
            given = [step.definition.keyword("rollback"), *(options.get("rollback") for options in step.options)]
            for node in given:
                if node is not None:
                    yield hit(flow.module, node, "celld runs no rollback functions, so nothing is undone there.")


LINTS = (
    Lint(
        "swallowed_nonretryable",
        "warning",
        "NonRetryableError says that going on makes no sense, and a handler for everything goes on.",
        "Handle NonRetryableError on its own, look at the error, or raise it again.",
        _swallowed,
        (
            Example(
                "python",
                bad="""
from workers.workflows import NonRetryableError

@step.do("charge")
async def charge():
    raise NonRetryableError("declined")

try:
    receipt = await charge()
except Exception:  # <-
    receipt = None
""",
                good="""
from workers.workflows import NonRetryableError

@step.do("charge")
async def charge():
    raise NonRetryableError("declined")

try:
    receipt = await charge()
except NonRetryableError as declined:
    return {"declined": str(declined)}
""",
            ),
            Example(
                "javascript",
                bad="""
import { NonRetryableError } from "cloudflare:workflows";
let receipt = null;
try {
  receipt = await step.do("charge", async () => {
    throw new NonRetryableError("declined");
  });
} catch { // <-
  receipt = "none";
}
""",
                good="""
import { NonRetryableError } from "cloudflare:workflows";
let receipt = null;
try {
  receipt = await step.do("charge", async () => {
    throw new NonRetryableError("declined");
  });
} catch (error) {
  receipt = error.message;
}
""",
            ),
        ),
    ),
    Lint(
        "missing_compensation_try",
        "note",
        "celld has no rollback of steps: what is to be undone there has to be undone by run.",
        "Catch the error in run and call steps that undo the work, last first.",
        _rollback,
        (
            Example(
                "javascript",
                bad="""
await step.do("reserve", async () => 1, {
  rollback: async () => cancel(), // <-
});
""",
                good="""
await step.do("reserve", async () => 1);
try {
  await step.do("charge", async () => 2);
} catch (error) {
  await step.do("cancel", async () => cancel());
  throw error;
}
""",
                target="celld",
            ),
        ),
    ),
)
