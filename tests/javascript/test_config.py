"""What a project's code finds on ``env`` and ``ctx.exports``, on the real workerd."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from runtime.javascript.config import arguments, write_config
from runtime.javascript.tools import Tools
from tests.javascript.workerd_world import plan, project, refusals, running

ENV = "export default { fetch: (request, env) => Response.json(env) };"
FLOW = 'import { WorkflowEntrypoint } from "cloudflare:workers"; export class Flow extends WorkflowEntrypoint {}\n'
NAMES = """export default { fetch(_, env, ctx) {
  const theirs = Object.keys(env).filter((name) => !name.startsWith("CELLD:")); // the entry takes ours away
  return Response.json([theirs, Object.keys(ctx.exports)]);
} };"""
ORDER = {"binding": "ORDER", "name": "order", "class_name": "Flow"}


def test_vars_are_text_or_what_json_makes_of_them(tools: Tools, tmp_path: Path) -> None:
    values = {
        "TEXT": 'a "quoted" \\ line\nand é, \u2028, 😀, \x00 and \x7f',
        "NUMBER": 5,
        "YES": True,
        "NOTHING": None,
        "OBJECT": {"nested": [1, "two"], "lone": "\ud800"},
    }
    planned = plan(tmp_path, project(tmp_path / "app", ENV, vars=values))

    with running(tools.workerd, planned, tmp_path) as workerd:
        assert workerd.json() == values


def test_secrets_are_on_env_beside_the_vars(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / ".dev.vars").write_text('KEY="from the file"\nBOTH=secret\n')
    planned = plan(tmp_path, project(tmp_path, ENV, vars={"BOTH": "var", "PLAIN": "var"}))

    with running(tools.workerd, planned, tmp_path) as workerd:
        assert workerd.json() == {"KEY": "from the file", "BOTH": "secret", "PLAIN": "var"}


def test_the_file_with_the_secrets_is_for_its_owner_only(tmp_path: Path) -> None:
    write_config(plan(tmp_path, project(tmp_path, ENV)), tmp_path / "config.capnp")

    assert (tmp_path / "config.capnp").stat().st_mode & 0o777 == 0o600


def test_paths_may_hold_anything(tools: Tools, tmp_path: Path) -> None:
    folder = tmp_path / 'a "folder" \\ with é'

    with running(tools.workerd, plan(folder, project(folder, ENV, vars={"A": "1"})), tmp_path) as workerd:
        assert workerd.json() == {"A": "1"}


def test_a_workflow_binding_is_the_runtimes_own_with_the_bridge_behind_it(tools: Tools, tmp_path: Path) -> None:
    code = FLOW + (
        "export default { async fetch(_, env) {"
        "  const made = await env.ORDER.create({ id: 'a' });"
        "  return Response.json([env.ORDER.constructor.name, made.id]);"
        "} };"
    )
    planned = plan(tmp_path, project(tmp_path, code, ["Flow"], workflows=[ORDER]))

    with running(tools.workerd, planned, tmp_path) as workerd:
        assert workerd.json() == ["WorkflowImpl", "order:a"]


def test_an_exported_workflow_is_on_ctx_exports(tools: Tools, tmp_path: Path) -> None:
    code = FLOW + (
        "export default { async fetch(_, env, ctx) {"
        "  const ids = [await ctx.exports.Flow.create({ id: 'a' }), await env.ORDER.create({ id: 'b' })];"
        "  return Response.json(ids.map((made) => made.id));"
        "} };"
    )
    exports = {"Flow": {"type": "workflow", "name": "order"}}
    planned = plan(tmp_path, project(tmp_path, code, ["Flow"], workflows=[ORDER], exports=exports))

    with running(tools.workerd, planned, tmp_path) as workerd:
        assert workerd.json() == ["order:a", "order:b"]


def test_a_workflow_that_is_only_bound_is_not_on_ctx_exports(tools: Tools, tmp_path: Path) -> None:
    planned = plan(tmp_path, project(tmp_path, FLOW + NAMES, ["Flow"], workflows=[ORDER]))

    with running(tools.workerd, planned, tmp_path) as workerd:
        assert workerd.json() == [["ORDER"], ["default"]]


def test_a_workflow_without_its_class_does_not_keep_the_others_from_running(tools: Tools, tmp_path: Path) -> None:
    gone = {"binding": "GONE", "name": "gone", "class_name": "Gone"}
    exports = {"Never": {"type": "workflow", "name": "never"}}
    worker = project(tmp_path, FLOW + NAMES, ["Flow"], ["Gone", "Never"], workflows=[ORDER, gone], exports=exports)

    with running(tools.workerd, plan(tmp_path, worker), tmp_path) as workerd:
        assert workerd.json() == [["ORDER", "GONE"], ["default"]]
        assert list(workerd.json(worker="tables")["WORKFLOWS"]) == ["order"]


def test_a_workflow_of_another_project_of_the_start_is_bound(tools: Tools, tmp_path: Path) -> None:
    code = "export default { fetch: async (_, env) => Response.json((await env.THEIRS.create({ id: 'a' })).id) };"
    theirs = {"binding": "THEIRS", "name": "order", "class_name": "Flow", "script_name": "shop"}
    absent = {"binding": "ABSENT", "name": "gone", "class_name": "Flow", "script_name": "shop"}
    app = project(tmp_path / "app", code, workflows=[theirs, absent])
    shop = project(tmp_path / "shop", FLOW + NAMES, ["Flow"], name="shop", workflows=[ORDER])

    with running(tools.workerd, plan(tmp_path, app, shop), tmp_path) as workerd:
        assert workerd.json() == "order:a"
        assert workerd.json(worker="shop") == [["ORDER"], ["default"]]


def test_the_bridge_is_told_which_of_its_bindings_leads_where(tools: Tools, tmp_path: Path) -> None:
    twice = {"binding": "AGAIN", "name": "again", "class_name": "Flow"}
    (tmp_path / "public").mkdir()
    app = project(tmp_path, FLOW + ENV, ["Flow"], workflows=[ORDER, twice], assets={"directory": "public"})
    shop = project(tmp_path / "shop", ENV, name="shop")

    with running(tools.workerd, plan(tmp_path, app, shop), tmp_path) as workerd:
        tables = workerd.json(worker="tables")

    reached = {"class": "WF_0_Flow", "user": "USER_0"}
    assert tables["WORKERS"] == {"app": "USER_0", "shop": "USER_1"}
    assert tables["FRONTS"] == {"app": "FRONT_0"}
    assert tables["WORKFLOWS"] == {"order": reached, "again": reached}
    assert tables["TOKEN"] == "the-token"
    assert {"HOST", "USER_0", "USER_1", "FRONT_0", "WF_0_Flow"} <= set(tables)


class Echo(BaseHTTPRequestHandler):
    """Answers with what it was asked."""

    def do_GET(self) -> None:
        body = json.dumps({"path": self.path, "token": self.headers["celld-token"]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def echo() -> Any:
    server = HTTPServer(("127.0.0.1", 0), Echo)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_host_is_reached_with_the_token(echo: str, tools: Tools, tmp_path: Path) -> None:
    with running(tools.workerd, plan(tmp_path, project(tmp_path, ENV), host=echo), tmp_path) as workerd:
        assert workerd.json(worker="host") == {"path": "/bind", "token": "the-token"}


def test_fetch_reaches_other_servers_on_this_machine(echo: str, tools: Tools, tmp_path: Path) -> None:
    code = "export default { fetch: (_, env) => fetch(`http://${env.SERVER}/hello`) };"

    with running(tools.workerd, plan(tmp_path, project(tmp_path, code, vars={"SERVER": echo})), tmp_path) as workerd:
        assert workerd.json() == {"path": "/hello", "token": None}


@pytest.mark.parametrize("flags", [[], ["nodejs_als"], ["nodejs_compat"], ["no_nodejs_als"]])
@pytest.mark.parametrize("date", ["2025-01-01", "2026-11-17", "2999-01-01"])
def test_async_context_is_there_whatever_the_date_and_flags(
    date: str, flags: list[str], tools: Tools, tmp_path: Path
) -> None:
    code = f'import {{ AsyncLocalStorage }} from "node:async_hooks"; new AsyncLocalStorage();\n{ENV}'
    worker = project(tmp_path, code, compatibility_date=date, compatibility_flags=flags)

    with running(tools.workerd, plan(tmp_path, worker), tmp_path) as workerd:
        assert workerd.json() == {}


def test_flags_reach_workerd(tools: Tools, tmp_path: Path) -> None:
    code = "export default { fetch: (_, env, ctx) => Response.json(Object.keys(ctx.exports ?? {})) };"
    worker = project(tmp_path, code, compatibility_date="2025-01-01", compatibility_flags=["enable_ctx_exports"])

    with running(tools.workerd, plan(tmp_path, worker), tmp_path) as workerd:
        assert workerd.json() == ["default"]


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["no_such"], 'compatibility_flags: this workerd knows no flag "no_such". Remove it, or correct its name.'),
        (["nodejs_als", "nodejs_als"], 'compatibility_flags: "nodejs_als" is listed twice. Remove one.'),
        (
            ["enable_ctx_exports", "disable_ctx_exports"],
            "compatibility_flags: enable_ctx_exports vs disable_ctx_exports contradict each other. Remove one.",
        ),
    ],
)
def test_flags_that_workerd_refuses_are_named(flags: list[str], told: str, tools: Tools, tmp_path: Path) -> None:
    worker = project(tmp_path, ENV, compatibility_flags=flags)

    assert told in refusals(tools.workerd, plan(tmp_path, worker), tmp_path)


def test_a_workflow_that_is_no_class_is_named(tools: Tools, tmp_path: Path) -> None:
    worker = project(tmp_path, f"export const Flow = 5;\n{ENV}", ["Flow"], workflows=[ORDER])

    told = 'workflows: Flow of the Worker "app" is no class that extends WorkflowEntrypoint.'
    assert told in refusals(tools.workerd, plan(tmp_path, worker), tmp_path)


def test_version_metadata_changes_with_the_code_only(tools: Tools, tmp_path: Path) -> None:
    worker = project(tmp_path, ENV, version_metadata={"binding": "VERSION"})

    with running(tools.workerd, plan(tmp_path, worker), tmp_path) as workerd:
        first = workerd.json()["VERSION"]
    with running(tools.workerd, plan(tmp_path, worker), tmp_path) as workerd:
        assert workerd.json()["VERSION"] == first

    assert first.keys() == {"id", "tag", "timestamp"}


def test_a_worker_loader_runs_code_that_comes_at_run_time(tools: Tools, tmp_path: Path) -> None:
    code = """
    const code = { "main.js": "export default { fetch: () => new Response('loaded') };" };
    const made = { compatibilityDate: "2026-01-01", mainModule: "main.js", modules: code };
    export default { fetch: (request, env) => env.LOADER.get("a", () => made).getEntrypoint().fetch(request) };
    """
    worker = project(tmp_path, code, worker_loaders=[{"binding": "LOADER"}])

    with running(tools.workerd, plan(tmp_path, worker), tmp_path) as workerd:
        assert workerd.request().text == "loaded"


def test_what_is_experimental_is_only_allowed_to_a_plan_that_holds_such(tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    plain = project(tmp_path / "plain", ENV)
    assets = project(tmp_path, ENV, assets={"directory": "public"})

    assert arguments(plan(tmp_path, plain)) == ("--import-path=/", "--verbose")
    assert arguments(plan(tmp_path, plain, assets)) == ("--import-path=/", "--verbose", "--experimental")
