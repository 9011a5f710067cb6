"""`--target celld` with the real command: what it refuses at start."""

from __future__ import annotations

from pathlib import Path

from tests.dev import Dev
from tests.e2e.stages import flow

RUN = """
async def run(self, event, step):
    return 1
"""


def test_what_celld_would_refuse_to_deploy_ends_the_start_with_exit_code_2(tmp_path: Path) -> None:
    workflow = {"name": "flow", "binding": "FLOW", "class_name": "Flow"}
    project = flow(tmp_path, RUN, workflows=[workflow | {"limits": {"steps": 5}, "schedules": "0 3 * * *"}])
    server = Dev(project, ["--target", "celld"], {})
    try:
        server.launch()
        assert server.exited() == 2
    finally:
        server.close()

    assert server.lines == [
        "error: The target celld refuses what wrangler.jsonc sets.",
        f"  {project / 'wrangler.jsonc'}",
        "  workflows[0].schedules: remove it, and create instances from a Cron Trigger (triggers.crons)",
        "  workflows[0].limits: remove it; the target has a cap of its own",
        "  Or run the project for the other target: --target cloudflare.",
    ]
    assert not (project / ".celld").exists()
