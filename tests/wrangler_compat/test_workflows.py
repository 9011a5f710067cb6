from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wrangler_compat.diagnostics import Diagnostics
from wrangler_compat.environments import resolve
from wrangler_compat.source import read_source
from wrangler_compat.workflows import CRON_HINT, NAME_FORMAT, WorkflowDeclaration, is_workflow_name, read_workflows

ORDER = {"binding": "ORDER", "name": "order", "class_name": "Order"}


def read(data: dict[str, Any], environment: str | None = None) -> tuple[tuple[WorkflowDeclaration, ...], Diagnostics]:
    found = Diagnostics(Path("wrangler.json"))
    return read_workflows(resolve(data, environment, found), "shop", found), found


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


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"workflows": {}}, 'The field "workflows" should be an array but got {}.'),
        ({"workflows": ["x"]}, '"workflows" bindings should be objects, but got "x"'),
        (
            {"workflows": [{"name": "a", "class_name": "A"}]},
            '"workflows[0]" bindings should have a string "binding" field but got {"name":"a","class_name":"A"}.',
        ),
        (
            {"workflows": [{"binding": "A", "name": 1, "class_name": "A"}]},
            '"workflows[0]" bindings should have a string "name" field but got '
            '{"binding":"A","name":1,"class_name":"A"}.',
        ),
        (
            {"workflows": [{"binding": "A", "name": "a"}]},
            '"workflows[0]" bindings should have a string "class_name" field but got {"binding":"A","name":"a"}.',
        ),
        (
            {"workflows": [ORDER, {**ORDER, "binding": "B"}]},
            '"workflows" bindings must have unique "name" values; duplicate(s) found: "order"',
        ),
        (
            bound(limits={"steps": 0}),
            '"workflows[0]" bindings "limits.steps" field must be a positive integer but got 0.',
        ),
        (
            bound(limits={"steps": True}),
            '"workflows[0]" bindings "limits.steps" field must be a positive integer but got true.',
        ),
        (
            bound(concurrency={"limit": 1.5}),
            '"workflows[0]" bindings "concurrency.limit" field must be a positive integer but got 1.5.',
        ),
        (bound(schedules=""), '"workflows[0]" bindings "schedules" field must not be an empty string.'),
        (bound(schedules=[]), '"workflows[0]" bindings "schedules" field must not be an empty array.'),
        (bound(schedules=["a", ""]), '"workflows[0]" bindings "schedules" field must not contain empty strings.'),
        (
            bound(default_retention={"success_retention": 0}),
            '"workflows[0]" bindings "default_retention.success_retention" field must be a positive integer of '
            'milliseconds or a duration string such as "3 days", but got 0.',
        ),
        (
            bound(jurisdiction="mars"),
            '"workflows[0]" bindings "jurisdiction" field must be one of "eu", "fedramp", or "us", but got "mars".',
        ),
        ({"exports": []}, 'The optional "exports" field should be an object keyed by class name, but got []'),
        ({"exports": {"C": "x"}}, '"exports.C" should be an object but got "x".'),
        (
            {"exports": {"C": {"type": "flow"}}},
            '"exports.C.type" must be "durable-object", "worker", or "workflow", but got "flow".',
        ),
        (
            {"exports": {"C": {}}},
            '"exports.C.type" must be "durable-object", "worker", or "workflow", but got undefined.',
        ),
        ({"exports": {"C": {"type": "workflow"}}}, '"exports.C.name" is a required field.'),
        (
            {"exports": {"C": {"type": "workflow", "name": "n"}, "D": {"type": "workflow", "name": "n"}}},
            '"exports.C" and "exports.D" both declare the Workflow "n". Workflow names must be unique.',
        ),
        (
            exported(limits={"steps": -1}),
            '"exports.Order" export "limits.steps" field must be a positive integer but got -1.',
        ),
        (
            {**bound(script_name="z"), **exported()},
            '"workflows[0]" binds the Workflow "order" of the Worker "z", but "exports.Order" declares it in this '
            'Worker. Workflow names are unique per account, so remove "script_name" from the binding or give the '
            "export a different name.",
        ),
        (
            {**bound(class_name="Other"), **exported()},
            '"workflows[0]" and "exports.Order" both declare the Workflow "order", but with different classes '
            '("Other" and "Order").',
        ),
        (
            {**bound(limits={"steps": 7}), **exported(limits={"steps": 7})},
            '"workflows[0].limits" configures the Workflow "order", which "exports.Order" declares. '
            'Set "limits" on the export instead.',
        ),
        (
            bound(script_name="z", limits={"steps": 7}),
            'Workflow "order" has "limits" configured but references external script "z". Configure limits on the '
            "worker that defines the workflow.",
        ),
    ],
)
def test_mistakes_are_told_in_wrangler_s_words(data: dict[str, Any], message: str) -> None:
    assert errors(data) == [message]


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        ("limits", 5, "an object"),
        ("concurrency", [], "an object"),
        ("default_retention", "1 day", "an object"),
        ("schedules", [1, ""], "a string or array of strings"),
        ("script_name", 5, "a string"),
    ],
)
def test_settings_of_the_wrong_shape(key: str, value: object, kind: str) -> None:
    (message,) = errors(bound(**{key: value}))

    assert message.startswith(
        f'"workflows[0]" bindings should, optionally, have {kind} "{key}" field but got {{"binding":"ORDER",'
    )


def test_every_missing_field_is_a_line_of_its_own() -> None:
    assert len(errors({"workflows": [{}]})) == 3


def test_messages_name_the_environment() -> None:
    data = {"exports": {"C": "x"}, "env": {"prod": {"workflows": ["x"]}}}

    assert errors(data, "prod") == [
        '"env.prod.workflows" bindings should be objects, but got "x"',
        '"exports.C" should be an object but got "x".',
    ]


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

    read_workflows(resolve(source.data, None, found), "shop", found)

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


def test_unknown_keys_and_too_many_steps_are_warnings() -> None:
    _, found = read(bound(remote=True, limits={"steps": 30_000, "x": 1}))

    assert found.errors == []
    assert [warning.text for warning in found.warnings] == [
        'Unexpected fields found in workflows[0] field: "remote"',
        'Unexpected fields found in workflows[0].limits field: "x"',
        '"workflows[0]" has a step limit of 30000, which exceeds the production maximum of 25,000. '
        "This configuration may not work when deployed.",
    ]
