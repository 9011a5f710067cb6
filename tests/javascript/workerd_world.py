"""Projects on a real workerd with a bridge of a few lines: what our configuration makes of a project."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from runtime.javascript.bundle import Bundle, Module
from runtime.javascript.config import arguments, write_config
from runtime.javascript.plan import Plan, Worker
from runtime.javascript.refusals import explained
from wrangler_compat import load_project

NEWEST = "2026-11-17"
NOBODY = "127.0.0.1:9"  # an address that no server has

# Answers for the binding of a Workflow, and passes requests on. A request for "tables" is answered by itself.
BRIDGE = """
import { WorkerEntrypoint } from "cloudflare:workers";
export class WorkflowBinding extends WorkerEntrypoint {
  create(options) { return { id: `${this.ctx.props.workflow}:${options?.id}` }; }
}
export class Hop extends WorkerEntrypoint {}
export default {
  async fetch(request, env) {
    const name = request.headers.get("celld-worker");
    if (name === "tables") return Response.json(env);
    if (name === "host") return env.HOST.fetch("http://host/bind");
    return env[env.FRONTS[name] ?? env.WORKERS[name]].fetch(request);
  },
};
"""


@dataclass(frozen=True, slots=True)
class Workerd:
    """A running workerd."""

    port: int
    output: Path

    def request(self, path: str = "/", worker: str = "app", method: str = "GET", **headers: str) -> httpx.Response:
        """What the worker answers."""
        sent = {"celld-worker": worker} | {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.request(method, f"http://127.0.0.1:{self.port}{path}", headers=sent, timeout=10)

    def json(self, path: str = "/", worker: str = "app") -> Any:
        """The JSON that the worker answers."""
        answer = self.request(path, worker)
        assert answer.status_code == 200, f"{answer.status_code}: {answer.text}\n{self.output.read_text()}"
        return answer.json()


def project(
    folder: Path, code: str, exported: Iterable[str] = (), missing: Iterable[str] = (), **config: Any
) -> Worker:
    """A project of one module, taken as it is. ``exported`` are the names that the module exports."""
    folder.mkdir(parents=True, exist_ok=True)
    main = folder / "index.js"
    main.write_text(code)
    settings = {"name": "app", "main": "index.js", "compatibility_date": "2026-05-01", **config}
    (folder / "wrangler.json").write_text(json.dumps(settings))
    bundle = Bundle(
        folder=folder,
        modules=(Module("index.js", "esModule", main),),
        exports=frozenset({"default", *exported}),
        missing=frozenset(missing),
        inputs=frozenset({main}),
        digest="a digest",
        warnings=(),
    )
    return Worker(load_project(folder, environ={}), bundle)


def plan(folder: Path, *workers: Worker, host: str = NOBODY) -> Plan:
    """The workers and the bridge above."""
    bridge = folder / "bridge"
    bridge.mkdir(parents=True, exist_ok=True)
    (bridge / "bridge.js").write_text(BRIDGE)
    return Plan(workers, "the-token", host, NOBODY, folder / "objects", NEWEST, bridge=bridge)


@contextmanager
def running(workerd: Path, planned: Plan, folder: Path) -> Iterator[Workerd]:
    """Run the plan; raise AssertionError with workerd's own words when it does not start."""
    config, output = folder / "config.capnp", folder / "output"
    write_config(planned, config)
    read, write = os.pipe()
    command = [str(workerd), "serve", str(config), *arguments(planned), f"--control-fd={write}"]
    with output.open("w") as out, os.fdopen(read) as control:
        process = subprocess.Popen(command, stdout=out, stderr=out, pass_fds=[write], cwd=folder)
        os.close(write)
        try:
            event = control.readline()
            assert event, output.read_text()
            yield Workerd(json.loads(event)["port"], output)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()


def refusals(workerd: Path, planned: Plan, folder: Path) -> list[str]:
    """Why workerd does not start with the plan, as a person is told."""
    with pytest.raises(AssertionError) as refused, running(workerd, planned, folder):
        pass
    lines = str(refused.value).splitlines()
    return [explained(json.loads(line)["message"]) for line in lines if line.startswith("{")]
