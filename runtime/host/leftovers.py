"""Streams that no result names: of attempts that were lost with their host, of steps that a restart has forgotten."""

from __future__ import annotations

from contextlib import suppress

from runtime.engine import State
from runtime.store import StoreError
from runtime.store.types import JournalFile


async def drop_unnamed(journal: JournalFile, state: State, last_step: int) -> None:
    """Delete what is stored of such streams of steps up to ``last_step``; those of later ones may still arrive."""
    found = await journal.streams()
    for stream in found - state.streams() if found else ():
        if stream.step <= last_step:
            await journal.drop_stream(stream)


async def drop_forgotten(journal: JournalFile, state: State, last_step: int) -> None:
    """The same, beside a running instance."""
    with suppress(StoreError):  # then it is done when the instance is next brought into memory
        await drop_unnamed(journal, state, last_step)
