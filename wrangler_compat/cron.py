"""Cloudflare's dialect of cron: five fields, in UTC, weekdays from 1 (Sunday) to 7 (Saturday).

It is Quartz's grammar with classic cron's meaning: a day fits when either its number or its weekday does, unless one of
the two fields is ``*``. Ranges may wrap (``SAT-SUN``, ``22-2``). In the day of the month stand, alone, ``L`` (the last
day), ``L-3`` (three days before it), and ``15W``, ``LW`` or ``L-3W`` (the weekday nearest to that day, within its
month); among the weekdays, alone, ``L`` (Saturday), ``6L`` (the last Friday) and ``6#2`` (the second Friday).

The dialect is read here and told to `cronsim`, which finds the times, in its own terms (where ``0 0 * * 1`` is Monday).
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from cronsim import CronSim, CronSimError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
_SATURDAY, _SUNDAY = 5, 6  # as `calendar` counts

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")

_ITEM = re.compile(r"(\*|[0-9]+|[A-Za-z]+)(?:-([0-9]+|[A-Za-z]+))?(?:/([0-9]+))?")
_FROM_LAST = re.compile(r"L(?:-([0-9]+))?(W?)")
_NEAREST = re.compile(r"([0-9]+)W")
_OF_MONTH = re.compile(r"([0-9A-Za-z]+?)(?:(L)|#([0-9]+))")


class CronError(ValueError):
    """The text is no cron expression that Cloudflare accepts; the message says which part of it."""


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression. Times are ms since the epoch."""

    text: str
    _spec: str  # in cronsim's terms
    _month_day: _MonthDay | None  # what cronsim has no terms for

    def after(self, ms: int) -> int:
        """The first firing after this time."""
        return next(self.firings(ms))

    def firings(self, ms: int) -> Iterator[int]:
        """All firings after this time, in order."""
        return map(_to_ms, _Times(self._spec, self._month_day, _EPOCH + ms * _MS))

    def last(self, ms: int) -> int | None:
        """The latest firing not after this time."""
        start = _EPOCH + timedelta(seconds=ms // 1000 + 1)  # cronsim gives what is before it
        found = next(_Times(self._spec, self._month_day, start, reverse=True), None)
        return None if found is None else _to_ms(found)


def parse(text: str) -> Cron:
    """Read an expression; raise `CronError` when it is none, or when no day will ever fit it."""
    fields = text.split(" ")
    fields = [field for i, field in enumerate(fields) if field or i in (0, len(fields) - 1)]
    if "" in fields:
        raise CronError("there is a space before or after it")
    if len(fields) != 5:
        raise CronError(f"it has {len(fields)} {'field' if len(fields) == 1 else 'fields'} instead of 5")
    minute, hour, day, month, weekday = fields
    month_day = _month_day(day)
    spec = (
        _MINUTE.listed(minute),
        _HOUR.listed(hour),
        _DAY.listed(day) if month_day is None else "1",
        _MONTH.listed(month),
        _weekdays(weekday),
    )
    cron = Cron(text, " ".join(spec), month_day)
    _refuse_never(cron)
    return cron


def _refuse_never(cron: Cron) -> None:
    try:
        never = next(cron.firings(0), None) is None
    except CronSimError:  # such as 30 February
        never = True
    if never:
        raise CronError("no such day exists")


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    def listed(self, text: str, shift: int = 0) -> str:
        """The field's values one by one, as cronsim takes them."""
        if text == "*":
            return "*"
        items = text.split(",")
        return ",".join(str(value + shift) for value in sorted({v for item in items for v in self._values(item)}))

    def _values(self, item: str) -> list[int]:
        match = _ITEM.fullmatch(item)
        if match is None or (match[1] == "*" and (match[2] or not match[3])):
            raise CronError(f'{self.name} "{item}" cannot be read')
        start = self.low if match[1] == "*" else self.number(match[1])
        if match[3] is None:
            return self._between(start, self.number(match[2]) if match[2] else start, 1)
        step = int(match[3])
        if not 1 <= step <= self.high - self.low:
            raise CronError(f'{self.name} "{item}" has a step that is not in 1-{self.high - self.low}')
        return self._between(start, self.number(match[2]) if match[2] else self.high, step)

    def _between(self, start: int, end: int, step: int) -> list[int]:
        size = self.high - self.low + 1
        return [(start - self.low + i) % size + self.low for i in range(0, (end - start) % size + 1, step)]

    def number(self, text: str) -> int:
        if text.upper() in self.names:
            return self.names.index(text.upper()) + self.low
        if not text.isdigit() or not self.low <= int(text) <= self.high:
            first = f" ({self.low} is {self.names[0]})" if self.names else ""
            raise CronError(f'{self.name} "{text}" is not in {self.low}-{self.high}{first}')
        return int(text)


_MINUTE = _Field("minute", 0, 59)
_HOUR = _Field("hour", 0, 23)
_DAY = _Field("day of the month", 1, 31)
_MONTH = _Field("month", 1, 12, _MONTHS)
_WEEKDAY = _Field("weekday", 1, 7, _DAYS)


def _weekdays(text: str) -> str:
    """The weekdays as cronsim counts them, from 0."""
    if text == "L":
        text = "SAT"
    match = _OF_MONTH.fullmatch(text)
    if match is None or text.upper() in _WEEKDAY.names:
        return _WEEKDAY.listed(text, shift=-1)
    if match[3] is not None and match[3] not in ("1", "2", "3", "4", "5"):
        raise CronError(f'weekday "{text}" counts to more than 5, or to less than 1')
    return f"{_WEEKDAY.number(match[1]) - 1}{'L' if match[2] else f'#{match[3]}'}"


def _month_day(text: str) -> _MonthDay | None:
    """A day that depends on its month; None where the field is a list of numbers."""
    if match := _FROM_LAST.fullmatch(text):
        offset = int(match[1] or 0)
        if match[1] is not None and not 1 <= offset <= 30:
            raise CronError(f'day of the month "{text}" is not 1-30 days before the last')
        return _MonthDay(-offset, nearest=bool(match[2]))
    if match := _NEAREST.fullmatch(text):
        return _MonthDay(_DAY.number(match[1]), nearest=True)
    return None


@dataclass(frozen=True, slots=True)
class _MonthDay:
    """One day of each month: counted from the first when positive, else back from the last."""

    day: int
    nearest: bool  # to it, of the days from Monday to Friday

    def of(self, year: int, month: int) -> int | None:
        """The day's number in a month; None where the month has no such day."""
        first, length = calendar.monthrange(year, month)
        day = self.day if self.day > 0 else length + self.day
        if not 1 <= day <= length:
            return None
        weekday = (first + day - 1) % 7
        if self.nearest and weekday == _SATURDAY:
            return day - 1 if day > 1 else day + 2
        if self.nearest and weekday == _SUNDAY:
            return day + 1 if day < length else day - 2
        return day


class _Times(CronSim):
    """cronsim's iterator, with one more way for a day to fit."""

    def __init__(self, spec: str, month_day: _MonthDay | None, start: datetime, reverse: bool = False) -> None:
        self._month_day = month_day
        super().__init__(spec, start, reverse)

    def match_dom(self, d: date) -> bool:
        if self._month_day is None:
            return super().match_dom(d)
        return d.day == self._month_day.of(d.year, d.month)


def _to_ms(at: datetime) -> int:
    return (at - _EPOCH) // _MS
