from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from runtime.cli.main import main
from tests.dev import COMMAND, fixture, write_project

BAD = """
import time
from workers import WorkerEntrypoint, WorkflowEntrypoint

class Order(WorkflowEntrypoint):
    async def run(self, event, step):
        started = time.time()
        step.sleep("a day", "1 day")
        return started

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        await self.env.ORDER.create()
"""


def check(*arguments: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """The real command."""
    return subprocess.run(
        [*COMMAND, "check", *map(str, arguments)], capture_output=True, text=True, cwd=folder, timeout=50, check=False
    )


def findings(*arguments: str | Path) -> list[dict[str, Any]]:
    ran = check(*arguments, "--json")
    assert ran.stderr == ""
    read: list[dict[str, Any]] = json.loads(ran.stdout)
    return read


def test_a_clean_project_gives_nothing_and_exit_code_0(tmp_path: Path) -> None:
    ran = check(fixture("orders", tmp_path))

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "Nothing to say.\n", "")


def test_each_finding_has_its_place_and_an_error_makes_exit_code_1(tmp_path: Path) -> None:
    write_project(tmp_path, BAD, "Order")

    ran = check(folder=tmp_path)

    lines = ran.stdout.splitlines()
    assert ran.returncode == 1
    assert lines[0].startswith("src/main.py:7:19: error: time.time() gives another value at each replay of run.")
    assert lines[0].endswith("[nondeterministic_outside_step]")
    assert lines[2].startswith("src/main.py:8:9: error: This sleep is not awaited")
    assert lines[-1] == "2 errors"


def test_json_is_a_list_of_findings(tmp_path: Path) -> None:
    write_project(tmp_path, BAD, "Order")

    found = findings(tmp_path)

    assert [each["code"] for each in found] == ["nondeterministic_outside_step", "unawaited_step"]
    assert found[0].keys() == {"code", "level", "message", "file", "line", "column", "hint"}
    assert (found[0]["level"], found[0]["line"], found[0]["column"]) == ("error", 7, 19)
    assert found[0]["file"] == str(tmp_path / "src" / "main.py")


def test_what_is_no_error_leaves_exit_code_0(tmp_path: Path) -> None:
    code = BAD.replace("        started = time.time()\n", "        started = 1\n").replace(
        "        step.", "        await step."
    )
    write_project(tmp_path, code.replace("await step.sleep", "print(1)\n        await step.sleep"), "Order")

    ran = check(tmp_path)

    assert ran.returncode == 0
    assert ran.stdout.splitlines()[-1] == "1 note"


def test_a_wrong_configuration_comes_first_and_keeps_the_code_from_being_judged(tmp_path: Path) -> None:
    write_project(tmp_path, BAD, "Order", workflows={})

    ran = check(tmp_path, "--json")

    found = json.loads(ran.stdout)
    assert ran.returncode == 1
    assert found[0]["message"] == 'The field "workflows" should be an array but got {}.'
    assert found[0]["file"] == str(tmp_path / "wrangler.jsonc") and found[0]["line"]
    assert all(each["file"].endswith("wrangler.jsonc") for each in found)


@pytest.mark.parametrize("text", [None, "{ not json"], ids=["missing", "broken"])
def test_without_a_configuration_that_can_be_read_the_exit_code_is_2(text: str | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "wrangler.jsonc").write_text(text)

    ran = check(tmp_path, "--json")

    assert ran.returncode == 2
    assert [each["level"] for each in json.loads(ran.stdout)] == ["error"]


def test_a_wrong_call_has_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["check", "--jsn"])

    assert ended.value.code == 2
    assert "did you mean --json?" in capsys.readouterr().err


def test_the_environment_chooses_what_is_checked(tmp_path: Path) -> None:
    staging = {"workflows": [{"name": "order-staging", "binding": "ORDER", "class_name": "Gone"}]}
    write_project(tmp_path, BAD, "Order", env={"staging": staging})

    codes = {each["code"] for each in findings(tmp_path, "--env", "staging")}

    assert "export_class_missing" in codes
    assert "export_class_missing" not in {each["code"] for each in findings(tmp_path)}


def test_the_target_chooses_the_rules(tmp_path: Path) -> None:
    code = BAD.replace("        started = time.time()\n", '        started = await self.env.KV.get("x")\n')
    write_project(tmp_path, code.replace("        step.", "        await step."), "Order")

    assert findings(tmp_path) == []
    assert [each["code"] for each in findings(tmp_path, "--target", "celld")] == ["long_await_outside_step"]


def test_fix_mends_what_is_mechanical_and_shows_the_rest(tmp_path: Path) -> None:
    write_project(tmp_path, BAD, "Order")

    ran = check("--fix", folder=tmp_path)

    assert ran.stderr == "src/main.py: mended 1 place\n"
    assert '        await step.sleep("a day", "1 day")\n' in (tmp_path / "src" / "main.py").read_text()
    assert ran.stdout.splitlines()[-1] == "1 error"


def test_a_comment_takes_a_finding_back(tmp_path: Path) -> None:
    code = BAD.replace("time.time()", "time.time()  # celld: ignore[nondeterministic_outside_step]")
    write_project(tmp_path, code.replace("        step.", "        await step."), "Order")

    assert findings(tmp_path) == []


def test_a_javascript_project_is_checked_too(tmp_path: Path) -> None:
    config = {"name": "shop", "main": "main.js", "compatibility_date": "2026-11-01"}
    (tmp_path / "wrangler.jsonc").write_text(json.dumps(config))
    (tmp_path / "main.js").write_text(
        'import { WorkflowEntrypoint } from "cloudflare:workers";\n'
        "export class Order extends WorkflowEntrypoint {\n"
        "  async run(event, step) {\n"
        '    step.sleep("a day", "1 day");\n'
        "  }\n"
        "}\n"
    )

    found = findings(tmp_path)

    assert [(each["code"], each["line"]) for each in found if each["level"] == "error"] == [("unawaited_step", 4)]


def test_a_python_project_needs_no_javascript_parser(tmp_path: Path) -> None:
    script = (
        "import sys; from runtime.cli.main import main\n"
        f"main(['check', {str(fixture('orders', tmp_path))!r}])\n"
        "sys.exit(any(name.startswith('tree_sitter') for name in sys.modules))"
    )

    assert (
        subprocess.run([COMMAND[0], "-P", "-c", script], capture_output=True, timeout=50, check=False).returncode == 0
    )


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_a_reader_that_goes_away_is_no_error_of_ours(options: list[str], tmp_path: Path) -> None:
    write_project(tmp_path, BAD, "Order")
    reading, writing = os.pipe()
    os.close(reading)

    ran = subprocess.run(
        [*COMMAND, "check", *options, str(tmp_path)],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=50,
        check=False,
    )
    os.close(writing)

    assert (ran.returncode, ran.stderr) == (1, "")


def test_what_the_terminal_cannot_show_is_escaped(tmp_path: Path) -> None:
    write_project(tmp_path, BAD.replace('"a day"', '"ein Tag", 1, "é"').replace("Order(", "Örder("), "Order")

    ran = subprocess.run(
        [*COMMAND, "check", str(tmp_path)],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )

    assert "class \\xd6rder" in ran.stdout
    assert (ran.returncode, ran.stderr) == (1, "")


def test_a_file_that_cannot_be_mended_is_told_and_the_findings_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    write_project(tmp_path, BAD, "Order")
    monkeypatch.setattr(os, "access", lambda *_: False)  # a read-only file; root may write it all the same

    assert main(["check", "--fix", str(tmp_path)]) == 1

    shown = capfd.readouterr()
    assert "Permission denied" in shown.err and "Not everything was mended." in shown.err
    assert shown.out.splitlines()[-1] == "2 errors"
