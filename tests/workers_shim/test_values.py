from __future__ import annotations

import collections
import copy
import datetime as dt
import decimal
import enum
import inspect
import json
import math
import pickle
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers_shim.errors import ConversionError, DataCloneError, JsException
from workers_shim.values import JsDict, decode, encode, to_py
from workers_shim.wire import devalue
from workers_shim.wire.neutral import UNDEFINED, ArrayBuffer, BigInt, Date, ErrorValue, Map, RegExp, Set, View


def cross(value: Any) -> Any:
    return decode(encode(value)[0])


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    HIGH = 3


class Word(enum.StrEnum):
    YES = "yes"


class Pair(NamedTuple):
    a: int
    b: int


@dataclass
class Point:
    x: int


def test_f01_none_is_kept_and_dicts_are_js_dicts() -> None:
    value = cross({"a": None, "b": [1, None, [None]]})
    assert value == {"a": None, "b": [1, None, [None]]}
    assert type(value) is JsDict
    assert type(value["b"]) is list


def test_f02_integral_floats_become_ints() -> None:
    assert (cross(10.0), type(cross(10.0))) == (10, int)
    assert cross(1.5) == 1.5
    assert (cross(-0.0), type(cross(-0.0))) == (0, int)
    assert (cross(2.0**60), type(cross(2.0**60))) == (2.0**60, float)
    assert type(cross(2.0**53 - 1)) is int


@pytest.mark.parametrize("value", [(1, 2), [(1, 2)], {"a": (1,)}, (), {(1, 2)}, Pair(1, 2)])
def test_f03_tuples_are_refused(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^<class '.*'> cannot be sent over RPC\."):
        encode(value)


def test_f03_text_of_the_refusal() -> None:
    with pytest.raises(TypeError) as caught:
        encode((1, 2))
    assert str(caught.value) == "<class 'tuple'> cannot be sent over RPC."


def test_f04_bytes_become_a_memoryview_and_bytearray_is_refused() -> None:
    assert isinstance(cross(b"ab"), memoryview)
    assert cross(b"ab") == b"ab"
    assert cross(memoryview(b"abcd")[::2]) == b"ac"
    with pytest.raises(TypeError, match=r"<class 'bytearray'> cannot be sent over RPC\."):
        encode([bytearray(b"x")])


def test_f05_datetimes_become_naive_utc_and_lose_microseconds() -> None:
    moment = dt.datetime(2024, 5, 6, 7, 8, 9, 123999)
    assert cross(moment) == dt.datetime(2024, 5, 6, 7, 8, 9, 123000)
    aware = moment.replace(tzinfo=dt.timezone(dt.timedelta(hours=2)))
    assert cross(aware) == dt.datetime(2024, 5, 6, 5, 8, 9, 123000)
    assert cross(dt.datetime(1, 1, 1)) == dt.datetime(1, 1, 1)


def numbers() -> Iterator[int]:
    yield 1


@pytest.mark.parametrize(
    "value",
    [
        dt.date(2024, 1, 1),
        dt.timedelta(1),
        decimal.Decimal(1),
        uuid.UUID(int=1),
        Colour.RED,
        Point(1),
        range(3),
        numbers(),
        frozenset({1}),
        collections.deque(),
        {}.keys(),
        1j,
        object(),
        numbers,
        Point,
    ],
    ids=lambda value: type(value).__name__,
)
def test_f06_other_types_cannot_be_cloned(value: Any) -> None:
    with pytest.raises(JsException) as caught:
        encode({"value": value})
    assert isinstance(caught.value, DataCloneError)
    assert str(caught.value).startswith("DataCloneError: ")
    assert caught.value.name == "DataCloneError"
    assert caught.value.__notes__ == ["at result.value"]


def test_f06_enums_that_are_text_or_numbers_become_plain() -> None:
    assert (cross(Word.YES), type(cross(Word.YES))) == ("yes", str)
    assert (cross(Level.HIGH), type(cross(Level.HIGH))) == (3, int)


def test_f07_keys_become_text() -> None:
    assert list(cross({1: "a", None: 1, 1.5: 0, 2.0: 0, 2**60: 0})) == ["1", "undefined", "1.5", "2", str(2**60)]
    assert list(cross({True: 1, False: 2})) == ["true", "false"]
    with pytest.raises(ConversionError, match=r"^Cannot use \(1, 2\) as a key for a Javascript Map"):
        encode({(1, 2): 3})


def test_f08_sets_big_integers_and_nan() -> None:
    assert cross({1, "a", None, 2.5}) == {1, "a", None, 2.5}
    assert type(cross(set())) is set
    assert cross(2**60) == 2**60
    assert cross(-(7**5000)) == -(7**5000)
    assert math.isnan(cross(math.nan))
    assert cross(-math.inf) == -math.inf
    with pytest.raises(ConversionError, match="as a key for a Javascript Set"):
        encode({b"x"})


def test_f10_js_dict_has_attributes() -> None:
    value = cross({"a": {"b": 1}, "keys": 2})
    assert value.a.b == value["a"]["b"] == 1
    assert callable(value.keys)
    value.c = 3
    assert value["c"] == 3
    del value.c
    assert not hasattr(value, "c")
    with pytest.raises(AttributeError, match="missing"):
        _ = value.missing
    with pytest.raises(AttributeError):
        del value.missing
    assert json.loads(json.dumps(value)) == {"a": {"b": 1}, "keys": 2}
    assert isinstance(value, dict)


def test_js_dict_serves_code_of_the_older_sdk() -> None:
    value = cross({"a": [{"b": 1}]})
    plain = value.to_py()
    assert type(plain) is dict
    assert type(plain["a"][0]) is dict
    plain["a"].append(1)
    assert value == {"a": [{"b": 1}]}
    assert value.object_keys() == ["a"]
    assert value.object_values() == [[{"b": 1}]]
    assert value.object_entries() == [["a", [{"b": 1}]]]
    assert cross({"to_py": 5}).to_py == 5


def test_js_dict_can_be_copied_and_pickled() -> None:
    value = cross({"a": {"b": 1}})
    assert copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value
    assert type(copy.copy(value)) is JsDict


def test_to_py_keeps_sharing_and_cycles() -> None:
    value: dict[str, Any] = {"list": []}
    value["list"] += [value, value]
    plain = to_py(value)
    assert plain is not value
    assert plain["list"][0] is plain["list"][1] is plain


def test_subclasses_become_plain() -> None:
    assert cross(collections.Counter("aab")) == {"a": 2, "b": 1}
    assert cross(collections.OrderedDict(a=1)) == {"a": 1}


@pytest.mark.parametrize("value", ["\ud800", "\0", "😀", "é", "", "\u2028<script>"])
def test_any_text_survives(value: str) -> None:
    assert cross(value) == value
    assert cross({value: value}) == {value: value}


def test_awaitables_are_refused() -> None:
    async def later() -> None: ...

    coroutine = later()
    try:
        with pytest.raises(TypeError, match=r"^Awaitable <class 'coroutine'> cannot be sent over RPC\."):
            encode([coroutine])
    finally:
        coroutine.close()
    assert inspect.getcoroutinestate(coroutine) == "CORO_CLOSED"


def test_an_exception_becomes_an_exception() -> None:
    error = cross([ValueError("msg")])[0]
    assert type(error) is Exception
    assert str(error) == "Error: msg"


def test_the_note_says_where_the_value_is() -> None:
    with pytest.raises(DataCloneError) as caught:
        encode({"a": 1, "items": [0, 1, 2, {"odd key": {"when": dt.date(2024, 1, 1)}}]}, "event.payload")
    assert caught.value.__notes__ == ["at event.payload.items[3]['odd key'].when"]


def test_shared_values_stay_shared() -> None:
    part = {"a": 1}
    first, second = cross([part, part])
    assert first is second


def test_a_cycle_is_refused_and_located() -> None:
    value: dict[str, Any] = {"a": [{}]}
    value["a"][0]["up"] = value["a"]
    with pytest.raises(DataCloneError, match="contains itself") as caught:
        encode(value)
    assert caught.value.__notes__ == ["at result.a"]


def test_depth_is_no_limit() -> None:
    value: list[Any] = []
    for _ in range(5000):
        value = [value]
    assert encode(cross(value)) == encode(value)


def test_an_object_may_stand_for_another_value() -> None:
    class JsMap:
        def __devalue__(self) -> Map:
            return Map([("a", [1])])

    one = JsMap()
    first, second = cross([one, one])
    assert first == {"a": [1]}
    assert first is second


def test_an_object_that_stands_for_what_holds_it_is_a_cycle() -> None:
    class Loop:
        def __devalue__(self) -> list[Any]:
            return [self]

    with pytest.raises(DataCloneError, match="contains itself"):
        encode(Loop())


def test_neutral_values_are_encoded_too() -> None:
    text, _ = encode([UNDEFINED, BigInt(1), Date(0), Set([1]), ErrorValue("TypeError", "m")])
    assert devalue.parse(text) == [UNDEFINED, BigInt(1), Date(0), Set([1]), ErrorValue("TypeError", "m")]
    assert encode(UNDEFINED)[0] == "-1"
    with pytest.raises(TypeError, match=r"^RegExp cannot be sent over RPC\."):
        encode(RegExp("x"))


def test_what_javascript_sends() -> None:
    value = decode(
        devalue.stringify(
            {
                "undefined": UNDEFINED,
                "unsafe": 2**60,
                "big": BigInt(10),
                "date": Date(1500.0),
                "map": Map([("k", {"a": 1})]),
                "floats": View.of("Float64Array", b"\0" * 8),
                "raw": ArrayBuffer(b"ab"),
                "error": ErrorValue("TypeError", "bad"),
            }
        )
    )
    assert value.undefined is None
    assert isinstance(value.unsafe, float)
    assert value.big == 10
    assert value.date == dt.datetime(1970, 1, 1, 0, 0, 1, 500000)
    assert value.map == {"k": {"a": 1}}
    assert value.map["k"].a == 1
    assert value.floats.tolist() == [0.0]
    assert value.raw == b"ab"
    assert str(value.error) == "TypeError: bad"
    assert decode("-1") is None
    assert decode('[[-2,1],"a"]') == [None, "a"]


def test_a_key_that_python_cannot_hold_is_named() -> None:
    with pytest.raises(ConversionError, match="Cannot use key of type Array as a key to a Python dict"):
        decode(devalue.stringify(Map([([1], 2)])))
    with pytest.raises(ConversionError, match="Cannot use key of type Object as a key to a Python set"):
        decode(devalue.stringify(Set([{"a": 1}])))


def test_dates_that_datetime_lacks_are_named() -> None:
    with pytest.raises(ConversionError, match="Invalid Date"):
        decode('[["Date",""]]')
    with pytest.raises(ConversionError, match="275760"):
        decode(devalue.stringify(Date(8.64e15)))


def test_the_size_comes_with_the_text() -> None:
    for value in ({"a": [1, "é", "日本", 2**70, 1.5, None]}, b"abc", "x" * 1000, math.nan, [{"a": 1}] * 3):
        text, size = encode(value)
        assert size == devalue.clone_size(text)
    assert encode("x" * (1 << 20))[1] == 1 << 20


python_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.datetimes().map(lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.sets(st.integers(2, 9) | st.text()),
    max_leaves=20,
)


@given(python_values)
def test_what_survives_comes_back_equal_and_stays_so(value: Any) -> None:
    once = cross(value)
    assert once == value
    assert cross(once) == once
    assert encode(once)[1] == encode(value)[1]
