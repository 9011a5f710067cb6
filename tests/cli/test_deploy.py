"""`celld-py deploy` as a person or a script runs it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.dev import COMMAND, ROOT, write_project

CODE = """
from workers import WorkerEntrypoint, WorkflowEntrypoint

class Order(WorkflowEntrypoint):
    async def run(self, event, step):
        await step.sleep("a while", "1 hour")

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        await self.ctx.exports.Order.create()
"""
EXPORTS: dict[str, Any] = {"Order": {"type": "workflow", "name": "order"}}
OUT = Path(".celld", "deploy", "celld")


def deploy(
    *arguments: str | Path, env: Mapping[str, str] | None = None, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """The real command, with no environment chosen and nothing of this machine's on PATH."""
    environ = {key: value for key, value in os.environ.items() if key != "CLOUDFLARE_ENV"}
    plain = {"NO_COLOR": "1", "PYTHONPATH": str(ROOT), "PATH": "/nonexistent"}
    return subprocess.run(
        [*COMMAND, "deploy", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**environ, **plain, **(env or {})},
        cwd=folder,
        timeout=50,
        check=False,
    )


def shop(folder: Path, code: str = CODE, **config: Any) -> Path:
    """A project with one export."""
    return write_project(folder, code, **{"workflows": [], "exports": EXPORTS, **config})


def record(folder: Path) -> Any:
    return json.loads((folder / ".celld" / "deployed.json").read_text())


# -------------------------------------------------------------------------------------------------------------- celld


def test_the_files_and_a_strict_wrangler_json_are_written_and_the_reader_is_told_what_became_of_each_entry(
    tmp_path: Path,
) -> None:
    project = shop(tmp_path, exports={"Order": {**EXPORTS["Order"], "limits": {"steps": 500}}})
    (project / "src" / ".dev.vars").write_text("KEY=hush")

    ran = deploy(project, "--target", "celld")

    assert ran.returncode == 0
    assert (
        ran.stdout
        == f"""\
worker for celld, from wrangler.jsonc

  entry           becomes             dropped
  exports.Order   env.Order = order   limits (celld has a cap of its own)

note: src/.dev.vars is left out: it looks like a secret.
  wrangler.json  (generated)
  src/celld_entry.py  (generated)
  src/main.py

Written to {project / OUT}
Try it:    celld-py dev {project / OUT} --target celld
Deploy it: celld-py has no uploader for celld; give this folder to celld's own tools.
"""
    )
    assert ran.stderr.startswith("warning: P3: exports.Order.limits: celld has a cap of its own. (")
    assert json.loads((project / OUT / "wrangler.json").read_text()) == {
        "name": "worker",
        "main": "src/celld_entry.py",
        "compatibility_date": "2026-11-01",
        "compatibility_flags": ["python_workers"],
        "workflows": [{"name": "order", "binding": "Order", "class_name": "Order"}],
    }
    assert (project / OUT / "src" / "main.py").read_text() == (project / "src" / "main.py").read_text()


def test_the_entry_is_the_very_text_that_dev_loads(tmp_path: Path) -> None:
    deploy(shop(tmp_path), "--target", "celld")

    entry = (tmp_path / OUT / "src" / "celld_entry.py").read_text()
    assert entry.startswith((ROOT / "workers_shim" / "exports_fallback.py").read_text())


def test_a_success_is_recorded_with_the_steps_of_each_class(tmp_path: Path) -> None:
    deploy(shop(tmp_path), "--target", "celld")

    assert record(tmp_path)["steps"] == {"Order": ["sleep:a while"]}
    assert record(tmp_path)["projections"]["celld"][""]["name"] == "worker"


def test_a_refusal_names_place_and_way_out_writes_nothing_and_leaves_an_older_output(tmp_path: Path) -> None:
    project = shop(tmp_path)
    deploy(project, "--target", "celld")
    written = (project / OUT / "wrangler.json", project / ".celld" / "deployed.json")
    before = [file.read_bytes() for file in written]
    shop(tmp_path, exports={"Order": {**EXPORTS["Order"], "schedules": "0 3 * * *"}})

    ran = deploy(project, "--target", "celld")

    assert ran.returncode == 1
    assert "exports.Order   refused   schedules (celld would never start it)\n" in ran.stdout
    assert (
        ran.stderr
        == f"""\
error: P2: exports.Order.schedules: celld would never start it.
  {project / "wrangler.jsonc"}:13:20
  Add a Cron Trigger (triggers.crons) whose handler creates the instance. Then pass --allow-drop.
error: celld would not take worker as it is.
  Nothing was written.
"""
    )
    assert [file.read_bytes() for file in written] == before
    assert deploy(project, "--target", "celld", "--allow-drop").returncode == 0


def test_a_dry_run_shows_all_of_it_and_writes_nothing(tmp_path: Path) -> None:
    project = shop(tmp_path)

    ran = deploy(project, "--target", "celld", "--dry-run")

    assert ran.returncode == 0
    assert f"{project / OUT} would hold these. Nothing was written.\n" in ran.stdout
    assert "src/celld_entry.py  (generated)" in ran.stdout
    assert not (project / ".celld").exists()


def test_a_project_without_exports_needs_no_entry(tmp_path: Path) -> None:
    deploy(write_project(tmp_path, CODE, "Order"), "--target", "celld")

    assert json.loads((tmp_path / OUT / "wrangler.json").read_text())["main"] == "src/main.py"
    assert not (tmp_path / OUT / "src" / "celld_entry.py").exists()


def test_the_output_may_go_elsewhere_but_not_over_the_project_or_anothers_files(tmp_path: Path) -> None:
    project = shop(tmp_path / "project")
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "thesis.txt").write_text("")

    assert deploy(project, "--target", "celld", "--outdir", tmp_path / "out").returncode == 0
    assert (tmp_path / "out" / "wrangler.json").exists()
    assert deploy(project, "--target", "celld", "--outdir", "new", folder=tmp_path).returncode == 0
    for folder in (project, project / "src", tmp_path / "strange"):
        ran = deploy(project, "--target", "celld", "--outdir", folder)
        assert ran.returncode == 2
        assert "Nothing was written. Name another folder: --outdir DIR" in ran.stderr
    assert os.listdir(tmp_path / "strange") == ["thesis.txt"]


def test_a_path_with_dots_names_the_same_project(tmp_path: Path) -> None:
    shop(tmp_path / "project")
    (tmp_path / "here").mkdir()

    ran = deploy("../project", "--target", "celld", folder=tmp_path / "here")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert (tmp_path / "project" / OUT / "src" / "main.py").exists()


def test_a_module_in_the_entrys_place_is_not_overwritten(tmp_path: Path) -> None:
    project = shop(tmp_path)
    (project / "src" / "celld_entry.py").write_text("")

    ran = deploy(project, "--target", "celld")

    assert ran.returncode == 1
    assert "src/celld_entry.py is in the way: the entry that is generated has this name." in ran.stderr
    assert not (project / OUT).exists()


def test_a_javascript_project_is_refused_clearly(tmp_path: Path) -> None:
    (tmp_path / "index.ts").write_text("export default {}")
    config = {"name": "worker", "main": "index.ts", "compatibility_date": "2026-11-01"}
    (tmp_path / "wrangler.json").write_text(json.dumps(config))

    ran = deploy(tmp_path, "--target", "celld")

    assert ran.returncode == 1
    assert ran.stderr.startswith("error: index.ts is JavaScript or TypeScript; only Python Workers can be made ready")


def test_code_that_cannot_be_parsed_is_warned_of_and_deployed_since_another_python_may_read_it(tmp_path: Path) -> None:
    ran = deploy(shop(tmp_path, "class Order(:\n"), "--target", "celld")

    assert ran.returncode == 0
    assert f"{tmp_path / 'src' / 'main.py'}:1:" in ran.stderr
    assert "Its classes are not checked." in ran.stderr


def test_a_folder_that_cannot_be_made_is_an_error_and_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    ran = deploy(shop(tmp_path / "project"), "--target", "celld", "--outdir", tmp_path / "file" / "out")

    assert ran.returncode == 1
    assert ran.stderr == (
        f"error: The output cannot be made: File exists.\n  {tmp_path / 'file'}\n  An earlier output is as it was.\n"
    )
    assert not (tmp_path / "project" / ".celld").exists()


# ---------------------------------------------------------------------------------------------------------- cloudflare


def tool(folder: Path, name: str = "wrangler", exit_code: int = 0) -> Path:
    """A stand-in for Cloudflare's tool: says how it was called, and where."""
    folder.mkdir(parents=True, exist_ok=True)
    command = folder / name
    command.write_text(f'#!/bin/sh\necho "{name} in $PWD: $*"\necho "complaint" >&2\nexit {exit_code}\n')
    command.chmod(0o755)
    return command


def test_the_installed_wrangler_is_given_the_project_and_its_output_and_exit_code_pass_through(tmp_path: Path) -> None:
    project = shop(tmp_path / "project")
    wrangler = tool(tmp_path / "bin", exit_code=7)

    ran = deploy(project, "--target", "cloudflare", env={"PATH": str(tmp_path / "bin")})

    called = f"deploy --config {project / 'wrangler.jsonc'}"
    assert ran.returncode == 7
    assert ran.stdout.splitlines() == [
        "No earlier deploy of this environment is recorded here.",
        f"Running {wrangler} {called}",
        f"wrangler in {project}: {called}",
    ]
    assert ran.stderr == "complaint\n"
    assert not (project / ".celld").exists()  # it failed


def test_a_success_is_recorded_and_the_next_deploy_shows_the_difference(tmp_path: Path) -> None:
    path = {"PATH": str(tmp_path / "bin")}
    project = shop(tmp_path / "project", vars={"A": "1"})
    tool(tmp_path / "bin")
    deploy(project, "--target", "cloudflare", env=path)

    assert "The configuration is that of the last deploy." in deploy(project, "--target", "cloudflare", env=path).stdout
    shop(project, vars={"A": "2"})
    ran = deploy(project, "--target", "cloudflare", env=path)

    assert '-    "A": "1"\n+    "A": "2"\n' in ran.stdout
    assert record(project)["projections"]["cloudflare"][""]["vars"] == {"A": "2"}
    assert record(project)["steps"] == {"Order": ["sleep:a while"]}


def test_a_dry_run_is_theirs_and_is_not_recorded(tmp_path: Path) -> None:
    project = shop(tmp_path / "project")
    tool(project / "node_modules" / ".bin", "pywrangler")

    ran = deploy(project, "--target", "cloudflare", "--dry-run", "--outdir", tmp_path / "out")

    assert ran.returncode == 0
    assert ran.stdout.splitlines()[-1] == (
        f"pywrangler in {project}: deploy --config {project / 'wrangler.jsonc'} --outdir {tmp_path / 'out'} --dry-run"
    )
    assert not (project / ".celld").exists()


@pytest.mark.parametrize(
    ("option", "variable", "told"),
    [("prod", None, " --env=prod"), (None, "prod", " --env=prod"), ("", "prod", " --env="), (None, None, "")],
)
def test_the_tool_deploys_the_environment_that_was_checked(
    tmp_path: Path, option: str | None, variable: str | None, told: str
) -> None:
    project = shop(tmp_path / "project", env={"prod": {"workflows": [], "exports": {}}})
    tool(tmp_path / "bin")
    chosen = [] if option is None else [f"--env={option}"]
    env = {"PATH": str(tmp_path / "bin"), **({} if variable is None else {"CLOUDFLARE_ENV": variable})}

    ran = deploy(project, "--target", "cloudflare", *chosen, env=env)

    assert ran.returncode == 0
    assert ran.stdout.splitlines()[-1].endswith(f"wrangler.jsonc{told}")


def test_without_a_tool_the_reader_is_told_how_to_get_one(tmp_path: Path) -> None:
    ran = deploy(shop(tmp_path), "--target", "cloudflare")

    assert ran.returncode == 1
    assert ran.stderr == (
        "error: There is neither wrangler nor pywrangler, in the project or on PATH.\n"
        "  Install it: npm install --save-dev wrangler; for a Python Worker also: pip install workers-py\n"
    )


def test_a_wrangler_that_does_not_know_exports_is_warned_of(tmp_path: Path) -> None:
    project = shop(tmp_path)
    tool(project / "node_modules" / ".bin")
    package = project / "node_modules" / "wrangler"
    package.mkdir()
    (package / "package.json").write_text('{"version": "4.100.0"}')

    ran = deploy(project, "--target", "cloudflare", "--dry-run")

    assert "wrangler 4.100.0 does not know workflow exports: it deploys the Worker without them." in ran.stderr


def test_a_class_that_the_code_lacks_is_not_handed_over(tmp_path: Path) -> None:
    project = shop(tmp_path / "project", exports={"Gone": {"type": "workflow", "name": "gone"}})
    tool(tmp_path / "bin")

    ran = deploy(project, "--target", "cloudflare", env={"PATH": str(tmp_path / "bin")})

    assert (ran.returncode, ran.stdout) == (1, "")
    assert 'The code has no Workflow class Gone, which the Workflow "gone" needs.' in ran.stderr


# --------------------------------------------------------------------------------------------------------------- both


@pytest.mark.parametrize("target", ["celld", "cloudflare"])
def test_what_only_a_deployment_would_refuse_is_refused_before_it(tmp_path: Path, target: str) -> None:
    both = {"name": "order", "binding": "ORDER", "class_name": "Order", "limits": {"steps": 5}}

    ran = deploy(shop(tmp_path, workflows=[both]), "--target", target)

    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith('error: "workflows[0].limits" configures the Workflow "order", which "exports.Order"')


@pytest.mark.parametrize(
    ("config", "arguments", "code"),
    [
        ("{", ["--target", "celld"], 2),
        ("{}", ["--target", "celld"], 1),
        ("{}", [], 2),
        ("{}", ["--target", "elsewhere"], 2),
        ("{}", ["--target", "cloudflare", "--allow-drop"], 2),
        ('{"env": {"prod": {}}}', ["--target", "celld", "--env", "staging"], 2),
    ],
)
def test_the_exit_code_tells_a_refusal_from_a_wrong_call_or_an_unreadable_file(
    tmp_path: Path, config: str, arguments: list[str], code: int
) -> None:
    (tmp_path / "wrangler.json").write_text(config)

    ran = deploy(tmp_path, *arguments)

    assert ran.returncode == code
    assert ran.stderr != ""


JSONC = """\
// the top level is what customers use
{
  "name": "worker", /* a block
  of two lines */ "main": "src/main.py",
  "compatibility_date": "2026-11-01",
  "compatibility_flags": ["python_workers",],
  "vars": { "SITE": "https://example.com//a" },
  "workflows": [{ "name": "order", "binding": "ORDER", "class_name": "Order", },],
  "env": { "staging": { "vars": { "SITE": "s" } }, },
}
"""
TOML = """\
name = "worker" # the top level is what customers use
main = "src/main.py"
compatibility_date = "2026-11-01"
compatibility_flags = ["python_workers"]
vars = { SITE = "https://example.com//a" }

[[workflows]]
name = "order"
binding = "ORDER"
class_name = "Order"

[env.staging.vars]
SITE = "s"
"""
JSON = json.dumps(
    {
        "name": "worker",
        "main": "src/main.py",
        "compatibility_date": "2026-11-01",
        "compatibility_flags": ["python_workers"],
        "vars": {"SITE": "https://example.com//a"},
        "workflows": [{"name": "order", "binding": "ORDER", "class_name": "Order"}],
        "env": {"staging": {"vars": {"SITE": "s"}}},
    }
)


@pytest.mark.parametrize(
    ("name", "text"),
    [("wrangler.jsonc", "\ufeff" + JSONC.replace("\n", "\r\n")), ("wrangler.toml", TOML), ("wrangler.json", JSON)],
)
def test_a12_an_environment_gets_what_wrangler_gives_it_and_nothing_of_the_top_level(
    tmp_path: Path, name: str, text: str
) -> None:
    project = write_project(tmp_path, CODE)
    (project / "wrangler.jsonc").unlink()
    (project / name).write_bytes(text.encode())
    output = project / OUT / "wrangler.json"

    assert deploy(project, "--target", "celld").returncode == 0
    assert json.loads(output.read_text())["vars"] == {"SITE": "https://example.com//a"}
    assert [each["binding"] for each in json.loads(output.read_text())["workflows"]] == ["ORDER"]

    staging = deploy(project, "--target", "celld", "--env", "staging")
    assert staging.returncode == 0
    assert '"workflows" exists at the top level, but not on "env.staging".' in staging.stderr
    assert json.loads(output.read_text()) == {
        "name": "worker-staging",
        "main": "src/main.py",
        "compatibility_date": "2026-11-01",
        "compatibility_flags": ["python_workers"],
        "vars": {"SITE": "s"},
    }

    unknown = deploy(project, "--target", "celld", "--env", "prod")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert 'The available configured environment names are: ["staging"]' in unknown.stderr
