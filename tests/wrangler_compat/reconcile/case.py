"""A project made of a configuration and code, as the tests of reconciling need it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from wrangler_compat import jsonc
from wrangler_compat.reconcile import Reconciliation, reconcile

HEAD = (
    '"name": "shop", "main": "entry.py", "compatibility_date": "2026-11-01", "compatibility_flags": ["python_workers"]'
)
IMPORT = "from workers import WorkerEntrypoint, WorkflowEntrypoint\n"


def project(folder: Path, config: str, code: str, name: str = "wrangler.jsonc") -> Path:
    """Write a project; ``config`` is taken as it is, byte for byte."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(config.encode())
    (folder / "entry.py").write_text(IMPORT + dedent(code))
    return folder


def workflow(name: str, *attributes: str) -> str:
    """The text of a workflow class."""
    body = "".join(f"    {line}\n" for line in attributes)
    return f"class {name}(WorkflowEntrypoint):\n{body}    async def run(self, event, step): ...\n"


def run(folder: Path, config: str, code: str, env: str | None = None, force: bool = False) -> Reconciliation:
    """Reconcile a project that is written first."""
    return reconcile(project(folder, config, code), env, {}, force=force)


def config(*members: str) -> str:
    """A configuration with the usual head and further members, each on its line."""
    return "{\n" + ",\n".join(f"  {member}" for member in (HEAD, *members)) + "\n}\n"


def exports(found: Reconciliation) -> object:
    """The exports that the configuration will have."""
    return jsonc.parse(found.result).data().get("exports")


def rules(found: Reconciliation, level: str | None = None) -> list[str]:
    """The rules that had something to say."""
    return [finding.rule for finding in found.findings if level in (None, finding.level)]


def bound(more: str = "", name: str = "order-pipe", binding: str = "ORDER", class_name: str = "OrderPipe") -> str:
    """The text of a binding with further members."""
    return f'{{ "name": "{name}", "binding": "{binding}", "class_name": "{class_name}"{more} }}'


def bindings(*entries: str) -> str:
    """The text of the list of bindings."""
    return f'"workflows": [{", ".join(entries)}]'


PIPE = workflow("OrderPipe")
