"""100,000 things done to hosts, isolates and clocks, with crashes at every kind of commit boundary: no law breaks.

``python -m tests.simulation`` does more of it, and tells a failing seed as a test for `test_seeds.py`.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from tests.simulation.driver import Tally, operations_of, over, setting_of, simulate, simulate_seed
from tests.simulation.loop import simulated_loop
from tests.simulation.machine import NAMES, Machine, Operation
from tests.simulation.world import Setting

CASES = 20  # of equal size, for the processes that share the work
OPERATIONS = 100_000


@pytest.mark.timeout(300)  # a case takes a few seconds; to shorten what fails takes more
@pytest.mark.parametrize("case", range(CASES))
def test_no_law_breaks(case: int) -> None:
    tally = Tally()
    seed = case * 10_000
    while tally.total < OPERATIONS // CASES:
        simulate_seed(seed, tally)
        seed += 1

    print(tally)
    assert tally.crashes > tally.total / 100
    assert all(tally.operations[name] for name in NAMES), "everything that can be done was done"


def test_a_seed_gives_the_same_run_each_time() -> None:
    def run() -> Tally:
        tally = Tally()
        for seed in range(5):
            simulate(setting_of(seed), operations_of(seed), tally)
        return tally

    first, second = run(), run()
    assert str(first) == str(second)


class Lives(RuleBasedStateMachine):
    """The same operations, chosen by hypothesis, which also shortens what fails."""

    @initialize(late=st.booleans(), places=st.sampled_from([1, 2, 256]), concurrency=st.sampled_from([None, 1, 2]))
    def begin(self, late: bool, places: int, concurrency: int | None) -> None:
        self.loop = simulated_loop()
        self.machine = Machine(Setting(late, places, concurrency))
        self.loop.run_until_complete(self.machine.begin())

    @rule(name=st.sampled_from(NAMES), a=st.integers(0, 100), b=st.integers(0, 1000))
    def act(self, name: str, a: int, b: int) -> None:
        self.perform(self.machine.do(Operation(name, a, b)))

    def perform(self, work: Any) -> None:
        async def main() -> None:
            self.machine.world.now_acts()
            await work

        self.loop.run_until_complete(main())

    def teardown(self) -> None:
        try:
            self.perform(self.machine.end())
        finally:
            over(self.loop)


Lives.TestCase.settings = settings(
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
TestLives = Lives.TestCase
