"""Finished instances of a TypeScript Workflow are deleted when their retention ends, by the real command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dev import Dev, dev, eventually
from tests.javascript.e2e.typescript import write_typescript

pytestmark = [pytest.mark.usefixtures("tools"), pytest.mark.timeout(120)]

HOUR = 60 * 60 * 1000
MINUTE = 60 * 1000

CODE = """
import { WorkflowEntrypoint } from "cloudflare:workers";

export class ReportFlow extends WorkflowEntrypoint {
  async run(event, step) {
    await step.do("work", async () => console.log("worked"));
    if (event.payload.fails) throw new Error("it fails");
    return "done";
  }
}

export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== "/keep") return routes(request, env.REPORT_FLOW);
    const { id, retention, ...payload } = await request.json();
    await env.REPORT_FLOW.create({ id, retention, params: payload });
    return Response.json({});
  },
};
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_typescript(tmp_path, CODE, "ReportFlow")


def is_gone(server: Dev, id: str) -> bool:
    answer = server.get(f"/status?id={id}", headers={"accept": "application/json"})
    return answer.status_code == 500 and "instance.not_found" in answer.json()["error"]["message"]


def journals(server: Dev) -> list[Path]:
    return [path for path in server.state.rglob("*.db") if path.name != "catalog.db"]


@pytest.mark.parametrize(
    ("retention", "fails"), [({"successRetention": "1 second"}, False), ({"errorRetention": 1000}, True)]
)
def test_the_server_deletes_it_while_it_runs(project: Path, retention: object, fails: bool) -> None:
    with dev(project, "--no-watch") as server:
        server.json("/keep", "POST", json={"id": "a", "retention": retention, "fails": fails})
        server.printed("worked")

        eventually(lambda: is_gone(server, "a"))

        eventually(lambda: journals(server) == [])
        server.json("/keep", "POST", json={"id": "a"})
        assert server.until("/status?id=a", lambda seen: seen["status"] == "complete")["output"] == "done"
        assert len(journals(server)) == 1, "of the new one, which is kept for 30 days"


def test_what_ends_while_the_server_is_down_is_deleted_at_its_start(project: Path) -> None:
    with dev(project, "--no-watch") as server:
        server.json("/keep", "POST", json={"id": "a", "retention": {"successRetention": "1 hour"}})
        server.until("/status?id=a", lambda seen: seen["status"] == "complete")
        server.stop()

        server.offset(HOUR - MINUTE)
        server.start()
        assert server.json("/status?id=a")["output"] == "done"
        server.kill()

        server.offset(2 * MINUTE)
        mark = len(server.lines)
        server.start()
        assert server.printed("Expired", since=mark) == "  Expired while the server was down: 1 instance, deleted now"
        assert is_gone(server, "a")
