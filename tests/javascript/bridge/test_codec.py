"""The bridge's codec against the one of `workers_shim.wire`: both read what the other writes, and write the same."""

from __future__ import annotations

import math

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.javascript.tools import Tools
from tests.javascript.bridge.scripted import World, bridge, flow
from workers_shim.wire.devalue import clone_size, parse, stringify, to_json
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

pytestmark = pytest.mark.asyncio

# Answers each text with what is written of the value that is read from it.
ECHO = f"""
import {{ parse }} from "./unflatten.js";
import {{ encodeWhole }} from "./values.js";
{flow("")}
export default {{ async fetch(request) {{
  return Response.json(await Promise.all((await request.json()).map((text) => encodeWhole(parse(text)))));
}} }};
"""
# Answers with what is written of a value that an expression makes.
MADE = f"""
import {{ stringify }} from "./flatten.js";
{flow("")}
export default {{ fetch() {{ return new Response(stringify(VALUE)); }} }};
"""


def in_order(slots: dict[int, object]) -> dict[int, object]:
    """The slots as JavaScript lists them."""
    return dict(sorted(slots.items()))


# JavaScript has no string in which a high surrogate stands before a low one without being one character.
text = st.text(st.characters(codec=None)).map(
    lambda value: value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
)
# A pattern that JavaScript does not write in another way.
patterns = st.sampled_from(["a+", "[^x]", "(?:)"])
errors = st.sampled_from(["Error", "TypeError", "RangeError", "SyntaxError", "DataCloneError", "Own"])
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, width=32).filter(lambda number: abs(number) < 2**53),
    text,
    st.just(UNDEFINED),
    st.builds(BigInt, st.integers()),
    st.builds(Date, st.integers(-8_640_000_000_000_000, 8_640_000_000_000_000)),
    st.builds(RegExp, patterns, st.sampled_from(["", "gi"])),
    st.builds(ErrorValue, errors, text),
    st.builds(Boxed, st.integers(0, 9) | text | st.booleans()),
    st.builds(ArrayBuffer, st.binary(max_size=20)),
    st.builds(View.of, st.sampled_from(["Uint8Array", "Uint8ClampedArray", "DataView"]), st.binary(max_size=9)),
    st.builds(View.of, st.sampled_from(["Float64Array", "BigInt64Array"]), st.binary(min_size=8, max_size=8)),
    st.builds(Text, st.just("Headers"), st.just('[["a","b"],["c","d"]]')),
    st.builds(Text, st.just("Blob"), st.just("data:text/plain;base64,YWJj")),
)
# Keys of a Set or Map are told apart by value in JavaScript, so here they are of one sort and unique.
keys = st.lists(st.integers(0, 99), unique=True, max_size=4)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=5),
        st.dictionaries(text.filter(lambda key: not key.isdigit()), inner, max_size=5),
        st.builds(Set, keys),
        keys.flatmap(lambda found: st.builds(Map, st.tuples(*(st.tuples(st.just(k), inner) for k in found)).map(list))),
        st.builds(NullObject, st.dictionaries(text.filter(lambda key: not key.isdigit()), inner, max_size=3)),
        st.builds(SparseArray, st.just(1000), st.dictionaries(st.integers(0, 999), inner, max_size=3).map(in_order)),
    ),
    max_leaves=20,
)


def echo(world: World, texts: list[str]) -> list[str]:
    """What workerd writes of what it reads."""
    headers = {"celld-token": "token", "celld-kind": "request", "celld-worker": "app"}
    answer = httpx.post(f"http://127.0.0.1:{world.port}/", json=texts, headers=headers, timeout=15)
    assert answer.status_code == 200, answer.text
    found: list[str] = answer.json()
    return found


async def test_values_of_all_kinds_come_back_as_they_were(tools: Tools) -> None:
    async with bridge(tools, ECHO) as world:

        @settings(max_examples=20, suppress_health_check=list(HealthCheck))
        @given(st.lists(values, min_size=1, max_size=40))
        def come_back(made: list[object]) -> None:
            texts = [stringify(value) for value in made]
            for before, after in zip(texts, echo(world, texts), strict=True):
                assert parse(after) == parse(before)
                assert after.isascii()

        come_back()


SHARED = ArrayBuffer(b"12345678")
DEEP: list[object] = []
for _ in range(20_000):
    DEEP = [DEEP]

CASES = {
    "undefined": UNDEFINED,
    "not a number": math.nan,
    "infinities": [math.inf, -math.inf],
    "negative zero": [-0.0, 0, {"z": -0.0}],
    "holes": [HOLE, 1, HOLE, UNDEFINED, 2, 3],
    "a sparse array": SparseArray(5000, {0: "a", 4999: UNDEFINED}),
    "an invalid date": Date(math.nan),
    "two views of one buffer": [View("Uint8Array", SHARED, 2, 3), View("Int32Array", SHARED)],
    "a view and its buffer": [View("Uint16Array", SHARED, 2, 3), SHARED],
    "sharing": [shared := {"a": 1}, shared, [shared]],
    "the same text often": ["x" * 100, "x" * 100, {"x" * 100: "x" * 100}],
    "__proto__ as a key": {"__proto__": {"a": 1}, "b": 2},
    "lone surrogates": ["\ud800", "a\udc00b", {"\ud800": 1}],
    "beyond ASCII": ["\x7f", "é", "\u2028", "😀"],
    "control characters": '\x00\x1f"\\',
    "boxed": [Boxed(1), Boxed("s"), Boxed(True), Boxed(BigInt(5))],
    "big integers": [BigInt(0), BigInt(-(10**1000)), BigInt(2**53)],
    "a map of odd keys": Map([(UNDEFINED, 1), (Date(5), 2), ([], 3), (None, 4)]),
    "empty": [[], {}, Set(), Map(), NullObject(), "", ArrayBuffer(b""), View.of("Uint8Array", b"")],
    "deep": DEEP,
}


async def test_the_texts_are_the_same_to_the_letter(tools: Tools) -> None:
    texts = {name: stringify(value) for name, value in CASES.items()}
    async with bridge(tools, ECHO) as world:
        assert dict(zip(texts, echo(world, list(texts.values())), strict=True)) == texts


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("new Uint8Array(800_000).fill(7).subarray(2, 5)", '[["Uint8Array",1],["ArrayBuffer","BwcH"]]'),
        ("new DataView(new ArrayBuffer(8), 2, 3)", '[["DataView",1],["ArrayBuffer","AAAA"]]'),
        ("Object.assign([1, 2], { more: 3 })", "[[1,2],1,2]"),
        ("new DOMException('m', 'AbortError')", '[["Error",3],"AbortError","m",{"name":1,"message":2}]'),
        ("new Date(8.64e15)", '[["Date","+275760-09-13T00:00:00.000Z"]]'),
    ],
)
async def test_what_only_javascript_has(tools: Tools, expression: str, text: str) -> None:
    async with bridge(tools, MADE.replace("VALUE", expression)) as world:
        assert (await world.request()).text == text


async def test_a_cycle_is_read_and_cannot_be_kept(tools: Tools) -> None:
    async with bridge(tools, ECHO) as world:
        told = (await world.request(method="POST", json=['[{"self":0}]'])).json()["error"]
        assert told == {"name": "DataCloneError", "message": "Could not serialize a value that contains itself."}


@pytest.mark.parametrize("kind", ["Headers", "Blob"])
async def test_what_the_runtime_keeps_has_a_size_and_no_json(kind: str) -> None:
    text = stringify(Text(kind, "abc"))
    assert clone_size(text) > 3
    assert to_json(text) == {}
