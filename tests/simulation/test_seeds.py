"""What the simulation found, shortened: each of these broke a law once."""

from __future__ import annotations

import pytest

from tests.simulation.driver import simulate
from tests.simulation.machine import Operation
from tests.simulation.world import Setting


def test_sleeps_that_ended_before_the_code_had_come_back_to_them_keep_their_order() -> None:
    operations = [
        Operation("create", 6886, 5731),
        Operation("lose", 2144, 9660),
        Operation("later", 2706, 9099),
        Operation("crash", 9891, 1621),
    ]
    simulate(Setting(late=True, places=1, concurrency=2, repeats=1000), operations)


@pytest.mark.parametrize("late", [False, True])
def test_a_call_of_an_attempt_that_is_over_takes_its_number_for_good(late: bool) -> None:
    operations = [
        Operation("slow", 6487, 3332),
        Operation("slow", 7497, 5604),
        Operation("create", 101, 8186),
        Operation("later", 9313, 7253),
        Operation("crash", 3096, 5451),
    ]
    simulate(Setting(late=late, places=2), operations)


def test_an_attempt_that_an_undo_gives_up_in_the_same_turn_does_not_begin() -> None:
    operations = [
        Operation("slow", 6539, 4941),
        Operation("create", 1149, 8423),
        Operation("fuse", 709, 4309),
        Operation("quiet", 5, 2275),
    ]
    simulate(Setting(late=True), operations)


def test_a_delay_function_is_not_asked_when_the_run_ends_in_the_same_turn() -> None:
    operations = [
        Operation("slow", 9719, 9788),
        Operation("create", 3221, 7272),
        Operation("slow", 7339, 5273),
        Operation("together", 8326, 42),
        Operation("create", 5846, 3318),
        Operation("crash", 9061, 603),
        Operation("next_alarm", 7444, 233),
        Operation("finish", 276, 5467),
        Operation("next_alarm", 4659, 3978),
        Operation("next_alarm", 34, 756),
        Operation("lose", 7926, 9913),
        Operation("later", 7936, 4616),
    ]
    simulate(Setting(places=1), operations)
