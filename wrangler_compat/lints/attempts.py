"""A step may run more than once: as a whole, and from its start."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.code import Flow, nodes
from wrangler_compat.lints.effects import effect
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject, hit
from wrangler_compat.lints.services import Reach, reach


def _granular(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for step in flow.steps:
            if step.callback is None:
                continue
            services: dict[str, nodes.Node] = {}
            for node in step.callback.walk():
                found = effect(subject, flow, node)
                if found is not None:
                    services.setdefault(_service(found, node), node)
            if len(services) > 1:
                text = (
                    f"This step uses {' and '.join(sorted(services))}: when the second fails, the first is done again."
                )
                yield hit(flow.module, step.definition, text)


def _service(found: Reach, node: nodes.Node) -> str:
    """The name of a service; two addresses are two services when both can be read."""
    match node:
        case nodes.Call(args=(nodes.Literal(value=str() as url), *_)) if found.service == "fetch" and "://" in url:
            return url.split("/")[2]
        case _:
            return found.service


def _not_idempotent(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for step in flow.steps:
            if step.callback is None or _names_the_instance(flow, step.callback):
                continue
            for node in step.callback.walk():
                if isinstance(node, nodes.Call) and _posts(flow, node) and not _has_key(node):
                    text = "A step may run more than once, and then this request is made more than once."
                    yield hit(flow.module, node, text)


def _posts(flow: Flow, call: nodes.Call) -> bool:
    found = reach(flow.module, call)
    if found is None or found.service != "fetch":
        return False
    if found.method.endswith(".post"):
        return True
    methods = [call.keyword("method"), *(arg.get("method") for arg in call.args if isinstance(arg, nodes.Object))]
    return any(isinstance(each, nodes.Literal) and str(each.value).upper() == "POST" for each in methods)


def _has_key(call: nodes.Call) -> bool:
    texts = (node.value for node in call.walk() if isinstance(node, nodes.Literal) and isinstance(node.value, str))
    return any("idempotency" in text.lower() for text in texts) or _hides_headers(call)


def _hides_headers(call: nodes.Call) -> bool:
    """Whether the headers come from elsewhere, so that nothing can be said of them."""
    given = [call.keyword("headers"), *(arg.get("headers") for arg in call.args if isinstance(arg, nodes.Object))]
    shown = all(each is None or (isinstance(each, nodes.Object) and not each.open) for each in given)
    return not shown or any(isinstance(node, nodes.Spread) for node in call.walk())


def _names_the_instance(flow: Flow, callback: nodes.Function) -> bool:
    wanted = {"instanceId", "instance_id", "idempotencyKey", "idempotency_key"}
    for node in callback.walk():
        match node:
            case nodes.Attribute(name=name) | nodes.Name(id=name) | nodes.Literal(value=str() as name):
                if name in wanted:
                    return True
    return False


_POST_PY = """
from workers import fetch

@step.do("charge")
async def charge():
    answer = await fetch("https://bank.example/charge", method="POST", body="{}")%s
    return answer.status

await charge()
"""

LINTS = (
    Lint(
        "granular_step",
        "note",
        "A step that fails half-way is done again as a whole, so each service deserves its own step.",
        "Make one step for each service.",
        _granular,
        (
            Example(
                "python",
                bad="""
@step.do("register")  # <-
async def register():
    await self.env.DB.prepare("INSERT INTO members VALUES (1)").run()
    await self.env.MAILS.send({"to": "ada@example.com"})

await register()
""",
                good="""
@step.do("store member")
async def store():
    await self.env.DB.prepare("INSERT INTO members VALUES (1)").run()

@step.do("send mail")
async def send():
    await self.env.MAILS.send({"to": "ada@example.com"})

await store()
await send()
""",
            ),
            Example(
                "javascript",
                bad="""
await step.do("register", async () => { // <-
  await fetch("https://members.example/new");
  await fetch("https://mails.example/welcome");
});
""",
                good="""
await step.do("store member", async () => {
  await fetch("https://members.example/new");
});
await step.do("send mail", async () => {
  await fetch("https://mails.example/welcome");
});
""",
            ),
        ),
    ),
    Lint(
        "step_not_idempotent",
        "note",
        "A step whose process dies after its request was made is run again, and so is the request.",
        "Send an idempotency key made of the instance's id and the step, or ask first whether it was done.",
        _not_idempotent,
        (
            Example(
                "python",
                bad=_POST_PY.replace("%s", "  # <-"),
                good="""
from workers import fetch

@step.do("charge")
async def charge():
    key = f"{event['instanceId']}:charge"
    answer = await fetch("https://bank.example/charge", method="POST", headers={"Idempotency-Key": key})
    return answer.status

await charge()
""",
            ),
            Example(
                "javascript",
                bad="""
await step.do("charge", async () => {
  const answer = await fetch("https://bank.example/charge", { method: "POST" }); // <-
  return answer.status;
});
""",
                good="""
await step.do("charge", async () => {
  const headers = { "Idempotency-Key": `${event.instanceId}:charge` };
  const answer = await fetch("https://bank.example/charge", { method: "POST", headers });
  return answer.status;
});
""",
            ),
        ),
    ),
)
