from __future__ import annotations

import pytest

from runtime.cli import values


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5", 5.0),
        ("0", 0.0),
        ("2.5", 2.5),
        ("500ms", 0.5),
        ("30s", 30.0),
        ("30 seconds", 30.0),
        ("1 Minute", 60.0),
        ("5m", 300.0),
        ("2 hours", 7200.0),
    ],
)
def test_durations_are_seconds_unless_they_have_a_unit(text: str, seconds: float) -> None:
    assert values.duration(text) == seconds


def test_the_value_of_a_variable_may_hold_colons_or_be_empty() -> None:
    assert values.variable("URL:http://a:1") == ("URL", "http://a:1")
    assert values.variable("A:") == ("A", "")
