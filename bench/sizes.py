"""How much is measured: full sizes for figures, quick ones to see that the bench itself works."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of all rows. Times are seconds."""

    one_step: int = 30  # one-step workflows, one after another
    steps: int = 1000  # steps of the one long workflow
    wide: int = 200  # instances at once
    wide_steps: int = 10  # steps of each of them
    creates: int = 100  # creates, one after another
    burst: int = 200  # creates at once
    ticks: int = 50  # steps before the kill
    edits: int = 5  # of the Worker's source
    warm: int = 1000  # instances that are complete before memory is read
    sleepers: int = 1000
    many_sleepers: int = 100_000  # catalog rows
    many_files: int = 5000  # how many of them get a journal file of their own
    stream: int = 1 << 30  # bytes
    raw_commits: int = 5000
    settle: float = 10.0  # before memory is read
    pause: float = 1.0  # between warming up and measuring
    patience: float = 120.0  # for anything before it counts as failed
    kill_patience: float = 15.0  # for the next step after a kill


FULL = Sizes()
QUICK = Sizes(
    one_step=2,
    steps=20,
    wide=10,
    wide_steps=2,
    creates=3,
    burst=5,
    ticks=3,
    edits=1,
    warm=5,
    sleepers=5,
    many_sleepers=200,
    many_files=5,
    stream=1 << 22,
    raw_commits=100,
    settle=0.5,
    pause=0.0,
    patience=30.0,
    kill_patience=20.0,
)
