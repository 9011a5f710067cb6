from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wrangler_compat.checks import check
from wrangler_compat.diagnostics import Diagnostics
from wrangler_compat.environments import resolve
from wrangler_compat.source import read_source
from wrangler_compat.workflows import CRON_HINT, NAME_FORMAT, WorkflowDeclaration, is_workflow_name, read_workflows

ORDER = {"binding": "ORDER", "name": "order", "class_name": "Order"}


def read(data: dict[str, Any], environment: str | None = None) -> tuple[tuple[WorkflowDeclaration, ...], Diagnostics]:
    found = Diagnostics(Path("wrangler.json"))
    resolved = resolve(data, environment, found)
    check(data, resolved, found)
    return read_workflows(resolved, "shop", found), found


def errors(data: dict[str, Any], environment: str | None = None) -> list[str]:
    return [error.message for error in read(data, environment)[1].errors]


def bound(**changes: object) -> dict[str, Any]:
    return {"workflows": [{**ORDER, **changes}]}


def exported(**changes: object) -> dict[str, Any]:
    return {"exports": {"Order": {"type": "workflow", "name": "order", **changes}}}


def test_a_binding_and_its_settings() -> None:
    declared, found = read(
        bound(
            limits={"steps": 500},
            concurrency={"limit": 3},
            schedules="0 3 * * *",
            default_retention={"success_retention": "3 days", "error_retention": 1000},
            jurisdiction="eu",
        )
    )

    assert found.errors == []
    assert found.warnings == []
    assert declared == (
        WorkflowDeclaration(
            name="order",
            class_name="Order",
            binding="ORDER",
            steps_limit=500,
            concurrency_limit=3,
            schedules=("0 3 * * *",),
            success_retention="3 days",
            error_retention=1000,
            jurisdiction="eu",
            path=("workflows", 0),
        ),
    )


def test_an_export_is_named_by_its_class() -> None:
    (declared,), _ = read(exported(schedules=["0 3 * * *", "0 4 * * *"]))

    assert (declared.name, declared.class_name, declared.binding, declared.exported) == ("order", "Order", None, True)
    assert declared.schedules == ("0 3 * * *", "0 4 * * *")


def test_a_binding_and_an_export_of_one_workflow_are_one_declaration_with_the_export_s_settings() -> None:
    (declared,), found = read({**bound(), **exported(limits={"steps": 7})})

    assert found.errors == []
    assert (declared.binding, declared.exported, declared.steps_limit) == ("ORDER", True, 7)


def test_the_worker_s_own_script_name_means_here() -> None:
    (declared,), found = read(bound(script_name="shop", limits={"steps": 7}))

    assert found.errors == []
    assert declared.script_name is None


def test_a_workflow_of_another_worker_keeps_its_script_name() -> None:
    (declared,), found = read(bound(script_name="billing"))

    assert found.errors == []
    assert declared.script_name == "billing"


@pytest.mark.parametrize("name", ["a", "_", "9", "a-b_C9", "a" * 64])
def test_names_that_are_accepted(name: str) -> None:
    assert is_workflow_name(name)


@pytest.mark.parametrize("name", ["", "-a", "a b", "a\n", "é", "a" * 65, "a.b"])
def test_names_that_are_refused(name: str) -> None:
    assert not is_workflow_name(name)
    assert errors(bound(name=name)) == [f'"workflows[0]" binding "name" field is invalid. {NAME_FORMAT}']
    assert errors(exported(name=name)) == [f'"exports.Order.name" is invalid. {NAME_FORMAT}']


@pytest.mark.parametrize("text", ["3 days", "1 second", "1.5 hours", "2 weeks", "500"])
def test_retentions_that_are_taken(text: str) -> None:
    (declared,), found = read(bound(default_retention={"error_retention": text}))

    assert (found.errors, found.warnings) == ([], [])
    assert declared.error_retention == text


@pytest.mark.parametrize("value", ["banana", "5 min", "3days", "-1 day", "0 days", "0", "1.5", "", 1.5, -1, True, []])
def test_retentions_that_only_the_deployment_would_refuse_are_refused(value: object) -> None:
    (message,) = errors(exported(default_retention={"error_retention": value}))

    assert message.startswith(
        '"exports.Order" export "default_retention.error_retention" field must be a positive integer of milliseconds '
        'or a duration string such as "3 days", but got '
    )


@pytest.mark.parametrize("value", ["31 days", 30 * 24 * 3600 * 1000 + 1, "1 year"])
def test_a_retention_over_the_maximum_is_a_warning(value: object) -> None:
    (declared,), found = read(bound(default_retention={"success_retention": value}))

    assert (found.errors, declared.success_retention) == ([], value)
    (warning,) = found.warnings
    assert warning.key == "workflows[0].default_retention.success_retention"
    assert warning.text.endswith("exceeds the production maximum of 30 days. Instances are kept for 30 days.")


def test_a_cron_expression_that_cannot_be_read_is_an_error_with_its_place(tmp_path: Path) -> None:
    entry = '"type": "workflow", "name": "order",\n"schedules": ["0 3 * * *",\n "0 25 * * *"]'
    (tmp_path / "wrangler.json").write_text(f'{{\n"exports": {{"Order": {{{entry}}}}}}}')
    source = read_source(tmp_path / "wrangler.json")
    found = Diagnostics(source.path, source.locate)

    check(source.data, resolve(source.data, None, found), found)

    (error,) = found.errors
    assert (error.code, error.line, error.column, error.hint) == ("workflow_schedule", 4, 2, CRON_HINT)
    assert error.message == (
        '"exports.Order.schedules[1]" is no cron expression: "0 25 * * *": hour "25" is not in 0-23.'
    )


def test_a_single_cron_expression_is_named_by_its_key() -> None:
    assert errors(bound(schedules="* * * *")) == [
        '"workflows[0].schedules" is no cron expression: "* * * *": it has 4 fields instead of 5.'
    ]


def test_a_cron_expression_has_at_most_256_characters() -> None:
    fits = f"{','.join(['10'] * 82 + ['1'])} * * * *"

    assert len(fits) == 255
    assert errors(bound(schedules=fits)) == []
    assert errors(bound(schedules=f"1,{fits}")) == [
        f'"workflows[0].schedules" is no cron expression: "{f"1,{fits}"[:256]}...": '
        "it has 257 characters, and 256 are allowed."
    ]


def test_all_workflows_together_have_at_most_100_cron_expressions() -> None:
    other = {"binding": "MAIL", "name": "mail", "class_name": "Mail", "schedules": ["0 3 * * *"] * 50}
    half = {**ORDER, "schedules": ["0 3 * * *"] * 50}

    assert errors({"workflows": [half, other]}) == []
    assert errors({"workflows": [{**half, "schedules": ["0 3 * * *"] * 51}, other]}) == [
        "There are 101 cron expressions in the schedules of all workflows; an account has 100."
    ]
