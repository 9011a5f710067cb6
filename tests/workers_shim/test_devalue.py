from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers_shim.wire.devalue import DevalueError, clone_size, parse, stringify, to_json
from workers_shim.wire.neutral import (
    HOLE,
    UNDEFINED,
    ArrayBuffer,
    BigInt,
    Boxed,
    Date,
    ErrorValue,
    Map,
    NullObject,
    RegExp,
    Set,
    SparseArray,
    Text,
    View,
)
from workers_shim.wire.scalars import date_ms, date_text, integer, integer_text, number_text

# Texts written by the npm package devalue 6.0.3. The texts that `stringify` makes of what `parse` reads from them were
# given back to that package by hand: it read equal values and wrote these very texts again.
RECORDED: dict[str, str] = json.loads(Path(__file__).with_name("devalue_npm_6.json").read_text())

MIB = 1 << 20

text = st.text(st.characters(codec=None)).filter(lambda value: not _splits_a_pair(value))
buffers = st.builds(ArrayBuffer, st.binary(max_size=20))
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(allow_nan=False),
    text,
    st.just(UNDEFINED),
    st.builds(BigInt, st.integers()),
    st.builds(Date, st.integers(-8_640_000_000_000_000, 8_640_000_000_000_000)),
    st.builds(RegExp, text, st.sampled_from(["", "gi"])),
    st.builds(ErrorValue, text, text, st.none() | text),
    st.builds(Text, st.just("URL"), text),
    st.builds(Boxed, st.integers(0, 9) | text | st.booleans()),
    buffers,
    st.builds(View.of, st.sampled_from(["Uint8Array", "DataView"]), st.binary(max_size=9)),
    st.builds(View, st.just("Uint16Array"), st.just(ArrayBuffer(b"12345678")), st.just(2), st.integers(0, 3)),
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner | st.just(HOLE), max_size=5),
        st.dictionaries(text, inner, max_size=5),
        st.builds(Set, st.lists(inner, max_size=4)),
        st.builds(Map, st.lists(st.tuples(inner, inner), max_size=4)),
        st.builds(NullObject, st.dictionaries(text, inner, max_size=3)),
        st.builds(SparseArray, st.just(1000), st.dictionaries(st.integers(0, 999), inner, max_size=3)),
    ),
    max_leaves=20,
)


def _splits_a_pair(value: str) -> bool:
    """JavaScript has no string in which a high surrogate stands before a low one without being one character."""
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass") != value


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_what_the_npm_package_wrote_is_read_and_written_alike(name: str) -> None:
    value = parse(RECORDED[name])
    again = parse(stringify(value))
    assert repr(again) == repr(value)


@given(values)
def test_round_trip(value: Any) -> None:
    written = stringify(value)
    assert written.isascii()
    assert repr(parse(written)) == repr(value)
    assert isinstance(value, str) or clone_size(written) == clone_size(value)


def test_special_numbers() -> None:
    assert parse("-1") is UNDEFINED
    assert math.isnan(parse("-3"))
    read = parse(RECORDED["specials"])
    assert read[2:4] == [math.inf, -math.inf]
    assert math.copysign(1, read[4]) == -1
    assert stringify(-0.0) == "-6"
    assert stringify(math.nan) == "-3"


def test_views_share_their_buffer() -> None:
    bytes_, words, view, buffer = parse(RECORDED["sub"])
    assert bytes_.buffer is words.buffer is view.buffer is buffer
    assert bytes_.data == b"\3\4\5"
    assert words.data == b"\5\6"
    assert view.data == b"\2\3"


def test_repeated_references_are_one_object() -> None:
    first, second, third = parse(RECORDED["shared"])
    assert first is second is third["o"]


def test_sharing_does_not_blow_up() -> None:
    value: list[Any] = []
    for _ in range(200):
        value = [value, value]
    written = stringify(value)
    assert len(written) < 4000
    assert stringify(parse(written)) == written
    assert clone_size(written) < 4000
    assert isinstance(to_json(written), list)


def test_cycles() -> None:
    value = parse(RECORDED["cyc"])
    assert value["list"][0] is value
    assert stringify(value) == RECORDED["cyc"]
    with pytest.raises(DevalueError, match="contains itself"):
        to_json(RECORDED["cyc"])


def test_depth_is_no_limit() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    assert stringify(parse(stringify(value))) == stringify(value)


def test_lone_surrogates_are_escaped() -> None:
    assert stringify("\ud800") == '["\\ud800"]'
    assert parse('["\\ud800"]') == "\ud800"


def test_older_texts_are_read() -> None:
    assert parse('[["Uint8Array","AQI="]]') == View.of("Uint8Array", b"\1\2")
    assert parse('[["Object","text"]]') == Boxed("text")
    assert parse('[["ArrayBuffer","AQ"]]') == ArrayBuffer(b"\1")  # without padding


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("[NaN]", "not JSON: NaN"),
        ("[" * 100_000, "not JSON"),
        ("{}", "neither"),
        ("[]", "neither"),
        ("-2", "neither"),
        ("7", "neither"),
        ("[[5]]", "value 5 is referred to, but there are only 1"),
        ("[[-9]]", "value -9 is referred to"),
        ('[{"a":[1]}]', "not named by its index"),
        ('[["Wat",1]]', "a Wat without its text"),
        ('[["Wat","x"]]', "unknown type 'Wat'"),
        ('[["Date","yesterday"]]', "'yesterday' is not a date"),
        ('[["Date"]]', "a Date without its text"),
        ('[["BigInt","1.5"]]', "'1.5' is not an integer"),
        ('[["Map",1],2]', "a key without a value"),
        ('[["Object",0]]', "not a primitive"),
        ('[["Uint8Array",0]]', "without an ArrayBuffer"),
        ('[["Uint16Array",1],["ArrayBuffer","AQID"]]', "does not fit its ArrayBuffer of 3 bytes"),
        ('[["Uint8Array",1,2,9],["ArrayBuffer","AQID"]]', "does not fit"),
        ('[["ArrayBuffer","*"]]', "not base64"),
        ('[["Error",0]]', "an Error without its fields"),
        ('[["Error",1],{"name":2},"E"]', "without a name or a message"),
        ("[[-7,-1]]", "a sparse array of length -1"),
        ("[[-7,2,5,1],1]", "slot 5 of a sparse array of length 2"),
    ],
)
def test_malformed_texts_say_what_is_wrong(text: str, says: str) -> None:
    with pytest.raises(DevalueError, match=says):
        parse(text)


def test_what_is_not_neutral_is_refused() -> None:
    with pytest.raises(DevalueError, match="a tuple is not a neutral value"):
        stringify({"a": (1,)})
    with pytest.raises(DevalueError, match="key is a int"):
        stringify({1: 2})


def test_a_string_of_one_mebibyte_passes_and_one_character_more_does_not() -> None:
    assert clone_size(stringify("x" * MIB)) == MIB
    assert clone_size(stringify("x" * (MIB + 1))) == MIB + 1
    assert clone_size(stringify("\xe9" * MIB)) == MIB
    assert clone_size(stringify("\u65e5" * MIB)) == 2 * MIB
    assert clone_size(View.of("Uint8Array", bytes(MIB))) == MIB
    assert clone_size(ArrayBuffer(bytes(MIB))) == MIB


# Sizes are the lengths of node's v8.serialize() without its two bytes of header.
@pytest.mark.parametrize(
    ("value", "size"),
    [
        (1, 2),
        (100, 3),
        (70000, 4),
        (2**30, 6),
        (2**31, 9),
        (1.5, 9),
        (True, 1),
        (None, 1),
        (UNDEFINED, 1),
        ({}, 3),
        ({"a": 1}, 8),
        ([], 5),
        ([1], 7),
        ([1, 2, 3], 11),
        (BigInt(10), 10),
        (BigInt(2**70), 18),
        (Date(0), 9),
        (Map([(1, 2)]), 7),
        (Set([1, 2]), 7),
        (RegExp("ab", "g"), 6),
    ],
)
def test_sizes_are_those_of_v8(value: Any, size: int) -> None:
    assert clone_size(value) == size


def test_c054_a_date_is_shown_as_its_iso_string() -> None:
    assert to_json(stringify(Date(0))) == "1970-01-01T00:00:00.000Z"
    assert to_json(stringify(Date(math.nan))) is None


def test_c055_a_map_is_shown_as_an_empty_object() -> None:
    assert to_json(stringify(Map([("a", 1)]))) == {}
    assert to_json(stringify([Set([1]), RegExp("x"), ErrorValue("E", "m")])) == [{}, {}, {}]


def test_c056_a_big_integer_is_shown_as_text() -> None:
    assert to_json(stringify(BigInt(10))) == "[BigInt(10)]"


def test_c057_what_json_lacks_is_null_or_left_out() -> None:
    value = {"a": math.nan, "b": UNDEFINED, "u8": View.of("Uint8Array", b"abc"), "raw": ArrayBuffer(b"ab")}
    assert to_json(stringify(value)) == {"a": None, "u8": "[Uint8Array(3 bytes)]", "raw": "[ArrayBuffer(2 bytes)]"}
    assert to_json(stringify([UNDEFINED, math.inf, HOLE])) == [None, None, None]
    assert to_json("-1") is None


def test_a_sparse_array_cannot_fill_the_memory() -> None:
    with pytest.raises(DevalueError, match="too long to show"):
        to_json('[[-7,4294967295,4294967294,1],"x"]')


@given(st.integers(-8_640_000_000_000_000, 8_640_000_000_000_000))
def test_dates_of_any_year(ms: int) -> None:
    assert date_ms(date_text(ms)) == ms


@given(st.integers() | st.integers(1, 3000).flatmap(lambda bits: st.integers(2**bits - 2, 2**bits + 2)))
def test_integers_of_any_size(value: int) -> None:
    assert integer_text(value) == str(value)
    assert integer(str(value)) == value


def test_integers_beyond_the_interpreter_s_limit_of_digits() -> None:
    value = -(10**9000) + 7
    assert integer(integer_text(value)) == value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (1.5, "1.5"),
        (1e21, "1e+21"),
        (1.2e300, "1.2e+300"),
        (123456789012345680000.0, "123456789012345680000"),
        (1e-6, "0.000001"),
        (-1.25e-5, "-0.0000125"),
        (1e-7, "1e-7"),
        (math.inf, "Infinity"),
        (math.nan, "NaN"),
    ],
)
def test_numbers_are_shown_as_javascript_shows_them(value: float, shown: str) -> None:
    assert number_text(value) == shown
