from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wrangler_compat.diagnostics import Diagnostics
from wrangler_compat.environments import resolve


def flat(data: dict[str, Any], environment: str | None) -> tuple[dict[str, Any], list[str]]:
    found = Diagnostics(Path("wrangler.json"))
    resolved = resolve(data, environment, found)
    return resolved.data, [warning.text for warning in found.warnings]


def test_inheritable_keys_come_whole_from_the_environment_else_from_the_top() -> None:
    data = {
        "main": "top.py",
        "compatibility_flags": ["a", "b"],
        "exports": {"A": {"type": "workflow", "name": "a"}, "B": {"type": "workflow", "name": "b"}},
        "triggers": {"crons": ["* * * * *"]},
        "env": {"x": {"compatibility_flags": ["c"], "exports": {"C": {"type": "workflow", "name": "c"}}}},
    }

    assert flat(data, "x") == (
        {
            "main": "top.py",
            "compatibility_flags": ["c"],
            "exports": {"C": {"type": "workflow", "name": "c"}},
            "triggers": {"crons": ["* * * * *"]},
        },
        [],
    )


def test_a_null_in_the_environment_inherits() -> None:
    assert flat({"main": "top.py", "env": {"x": {"main": None}}}, "x")[0] == {"main": "top.py"}


def test_an_inherited_name_gets_the_environment_behind_it_and_an_own_one_stays() -> None:
    data = {"name": "shop", "env": {"x": {}, "y": {"name": "other"}}}

    assert flat(data, "x")[0]["name"] == "shop-x"
    assert flat(data, "y")[0]["name"] == "other"
    assert flat(data, None)[0]["name"] == "shop"


def test_bindings_and_vars_are_not_inherited_and_each_loss_is_told() -> None:
    data = {"vars": {"A": 1}, "kv_namespaces": [{"binding": "C"}], "define": {}, "env": {"x": {}}}

    assert flat(data, "x") == (
        {},
        [
            '"vars" exists at the top level, but not on "env.x".',
            '"kv_namespaces" exists at the top level, but not on "env.x".',
            '"define" exists at the top level, but not on "env.x".',
        ],
    )


def test_single_variables_and_workflows_that_are_lost_are_named() -> None:
    data = {
        "vars": {"A": 1, "B": 2},
        "workflows": [{"binding": "O"}, {"binding": "P"}],
        "env": {"x": {"vars": {"B": 3}, "workflows": [{"binding": "P"}]}},
    }

    assert flat(data, "x") == (
        {"vars": {"B": 3}, "workflows": [{"binding": "P"}]},
        [
            'The following vars exist at the top level, but not on "env.x.vars".',
            'There is a workflows binding with name "O" at the top level, but not on "env.x".',
        ],
    )


def test_top_level_keys_stay_and_are_ignored_inside_an_environment() -> None:
    data = {"dev": {"port": 1}, "env": {"x": {"dev": {"port": 2}}}}

    assert flat(data, "x") == ({"dev": {"port": 1}}, [])


def test_without_any_environment_block_the_top_level_is_used_with_a_warning() -> None:
    assert flat({"name": "shop", "vars": {"A": 1}}, "prod") == (
        {"name": "shop-prod", "vars": {"A": 1}},
        ['No environment found in configuration with name "prod".'],
    )


@pytest.mark.parametrize(
    ("env", "message"),
    [
        ({"a": {}, "b": {}}, 'No environment found in configuration with name "x".'),
        ({}, 'No environment found in configuration with name "x".'),
        ([1], '"env" should be an object but got [1].'),
        ({"x": []}, '"env.x" should be an object but got [].'),
    ],
)
def test_an_environment_that_cannot_be_used_is_an_error(env: object, message: str) -> None:
    found = Diagnostics(Path("wrangler.json"))

    resolve({"env": env}, "x", found)

    assert [error.message for error in found.errors] == [message]


def test_an_unknown_environment_comes_with_the_known_ones() -> None:
    found = Diagnostics(Path("wrangler.json"))

    resolve({"env": {"a": {}, "10": {}, "9": {}}}, "x", found)

    assert found.errors[0].hint == (
        "Before using `--env=x` there should be an equivalent environment section in the configuration.\n"
        'The available configured environment names are: ["9","10","a"]'
    )


def test_where_a_key_came_from_is_known() -> None:
    found = Diagnostics(Path("wrangler.json"))

    resolved = resolve({"exports": {}, "env": {"x": {"workflows": []}}}, "x", found)

    assert resolved.path_of("workflows") == ("env", "x", "workflows")
    assert resolved.path_of("exports") == ("exports",)
