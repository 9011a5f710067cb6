"""Projects of a few lines, built by the real esbuild, and run by the real workerd."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from runtime.javascript.build import BuildFailed, build
from runtime.javascript.bundle import Bundle
from runtime.javascript.plan import Worker
from runtime.javascript.tools import Tools
from tests.javascript.workerd_world import Workerd, plan, running
from wrangler_compat import load_project

DATE = "2026-05-01"
WORKER = "export default { fetch() { return new Response(String(value)) } };\n"
WORKFLOW = 'import { WorkflowEntrypoint } from "cloudflare:workers";\n'


def built(folder: Path, tools: Tools, files: Mapping[str, str | bytes], **config: Any) -> Bundle:
    """The bundle of a project with these files, whose main module is ``src/index.ts`` if nothing else is said."""
    settings = {"name": "app", "main": "src/index.ts", "compatibility_date": DATE, **config}
    for name, content in {"wrangler.json": json.dumps(settings), **files}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    number = sum(1 for _ in folder.glob("out*"))
    return build(load_project(folder, environ={}), tools, folder / f"out{number}")


def code(bundle: Bundle) -> str:
    """The text of the main module."""
    return bundle.modules[0].path.read_text("utf-8")


def failure(folder: Path, tools: Tools, files: Mapping[str, str | bytes], **config: Any) -> BuildFailed:
    """Why the project cannot be built."""
    with pytest.raises(BuildFailed) as failed:
        built(folder, tools, files, **config)
    return failed.value


@contextmanager
def served(folder: Path, tools: Tools, bundle: Bundle) -> Iterator[Workerd]:
    """The bundle of the project in this folder, running."""
    worker = Worker(load_project(folder, environ={}), bundle)
    world = folder / "world"
    with running(tools.workerd, plan(world, worker), world) as workerd:
        yield workerd
