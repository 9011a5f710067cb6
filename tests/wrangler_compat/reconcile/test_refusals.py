"""Rules R14 to R20, and what cannot be read: checks before and after a change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.wrangler_compat.reconcile.case import PIPE, bindings, bound, config, exports, rules, run, workflow
from wrangler_compat import ConfigError, jsonc


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
