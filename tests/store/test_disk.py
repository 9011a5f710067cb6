"""Whether the loop may wait for the disk where each commit has to reach it."""

from __future__ import annotations

from runtime.store.writers import ALONE, SLOW, SLOW_FOR, Disk, ThreadedJournal


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def journals_of(names: str) -> list[ThreadedJournal]:
    """What stands for journals where only their identity counts."""
    return [ThreadedJournal.__new__(ThreadedJournal) for _ in names]


def test_the_loop_may_wait_for_a_quick_disk_while_one_journal_alone_appends() -> None:
    clock, (one, other) = Clock(), journals_of("ab")
    clock.now = 1000.0
    disk = Disk(clock)
    assert disk.is_quick_for(one)
    assert disk.is_quick_for(one)
    assert not disk.is_quick_for(other)
    assert not disk.is_quick_for(one)
    assert disk.is_quick_for(one)
    clock.now += 2 * ALONE
    assert disk.is_quick_for(other)


def test_after_a_slow_commit_the_loop_does_not_wait_for_a_while() -> None:
    clock, (one,) = Clock(), journals_of("a")
    clock.now = 1000.0
    disk = Disk(clock)
    assert disk.is_quick_for(one)
    clock.now += SLOW / 2
    disk.committed()
    assert disk.is_quick_for(one)
    clock.now += 2 * SLOW
    disk.committed()
    assert not disk.is_quick_for(one)
    clock.now += SLOW_FOR
    assert disk.is_quick_for(one)
