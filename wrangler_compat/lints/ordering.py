"""Which steps run, and in which order, has to be the same at a replay."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.code import Flow, nodes
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject, hit
from wrangler_compat.lints.services import binding_of


def _set_order(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for node in flow.code:
            if isinstance(node, nodes.Loop) and node.iterable is not None:
                pairs = [(node.iterable, list(node.body))]
            elif isinstance(node, nodes.Each):
                pairs = [(iterable, list(node.value)) for _, iterable in node.sources]
            else:
                continue
            for iterable, body in pairs:
                why = _unordered(flow, iterable)
                if why and any(flow.steps_in(part) or _defines(flow, part) for part in body):
                    yield hit(flow.module, iterable, f"{why}, and steps are run in that order.")


def _defines(flow: Flow, node: nodes.Node) -> bool:
    inside = set(node.walk())
    return any(step.definition in inside for step in flow.steps)


_LISTINGS = {"os.listdir", "os.scandir", "glob.glob", "glob.iglob", "set", "frozenset"}
_KEYS = {"Object.keys", "Object.values", "Object.entries"}


def _unordered(flow: Flow, node: nodes.Node, hops: int = 2) -> str | None:
    names = flow.module.names
    python = flow.module.language == "python"
    match node:
        case nodes.Items(kind="set") | nodes.Each(kind="set"):
            return "A set has another order in each process"
        case nodes.Call(callee=callee, args=args):
            dotted = names.dotted(callee)
            if python and dotted in _LISTINGS:
                return f"What {dotted} gives has no fixed order"
            if python and isinstance(callee, nodes.Attribute) and callee.name in ("iterdir", "glob", "rglob"):
                return f"What {callee.name} gives has no fixed order" if not dotted.startswith("glob.") else None
            if not python and dotted in _KEYS and args and names.dotted(args[0]) in ("this.env", "param:env"):
                return "The bindings of env may be others after the next deploy"
            return None
        case nodes.Name(id=name) if hops:
            value = names.value(name, node)
            return _unordered(flow, value, hops - 1) if value is not None else None
        case _:
            return None


def _config_branch(subject: Subject) -> Iterator[Hit]:
    for flow in subject.flows:
        for node in flow.code:
            if not isinstance(node, nodes.If):
                continue
            if not any(flow.steps_in(part) for part in (*node.body, *node.orelse)):
                continue
            for part in node.test.walk():
                if _is_variable(subject, flow, part):
                    text = f"Which steps run hangs on {flow.module.source(part)}, which the next deploy may change."
                    yield hit(flow.module, part, text)
                    break


def _is_variable(subject: Subject, flow: Flow, node: nodes.Node) -> bool:
    bound = binding_of(flow.module, node) if isinstance(node, nodes.Attribute | nodes.Item) else None
    return bound is not None and (bound[0] in subject.project.vars or bound[0] not in subject.bindings)


LINTS = (
    Lint(
        "unordered_iteration",
        "warning",
        "Steps that are run in the order of a set or a listing run in another order at the replay.",
        "Sort the values first, or take them from the payload or a step.",
        _set_order,
        (
            Example(
                "python",
                bad="""
names = {"ada", "grace"}
for name in names:  # <-

    @step.do(f"greet {name}")
    async def greet():
        return name

    await greet()
""",
                good="""
names = {"ada", "grace"}
for name in sorted(names):

    @step.do(f"greet {name}")
    async def greet():
        return name

    await greet()
""",
            ),
            Example(
                "javascript",
                bad="""
for (const name of Object.keys(this.env)) { // <-
  await step.do(`check ${name}`, async () => 1);
}
""",
                good="""
for (const name of event.payload.names) {
  await step.do(`check ${name}`, async () => 1);
}
""",
            ),
        ),
    ),
    Lint(
        "unstable_branch_on_env_or_config",
        "note",
        "A variable may change with a deploy while instances are under way; their replay then takes another branch.",
        "Read the variable in a step at the start and branch on its result.",
        _config_branch,
        (
            Example(
                "python",
                bad="""
@step.do("audit")
async def audit():
    return 1

if self.env.AUDIT == "on":  # <-
    await audit()
""",
                good="""
@step.do("read settings")
async def settings():
    return {"audit": self.env.AUDIT == "on"}

@step.do("audit")
async def audit():
    return 1

if (await settings())["audit"]:
    await audit()
""",
                config={"vars": {"AUDIT": "on"}},
            ),
            Example(
                "javascript",
                bad="""
if (this.env.AUDIT === "on") { // <-
  await step.do("audit", async () => 1);
}
""",
                good="""
const audit = await step.do("read settings", async () => this.env.AUDIT === "on");
if (audit) {
  await step.do("audit", async () => 1);
}
""",
                config={"vars": {"AUDIT": "on"}},
            ),
        ),
    ),
)
