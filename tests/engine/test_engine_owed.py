"""What a freshly folded instance owes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from runtime.engine import commands as cmd
from runtime.engine import fold, owed
from runtime.engine.effects import ArmTimer, DeclareLost, StartRun
from tests.engine.driver import Instance, retries


def parked(instance: Instance) -> None:
    instance.sleep(1000)
    instance.wait(timeout=500)
    instance.tell(cmd.RunParked())


def asking(instance: Instance) -> None:
    instance.failed(instance.do(config=retries(delay="[dynamic]"), delay_function=True))


def undoing(instance: Instance) -> None:
    instance.do(rollback=True)
    instance.raised()


def terminated_with_rollback(instance: Instance) -> None:
    instance.done(instance.do(rollback=True))
    instance.pause()
    instance.tell(cmd.Terminate(rollback=True))


def undo_failed(instance: Instance) -> None:
    undoing(instance)
    instance.crash()


def pausing(instance: Instance) -> None:
    instance.do()
    instance.pause()


def paused(instance: Instance) -> None:
    instance.pause()


def resumed(instance: Instance) -> None:
    instance.sleep()
    instance.pause()
    instance.resume()


def restarted(instance: Instance) -> None:
    instance.tell(cmd.Restart())


CASES: list[tuple[Callable[[Instance], object], list[object]]] = [
    (lambda instance: None, [StartRun()]),
    (lambda instance: instance.do(), [DeclareLost()]),
    (lambda instance: instance.failed(instance.do()), [StartRun()]),
    (lambda instance: instance.sleep(), [StartRun()]),
    (asking, [DeclareLost()]),
    (pausing, [DeclareLost()]),
    (undoing, [DeclareLost()]),
    (undo_failed, [StartRun()]),
    (terminated_with_rollback, [StartRun()]),
    (paused, []),
    (resumed, [StartRun()]),
    (restarted, [StartRun()]),
    (lambda instance: instance.returned(), []),
    (lambda instance: instance.raised(), []),
    (lambda instance: instance.tell(cmd.Terminate()), []),
]


@pytest.mark.parametrize(("story", "effects"), CASES)
def test_an_opened_instance_owes(
    instance: Instance, story: Callable[[Instance], object], effects: list[object]
) -> None:
    story(instance)
    assert owed(fold(instance.events)) == effects


def test_an_instance_that_never_ran_owes_its_run() -> None:
    assert owed(fold(Instance().events)) == [StartRun()]


def test_a_waiting_instance_owes_its_earliest_timer(instance: Instance) -> None:
    parked(instance)
    assert owed(fold(instance.events)) == [ArmTimer(instance.now + 500)]


def test_after_what_is_lost_is_declared_a_run_is_owed(instance: Instance) -> None:
    instance.do()
    instance.crash()
    assert owed(instance.state) == [StartRun()]


def test_a_new_run_begins_only_when_nothing_of_the_old_one_is_left(instance: Instance) -> None:
    instance.do()
    with pytest.raises(AssertionError, match="nothing of an earlier one"):
        instance.start()


def test_neither_paused_nor_finished_instances_run(instance: Instance) -> None:
    instance.pause()
    with pytest.raises(AssertionError, match="paused instances do not run"):
        instance.start()
