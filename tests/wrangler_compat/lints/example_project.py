"""Makes a project of an example of a lint, and says which lines the example marks."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import indent
from typing import Any

from wrangler_compat.lints.lint import Example

MARK = "<-"
PYTHON = """from workers import WorkflowEntrypoint


class Order(WorkflowEntrypoint):
    async def run(self, event, step):
"""
JAVASCRIPT = """import { WorkflowEntrypoint } from "cloudflare:workers";

export class Order extends WorkflowEntrypoint {
  async run(event, step) {
"""


def write_example(example: Example, text: str, folder: Path) -> Path:
    """Write a project whose Worker, or whose configuration, is ``text``; gives the file that has it."""
    folder.mkdir(parents=True, exist_ok=True)
    if example.deployed is not None:
        (folder / ".celld").mkdir()
        (folder / ".celld" / "deployed.json").write_text(json.dumps({"steps": example.deployed}))
    if example.language == "jsonc":
        (folder / "main.py").write_text(example.code.lstrip())
        config = folder / "wrangler.jsonc"
        config.write_text(text.lstrip())
        return config
    main = folder / ("main.py" if example.language == "python" else "main.js")
    main.write_text(module(example, text))
    (folder / "wrangler.jsonc").write_text(json.dumps(configuration(example, main.name), indent=2))
    return main


def configuration(example: Example, main: str) -> dict[str, Any]:
    """An ordinary configuration with what the example lays over it."""
    return {
        "name": "shop",
        "main": main,
        "compatibility_date": "2026-11-01",
        "compatibility_flags": ["python_workers"] if example.language == "python" else [],
        "workflows": [{"name": "order", "binding": "ORDER", "class_name": "Order"}],
        **example.config,
    }


def module(example: Example, text: str) -> str:
    """The whole module: the text itself when it has a class, else a Workflow whose ``run`` it is."""
    lines = text.strip("\n").splitlines()
    if any("class " in line for line in lines):
        return "\n".join(lines) + "\n"
    imports = [line for line in lines if line.startswith(("import ", "from "))]
    body = "\n".join(line for line in lines if line not in imports).strip("\n")
    head = "".join(f"{line}\n" for line in imports)
    if example.language == "python":
        return head + PYTHON + indent(body, " " * 8) + "\n"
    return head + JAVASCRIPT + indent(body, " " * 4) + "\n  }\n}\n"


def marked_lines(file: Path) -> list[int]:
    """The lines that the example says are named."""
    return [number for number, line in enumerate(file.read_text().splitlines(), start=1) if line.endswith(MARK)]
