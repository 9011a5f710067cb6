"""One test or more for each rule of docs/reconcile.md, its number in the name; R2 to R6 and R8 to R13 are here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wrangler_compat.reconcile.case import PIPE, bindings, bound, config, exports, rules, run, workflow

# ------------------------------------------------------------------------------------------------- R2 to R6: the export


def test_r2_a_new_class_gets_an_export_with_its_settings(tmp_path: Path) -> None:
    code = workflow("OrderPipe", 'default_retention = {"error_retention": "9 days"}', 'limits = {"steps": 500}')

    found = run(tmp_path, config(), code)

    assert exports(found) == {
        "OrderPipe": {
            "type": "workflow",
            "name": "order-pipe",
            "limits": {"steps": 500},
            "default_retention": {"error_retention": "9 days"},
        }
    }
    assert rules(found) == ["R2"]
    assert found.splices and found.result.startswith(config().rstrip("\n}"))


def test_r2_the_declared_name_is_used_and_a_class_without_one_gets_its_own_in_kebab_case(tmp_path: Path) -> None:
    code = workflow("A", 'workflow_name = "nightly_report"') + workflow("HTTPSync2Go") + workflow("snake_case")

    found = exports(run(tmp_path, config(), code))

    assert isinstance(found, dict)
    assert {key: entry["name"] for key, entry in found.items()} == {
        "A": "nightly_report",
        "HTTPSync2Go": "http-sync2-go",
        "snake_case": "snake-case",
    }


def test_r3_what_is_equal_is_left_alone(tmp_path: Path) -> None:
    code = workflow(
        "OrderPipe", 'schedules = "0 3 * * *"', 'default_retention = {"success_retention": "3 days"}'
    ) + workflow("B", 'schedules = ["1 1 * * *", "2 2 * * *"]')
    text = config(
        '"exports": { "OrderPipe": { "schedules": ["0 3 * * *"], "name": "order-pipe",  "type": "workflow", '
        '"default_retention": {"success_retention": 259200000 } },\n'
        '  "B": { "type": "workflow", "name": "b", "schedules": ["2 2 * * *", "1 1 * * *"] } }'
    )

    found = run(tmp_path, text, code)

    assert (found.result, found.findings) == (text, ())


def test_r4_only_the_innermost_value_that_differs_is_replaced(tmp_path: Path) -> None:
    code = workflow("OrderPipe", 'limits = {"steps": 500}', 'schedules = ["0 3 * * *", "0 5 * * *"]')
    text = config(
        '"exports": { "OrderPipe": { "type": "workflow", "name": "order-pipe", "limits": { /* few */ "steps": 20 }, '
        '"schedules": [ "0 3 * * *", "0 4 * * *" /* later */ ] } }'
    )

    found = run(tmp_path, text, code)

    assert found.result == text.replace("20 }", "500 }").replace("0 4", "0 5")
    assert [finding.message for finding in found.findings] == [
        '"exports.OrderPipe.limits.steps": 20 -> 500',
        '"exports.OrderPipe.schedules": ["0 3 * * *","0 4 * * *"] -> ["0 3 * * *","0 5 * * *"]',
    ]


def test_r4_a_setting_that_is_missing_is_added_behind_the_others(tmp_path: Path) -> None:
    code = workflow("OrderPipe", 'concurrency = {"limit": 2}', 'default_retention = {"error_retention": "2 days"}')
    text = config(
        '"exports": { "OrderPipe": { "type": "workflow", "default_retention": { "success_retention": "1 day" }, '
        '"name": "order-pipe" } }'
    )

    found = run(tmp_path, text, code)

    assert found.result == text.replace('"1 day"', '"1 day", "error_retention": "2 days"').replace(
        '"order-pipe"', '"order-pipe", "concurrency": { "limit": 2 }'
    )


def test_r5_a_setting_of_the_configuration_alone_is_kept_and_told(tmp_path: Path) -> None:
    code = workflow("OrderPipe", 'default_retention = {"error_retention": "2 days"}')
    text = config(
        '"exports": { "OrderPipe": { "type": "workflow", "name": "order-pipe", "limits": { "steps": 9 }, '
        '"jurisdiction": "eu", "default_retention": { "error_retention": "2 days", "success_retention": 5 } } }'
    )

    found = run(tmp_path, text, code)

    assert found.result == text
    assert [finding.path for finding in found.findings] == [
        ("exports", "OrderPipe", "limits"),
        ("exports", "OrderPipe", "default_retention", "success_retention"),
    ]
    assert rules(found, "warning") == ["R5", "R5"]
    assert not found.failed


def test_r6_the_deployed_name_is_kept(tmp_path: Path) -> None:
    text = config('"exports": { "OrderPipe": { "type": "workflow", "name": "legacy" } }')

    found = run(tmp_path, text, workflow("OrderPipe", 'workflow_name = "orders"'))

    assert found.result == text
    assert rules(found, "warning") == ["R6"]


def test_r6_a_name_that_the_code_does_not_give_is_no_difference(tmp_path: Path) -> None:
    text = config('"exports": { "OrderPipe": { "type": "workflow", "name": "legacy" } }')

    assert run(tmp_path, text, PIPE).findings == ()


# ------------------------------------------------------------------------------------------------ R8 to R13: what stays

LIMITED = bindings(bound(', "limits": {"steps": 1}'))


def test_r8_a_workflow_of_another_worker_is_not_touched(tmp_path: Path) -> None:
    foreign = '{"name":"order-x" ,  "binding":"X", /* theirs */ "class_name" : "OrderPipe", "script_name": "other" }'

    found = run(tmp_path, config(f'"workflows": [\n    {foreign}, // keep\n    {bound()}\n  ]'), PIPE)

    assert f"[\n    {foreign} // keep\n  ]" in found.result
    assert exports(found) == {"OrderPipe": {"type": "workflow", "name": "order-pipe"}}


def test_r9_a_binding_of_a_class_that_the_code_lacks_stays(tmp_path: Path) -> None:
    text = config(bindings(bound(class_name="Gone")))

    found = run(tmp_path, text, "")

    assert (found.result, rules(found, "info")) == (text, ["R9"])


def test_r10_bindings_of_environments_are_told_and_not_rewritten(tmp_path: Path) -> None:
    block = f'"env": {{ "prod": {{ {LIMITED}, "exports": {{}} }} }}'

    found = run(tmp_path, config(block), PIPE)

    assert block in found.result
    assert rules(found, "warning") == ["R10", "R10b"]


def test_r10_settings_on_a_binding_of_the_chosen_environment_are_refused(tmp_path: Path) -> None:
    text = config(f'"env": {{ "prod": {{ {LIMITED} }} }}')

    found = run(tmp_path, text, PIPE, env="prod")

    assert (found.result, found.refused, rules(found, "error")) == (text, True, ["R10"])


def test_r10b_exports_of_environments_are_told_and_not_rewritten(tmp_path: Path) -> None:
    block = '"env": { "prod": { "exports": { "Old": { "type": "workflow", "name": "old" } } } }'

    found = run(tmp_path, config(block), PIPE)

    assert block in found.result
    assert rules(found) == ["R2", "R10b"]


def test_r11_the_last_entry_takes_the_list_with_it_and_no_comment_is_lost(tmp_path: Path) -> None:
    text = config(f'// ours\n  "workflows": [ // all of them\n    // the pipe\n    {bound()}\n\n    // none else\n  ]')

    found = run(tmp_path, text, PIPE)

    assert found.result == (
        "{\n  "
        + config().split("\n")[1].strip()
        + """,
  // ours
  // all of them
  // none else
  "exports": {
    // the pipe
    "OrderPipe": { "type": "workflow", "name": "order-pipe" }
  }
}
"""
    )


def test_r12_an_export_that_the_code_no_longer_has_stays_and_is_told(tmp_path: Path) -> None:
    text = config('"exports": { "Gone": { "type": "workflow", "name": "gone" } }')

    found = run(tmp_path, text, "")

    assert (found.result, rules(found, "warning"), found.failed) == (text, ["R12"], False)


def test_r12_what_cannot_be_told_is_not_told(tmp_path: Path) -> None:
    text = config('"exports": { "Gone": { "type": "workflow", "name": "gone" } }')

    assert run(tmp_path, text, "Gone = make()\n").findings == ()


@pytest.mark.parametrize("entry", ['{ "type": "durable-object", "storage": "sqlite" }', '{ "type": "worker" }'])
def test_r13_a_key_that_something_else_has_stops_the_change(tmp_path: Path, entry: str) -> None:
    found = run(tmp_path, config(f'"exports": {{ "OrderPipe": {entry} }}'), PIPE + workflow("New"))

    assert (found.refused, rules(found, "error")) == (True, ["R13"])
