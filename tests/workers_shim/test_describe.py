"""Calls in words."""

from __future__ import annotations

import pytest

from workers_shim.wire.describe import describe, describes
from workers_shim.wire.messages import Identity

WAIT: Identity = ("wait", "paid", 2)


def test_a_call_is_named_as_the_code_has_it() -> None:
    assert describe(("do", "charge", 1)) == 'step.do("charge") number 1'


@pytest.mark.parametrize("words", ['step.wait_for_event("paid") number 2', 'step.waitForEvent("paid") number 2'])
def test_each_language_has_its_word_for_a_wait(words: str) -> None:
    assert describes(words, WAIT)


@pytest.mark.parametrize("words", ['step.waitForEvent("paid") number 1', 'step.sleep("paid") number 2'])
def test_other_words_are_another_calls(words: str) -> None:
    assert not describes(words, WAIT)
    assert not describes('step.waitForEvent("paid") number 2', ("sleep", "paid", 2))
