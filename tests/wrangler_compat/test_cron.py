"""Cloudflare's dialect of cron: what fires when, and what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice

import pytest

from wrangler_compat.cron import CronError, parse

DAYS = "%a %Y-%m-%d"
TIMES = "%m-%d %H:%M"


def ms(text: str) -> int:
    """An ISO time in UTC as ms since the epoch."""
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def shown(at: int, format: str) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime(format)


def firings(text: str, *, count: int = 4, after: str = "2026-12-01T12:00", format: str = DAYS) -> list[str]:
    return [shown(at, format) for at in islice(parse(text).firings(ms(after)), count)]


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("* * * * *", ["12-01 12:01", "12-01 12:02", "12-01 12:03"]),
        ("*/30 * * * *", ["12-01 12:30", "12-01 13:00", "12-01 13:30"]),
        ("45 * * * *", ["12-01 12:45", "12-01 13:45", "12-01 14:45"]),
        ("*/15,30-59/10 0 * * *", ["12-02 00:00", "12-02 00:15", "12-02 00:30", "12-02 00:40", "12-02 00:45"]),
        ("58-1 3 * * *", ["12-02 03:00", "12-02 03:01", "12-02 03:58", "12-02 03:59"]),
        ("0 20-4/2 * * *", ["12-01 20:00", "12-01 22:00", "12-02 00:00", "12-02 02:00", "12-02 04:00"]),
        ("0 17/3 * * *", ["12-01 17:00", "12-01 20:00", "12-01 23:00", "12-02 17:00"]),
        ("5 0 23 8 *", ["08-23 00:05", "08-23 00:05"]),
        ("0 0 1 jan,JUL *", ["01-01 00:00", "07-01 00:00"]),
        ("0 0 1 12-1 *", ["01-01 00:00", "12-01 00:00"]),
    ],
)
def test_the_times_of(text: str, times: list[str]) -> None:
    assert firings(text, count=len(times), format=TIMES) == times


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("0 0 * * 1", ["Sun 2026-12-06", "Sun 2026-12-13"]),
        ("0 0 * * 7", ["Sat 2026-12-05", "Sat 2026-12-12"]),
        ("0 0 * * 2-6", ["Wed 2026-12-02", "Thu 2026-12-03", "Fri 2026-12-04", "Mon 2026-12-07"]),
        ("0 0 * * Mon-fri", ["Wed 2026-12-02", "Thu 2026-12-03", "Fri 2026-12-04", "Mon 2026-12-07"]),
        ("0 0 * * SAT-SUN", ["Sat 2026-12-05", "Sun 2026-12-06", "Sat 2026-12-12"]),
        ("0 0 * * SUN,3", ["Sun 2026-12-06", "Tue 2026-12-08", "Sun 2026-12-13"]),
        ("0 0 * * */3", ["Wed 2026-12-02", "Sat 2026-12-05", "Sun 2026-12-06", "Wed 2026-12-09"]),
        ("0 0 * * L", ["Sat 2026-12-05", "Sat 2026-12-12"]),
        ("0 0 * * 6L", ["Fri 2026-12-25", "Fri 2027-01-29"]),
        ("0 0 * * WEDL", ["Wed 2026-12-30", "Wed 2027-01-27"]),
        ("0 0 * * 5#2", ["Thu 2026-12-10", "Thu 2027-01-14"]),
        ("0 0 * * SAT#5", ["Sat 2027-01-30", "Sat 2027-05-29"]),
    ],
)
def test_weekdays_count_from_1_which_is_sunday(text: str, days: list[str]) -> None:
    assert firings(text, count=len(days)) == days


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("0 0 L * *", ["Thu 2026-12-31", "Sun 2027-01-31", "Sun 2027-02-28", "Wed 2027-03-31"]),
        ("0 0 L 2 *", ["Sun 2027-02-28", "Tue 2028-02-29"]),
        ("0 0 L-3 * *", ["Mon 2026-12-28", "Thu 2027-01-28", "Thu 2027-02-25"]),
        ("59 23 LW * *", ["Thu 2026-12-31", "Fri 2027-01-29", "Fri 2027-02-26"]),
        ("0 0 15W * *", ["Tue 2026-12-15", "Fri 2027-01-15", "Mon 2027-02-15"]),
        ("0 0 13W * *", ["Mon 2026-12-14", "Wed 2027-01-13", "Fri 2027-02-12"]),  # a Sunday, then a Saturday
        ("0 0 1W 5 *", ["Mon 2027-05-03", "Mon 2028-05-01"]),  # Saturday the 1st: not back into April
        (
            "0 0 31W * *",
            ["Thu 2026-12-31", "Fri 2027-01-29", "Wed 2027-03-31"],
        ),  # Sunday the 31st: not on into February
        ("0 0 L-1W 5 *", ["Mon 2027-05-31", "Tue 2028-05-30"]),  # Sunday the 30th
        ("0 0 L-30W * *", ["Fri 2027-01-01", "Mon 2027-03-01", "Mon 2027-05-03"]),
        ("0 0 31-1 * *", ["Thu 2026-12-31", "Fri 2027-01-01", "Sun 2027-01-31"]),
        ("0 0 29 2 *", ["Tue 2028-02-29", "Sun 2032-02-29"]),
    ],
)
def test_days_that_depend_on_their_month(text: str, days: list[str]) -> None:
    assert firings(text, count=len(days)) == days


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("0 0 13 * FRI", ["Fri 2026-12-04", "Fri 2026-12-11", "Sun 2026-12-13", "Fri 2026-12-18"]),
        ("0 0 L * MON", ["Mon 2026-12-07", "Mon 2026-12-14", "Mon 2026-12-21", "Mon 2026-12-28", "Thu 2026-12-31"]),
        ("0 0 */2 * MON", ["Thu 2026-12-03", "Sat 2026-12-05", "Mon 2026-12-07"]),
        ("0 0 13 * 1-7", ["Wed 2026-12-02", "Thu 2026-12-03"]),
    ],
)
def test_a_day_fits_by_its_number_or_by_its_weekday(text: str, days: list[str]) -> None:
    assert firings(text, count=len(days)) == days


def test_a_firing_is_after_the_time_asked_for_and_the_last_may_be_at_it() -> None:
    hourly = parse("0 * * * *")
    noon = ms("2026-12-01T12:00")

    assert hourly.after(noon - 1) == noon
    assert hourly.after(noon) == noon + 3_600_000
    assert hourly.last(noon) == noon
    assert hourly.last(noon - 1) == noon - 3_600_000
    assert hourly.last(noon + 999) == noon


def test_the_last_firing_knows_months_too() -> None:
    last = parse("0 0 LW * *").last(ms("2027-02-01T00:00"))

    assert last == ms("2027-01-29T00:00")


def test_the_text_is_kept_as_it_was_written() -> None:
    assert parse("0  0 * * mon").text == "0  0 * * mon"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "there is a space before or after it"),
        (" * * * * *", "there is a space before or after it"),
        ("* * * * * ", "there is a space before or after it"),
        ("@daily", "it has 1 field instead of 5"),
        ("* * * *", "it has 4 fields instead of 5"),
        ("0 0 0 * * *", "it has 6 fields instead of 5"),
        ("*\t*\t*\t*\t*", "it has 1 field instead of 5"),
        ("60 * * * *", 'minute "60" is not in 0-59'),
        ("-1 * * * *", 'minute "-1" cannot be read'),
        ("1e1 * * * *", 'minute "1e1" cannot be read'),
        ("², * * * *", 'minute "²" cannot be read'),
        ("1, * * * *", 'minute "" cannot be read'),
        ("5,* * * * *", 'minute "*" cannot be read'),
        ("*-5 * * * *", 'minute "*-5" cannot be read'),
        ("*/0 * * * *", 'minute "*/0" has a step that is not in 1-59'),
        ("*/60 * * * *", 'minute "*/60" has a step that is not in 1-59'),
        ("0 24 * * *", 'hour "24" is not in 0-23'),
        ("0 0 0 * *", 'day of the month "0" is not in 1-31'),
        ("0 0 32W * *", 'day of the month "32" is not in 1-31'),
        ("0 0 L-31 * *", 'day of the month "L-31" is not 1-30 days before the last'),
        ("0 0 L-0 * *", 'day of the month "L-0" is not 1-30 days before the last'),
        ("0 0 1,L * *", 'day of the month "L" is not in 1-31'),
        ("0 0 ? * *", 'day of the month "?" cannot be read'),
        ("0 0 * 13 *", 'month "13" is not in 1-12 (1 is JAN)'),
        ("0 0 * MAI *", 'month "MAI" is not in 1-12 (1 is JAN)'),
        ("0 0 * * 0", 'weekday "0" is not in 1-7 (1 is SUN)'),
        ("0 0 * * 8", 'weekday "8" is not in 1-7 (1 is SUN)'),
        ("0 0 * * MON#6", 'weekday "MON#6" counts to more than 5, or to less than 1'),
        ("0 0 * * MON#0", 'weekday "MON#0" counts to more than 5, or to less than 1'),
        ("0 0 * * 8L", 'weekday "8" is not in 1-7 (1 is SUN)'),
        ("0 0 * * 2,6L", 'weekday "6L" cannot be read'),
        ("0 0 31 2,4 *", "no such day exists"),
        ("0 0 30W 2 *", "no such day exists"),
        ("0 0 L-29 2 *", "no such day exists"),
    ],
)
def test_what_cloudflare_does_not_take_is_refused(text: str, reason: str) -> None:
    with pytest.raises(CronError) as caught:
        parse(text)
    assert str(caught.value) == reason
