"""Rule R21, and which environment is meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wrangler_compat.reconcile.case import PIPE, bindings, bound, config, exports, project, rules, run, workflow
from wrangler_compat import jsonc
from wrangler_compat.reconcile import reconcile

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


def test_an_environment_that_is_not_there_is_told_because_the_top_level_is_edited_in_its_place(tmp_path: Path) -> None:
    found = run(tmp_path, config(), workflow("OrderPipe"), env="prod")

    assert exports(found) == {"OrderPipe": {"type": "workflow", "name": "order-pipe"}}
    assert [each.message for each in found.findings if each.level == "warning"] == [
        'No environment found in configuration with name "prod".'
    ]
