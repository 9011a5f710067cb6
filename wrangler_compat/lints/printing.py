"""Output outside steps comes again at every replay."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.code import Module, nodes
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject, hit

_LEVELS = {"debug", "info", "log", "warning", "warn", "error", "exception", "trace"}


def prints(module: Module, node: nodes.Node) -> bool:
    """Whether a call writes to the log."""
    if not isinstance(node, nodes.Call):
        return False
    dotted = module.names.dotted(node.callee)
    package, _, name = dotted.partition(".")
    if dotted.startswith("js.console."):
        return True
    if module.language == "python":
        return dotted == "print" or (package == "logging" and name in _LEVELS)
    return package == "console" and bool(name)


def _check(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for node in flow.code:
            if prints(flow.module, node):
                yield hit(flow.module, node, "This line is printed again at every replay.")


LINTS = (
    Lint(
        "console_outside_step",
        "note",
        "Code outside steps runs again at every replay, and so does what it prints.",
        "Print inside a step. (celld-py dev mutes the repetition; Cloudflare does not.)",
        _check,
        (
            Example(
                "python",
                bad="""
print("started")  # <-

@step.do("greet")
async def greet():
    return 1

await greet()
""",
                good="""
@step.do("greet")
async def greet():
    print("greeting")
    return 1

await greet()
""",
            ),
            Example(
                "javascript",
                bad="""
console.log("started"); // <-
await step.do("greet", async () => 1);
""",
                good="""
await step.do("greet", async () => {
  console.log("greeting");
  return 1;
});
""",
            ),
        ),
    ),
)
