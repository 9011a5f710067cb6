"""Lone surrogates are replaced in all that is said to the host, and kept in values."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers_shim import values, well_formed

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("plain", "plain"),
        ("caf\u00e9 \U0001f600", "caf\u00e9 \U0001f600"),
        ("\udcff", "\ufffd"),
        ("a\ud83d", "a\ufffd"),
        ("\ud83d\ud83d\ude00\ude00", "\ufffd\U0001f600\ufffd"),
    ],
)
def test_each_lone_surrogate_becomes_one_replacement_character(given_text: str, expected: str) -> None:
    assert well_formed.text(given_text) == expected


@given(ANY_TEXT)
def test_any_text_has_utf_8_afterwards_and_is_not_changed_again(text: str) -> None:
    cleaned = well_formed.text(text)

    assert well_formed.text(cleaned.encode().decode()) == cleaned


def test_keys_and_members_at_any_depth_are_cleaned() -> None:
    assert well_formed.tree({"\ud800": [("\udfff", 1)], "ok": None}) == {"\ufffd": [["\ufffd", 1]], "ok": None}


def test_a_value_inside_a_message_is_left_as_it_is() -> None:
    text = values.encode({"\ud800": "\udfff"})[0]

    assert well_formed.tree({"value": text}) == {"value": text}


@given(ANY_TEXT)
def test_a_devalue_text_that_the_host_reads_is_cleaned_inside_but_not_the_values_in_it(text: str) -> None:
    payload = values.encode(text)[0]
    args = values.encode([text, {"payload": payload}])[0]

    cleaned = well_formed.encoded(args)

    assert values.decode(cleaned) == [well_formed.text(text), {"payload": payload}]
    json.loads(cleaned)
