"""Small TypeScript projects for the real command."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from textwrap import dedent
from typing import Any

from tests.dev import Dev, eventually, workerds, workflow

# What every Worker here offers beside its own routes: instances are created, looked at and sent events over HTTP.
ROUTES = """
async function routes(request: Request, workflow: any): Promise<Response | undefined> {
  const url = new URL(request.url);
  const id = url.searchParams.get("id") ?? undefined;
  switch (url.pathname) {
    case "/create":
      return Response.json({ id: (await workflow.create({ id, params: await params(request) })).id });
    case "/status":
      return Response.json(await (await workflow.get(id)).status());
    case "/send":
      await (await workflow.get(id)).sendEvent({ type: "go", payload: await params(request) });
      return Response.json({});
    case "/pause": case "/resume": case "/terminate": case "/restart": {
      const handle: any = await workflow.get(id);
      await handle[url.pathname.slice(1)](await params(request));
      return Response.json({});
    }
  }
}

async function params(request: Request): Promise<any> {
  return request.method === "POST" ? await request.json() : undefined;
}
"""


def write_typescript(folder: Path, code: str, *workflows: str, **config: Any) -> Path:
    """Make a project from its Worker's text and the names of its Workflow classes, as `tests.dev.write_project`."""
    settings: dict[str, Any] = {
        "name": "worker",
        "main": "src/index.ts",
        "compatibility_date": "2026-05-01",
        "workflows": [workflow(class_name) for class_name in workflows],
    }
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "wrangler.jsonc").write_text(json.dumps({**settings, **config}, indent=2))
    write_code(folder, code)
    return folder


def write_code(folder: Path, code: str) -> None:
    """Write the Worker's code (anew)."""
    (folder / "src" / "index.ts").write_text(dedent(code) + ROUTES)


def the_workerd(server: Dev) -> int:
    """The one workerd that runs."""
    assert server.process is not None
    host = server.process.pid
    eventually(lambda: len(workerds(host)) == 1)
    return workerds(host)[0]


def kill(pid: int) -> None:
    """kill -9, and wait until nothing of the process is left but perhaps its status."""
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not alive(pid))


def alive(pid: int) -> bool:
    """Whether a process does anything any more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
