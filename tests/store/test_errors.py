"""What a person reads when the state folder fails."""

from __future__ import annotations

import pytest

from runtime.store import JournalClosed, JournalExists, MissingJournal, StoreError


@pytest.mark.parametrize(
    ("error", "what_to_do"),
    [
        (MissingJournal("state/ab/c.db"), "Put it back if it was moved; otherwise delete the instance"),
        (JournalExists("state/ab/c.db"), "Move that file out of the state folder, or choose another id."),
        (JournalClosed("state/ab/c.db"), "Restart celld-py"),
    ],
)
def test_a_message_says_where_and_what_to_do(error: StoreError, what_to_do: str) -> None:
    assert "state/ab/c.db" in str(error)
    assert what_to_do in str(error)
    assert "()" not in str(error), "no names of our functions"
