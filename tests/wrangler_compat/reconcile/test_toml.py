"""R15: the same rules for wrangler.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.wrangler_compat.reconcile.case import project, rules, workflow
from wrangler_compat import ConfigError
from wrangler_compat.reconcile import Reconciliation, reconcile

HEAD = 'name = "shop" # ours\nmain = "entry.py"\ncompatibility_date = "2026-11-01"\n'
BOUND = '\n# the pipe\n[[workflows]]\nname = "legacy"\nbinding = "ORDER" # bound\nclass_name = "OrderPipe"\n'
FOREIGN = '\n[[workflows]] # theirs\nname = "x"\nbinding = "X"\nclass_name = "X"\nscript_name = "other"\n'
CODE = workflow("OrderPipe", 'limits = {"steps": 7}')


def run(folder: Path, text: str, code: str = CODE, env: str | None = None) -> Reconciliation:
    return reconcile(project(folder, text, code, "wrangler.toml"), env, {})


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_r15_a_binding_moves_and_all_else_stays(tmp_path: Path, newline: str, bom: str) -> None:
    before = bom + (HEAD + BOUND + FOREIGN).replace("\n", newline)

    found = run(tmp_path, before)

    moved = '\n# the pipe\n# bound\n[exports.OrderPipe]\ntype = "workflow"\nname = "legacy"\nlimits = { steps = 7 }\n'
    assert found.result == bom + (HEAD + moved + FOREIGN).replace("\n", newline)
    assert rules(found) == ["R7", "R7b", "R4"]
    assert run(tmp_path, found.result).splices == ()


def test_r15_a_binding_in_use_stays_bare(tmp_path: Path) -> None:
    text = HEAD + BOUND + "[workflows.limits]\nsteps = 5\n"

    found = run(tmp_path, text, CODE + "def start(env):\n    return env.ORDER\n")

    data = tomllib.loads(found.result)
    assert data["workflows"] == [{"name": "legacy", "binding": "ORDER", "class_name": "OrderPipe"}]
    assert data["exports"] == {"OrderPipe": {"type": "workflow", "name": "legacy", "limits": {"steps": 7}}}


def test_r15_settings_fill_up_an_export(tmp_path: Path) -> None:
    settings = "concurrency = { limit = 2 }\n[workflows.limits]\nsteps = 5\n"
    export = '\n[exports.OrderPipe]\ntype = "workflow"\nname = "legacy"\n'

    found = run(tmp_path, HEAD + export + BOUND + settings)

    data = tomllib.loads(found.result)
    assert "workflows" not in data
    assert data["exports"]["OrderPipe"] == {
        "type": "workflow",
        "name": "legacy",
        "concurrency": {"limit": 2},
        "limits": {"steps": 7},
    }


def test_r15_an_environment_gets_its_own_exports(tmp_path: Path) -> None:
    found = run(tmp_path, HEAD + "\n[env.prod]\nvars = { A = 1 }\n", env="prod")

    assert tomllib.loads(found.result)["env"]["prod"] == {
        "vars": {"A": 1},
        "exports": {"OrderPipe": {"type": "workflow", "name": "order-pipe-prod", "limits": {"steps": 7}}},
    }
    assert not found.refused


def test_r15_inline_tables_are_left_to_a_person(tmp_path: Path) -> None:
    inline = 'workflows = [{ name = "legacy", binding = "ORDER", class_name = "OrderPipe" }]\n'

    found = run(tmp_path, HEAD + inline)

    assert (found.refused, found.result, rules(found, "error")) == (True, HEAD + inline, ["R15"])


def test_r16_a_repeated_key_is_no_toml(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        run(tmp_path, HEAD + 'name = "again"\n')

    assert caught.value.line == 4


def test_places_are_told(tmp_path: Path) -> None:
    found = run(tmp_path, HEAD + BOUND)

    place = found.place(found.findings[0])
    assert place is not None and (place.line, place.column) == (6, 1)
