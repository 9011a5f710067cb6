"""More than Workflows: projects started together, Cron Triggers, the inspector, what is shown at start."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.dev import Dev, dev
from tests.javascript.e2e.typescript import write_typescript

pytestmark = [pytest.mark.usefixtures("tools"), pytest.mark.timeout(120)]

SHOP = """
export default {
  async fetch(request, env) {
    const found = await routes(request, env.REPORT_FLOW);
    if (found) return found;
    return new Response(`shop, and ${await (await env.API.fetch("http://api/")).text()}`);
  },
};
"""

API = """
import { WorkflowEntrypoint } from "cloudflare:workers";

export class ReportFlow extends WorkflowEntrypoint {
  async run(event, step) {
    return await step.do("greet", async () => `hello ${event.payload.name}`);
  }
}

export default { fetch: () => new Response("api") };
"""

CRON = """
export default {
  fetch: () => new Response("hello"),
  async scheduled(controller) {
    if (controller.cron === "bad") throw new TypeError("no cron");
    console.log("fired", controller.cron, new Date(controller.scheduledTime).toISOString());
  },
};
"""


def test_projects_that_are_started_together_reach_each_other(tmp_path: Path) -> None:
    foreign = {"name": "report-flow", "binding": "REPORT_FLOW", "class_name": "ReportFlow", "script_name": "api"}
    services = [{"binding": "API", "service": "api"}]
    shop = write_typescript(tmp_path / "shop", SHOP, name="shop", workflows=[foreign], services=services)
    api = write_typescript(tmp_path / "api", API, "ReportFlow", name="api")
    with dev(shop, others=[api]) as server:
        assert server.get("/").text == "shop, and api"
        server.json("/create?id=a", "POST", json={"name": "ada"})
        seen = server.until("/status?id=a", lambda seen: seen["status"] == "complete")
        assert seen["output"] == "hello ada"

        (api / "src" / "index.ts").write_text(API.replace('"api"', '"new api"'))
        server.printed("Reloaded")
        assert server.get("/").text == "shop, and new api"


def test_what_a_bound_worker_throws_is_shown_with_its_own_stack_once(tmp_path: Path) -> None:
    services = [{"binding": "API", "service": "api"}]
    code = 'export default { fetch: (_: any, env: any) => env.API.fetch("http://api/") };'
    shop = write_typescript(tmp_path / "shop", code, name="shop", services=services)
    code = """
    function deep(): never { throw new RangeError("too far"); }
    export default { fetch: async () => deep() };
    """
    api = write_typescript(tmp_path / "api", code, name="api")
    with dev(shop, "--no-watch", others=[api]) as server:
        assert server.get("/").status_code == 500
        server.printed("A request failed in the Worker")
        server.printed("at deep")
        told = [line for line in server.lines if "Uncaught" in line or "    at " in line]
        assert told[0].endswith("Uncaught in the Worker api: RangeError: too far")
        assert f"at deep ({api}/src/index.ts:2:" in told[1]
        assert sum("Uncaught" in line for line in told) == sum("at deep" in line for line in told) == 1


def test_what_is_not_started_with_it_is_named(tmp_path: Path) -> None:
    services = [{"binding": "API", "service": "api"}]
    shop = write_typescript(tmp_path / "shop", SHOP, name="shop", workflows=[], services=services)
    with dev(shop, "--no-watch") as server:
        server.printed('the Worker "api" is not started')


@pytest.fixture
def cron(tmp_path: Path) -> Path:
    return write_typescript(tmp_path / "cron", CRON, triggers={"crons": ["*/5 * * * *"]})


def fire(server: Dev, query: str) -> tuple[int, str]:
    answer = server.get(f"/cdn-cgi/handler/scheduled?{query}")
    return answer.status_code, answer.text


def test_a_cron_trigger_is_shown_and_can_be_fired_by_hand(cron: Path) -> None:
    with dev(cron, "--no-watch") as server:
        server.printed("Cron Trigger */5 * * * * of worker: next ")

        assert fire(server, "cron=*+*+*+*+*&time=1700000000000") == (200, "ok")
        server.printed("fired * * * * * 2023-11-14T22:13:20.000Z")
        assert fire(server, "cron=bad") == (500, "exception")
        server.printed("The scheduled handler of worker failed: TypeError: no cron")
        server.printed("src/index.ts:5")


def test_the_inspectors_address_is_printed(cron: Path) -> None:
    with dev(cron, "--no-watch", "--inspect") as server:
        line = server.printed("Inspector on ")
        assert re.search(r"on 127\.0\.0\.1:\d+", line)


# Without and with the flag new_module_registry, by which workerd names the code differently in stacks.
both_registries = pytest.mark.parametrize("date", ["2026-05-01", "2026-11-17"])


@both_registries
def test_code_that_throws_while_it_is_loaded_is_shown_with_its_line(tmp_path: Path, date: str) -> None:
    code = "const x = undefined;\nx.y;\nexport default { fetch() {} };\n"
    project = write_typescript(tmp_path / "w", code, compatibility_date=date)
    with dev(project) as server:
        server.printed("The code does not load (src/index.ts:2)")
        assert "index.ts:2" in server.get("/").text


def test_a_flag_that_workerd_does_not_know_is_to_be_corrected_before_the_next_start(tmp_path: Path) -> None:
    project = write_typescript(tmp_path / "w", "export default {};", compatibility_flags=["nodejs_foo"])
    with dev(project) as server:
        server.printed('this workerd knows no flag "nodejs_foo"')
        server.printed("Correct it and start celld-py again")
        assert "Correct it and start celld-py again" in server.get("/").text
        assert not any("loaded again" in line for line in server.lines)


@both_registries
def test_an_error_of_a_request_is_shown_with_its_source(tmp_path: Path, date: str) -> None:
    code = """
    function inner(): never {
      throw new RangeError("too far");
    }
    export default { fetch: async () => inner() };
    """
    with dev(write_typescript(tmp_path / "w", code, compatibility_date=date), "--no-watch") as server:
        answer = server.get("/", headers={"accept": "application/json"})

        assert answer.status_code == 500
        error = answer.json()["error"]
        assert (error["name"], error["file"], error["line"]) == ("RangeError", "src/index.ts", 3)
        server.printed("A request failed in the Worker (src/index.ts:3)")
