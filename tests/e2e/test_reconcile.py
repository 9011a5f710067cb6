"""`celld-py reconcile` as a person or a script runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.dev import COMMAND, FIXTURES, ROOT, dev, fixture

GOLDEN = Path(__file__).parent / "golden" / "shop"
PLAIN = {"NO_COLOR": "1", "PYTHONPATH": str(ROOT)}


def reconcile(folder: Path, *arguments: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    environ = {key: value for key, value in os.environ.items() if key != "CLOUDFLARE_ENV"}
    return subprocess.run(
        [*COMMAND, "reconcile", str(folder), *arguments],
        capture_output=True,
        text=True,
        env={**environ, **PLAIN, **(env or {})},
        timeout=30,
        check=False,
    )


def text(folder: Path) -> str:
    return (folder / "wrangler.jsonc").read_bytes().decode()


def ready(tmp_path: Path) -> Path:
    """A copy of the shop whose staging has its own exports, so that nothing keeps the top level from being written."""
    folder = fixture("shop", tmp_path)
    assert reconcile(folder, "--env", "staging", "--write").returncode == 0
    return folder


def test_the_shop_is_reconciled_environment_by_environment(tmp_path: Path) -> None:
    folder = fixture("shop", tmp_path)

    for name, arguments in [("staging", ["--env", "staging"]), ("top", []), ("production", ["--env", "production"])]:
        assert reconcile(folder, *arguments, "--write").returncode == 0
        assert text(folder) == (GOLDEN / f"{name}.jsonc").read_bytes().decode()
        again = reconcile(folder, *arguments, "--check")
        assert (again.returncode, again.stdout) == (0, "wrangler.jsonc is in line with the code.\n")


def test_by_default_the_change_is_shown_and_not_made(tmp_path: Path) -> None:
    folder = ready(tmp_path)
    before = text(folder)

    shown = reconcile(folder)

    assert shown.returncode == 1
    assert text(folder) == before
    assert '+    "Refund": {' in shown.stdout
    assert '-      "binding": "STOCK", // from the time before schedules' in shown.stdout
    assert "Run with --write to make this change." in shown.stdout
    assert "warning: R7b: OrderPipe keeps its deployed name" in shown.stderr


def test_check_prints_the_verdict_only(tmp_path: Path) -> None:
    shown = reconcile(ready(tmp_path), "--check")

    assert (shown.returncode, shown.stdout, shown.stderr) == (1, "wrangler.jsonc is not in line with the code.\n", "")


def test_what_environments_would_inherit_is_refused_and_shown(tmp_path: Path) -> None:
    folder = fixture("shop", tmp_path)

    shown = reconcile(folder, "--write")

    assert shown.returncode == 1
    assert text(folder) == text(FIXTURES / "shop")
    assert '+    "Refund": {' in shown.stdout
    assert "error: R21:" in shown.stderr and "--env staging" in shown.stderr


def test_force_writes_it_nevertheless(tmp_path: Path) -> None:
    folder = fixture("shop", tmp_path)

    assert reconcile(folder, "--write", "--force").returncode == 0
    assert '"Refund": {' in text(folder)


def test_the_environment_comes_from_the_variable_too(tmp_path: Path) -> None:
    shown = reconcile(fixture("shop", tmp_path), "--json", env={"CLOUDFLARE_ENV": "staging"})

    assert json.loads(shown.stdout)["environment"] == "staging"


def test_as_json_it_is_one_object(tmp_path: Path) -> None:
    folder = ready(tmp_path)

    shown = reconcile(folder, "--json")

    found: dict[str, Any] = json.loads(shown.stdout)
    assert (shown.returncode, shown.stderr, found["verdict"]) == (1, "", "pending")
    assert {finding["rule"] for finding in found["findings"]} == {"R2", "R4", "R5", "R7", "R7b", "R7e", "R10", "R10b"}
    moved = next(finding for finding in found["findings"] if finding["rule"] == "R7")
    assert (moved["level"], moved["line"], moved["column"]) == ("info", 18, 5)
    edited = text(folder)
    for edit in reversed(found["edits"]):
        edited = edited[: edit["start"]] + edit["text"] + edited[edit["end"] :]
    assert edited == (GOLDEN / "top.jsonc").read_text()


def test_a_setting_that_is_no_literal_is_an_error_and_the_rest_is_written(tmp_path: Path) -> None:
    folder = ready(tmp_path)
    entry = folder / "src" / "entry.py"
    code = entry.read_text().replace('schedules = ["0 3 * * *"]', "schedules = [EVERY_NIGHT]")
    entry.write_text(code)
    line = next(number for number, text in enumerate(code.split("\n"), 1) if "EVERY_NIGHT" in text)

    shown = reconcile(folder, "--write")

    assert shown.returncode == 1
    assert "error: R19:" in shown.stderr and f"entry.py:{line}:" in shown.stderr
    assert '"Refund": {' in text(folder)


@pytest.mark.parametrize(
    ("config", "arguments", "message"),
    [
        ("{ 'name': 1 }", [], "wrangler.jsonc:1:3"),
        ('{ "main": "gone.py" }', [], '"main" names'),
        ('{ "main": "src/entry.py", "workflows": {} }', [], "should be an array"),
        ('{ "main": "src/entry.py", "env": { "a": {} } }', ["--env", "b"], 'with name "b"'),
        ("{}", ["--write", "--check"], "not allowed with argument"),
        ("{}", ["--wirte"], "did you mean --write?"),
    ],
)
@pytest.mark.parametrize("json_too", [False, True])
def test_what_cannot_be_read_or_asked_is_exit_code_2(
    tmp_path: Path, config: str, arguments: list[str], message: str, json_too: bool
) -> None:
    folder = fixture("shop", tmp_path)
    (folder / "wrangler.jsonc").write_text(config)

    shown = reconcile(folder, *arguments, *(["--json"] if json_too else []))

    assert shown.returncode == 2
    if json_too and shown.stdout:
        found = json.loads(shown.stdout)
        assert found["verdict"] == "unreadable"
        told = [finding["message"] for finding in found["findings"]]
        assert message in " ".join([*told, f"wrangler.jsonc:{found['findings'][0]['line']}:3"])
    else:
        assert message in shown.stderr


def test_a_repeated_key_is_refused_with_exit_code_1(tmp_path: Path) -> None:
    folder = fixture("shop", tmp_path)
    (folder / "wrangler.jsonc").write_text('{ "main": "src/entry.py",\n  "main": "src/entry.py" }')

    shown = reconcile(folder, "--write")

    assert shown.returncode == 1
    assert "R16" in shown.stderr and "wrangler.jsonc:2:3" in shown.stderr


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.iterdir() if path.is_dir()))
def test_a_project_without_environments_in_the_way_is_in_line_after_one_run(name: str, tmp_path: Path) -> None:
    folder = fixture(name, tmp_path)

    assert reconcile(folder, "--write", "--force").returncode == 0
    assert reconcile(folder, "--check").returncode == 0


@pytest.mark.parametrize("state", ["before", "top"])
def test_the_shop_runs_before_and_after(state: str, tmp_path: Path) -> None:
    folder = fixture("shop", tmp_path)
    if state != "before":
        shutil.copyfile(GOLDEN / f"{state}.jsonc", folder / "wrangler.jsonc")

    with dev(folder, "--no-watch") as server:
        order = server.json("/start", "POST", data={"item": "tea"})
        done = server.until(order["look"], lambda status: bool(status["status"] == "complete"))

        assert done["output"] == {"item": "tea", "price": "4 EUR"}
