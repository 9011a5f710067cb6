"""Durations: the grammar that delays, timeouts, sleeps and waits share."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.engine.durations import js_number, milliseconds, show, unknown_unit


@pytest.mark.parametrize("value", [5, "5", "5 ms", 5.0, " 5 "])
def test_c189_a_number_is_milliseconds_also_as_text(value: object) -> None:
    assert milliseconds(value) == 5


@pytest.mark.parametrize(
    ("text", "ms"), [("1 month", 2_592_000_000), ("1 year", 31_557_600_000), ("1 week", 604_800_000)]
)
def test_c190_a_month_is_30_days_and_a_year_a_quarter_more_than_365(text: str, ms: int) -> None:
    assert milliseconds(text) == ms


@pytest.mark.parametrize(("text", "ms"), [("1.5 hours", 5_400_000), ("5 second", 5000), ("5 seconds", 5000)])
def test_c191_units_are_singular_or_plural(text: str, ms: int) -> None:
    assert milliseconds(text) == ms


@pytest.mark.parametrize("text", ["5 s", "5 min", "5 Minutes", "5 lightyears"])
def test_c192_an_unknown_unit_is_one_millisecond_and_can_be_warned_of(text: str) -> None:
    assert milliseconds(text) == 5
    assert unknown_unit(text) == text.split()[1]


@pytest.mark.parametrize("text", ["5s", "1 hour 30 minutes", " 5 seconds", "5 seconds ", "one day", "days"])
def test_c193_what_cannot_be_read_is_not_a_number(text: str) -> None:
    assert math.isnan(milliseconds(text))


@pytest.mark.parametrize(("value", "ms"), [(None, 0), (True, 1), (False, 0), ("", 0), ("  ", 0)])
def test_null_true_and_empty_text_count_as_javascript_counts_them(value: object, ms: int) -> None:
    assert milliseconds(value) == ms


@pytest.mark.parametrize("value", [{}, [], object(), b"5"])
def test_other_things_are_no_durations(value: object) -> None:
    assert math.isnan(milliseconds(value))


@pytest.mark.parametrize(
    ("text", "number"), [("-5", -5), ("1e3", 1000), (".5", 0.5), ("5.", 5), ("0x10", 16), ("0b11", 3), ("0o17", 15)]
)
def test_numbers_are_written_as_in_javascript(text: str, number: float) -> None:
    assert js_number(text) == number
    assert milliseconds(f"{text} seconds") == number * 1000


@pytest.mark.parametrize("text", ["1_000", "nan", "inf", "infinity", "1e", "٣", "0x", "-0x10"])
def test_what_only_python_takes_for_a_number_is_none(text: str) -> None:
    assert math.isnan(js_number(text))


def test_numbers_beyond_a_double_are_infinite() -> None:
    assert milliseconds(10**400) == math.inf
    assert milliseconds(-(10**400)) == -math.inf
    assert js_number("0x" + "f" * 400) == math.inf
    assert js_number("1e999") == math.inf


@pytest.mark.parametrize("text", ["5 seconds", "5 ms", "5", "5 days", "garbage"])
def test_known_units_give_no_warning(text: str) -> None:
    assert unknown_unit(text) is None


def test_error_texts_show_whole_milliseconds_without_a_fraction() -> None:
    assert show(100.0) == "100"
    assert show(0.5) == "0.5"


@given(st.text())
def test_any_text_gives_a_number_or_nan(text: str) -> None:
    assert isinstance(milliseconds(text), float)
