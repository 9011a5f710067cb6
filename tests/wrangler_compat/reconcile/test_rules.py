"""One test or more for each rule of docs/reconcile.md, its number in the name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.wrangler_compat.reconcile.case import config, exports, project, rules, run, workflow
from wrangler_compat import ConfigError, jsonc
from wrangler_compat.reconcile import reconcile

PIPE = workflow("OrderPipe")


def install(folder: Path, package: str, version: str) -> None:
    place = folder / "node_modules" / package
    place.mkdir(parents=True)
    (place / "package.json").write_text(json.dumps({"version": version}))


# ------------------------------------------------------------------------------------------------------------ R1: tools


@pytest.mark.parametrize(
    ("package", "version"),
    [
        ("wrangler", "4.141.9"),
        ("wrangler", "3.99.0"),
        ("wrangler", "4.142.0-beta.1"),
        ("@cloudflare/vite-plugin", "1.60.2"),
    ],
)
def test_r1_an_older_tool_stops_the_change_and_names_the_upgrade(tmp_path: Path, package: str, version: str) -> None:
    install(tmp_path, package, version)

    found = run(tmp_path / "app", config(), PIPE)

    assert found.refused
    (gate,) = [finding for finding in found.findings if finding.rule == "R1"]
    assert version in gate.message
    assert gate.hint == f"npm install --save-dev {package}@latest"


def test_r1_an_older_tool_is_only_told_when_nothing_is_to_be_done(tmp_path: Path) -> None:
    install(tmp_path, "wrangler", "4.100.0")

    found = run(tmp_path, config('"exports": { "OrderPipe": { "type": "workflow", "name": "order-pipe" } }'), PIPE)

    assert rules(found) == ["R1"]
    assert not found.refused


@pytest.mark.parametrize("version", ["4.142.0", "4.164.0", "5.0.0"])
def test_r1_a_tool_that_is_new_enough_says_nothing(tmp_path: Path, version: str) -> None:
    install(tmp_path, "wrangler", version)

    assert rules(run(tmp_path, config(), PIPE)) == ["R2"]


def test_r1_the_nearest_installation_counts_as_for_node(tmp_path: Path) -> None:
    install(tmp_path, "wrangler", "4.100.0")
    install(tmp_path / "app", "wrangler", "4.150.0")

    assert not run(tmp_path / "app", config(), PIPE).refused


def test_r1b_without_an_installed_wrangler_there_is_no_gate(tmp_path: Path) -> None:
    assert not run(tmp_path, config(), PIPE).refused


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


# ----------------------------------------------------------------------------------------------- R7: bindings that move


def bound(more: str = "", name: str = "order-pipe", binding: str = "ORDER", class_name: str = "OrderPipe") -> str:
    """The text of a binding with further members."""
    return f'{{ "name": "{name}", "binding": "{binding}", "class_name": "{class_name}"{more} }}'


def bindings(*entries: str) -> str:
    """The text of the list of bindings."""
    return f'"workflows": [{", ".join(entries)}]'


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


# -------------------------------------------------------------------------------------- R14 to R20: checks of all kinds


@pytest.mark.parametrize(
    "code",
    [
        workflow("HTTPFlow") + workflow("HttpFlow"),
        workflow("A", 'workflow_name = "same"') + workflow("B", 'workflow_name = "same"'),
        workflow("A", 'workflow_name = "no spaces"'),
        workflow("A" * 65),
        workflow("A", 'schedules = ["not a cron"]'),
        workflow("A", 'default_retention = {"success_retention": "banana"}'),
        workflow("A", 'limits = {"steps": 25001}'),
        workflow("A", 'limits = {"steps": 0}'),
        workflow("A", 'concurrency = {"limit": 0}'),
    ],
)
def test_r14_settings_that_would_be_refused_at_deploy_stop_the_change(tmp_path: Path, code: str) -> None:
    found = run(tmp_path, config(), code + workflow("Good"))

    assert found.refused
    assert set(rules(found, "error")) == {"R14"}


def test_r14_the_name_of_a_foreign_workflow_cannot_be_taken(tmp_path: Path) -> None:
    foreign = '{ "name": "order-pipe", "binding": "X", "class_name": "Y", "script_name": "other" }'

    found = run(tmp_path, config(f'"workflows": [{foreign}]'), PIPE)

    assert (found.refused, rules(found, "error")) == (True, ["R14"])


def test_r16_a_repeated_key_is_refused_at_its_place(tmp_path: Path) -> None:
    text = config('"vars": { "A": 1, "A": 2 }')

    found = run(tmp_path, text, PIPE)

    assert (found.result, found.refused, rules(found)) == (text, True, ["R16"])
    place = found.place(found.findings[0])
    assert place is not None and (place.line, place.column) == (3, 21)


def test_r16_a_file_that_cannot_be_parsed_is_an_error_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        run(tmp_path, "{ 'name': 1 }", PIPE)

    assert (caught.value.line, caught.value.column) == (1, 3)


@pytest.mark.parametrize(
    ("date", "flags", "told"),
    [
        ("2025-11-16", [], True),
        ("2025-11-17", [], False),
        ("2025-11-16", ["enable_ctx_exports"], False),
        ("2026-01-01", ["disable_ctx_exports"], True),
    ],
)
def test_r17_a_date_without_ctx_exports_is_told_and_not_changed(
    tmp_path: Path, date: str, flags: list[str], told: bool
) -> None:
    text = json.dumps({"main": "entry.py", "compatibility_date": date, "compatibility_flags": flags})

    found = run(tmp_path, text, PIPE)

    assert ("R17" in rules(found, "warning")) is told
    assert not found.refused
    assert jsonc.parse(found.result).data()["compatibility_flags"] == flags


def test_r18_a_second_run_finds_nothing_to_do(tmp_path: Path) -> None:
    code = workflow("OrderPipe", 'schedules = ["0 3 * * *"]') + workflow("New") + "def f(env):\n    env.USED\n"
    used = '{ "name": "new", "binding": "USED", "class_name": "New", "limits": { "steps": 4 } }'
    once = run(tmp_path, config(bindings(bound(), used)), code)

    twice = run(tmp_path, once.result, code)

    assert (twice.result, twice.splices) == (once.result, ())


def test_r19_a_setting_that_is_no_literal_is_left_out_and_the_rest_is_done(tmp_path: Path) -> None:
    found = run(
        tmp_path, config(), "N = 5\n" + workflow("OrderPipe", 'limits = {"steps": N}', 'schedules = "0 3 * * *"')
    )

    assert exports(found) == {"OrderPipe": {"type": "workflow", "name": "order-pipe", "schedules": "0 3 * * *"}}
    assert (found.failed, found.refused, rules(found, "error")) == (True, False, ["R19"])
    place = found.place(found.findings[0])
    assert place is not None and (place.file.name, place.line) == ("entry.py", 4)


def test_r19_the_configuration_keeps_a_setting_that_the_code_has_but_not_as_a_literal(tmp_path: Path) -> None:
    text = config('"exports": { "OrderPipe": { "type": "workflow", "name": "order-pipe", "limits": { "steps": 5 } } }')

    found = run(tmp_path, text, "N = 5\n" + workflow("OrderPipe", 'limits = {"steps": N}'))

    assert (found.result, rules(found)) == (text, ["R19"])


def test_r20_a_bare_binding_beside_its_export_stays(tmp_path: Path) -> None:
    text = config(bindings(bound()), '"exports": { "OrderPipe": { "type": "workflow", "name": "order-pipe" } }')

    found = run(tmp_path, text, PIPE)

    assert (found.result, found.findings) == (text, ())


# ---------------------------------------------------------------------------------------------------- R21: environments


@pytest.mark.parametrize("block", ["{}", "null", '{ "exports": null }', '{ "vars": { "A": 1 } }'])
def test_r21_environments_that_would_inherit_stop_the_change_and_are_named(tmp_path: Path, block: str) -> None:
    text = config(f'"env": {{ "prod": {block}, "dev": {{ "exports": {{}} }} }}')

    found = run(tmp_path, text, PIPE)

    (finding,) = [finding for finding in found.findings if finding.rule == "R21"]
    assert found.refused and found.pending
    assert 'take over "order-pipe"' in finding.message
    assert finding.path == ("env", "prod")


def test_r21_can_be_forced(tmp_path: Path) -> None:
    found = run(tmp_path, config('"env": { "prod": {} }'), PIPE, force=True)

    assert (found.refused, rules(found, "warning")) == (False, ["R21"])


def test_r21_does_not_concern_changes_of_what_is_inherited_already(tmp_path: Path) -> None:
    text = config('"exports": { "OrderPipe": { "type": "workflow", "name": "order-pipe" } }', '"env": { "prod": {} }')

    found = run(tmp_path, text, workflow("OrderPipe", 'limits = {"steps": 7}'))

    assert (found.refused, rules(found)) == (False, ["R4"])


def test_r21_an_environment_gets_exports_of_its_own_under_its_own_names(tmp_path: Path) -> None:
    text = config(
        '"exports": { "Counter": { "type": "durable-object", "storage": "sqlite" } }',
        '"env": { "prod": { ' + bindings(bound(name="order-live")) + " } }",
    )
    code = PIPE + workflow("New") + "class Counter: ...\n"

    found = run(tmp_path, text, code, env="prod")

    data = jsonc.parse(found.result).data()
    assert data["env"]["prod"]["exports"] == {
        "Counter": {"type": "durable-object", "storage": "sqlite"},
        "OrderPipe": {"type": "workflow", "name": "order-live"},
        "New": {"type": "workflow", "name": "new-prod"},
    }
    assert data["env"]["prod"]["workflows"] == jsonc.parse(text).data()["env"]["prod"]["workflows"]
    assert data["exports"] == jsonc.parse(text).data()["exports"]
    assert not found.refused

    assert run(tmp_path, found.result, code, env="prod").splices == ()


def test_r21_an_environment_that_inherits_all_it_needs_is_left_alone(tmp_path: Path) -> None:
    text = config('"exports": { "OrderPipe": { "type": "workflow", "name": "order-pipe" } }', '"env": { "prod": {} }')

    assert not run(tmp_path, text, PIPE, env="prod").pending


# --------------------------------------------------------------------------------------------------------- what is read


def test_the_environment_may_come_from_the_variable(tmp_path: Path) -> None:
    folder = project(tmp_path, config('"env": { "prod": {} }'), PIPE)

    assert reconcile(folder, None, {"CLOUDFLARE_ENV": "prod"}).environment == "prod"


@pytest.mark.parametrize(
    ("members", "env", "code"),
    [
        (['"exports": []'], None, "exports_shape"),
        (['"exports": { "A": 1 }'], None, "export_shape"),
        (['"workflows": {}'], None, "field_type"),
        (['"workflows": [1]'], None, "workflow_shape"),
        (['"env": { "a": { "workflows": [1] } }'], None, "workflow_shape"),
        (['"env": { "a": 1 }'], None, "env_shape"),
        (['"env": 1'], None, "env_shape"),
        (['"env": { "a": {} }'], "b", "env_unknown"),
    ],
)
def test_a_misshapen_configuration_is_an_error(tmp_path: Path, members: list[str], env: str | None, code: str) -> None:
    with pytest.raises(ConfigError) as caught:
        run(tmp_path, config(*members), PIPE, env=env)

    assert caught.value.code == code


@pytest.mark.parametrize("text", ["{}", '{ "main": null }', '{ "main": "gone.py" }'])
def test_without_a_main_module_there_is_nothing_to_compare_with(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        run(tmp_path, text, PIPE)

    assert caught.value.code == "main_missing"


def test_code_that_cannot_be_parsed_stops_the_change(tmp_path: Path) -> None:
    found = run(tmp_path, config(), "class (:\n")

    assert (found.refused, rules(found, "error")) == (True, ["code"])


def test_an_environment_that_is_not_there_is_told_because_the_top_level_is_edited_in_its_place(tmp_path: Path) -> None:
    found = run(tmp_path, config(), workflow("OrderPipe"), env="prod")

    assert exports(found) == {"OrderPipe": {"type": "workflow", "name": "order-pipe"}}
    assert [each.message for each in found.findings if each.level == "warning"] == [
        'No environment found in configuration with name "prod".'
    ]
