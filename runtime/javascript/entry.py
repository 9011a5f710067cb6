"""The module that workerd starts with: the project's own, its Workflows and its default export wrapped.

The wrappers give output its place, keep stacks, and answer the bridge; they come first, so that the project's modules
meet the wrapped ``console``. Nothing else is added to the exports: each would show on ``ctx.exports``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

SHIM = (Path(__file__).parents[2] / "workers_shim" / "workerd").resolve()  # esbuild names files without links
ENTRY_SOURCE = "celld-entry.js"


def entry_text(main: str, classes: Iterable[str]) -> str:
    """The module around ``main`` (what an import of it says), whose ``classes`` are its Workflows."""
    source = json.dumps(main)
    names = {name: f"celld_{number}" for number, name in enumerate(classes)}
    lines = [
        f"import {{ wrapDefault, wrapWorkflow }} from {json.dumps((SHIM / 'entry.js').as_posix())};",
        f"import * as worker from {source};",
        *(f"import {{ {name} as {local} }} from {source};" for name, local in names.items()),
        f"export * from {source};",
        "export default wrapDefault(worker.default, worker);",
        *(f"export const {name} = wrapWorkflow({local}, {json.dumps(name)});" for name, local in names.items()),
    ]
    return "\n".join(lines) + "\n"
