"""Rule R7: bindings become exports, or lend them their settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wrangler_compat.reconcile.case import PIPE, bindings, bound, config, exports, rules, run, workflow
from wrangler_compat import jsonc


def test_r7_a_binding_becomes_an_export_with_its_settings(tmp_path: Path) -> None:
    settings = ', "jurisdiction": "eu", "schedules": "0 3 * * *", "concurrency": {"limit": 3}, "script_name": "shop"'
    text = config(bindings(bound(settings)))

    found = run(tmp_path, text, PIPE)

    assert list(jsonc.parse(found.result).data()) == [*jsonc.parse(config()).data(), "exports"]
    assert exports(found) == {
        "OrderPipe": {
            "type": "workflow",
            "name": "order-pipe",
            "concurrency": {"limit": 3},
            "schedules": "0 3 * * *",
            "jurisdiction": "eu",
        }
    }
    assert '"concurrency": {"limit": 3}' in found.result
    assert rules(found) == ["R7", "R5", "R5", "R11"]


def test_r7_what_wrangler_does_not_know_moves_too(tmp_path: Path) -> None:
    found = run(tmp_path, config(bindings(bound(', "remote": true'))), PIPE)

    assert exports(found) == {"OrderPipe": {"type": "workflow", "name": "order-pipe", "remote": True}}


def test_r7_a_moved_setting_is_brought_to_what_the_code_says_and_keeps_its_comments(tmp_path: Path) -> None:
    text = config(bindings(bound(', "limits": { /* tested */ "steps": 20 }')))

    found = run(tmp_path, text, workflow("OrderPipe", 'limits = {"steps": 30}'))

    assert '"limits": { /* tested */ "steps": 30 }' in found.result
    assert rules(found) == ["R7", "R4", "R11"]


def test_r7b_a_binding_moves_under_its_deployed_name(tmp_path: Path) -> None:
    text = config(bindings(bound(name="legacy")))

    found = run(tmp_path, text, workflow("OrderPipe", 'workflow_name = "orders"'))

    assert exports(found) == {"OrderPipe": {"type": "workflow", "name": "legacy"}}
    assert rules(found, "warning") == ["R7b"]


def test_r7c_settings_of_a_binding_fill_up_its_export_which_wins(tmp_path: Path) -> None:
    text = config(
        bindings(bound(', "limits": {"steps": 5}, "concurrency": { /* few */ "limit": 2 }')),
        '"exports": { "OrderPipe": { "type": "workflow", "name": "order-pipe", "limits": {"steps": 7} } }',
    )

    found = run(tmp_path, text, PIPE)

    assert exports(found) == {
        "OrderPipe": {
            "type": "workflow",
            "name": "order-pipe",
            "limits": {"steps": 7},
            "concurrency": {"limit": 2},
        }
    }
    assert '"concurrency": { /* few */ "limit": 2 }' in found.result
    assert "workflows" not in jsonc.parse(found.result).data()
    conflict = found.findings[0]
    assert (conflict.rule, conflict.level, conflict.path) == ("R7c", "warning", ("workflows", 0, "limits", "steps"))


def test_r7c_parts_of_a_setting_fill_up_too(tmp_path: Path) -> None:
    text = config(
        bindings(bound(', "default_retention": {"success_retention": 5, "error_retention": 6}')),
        '"exports": { "OrderPipe": { "type": "workflow", "name": "order-pipe", '
        '"default_retention": { "success_retention": 5 } } }',
    )

    found = run(tmp_path, text, workflow("OrderPipe", 'default_retention = {"error_retention": 8}'))

    assert exports(found) == {
        "OrderPipe": {
            "type": "workflow",
            "name": "order-pipe",
            "default_retention": {"success_retention": 5, "error_retention": 8},
        }
    }


@pytest.mark.parametrize("entry", ['"exports": { "OrderPipe": { "type": "workflow", "name": "other" } }'])
def test_r7d_two_names_for_one_class_are_left_to_a_person(tmp_path: Path, entry: str) -> None:
    text = config(bindings(bound()), entry)

    found = run(tmp_path, text, PIPE)

    assert (found.result, rules(found, "error"), found.failed) == (text, ["R7d"], True)


def test_r7d_two_bindings_of_one_class_are_left_to_a_person(tmp_path: Path) -> None:
    text = config(bindings(bound(), bound(name="b", binding="B")))

    found = run(tmp_path, text, PIPE)

    assert (found.result, rules(found, "error")) == (text, ["R7d"])


@pytest.mark.parametrize("use", ["env.ORDER", 'env["ORDER"]', 'getattr(env, "ORDER")'])
def test_r7e_a_binding_that_the_code_uses_stays_bare(tmp_path: Path, use: str) -> None:
    text = config(bindings(bound(', "limits": { "steps": 5 }')))

    found = run(tmp_path, text, PIPE + f"def start(env):\n    return {use}\n")

    assert jsonc.parse(found.result).data()["workflows"] == [
        {"name": "order-pipe", "binding": "ORDER", "class_name": "OrderPipe"}
    ]
    assert exports(found) == {"OrderPipe": {"type": "workflow", "name": "order-pipe", "limits": {"steps": 5}}}
    assert rules(found) == ["R7e", "R5"]


def test_r7e_also_beside_an_export(tmp_path: Path) -> None:
    text = config(
        bindings(bound(', "limits": { "steps": 5 } /* why */')),
        '"exports": { "OrderPipe": { "type": "workflow", "name": "order-pipe", "limits": { "steps": 5 } } }',
    )

    found = run(tmp_path, text, PIPE + "def start(env):\n    return env.ORDER\n")

    assert bound() in found.result
    assert '/* why */ "OrderPipe"' in found.result
    assert rules(found) == ["R7e", "R5"]
