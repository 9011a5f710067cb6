from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from tests.dev import COMMAND, fixture


def test_json_is_json_whatever_the_terminal_can_show(tmp_path: Path) -> None:
    project = fixture("orders", tmp_path).rename(tmp_path / "größe")

    ran = subprocess.run(
        [*COMMAND, "reconcile", "--json", str(project)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )

    assert ran.returncode == 1
    assert json.loads(ran.stdout)["file"] == str(project / "wrangler.jsonc")


def test_the_dev_command_starts_without_what_only_reconcile_needs() -> None:
    script = "import sys, runtime.cli.main; sys.exit('difflib' in sys.modules)"

    assert subprocess.run([COMMAND[0], "-P", "-c", script], timeout=50, check=False).returncode == 0
