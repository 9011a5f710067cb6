"""What can be done to instances of a TypeScript Workflow, by the real command."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.dev import Dev, dev, eventually, workflow
from tests.javascript.e2e.typescript import write_code, write_typescript

pytestmark = [pytest.mark.usefixtures("tools"), pytest.mark.timeout(120)]

CODE = """
import { WorkflowEntrypoint } from "cloudflare:workers";

let released = false;
const NO_RETRIES = { retries: { limit: 0, delay: 0 } };

export class ReportFlow extends WorkflowEntrypoint {
  async run(event, step) {
    const { fails, waits = true, slow } = event.payload;
    const first = await step.do("first", async () => crypto.randomUUID(), {
      rollback: async ({ output }) => console.log("undone", output),
    });
    const second = await step.do("second", NO_RETRIES, async () => {
      if (slow) console.log("in the slow step");
      while (slow && !released) await scheduler.wait(10);
      return crypto.randomUUID();
    });
    if (waits) await step.waitForEvent("go", { type: "go" });
    if (fails) throw new Error("it fails");
    return { first, second, schedule: event.schedule };
  }
}

export default {
  async fetch(request, env) {
    released ||= new URL(request.url).pathname === "/release";
    return (await routes(request, env.REPORT_FLOW)) ?? new Response("hello");
  },
};
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_typescript(tmp_path / "reports", CODE, "ReportFlow")


@pytest.fixture
def server(project: Path) -> Iterator[Dev]:
    with dev(project, "--no-watch", "--hibernate-after", "0.1") as server:
        yield server


def create(server: Dev, id: str = "a", **params: Any) -> None:
    server.json(f"/create?id={id}", "POST", json=params)


def reaches(server: Dev, status: str, id: str = "a") -> Any:
    return server.until(f"/status?id={id}", lambda seen: seen["status"] == status)


def act(server: Dev, what: str, id: str = "a", /, **params: Any) -> None:
    server.json(f"/{what}?id={id}", "POST", json=params)


def test_pause_and_resume(server: Dev) -> None:
    create(server)
    reaches(server, "waiting")
    act(server, "pause")
    reaches(server, "paused")
    act(server, "send", n=1)
    act(server, "resume")

    reaches(server, "complete")


def test_a_pause_waits_for_the_running_step(server: Dev) -> None:
    create(server, slow=True, waits=False)
    server.printed("in the slow step")
    act(server, "pause")
    reaches(server, "waitingForPause")
    server.get("/release").raise_for_status()
    reaches(server, "paused")
    act(server, "resume")
    reaches(server, "complete")


def test_terminate_ends_it_and_with_rollback_undoes_it_first(server: Dev) -> None:
    create(server, "plain")
    create(server, "undone")
    for id in ("plain", "undone"):
        reaches(server, "waiting", id)
    act(server, "terminate", "plain")
    act(server, "terminate", "undone", rollback=True)

    reaches(server, "terminated", "plain")
    reaches(server, "terminated", "undone")
    assert sum(" undone " in line for line in server.lines) == 1


def test_a_failed_instance_is_rolled_back_after_hibernation_too(server: Dev) -> None:
    create(server, fails=True)
    reaches(server, "waiting")
    act(server, "send")

    seen = reaches(server, "errored")

    assert seen["error"] == {"name": "Error", "message": "it fails"}
    server.printed("undone")
    assert any("src/index.ts:" in line for line in server.lines), "the stack names the source"


def test_restart_from_a_step_keeps_what_was_before_it(server: Dev) -> None:
    create(server, waits=False)
    before = reaches(server, "complete")["output"]
    act(server, "restart", "a", **{"from": {"name": "second", "count": 1, "type": "do"}})
    after = server.until("/status?id=a", lambda seen: seen["status"] == "complete" and seen["output"] != before)

    assert after["output"]["first"] == before["first"]
    assert after["output"]["second"] != before["second"]


def test_a_workflow_with_a_limit_runs_one_after_the_other(tmp_path: Path) -> None:
    declared = {**workflow("ReportFlow"), "concurrency": {"limit": 1}}
    project = write_typescript(tmp_path / "reports", CODE, workflows=[declared])
    with dev(project, "--no-watch") as server:
        create(server, "one", slow=True, waits=False)
        server.printed("in the slow step")
        create(server, "two", slow=True, waits=False)
        assert server.json("/status?id=two")["status"] == "queued"
        server.get("/release").raise_for_status()
        reaches(server, "complete", "one")
        reaches(server, "complete", "two")


def test_a_schedule_makes_instances_that_know_it(tmp_path: Path) -> None:
    declared = {**workflow("ReportFlow"), "schedules": ["* * * * *"]}
    project = write_typescript(
        tmp_path / "reports", CODE.replace("waits = true", "waits = false"), workflows=[declared]
    )
    with dev(project, "--no-watch", "--log-format", "json") as server:
        server.stop()
        server.offset(60_000 - round(time.time() * 1000) % 60_000 - 5_000)
        mark = len(server.lines)
        server.start()
        at = json.loads(server.printed('"kind": "schedule"', since=mark))["next"]
        look = f"/status?id={quote(f'* * * * *-{at}')}"
        eventually(lambda: server.get(look).is_success)

        seen = server.until(look, lambda seen: seen["status"] == "complete")

        assert seen["output"]["schedule"] == {"cron": "* * * * *", "scheduledTime": at}


def test_a_changed_workflow_is_told_with_the_place_of_the_call(project: Path) -> None:
    with dev(project, "--hibernate-after", "0.1") as server:
        create(server)
        reaches(server, "waiting")
        write_code(project, CODE.replace('step.do("second"', 'step.do("other"'))
        server.printed("Reloaded")
        act(server, "send")

        server.printed("the replay does not fit the history")
        server.printed('the code called step.do("other") number 1')
        reaches(server, "complete")


def test_strict_replay_ends_it_instead(project: Path) -> None:
    with dev(project, "--strict-replay", "--hibernate-after", "0.1") as server:
        create(server)
        reaches(server, "waiting")
        write_code(project, CODE.replace('step.do("second"', 'step.do("other"'))
        server.printed("Reloaded")
        act(server, "send")

        seen = reaches(server, "errored")

        assert seen["error"]["message"].startswith("WorkflowFatalError: The replay does not fit the history")


def test_replay_every_step_gives_the_same(project: Path) -> None:
    with dev(project, "--no-watch", "--replay-every-step") as server:
        create(server, waits=False)
        seen = reaches(server, "complete")
        assert set(seen["output"]) >= {"first", "second"}


def test_a_result_that_cannot_be_kept_ends_the_instance(tmp_path: Path) -> None:
    code = """
    import { WorkflowEntrypoint } from "cloudflare:workers";
    export class ReportFlow extends WorkflowEntrypoint {
      async run(event, step) {
        try {
          await step.do("bad", async () => ({ f: () => 1 }));
        } catch {}
      }
    }
    export default { fetch: async (request, env) => (await routes(request, env.REPORT_FLOW)) ?? new Response("hello") };
    """
    with dev(write_typescript(tmp_path / "reports", code, "ReportFlow"), "--no-watch") as server:
        create(server)
        seen = reaches(server, "errored")
        assert seen["error"] == {
            "name": "WorkflowFatalError",
            "message": 'The execution of the Workflow instance was terminated, as the step "bad" returned a value '
            "which is not serialisable",
        }


def test_a_race_with_a_timer_of_its_own_is_won_by_the_timer_past_the_grace_period(tmp_path: Path) -> None:
    code = """
    import { WorkflowEntrypoint } from "cloudflare:workers";
    export class ReportFlow extends WorkflowEntrypoint {
      async run(event, step) {
        const timer = new Promise((resolve) => setTimeout(resolve, 2000, "timer"));
        const won = await Promise.race([step.sleep("long", "1 year").then(() => "sleep"), timer]);
        return await step.do("tell", async () => won);
      }
    }
    export default { fetch: async (request, env) => (await routes(request, env.REPORT_FLOW)) ?? new Response("hello") };
    """
    with dev(write_typescript(tmp_path / "reports", code, "ReportFlow"), "--hibernate-after", "0.1") as server:
        create(server)
        assert reaches(server, "complete")["output"] == "timer"
