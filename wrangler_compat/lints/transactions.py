"""An instance is not part of a database transaction."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.code import nodes
from wrangler_compat.lints.lint import Example, Hit, Lint, Subject, hit
from wrangler_compat.lints.services import CREATES, Reach, reach


def _in_transaction(subject: Subject) -> Iterator[Hit]:
    for module in subject.code.modules:
        for node in module.root.walk():
            if not isinstance(node, nodes.Call):
                continue
            found = reach(module, node)
            if found is None or found.method not in CREATES or not _is_workflow(subject, found):
                continue
            if any(_is_transaction(outer, inner) for inner, outer in _nesting(node)):
                text = "The instance starts even when the transaction around it is rolled back."
                yield hit(module, node, text)


def _is_workflow(subject: Subject, found: Reach) -> bool:
    if found.service.startswith("ctx.exports."):
        return True
    return subject.bindings.get(found.service.removeprefix("env.")) == "Workflow"


def _nesting(node: nodes.Node) -> Iterator[tuple[nodes.Node, nodes.Node]]:
    inner = node
    for outer in node.ancestors():
        yield inner, outer
        inner = outer


_TRANSACTIONS = {"transaction", "transactionSync", "begin", "atomic"}


def _is_transaction(outer: nodes.Node, inner: nodes.Node) -> bool:
    match outer:
        case nodes.With(items=items) if inner not in items:
            return any(_opens_transaction(item) for item in items)
        case nodes.Call() if isinstance(inner, nodes.Function):
            return _opens_transaction(outer)
        case nodes.Function(decorators=decorators):
            return any(_opens_transaction(each) for each in decorators if each is not inner)
        case _:
            return False


def _opens_transaction(node: nodes.Node) -> bool:
    callee = node.callee if isinstance(node, nodes.Call) else node
    match callee:
        case nodes.Attribute(name=name) | nodes.Name(id=name):
            return name in _TRANSACTIONS
        case _:
            return False


_ELSEWHERE = {
    "workflows": [{"name": "order", "binding": "ORDER", "class_name": "Order", "script_name": "orders"}],
}

LINTS = (
    Lint(
        "start_inside_transaction",
        "warning",
        "Creating an instance is no part of a database transaction: it stays when the transaction does not.",
        "Create the instance after the transaction is committed.",
        _in_transaction,
        (
            Example(
                "python",
                bad="""
from workers import WorkerEntrypoint
from database import connection


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        async with connection.transaction():
            await connection.execute("INSERT INTO orders VALUES (1)")
            await self.env.ORDER.create(id="1")  # <-
""",
                good="""
from workers import WorkerEntrypoint
from database import connection


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        async with connection.transaction():
            await connection.execute("INSERT INTO orders VALUES (1)")
        await self.env.ORDER.create(id="1")
""",
                config=_ELSEWHERE,
            ),
            Example(
                "javascript",
                bad="""
export class Orders extends DurableObject {
  async add(id) {
    await this.ctx.storage.transaction(async (storage) => {
      await storage.put(id, "new");
      await this.env.ORDER.create({ id }); // <-
    });
  }
}
""",
                good="""
export class Orders extends DurableObject {
  async add(id) {
    await this.ctx.storage.transaction(async (storage) => {
      await storage.put(id, "new");
    });
    await this.env.ORDER.create({ id });
  }
}
""",
                config=_ELSEWHERE,
            ),
        ),
    ),
)
