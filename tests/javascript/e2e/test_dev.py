"""The real command on TypeScript projects: requests, workflows, and what survives which death."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from tests.dev import Dev, dev, eventually
from tests.javascript.e2e.typescript import alive, kill, the_workerd, write_typescript

pytestmark = [pytest.mark.usefixtures("tools"), pytest.mark.timeout(120)]

CODE = """
import { WorkflowEntrypoint, WorkflowEvent, WorkflowStep } from "cloudflare:workers";

interface Env { REPORT_FLOW: Workflow }

let ran: string[] = [];

export class ReportFlow extends WorkflowEntrypoint<Env, { name: string }> {
  async run(event: WorkflowEvent<{ name: string }>, step: WorkflowStep) {
    const first = await step.do("first", async () => {
      ran.push("first");
      return { at: new Date(0), by: event.payload.name };
    });
    await step.sleep("a moment", "1 second");
    const go = await step.waitForEvent("go", { type: "go", timeout: "1 hour" });
    const last = await step.do("last", async () => { ran.push("last"); return go.payload; });
    return { first, last };
  }
}

export default {
  async fetch(request: Request, env: Env) {
    if (new URL(request.url).pathname === "/ran") return Response.json(ran);
    return (await routes(request, env.REPORT_FLOW)) ?? new Response("hello");
  },
};
"""


def answers(server: Dev) -> None:
    """Wait until the Worker answers; what was on its way to a workerd that died fails with it."""
    eventually(lambda: server.get("/").is_success)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_typescript(tmp_path / "reports", CODE, "ReportFlow")


def test_a_request_is_answered_and_a_workflow_runs_to_its_end(project: Path) -> None:
    with dev(project) as server:
        assert server.get("/").text == "hello"
        server.json("/create?id=a", "POST", json={"name": "ada"})
        server.until("/status?id=a", lambda seen: seen["status"] == "waiting")
        server.json("/send?id=a", "POST", json={"n": 1})

        seen = server.until("/status?id=a", lambda seen: seen["status"] == "complete")

        assert seen["output"] == {"first": {"at": "1970-01-01T00:00:00.000Z", "by": "ada"}, "last": {"n": 1}}
        assert server.json("/ran") == ["first", "last"]
        assert server.stop() == 0


@pytest.mark.parametrize("victims", [("host",), ("workerd",), ("workerd", "host")])
def test_a_waiting_instance_goes_on_after_kill_9(project: Path, victims: tuple[str, ...]) -> None:
    with dev(project) as server:
        server.json("/create?id=a", "POST", json={"name": "ada"})
        server.until("/status?id=a", lambda seen: seen["status"] == "waiting")
        pid = the_workerd(server)
        for victim in victims:
            if victim == "host":
                server.kill()
            else:
                kill(pid)
        if "host" in victims:
            eventually(lambda: not alive(pid))
            server.start()
        answers(server)
        server.json("/send?id=a", "POST", json={"n": 2})

        seen = server.until("/status?id=a", lambda seen: seen["status"] == "complete")

        assert seen["output"]["last"] == {"n": 2}
        assert server.json("/ran") == ["last"], "what was done before is not done again"


def test_a_step_that_workerd_died_in_runs_again_and_the_rest_does_not(tmp_path: Path) -> None:
    code = """
    import { WorkflowEntrypoint } from "cloudflare:workers";

    export class ReportFlow extends WorkflowEntrypoint {
      async run(event, step) {
        await step.do("mark", async () => { console.log("mark"); });
        return await step.do("slow", async ({ attempt }) => {
          console.log("slow begins");
          await scheduler.wait(attempt === 1 ? 60_000 : 1);
          return attempt;
        });
      }
    }

    export default { fetch: async (request, env) => (await routes(request, env.REPORT_FLOW)) ?? new Response("ok") };
    """
    project = write_typescript(tmp_path / "reports", code, "ReportFlow")
    with dev(project) as server:
        server.json("/create?id=a")
        server.printed("slow begins")
        kill(the_workerd(server))
        answers(server)

        seen = server.until("/status?id=a", lambda seen: seen["status"] == "complete")

        assert seen["output"] == 2
        assert sum(line.endswith("mark") for line in server.lines) == 1
        assert any("workerd was ended by signal 9" in line for line in server.lines)


def test_after_hibernation_the_run_goes_on_by_replay(project: Path) -> None:
    with dev(project, "--hibernate-after", "0.1") as server:
        server.json("/create?id=a", "POST", json={"name": "ada"})
        server.until("/status?id=a", lambda seen: seen["status"] == "waiting")
        server.json("/send?id=a", "POST", json={"n": 3})
        seen = server.until("/status?id=a", lambda seen: seen["status"] == "complete")
        assert seen["output"]["last"] == {"n": 3}
        assert server.json("/ran") == ["first", "last"]


def test_code_that_does_not_build_is_shown_with_its_line_and_served_when_it_is_mended(project: Path) -> None:
    good = (project / "src" / "index.ts").read_text()
    (project / "src" / "index.ts").write_text("export default {\n  fetch() { return new Respo nse(); },\n};\n")
    with dev(project) as server:
        server.printed("src/index.ts:2:")
        answer = server.get("/")
        assert answer.status_code == 500
        assert "index.ts:2" in answer.text

        (project / "src" / "index.ts").write_text(good)
        server.printed("Reloaded")

        assert server.get("/").text == "hello"


def test_without_watch_code_that_does_not_build_ends_the_command(project: Path) -> None:
    (project / "src" / "index.ts").write_text("export default {")
    server = Dev(project, ["--no-watch"], {})
    with closing(server):
        server.launch()
        assert server.exited() == 1
    assert any("The code does not load (src/index.ts:1)" in line for line in server.lines)


def test_an_edit_is_served_and_running_instances_go_on_with_the_new_code(project: Path) -> None:
    with dev(project) as server:
        server.json("/create?id=a", "POST", json={"name": "ada"})
        server.until("/status?id=a", lambda seen: seen["status"] == "waiting")
        text = (project / "src" / "index.ts").read_text()
        (project / "src" / "index.ts").write_text(
            text.replace('"hello"', '"new"').replace("return go.payload", 'return "new"')
        )
        server.printed("Reloaded")
        assert server.get("/").text == "new"

        server.json("/send?id=a", "POST", json={})
        seen = server.until("/status?id=a", lambda seen: seen["status"] == "complete")

        assert seen["output"]["last"] == "new"
        assert seen["output"]["first"]["by"] == "ada"


def test_a_new_file_that_goes_along_by_a_rule_is_served(tmp_path: Path) -> None:
    code = """
    export default {
      async fetch(request: Request) {
        const page = `./pages${new URL(request.url).pathname}.txt`;
        return new Response(await import(page).then((module) => module.default, () => "no such page"));
      },
    };
    """
    with dev(write_typescript(tmp_path, code, find_additional_modules=True)) as server:
        assert server.get("/new").text == "no such page"
        (tmp_path / "src" / "pages").mkdir()
        (tmp_path / "src" / "pages" / "new.txt").write_text("a new page")
        server.printed("Reloaded")
        assert server.get("/new").text == "a new page"


def test_an_edit_that_does_not_build_leaves_the_old_code_serving(project: Path) -> None:
    with dev(project) as server:
        (project / "src" / "index.ts").write_text("export default {")
        server.printed("src/index.ts:1")
        assert server.get("/").text == "hello"


def test_a_stuck_step_is_killed_and_everything_else_goes_on(tmp_path: Path) -> None:
    code = """
    import { WorkflowEntrypoint } from "cloudflare:workers";

    export class ReportFlow extends WorkflowEntrypoint {
      async run(event, step) {
        if (event.payload.stuck) {
          const config = { timeout: "1 second", retries: { limit: 0, delay: 0 } };
          return await step.do("stuck", config, async () => { for (;;); });
        }
        await step.do("before", async () => 1);
        return await step.waitForEvent("go", { type: "go" });
      }
    }

    export default { fetch: async (request, env) => (await routes(request, env.REPORT_FLOW)) ?? new Response("ok") };
    """
    project = write_typescript(tmp_path / "reports", code, "ReportFlow")
    with dev(project) as server:
        server.json("/create?id=good", "POST", json={})
        server.until("/status?id=good", lambda seen: seen["status"] == "waiting")
        server.json("/create?id=bad", "POST", json={"stuck": True})
        server.printed("does not give its thread back")
        answers(server)

        seen = server.until("/status?id=bad", lambda seen: seen["status"] == "errored")
        assert "timed out" in json.dumps(seen["error"])
        server.json("/send?id=good", "POST", json={"n": 1})
        server.until("/status?id=good", lambda seen: seen["status"] == "complete")
