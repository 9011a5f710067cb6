"""kill -9 amid whatever an instance does: it goes on by itself, without a request, and does nothing twice.

The official local engine never takes such an instance up again by itself.
"""

from __future__ import annotations

import itertools
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.crash.recorder import recorder
from tests.dev import Dev, dev, eventually, workerds, write_project

pytestmark = [pytest.mark.usefixtures("tools"), pytest.mark.timeout(120)]

CODE = """
import { WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";

const STAY = 1500;

export class Killed extends WorkflowEntrypoint {
  async run(event, step) {
    const note = async (line) => void (await fetch(this.env.NOTES, { method: "POST", body: `${line}\\n` }));
    await step.do("first", () => note("first"));
    switch (event.payload.amid) {
      case "sleep":
        await step.sleep("sleep", STAY);
        break;
      case "step":
        await step.do("long", { retries: { limit: 2, delay: 50 } }, async ({ attempt }) => {
          await note(`long ${attempt}`);
          await scheduler.wait(STAY);
        });
        break;
      case "wait":
        await step.waitForEvent("wait", { type: "go", timeout: "1 minute" });
        break;
      case "delay":
        await step.do("flaky", { retries: { limit: 3, delay: STAY, backoff: "constant" } }, async ({ attempt }) => {
          await note(`flaky ${attempt}`);
          if (attempt < 2) throw new Error("flaky");
        });
        break;
      case "code between steps":
        await note("between");
        await scheduler.wait(STAY);
        break;
    }
    await step.do("last", () => note("last"));
  }
}

export default class extends WorkerEntrypoint {
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/create") {
      await this.env.KILLED.create({ id: "it", params: { amid: searchParams.get("amid") } });
      return Response.json(true);
    }
    const instance = await this.env.KILLED.get("it");
    if (pathname === "/send") await instance.sendEvent({ type: "go" });
    return Response.json(await instance.status());
  }
}
"""

# What is noted before the kill, and after it.
AMID = {
    "sleep": (["first"], ["last"]),
    "step": (["first", "long 1"], ["long 2", "last"]),
    "wait": (["first"], ["last"]),
    "delay": (["first", "flaky 1"], ["flaky 2", "last"]),
    "code between steps": (["first", "between"], ["between", "last"]),  # code outside steps is repeated
}
AT_REST = ("sleep", "wait", "delay")


@contextmanager
def killed_project(folder: Path) -> Iterator[tuple[Dev, Path]]:
    """The project, served, and the file of what it notes."""
    notes = folder / "notes"
    with recorder(notes) as url:
        form = {"main": "src/main.js", "compatibility_flags": []}
        project = write_project(folder / "project", CODE, "Killed", **form, vars={"NOTES": url})
        with dev(project, "--no-watch", "--hibernate-after", "0.1") as server:
            yield server, notes


def kill(server: Dev, victim: str) -> None:
    """kill -9 workerd, the host, or both; a host is started again."""
    assert server.process is not None
    if victim != "host":
        for pid in workerds(server.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    if victim != "workerd":
        server.kill()
        server.start()


@pytest.mark.parametrize(
    ("amid", "victim"), [*itertools.product(AMID, ["host", "workerd"]), ("step", "both"), ("wait", "both")]
)
def test_an_instance_goes_on_after_a_kill_amid(amid: str, victim: str, tmp_path: Path) -> None:
    with killed_project(tmp_path) as (server, notes):
        server.get("/create", params={"amid": amid})
        before, after = AMID[amid]
        eventually(lambda: notes.read_text().splitlines() == before)
        if amid in AT_REST:
            server.until("/", lambda seen: seen["status"] == "waiting")

        kill(server, victim)
        if amid == "wait":
            eventually(lambda: server.get("/send").is_success)  # while there is no workerd, requests get 503

        eventually(lambda: notes.read_text().splitlines()[-1:] == ["last"])
        assert notes.read_text().splitlines() == before + after
        eventually(lambda: server.json("/")["status"] == "complete")
