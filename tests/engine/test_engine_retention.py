"""How long an instance is kept after its end, and what its journal says of where it came from."""

from __future__ import annotations

import pytest

from runtime.engine import TARGETS, Retention, Rules, Schedule, decode, encode, expires_at, fold
from runtime.engine import commands as cmd
from runtime.engine import events as ev
from tests.engine.driver import NOW, Instance

DAY = 24 * 60 * 60 * 1000
RULES = Rules(success_retention=100, error_retention=200)


def kept(instance: Instance, rules: Rules = RULES, retention: Retention | None = None) -> int | None:
    """For how long after ``NOW`` the instance is kept."""
    if retention is not None:
        instance.state.retention = retention
    at = expires_at(instance.state, rules)
    return None if at is None else at - NOW


def test_an_instance_that_has_not_ended_is_kept(instance: Instance) -> None:
    assert kept(instance) is None
    instance.sleep()
    instance.tell(cmd.RunParked())
    assert kept(instance) is None


def test_one_that_completed_is_kept_for_the_success_retention(instance: Instance) -> None:
    instance.later(7).returned()
    assert kept(instance) == 7 + 100
    assert kept(instance, retention=Retention(success=5, error=6)) == 7 + 5


def test_one_that_errored_or_was_terminated_is_kept_for_the_error_retention() -> None:
    errored, terminated = Instance().start(), Instance().start()
    errored.raised()
    terminated.tell(cmd.Terminate())

    for instance in (errored, terminated):
        assert kept(instance) == 200
        assert kept(instance, retention=Retention(success=5, error=6)) == 6


def test_each_of_the_two_has_a_default_of_its_own(instance: Instance) -> None:
    instance.returned()
    assert kept(instance, retention=Retention(error=6)) == 100


def test_a_restarted_instance_is_kept_until_it_has_ended_again(instance: Instance) -> None:
    instance.returned()
    instance.tell(cmd.Restart())
    assert kept(instance) is None
    instance.later(50).start().returned()
    assert kept(instance) == 50 + 100


@pytest.mark.parametrize("target", TARGETS)
def test_c020_without_any_retention_an_instance_is_kept_for_30_days(instance: Instance, target: str) -> None:
    instance.returned()
    assert kept(instance, TARGETS[target]) == 30 * DAY


def test_the_journal_keeps_retention_and_trigger(instance: Instance) -> None:
    event = ev.Created(
        at=NOW,
        workflow="wf",
        instance="id",
        params="{}",
        retention=Retention(error=6),
        trigger="cron",
        schedule=Schedule("* * * * *", NOW),
    )

    assert decode(encode(event)) == event
    state = fold([event])
    assert (state.retention, state.trigger, state.scheduled_by) == (event.retention, "cron", event.schedule)


def test_a_journal_that_says_nothing_of_them_is_one_of_a_binding_with_the_default() -> None:
    created = decode('{"kind":"created","at":1,"workflow":"wf","instance":"id","params":"{}"}')

    assert isinstance(created, ev.Created)
    assert (created.retention, created.trigger, created.schedule) == (Retention(), "binding", None)
