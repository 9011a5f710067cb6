"""The simulation sees it when an invariant is broken on purpose."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from runtime.engine import attempts, calls
from runtime.host.results import Results
from runtime.host.runs import Runs
from runtime.store.memory import MemoryJournal, MemoryJournals
from runtime.store.memory_catalog import MemoryCatalog
from runtime.store.types import Key, Line
from tests.simulation.driver import operations_of, setting_of, simulate

WORLDS = 60

Patch = Callable[[pytest.MonkeyPatch], None]


def act_before_commit(patch: pytest.MonkeyPatch) -> None:
    append = MemoryJournal.append

    def hurry(self: MemoryJournal, lines: Sequence[Line]) -> None:
        append(self, lines)  # it is committed in the loop's next turn, and nobody waits for that

    patch.setattr(MemoryJournal, "append", hurry)


def split_commits(patch: pytest.MonkeyPatch) -> None:
    commit = MemoryJournals.commit

    def one_by_one(self: MemoryJournals, key: Key, lines: Sequence[Line]) -> None:
        for line in lines:
            commit(self, key, [line])

    patch.setattr(MemoryJournals, "commit", one_by_one)


def no_fence(patch: pytest.MonkeyPatch) -> None:
    def running(state: Any, step: int, attempt: int) -> Any:
        return state.open.get(step)

    patch.setattr(attempts, "_running", running)


def dirty_rows_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    async def none(self: MemoryCatalog) -> list[Any]:
        return []

    patch.setattr(MemoryCatalog, "dirty_rows", none)


def sleepers_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    async def none(self: MemoryCatalog, now: int, limit: int) -> list[Any]:
        return []

    async def never(self: MemoryCatalog) -> None:
        """Nobody is to be woken."""

    patch.setattr(MemoryCatalog, "due", none)
    patch.setattr(MemoryCatalog, "next_wake", never)


def results_overtake(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Results, "settled", lambda self, step, made: [step] if step in made else [])


def sleeps_end_on_replay(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(calls, "_is_due", lambda record, now: record.due is not None)


def waits_take_no_earlier_event(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(calls, "_take_event", lambda state, step, event_type, now, decision: None)


def creations_stay_half_done(patch: pytest.MonkeyPatch) -> None:
    async def nothing(self: MemoryCatalog, keys: object) -> None:
        """The row is not made live."""

    patch.setattr(MemoryCatalog, "confirm", nothing)


def nobody_hibernates(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Runs, "hibernate", lambda self, run: None)


@pytest.mark.parametrize(
    ("law", "broken"),
    [
        ("I1", act_before_commit),
        ("I2|I4", split_commits),  # half of a decision may also leave the instance with nothing to do
        ("I3", no_fence),
        ("I4", dirty_rows_are_forgotten),
        ("I4", sleepers_are_forgotten),
        ("I5", results_overtake),
        ("too early", sleeps_end_on_replay),
        ("I7", waits_take_no_earlier_event),
        ("I8", creations_stay_half_done),
        ("I9", nobody_hibernates),
    ],
)
def test_a_broken_law_is_seen(law: str, broken: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch)

    with pytest.raises(Exception) as caught:  # what breaks first is not always an assertion of ours
        for seed in range(WORLDS):
            simulate(setting_of(seed), operations_of(seed))

    assert re.search(law, str(caught.value))
