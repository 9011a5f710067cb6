"""What `celld-py deploy --target celld` writes runs under `celld-py dev --target celld`, and so does its source."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.dev import COMMAND, ROOT, Dev, dev, fixture, write_project

GOLDEN = Path(__file__).parent / "golden" / "shop"
RECONCILED = GOLDEN / "production.jsonc"  # the last of the three reconciliations
OUT = Path(".celld", "deploy", "celld")

PAYING = """
from urllib.parse import parse_qs, urlsplit

from workers import Response, WorkerEntrypoint, WorkflowEntrypoint


class Payment(WorkflowEntrypoint):
    async def run(self, event, step):
        @step.do("pay")
        async def pay():
            return event["payload"]["amount"]

        return await pay()


class Onboarding(WorkflowEntrypoint):
    async def run(self, event, step):
        @step.do("start a payment")
        async def start():
            payment = await self.ctx.exports.Payment.create(params={"amount": 5})
            return payment.id

        return await start()


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        url = urlsplit(request.url)
        exports = self.ctx.exports
        if url.path == "/start":
            return Response.json({"id": (await exports.Onboarding.create()).id})
        if url.path == "/names":
            return Response.json([name for name in ("Payment", "PAY", "Gone") if hasattr(exports, name)])
        workflow = exports.Payment if url.path == "/payment" else exports.Onboarding
        instance = await workflow.get(parse_qs(url.query)["id"][0])
        return Response.json(await instance.status())
"""


def deploy(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {key: value for key, value in os.environ.items() if key != "CLOUDFLARE_ENV"}
    return subprocess.run(
        [*COMMAND, "deploy", str(project), "--target", "celld", *arguments],
        capture_output=True,
        text=True,
        env={**environ, "NO_COLOR": "1", "PYTHONPATH": str(ROOT)},
        timeout=30,
        check=False,
    )


def paying(folder: Path, date: str) -> Path:
    """A project with an export, and one that is bound as well; its code knows `ctx.exports` only."""
    return write_project(
        folder,
        PAYING,
        compatibility_date=date,
        workflows=[{"name": "pay", "binding": "PAY", "class_name": "Payment"}],
        exports={
            "Onboarding": {"type": "workflow", "name": "onboarding"},
            "Payment": {"type": "workflow", "name": "pay"},
        },
    )


def completes(server: Dev) -> None:
    """A workflow that starts another one by `ctx.exports`, started by `ctx.exports`."""
    id = server.json("/start")["id"]
    payment = server.until(f"/onboarding?id={id}", lambda status: status["status"] == "complete")["output"]
    assert server.until(f"/payment?id={payment}", lambda status: status["status"] == "complete")["output"] == 5
    assert server.json("/names") == ["Payment", "PAY"]


@pytest.mark.parametrize("date", ["2026-11-01", "2025-11-01"], ids=["with ctx.exports", "before ctx.exports"])
def test_code_that_asks_ctx_exports_runs_from_the_output_where_there_are_only_bindings(
    tmp_path: Path, date: str
) -> None:
    project = paying(tmp_path, date)
    assert deploy(project).returncode == 0

    with dev(project / OUT, "--target", "celld") as server:
        completes(server)


def test_the_project_itself_runs_for_celld_by_the_same_lookup(tmp_path: Path) -> None:
    with dev(paying(tmp_path, "2025-11-01"), "--target", "celld") as server:  # a date without ctx.exports
        completes(server)


def test_an_output_that_has_run_keeps_its_instances_over_the_next_deploy(tmp_path: Path) -> None:
    project = paying(tmp_path, "2026-11-01")
    deploy(project)
    with dev(project / OUT, "--target", "celld") as server:
        id = server.json("/start")["id"]
        server.until(f"/onboarding?id={id}", lambda status: status["status"] == "complete")
        server.stop()

        assert deploy(project).returncode == 0
        server.start()

        assert server.json(f"/onboarding?id={id}")["status"] == "complete"


# ---------------------------------------------------------------------------------------------------------------- shop


def shop(tmp_path: Path) -> Path:
    """The shop as `celld-py reconcile` has left it."""
    project = fixture("shop", tmp_path)
    shutil.copyfile(RECONCILED, project / "wrangler.jsonc")
    return project


@pytest.mark.parametrize("environment", ["", "staging", "production"])
def test_the_shop_is_projected_or_refused_as_it_always_was(tmp_path: Path, environment: str) -> None:
    project = shop(tmp_path)

    ran = deploy(project, f"--env={environment}", "--allow-drop")

    golden = GOLDEN / "celld" / (environment or "top")
    report = f"{ran.stdout}{ran.stderr}exit code {ran.returncode}\n".replace(str(project), "SHOP")
    assert report == golden.with_suffix(".txt").read_text()
    if environment == "staging":
        assert (project / OUT / "wrangler.json").read_text() == golden.with_suffix(".json").read_text()
    else:  # each binds a workflow of another Worker
        assert ran.returncode == 1
        assert not (project / ".celld").exists()


def test_the_projected_shop_runs(tmp_path: Path) -> None:
    project = shop(tmp_path)
    assert deploy(project, "--env", "staging", "--allow-drop").returncode == 0

    with dev(project / OUT, "--target", "celld") as server:
        id = server.json("/start", "POST", data={"item": "tea"})["id"]
        order = server.until(f"/look?id={id}", lambda status: status["status"] == "complete")

    assert order["output"] == {"item": "tea", "price": "4 XTS"}
