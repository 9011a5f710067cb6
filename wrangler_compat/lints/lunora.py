"""What only concerns projects that use Lunora: where its API is not imported, nothing is said."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.code import Module, nodes
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject, hit

_DISPATCH = "dispatch"
_KEY = "dedupId"


def uses_lunora(module: Module) -> bool:
    """Whether a module imports Lunora's API."""
    return any(isinstance(node, nodes.Import) and _is_lunora(node.module) for node in module.root.walk())


def _is_lunora(specifier: str) -> bool:
    return specifier.split("/")[0] in ("lunora", "@lunora")


def _no_key(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        if not uses_lunora(flow.module):
            continue
        for step in flow.steps:
            for node in step.callback.walk() if step.callback is not None else ():
                if _dispatches(node) and not _has_key(node):
                    text = "A second attempt of this step dispatches once more."
                    yield hit(flow.module, node, text)


def _dispatches(node: nodes.Node) -> bool:
    match node:
        case nodes.Call(callee=nodes.Attribute(name=name) | nodes.Name(id=name)):
            return name == _DISPATCH
        case _:
            return False


def _has_key(node: nodes.Node) -> bool:
    assert isinstance(node, nodes.Call)
    objects = [arg for arg in node.args if isinstance(arg, nodes.Object)]
    unclear = any(isinstance(arg, nodes.Spread | nodes.Name) for arg in node.args[1:])
    return unclear or any(each.open or each.get(_KEY) is not None for each in objects)


LINTS = (
    Lint(
        "dedup_missing_in_raw_step",
        "warning",
        "A raw step may run more than once, and without a key of its own each attempt dispatches anew.",
        "Pass a dedupId made of the instance's id and the step, or use Lunora's own step.",
        _no_key,
        (
            Example(
                "javascript",
                bad="""
import { dispatch } from "lunora";
await step.do("notify", async () => {
  await dispatch("mail", { to: "ada" }); // <-
});
""",
                good="""
import { dispatch } from "lunora";
await step.do("notify", async () => {
  await dispatch("mail", { to: "ada", dedupId: `${event.instanceId}:notify` });
});
""",
            ),
        ),
    ),
)
