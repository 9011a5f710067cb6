"""Date, as far as Worker code uses it from Python."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from workers_shim.web.errors import range_error
from workers_shim.web.proxy import JsProxy

_EPOCH = datetime(1970, 1, 1)


class Date(JsProxy):
    """A moment, in milliseconds since the epoch."""

    _ms: float

    def __init__(self, value: Any = None) -> None:
        self._ms = Date.now() if value is None else _milliseconds(value)

    @staticmethod
    def now() -> int:
        return time.time_ns() // 1_000_000

    @staticmethod
    def parse(text: str) -> int | float:
        return _milliseconds(text)

    @staticmethod
    def of(moment: datetime) -> Date:
        """The Date of a Python datetime; a naive one is UTC, which is a Worker's local time."""
        made: Date = Date.new(_milliseconds(moment))
        return made

    def getTime(self) -> int | float:
        return self._ms

    valueOf = getTime

    def toISOString(self) -> str:
        if math.isnan(self._ms):
            raise range_error("Invalid time value")
        return self.to_py().isoformat(timespec="milliseconds") + "Z"

    toJSON = toISOString

    def getFullYear(self) -> int:
        return self.to_py().year

    def getMonth(self) -> int:
        return self.to_py().month - 1

    def getDate(self) -> int:
        return self.to_py().day

    def getHours(self) -> int:
        return self.to_py().hour

    def getMinutes(self) -> int:
        return self.to_py().minute

    def getSeconds(self) -> int:
        return self.to_py().second

    getUTCFullYear, getUTCMonth, getUTCDate = getFullYear, getMonth, getDate
    getUTCHours, getUTCMinutes, getUTCSeconds = getHours, getMinutes, getSeconds

    def to_py(self, *, depth: int = -1, default_converter: Any = None) -> datetime:
        return _EPOCH + timedelta(milliseconds=self._ms)

    def __devalue__(self) -> datetime:
        return self.to_py()

    def __repr__(self) -> str:
        return "Invalid Date" if math.isnan(self._ms) else f"{self.to_py():%a %b %d %Y %H:%M:%S} GMT+0000"


def _milliseconds(value: Any) -> int | float:
    if isinstance(value, Date):
        return value._ms
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return math.nan
    if isinstance(value, datetime):
        naive = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        return (naive - _EPOCH) // timedelta(milliseconds=1)
    return value if isinstance(value, float) and math.isnan(value) else int(value)
