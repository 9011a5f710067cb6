from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any

import pytest

from wrangler_compat.diagnostics import Diagnostics
from wrangler_compat.rendering import keys, listed, unexpected_fields, written


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (-1.5, "-1.5"),
        (123456.789, "123456.789"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.5e300, "1.5e+300"),
        (0.000001, "0.000001"),
        (1e-7, "1e-7"),
        (1.25e-7, "1.25e-7"),
        (5e-324, "5e-324"),
        (2**53, "9007199254740992"),
        (math.inf, "null"),
        (math.nan, "null"),
        (True, "true"),
        (None, "null"),
        ('é\n\x01\x7f"\\', '"é\\n\\u0001\x7f\\"\\\\"'),
        ("\ud800", '"\\ud800"'),
        ([1.0, [None]], "[1,[null]]"),
        ({"b": 1, "10": 2, "9": {"z": 0, "0": 1}, "01": 3}, '{"9":{"0":1,"z":0},"10":2,"b":1,"01":3}'),
        (datetime.date(2026, 1, 2), '"2026-01-02"'),
        (datetime.time(7, 32), '"07:32:00.000"'),
        (datetime.datetime(2026, 1, 2, 3, 4, 5, 678901), '"2026-01-02T03:04:05.678"'),
        (datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC), '"2026-01-02T00:00:00.000Z"'),
    ],
)
def test_a_value_is_shown_as_javascript_shows_it(value: Any, text: str) -> None:
    assert written(value) == text


def test_only_array_indices_come_first() -> None:
    assert list(keys({"b": 0, "4294967295": 0, "4294967294": 0, "-1": 0, "1.5": 0, "0": 0})) == [
        "0",
        "4294967294",
        "b",
        "4294967295",
        "-1",
        "1.5",
    ]


@pytest.mark.parametrize(("words", "text"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b, and c")])
def test_words_are_listed_in_english(words: list[str], text: str) -> None:
    assert listed(words) == text


def test_unknown_keys_are_named_with_the_known_ones_that_are_near() -> None:
    found = Diagnostics(Path("wrangler.json"))

    unexpected_fields({"step": 1, "steps": 1}, {"steps"}, ("limits",), found)
    unexpected_fields({"x": 1, "y": 1}, {"steps"}, ("limits",), found)

    assert [(each.text, each.hint) for each in found.warnings] == [
        ('Unexpected fields found in limits field: "step"', 'Did you mean "steps" instead of "step"?'),
        ('Unexpected fields found in limits field: "x","y"', "Remove them: nothing reads them."),
    ]
