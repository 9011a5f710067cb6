"""How long instances are kept: by `create`, by the configuration, by the target."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.engine import Retention, decode
from runtime.engine.events import Created
from runtime.engine.rules import CELLD, CLOUDFLARE
from runtime.host.retention import asked_retention, with_default_retention
from runtime.host.workflows import Workflow
from runtime.store import Key
from tests.host.world import Host
from wrangler_compat import WorkflowDeclaration

DAY = 24 * 60 * 60 * 1000


def asked(given: Any, rules: Any = CLOUDFLARE) -> tuple[Retention, list[str]]:
    """What is taken of the option, and what is said of it."""
    said: list[str] = []
    return asked_retention(given, rules, said.append), said


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        (None, Retention()),
        ({}, Retention()),
        ({"successRetention": "3 days"}, Retention(success=3 * DAY)),
        ({"errorRetention": 1000}, Retention(error=1000)),
        ({"successRetention": "1.5 hours", "errorRetention": "500"}, Retention(success=5_400_000, error=500)),
        ({"successRetention": "30 days"}, Retention(success=30 * DAY)),
        ({"successRetention": "0.1 m"}, Retention(success=1)),  # never less than a millisecond
    ],
)
def test_what_can_be_read_is_taken(given: Any, taken: Retention) -> None:
    assert asked(given) == (taken, [])


@pytest.mark.parametrize("value", ["zz", "5 min", "", 0, -1, 1.5, True, None, [], "0 days", "Infinity"])
def test_c019_what_cannot_be_read_is_left_to_the_default_and_said(value: Any) -> None:
    taken, said = asked({"successRetention": value, "errorRetention": "1 hour"})

    assert taken == Retention(error=3_600_000)
    assert said == [
        f"retention.successRetention of create() is not used: {value!r} is no duration. "
        'Write a whole number of milliseconds, or a text like "3 days".'
    ]


@pytest.mark.parametrize("given", ["1 day", 5, [], True])
def test_a_retention_that_is_no_object_is_not_used(given: Any) -> None:
    assert asked(given) == (
        Retention(),
        ["The retention of create() is not used: it is no object with successRetention and errorRetention."],
    )


def test_more_than_the_target_keeps_is_cut() -> None:
    taken, said = asked({"errorRetention": "1 year"})

    assert taken == Retention(error=30 * DAY)
    assert said == ["retention.errorRetention of create() is '1 year', and instances are kept for 30 days at most."]


def test_a_target_that_takes_no_retention_says_so() -> None:
    assert asked({"successRetention": "1 day"}, CELLD) == (
        Retention(),
        ["The retention of create() is not used: celld keeps instances for 30 days."],
    )


def test_the_configuration_s_default_becomes_the_workflow_s_rule() -> None:
    declared = WorkflowDeclaration("orders", "Orders", success_retention="3 days", error_retention=1000)

    rules = with_default_retention(CLOUDFLARE, declared)

    assert (rules.success_retention, rules.error_retention) == (3 * DAY, 1000)


def test_what_the_configuration_leaves_out_stays_the_target_s() -> None:
    declared = WorkflowDeclaration("orders", "Orders", error_retention="90 days")

    rules = with_default_retention(CLOUDFLARE, declared)

    assert (rules.success_retention, rules.error_retention) == (30 * DAY, 30 * DAY)


def test_celld_has_its_own() -> None:
    declared = WorkflowDeclaration("orders", "Orders", success_retention="3 days")

    assert with_default_retention(CELLD, declared) == CELLD


# ------------------------------------------------------------------------------------------------------- the binding


async def journalled(host: Host, id: str) -> Retention:
    """The retention that an instance's journal keeps."""
    created = decode((await host.instances.lines(Key("wf", id)))[0].data)
    assert isinstance(created, Created)
    return created.retention


@pytest.mark.asyncio
async def test_every_way_to_create_keeps_the_retention_in_the_journal(host: Host) -> None:
    retention = {"successRetention": "1 day", "errorRetention": 1000}

    await host.bind("create", {"id": "one", "retention": retention})
    await host.bind("createBatch", [{"id": "list", "retention": retention}, {"id": "plain"}])
    await host.bind("createBatch", {"instances": [{"id": "object", "retention": retention}]})
    ((counted,), _) = (await host.bind("createBatch", {"count": 1, "retention": retention})).values()

    for id in ("one", "list", "object", counted["id"]):
        assert await journalled(host, id) == Retention(DAY, 1000)
    assert await journalled(host, "plain") == Retention()


@pytest.mark.asyncio
async def test_what_is_not_used_is_said_once_for_each_workflow(host: Host) -> None:
    host.declare(Workflow("wf", "Wf", CELLD))
    for id in ("a", "b"):
        await host.bind("create", {"id": id, "retention": {"successRetention": "1 day"}})

    (warning,) = host.err.getvalue().splitlines()
    assert warning == "warning: wf: The retention of create() is not used: celld keeps instances for 30 days."
