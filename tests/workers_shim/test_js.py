"""The module `js` as Python code uses it (case 40)."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from typing import Any

import js
import pytest
from pyodide.ffi import JsException, JsProxy, jsnull

from workers_shim import values


def test_an_object_has_attributes_and_no_keys() -> None:
    made: Any = js.Object.fromEntries({"a": 1, "b": {"c": 2}}.items())

    assert made.a == 1
    assert not hasattr(made, "missing")
    assert getattr(made, "missing", "default") == "default"
    with pytest.raises(TypeError):
        made["a"]
    with pytest.raises(TypeError):
        iter(made)
    assert str(made) == "[object Object]"
    assert isinstance(made, JsProxy)
    assert made.constructor.name == "Object"


def test_an_attribute_can_be_set_and_listed() -> None:
    made: Any = js.Object.new()
    made.x = 1
    js.Object.assign(made, {"y": 2}, js.Object.fromEntries([("z", 3)]))

    assert list(js.Object.keys(made)) == list(made.object_keys()) == ["x", "y", "z"]
    assert list(js.Object.values(made)) == [1, 2, 3]
    assert [list(pair) for pair in js.Object.entries(made)] == [["x", 1], ["y", 2], ["z", 3]]
    assert made.to_py() == {"x": 1, "y": 2, "z": 3}


def test_an_object_or_a_map_is_made_of_whatever_has_pairs() -> None:
    pairs = js.Map.new([["a", 1]])

    assert js.Object.fromEntries(pairs).a == 1
    assert js.Object.fromEntries(js.URLSearchParams.new("a=1")).a == "1"
    assert js.Map.new(pairs).get("a") == 1


def test_json_gives_objects_and_takes_both_kinds() -> None:
    parsed: Any = js.JSON.parse(json.dumps({"a": {"b": [1, 2.0, None]}}))

    assert parsed.a.b[1] == 2
    assert isinstance(parsed.a.b[1], int)
    assert parsed.a.b[2] is jsnull
    assert not parsed.a.b[2]
    assert js.JSON.stringify(parsed) == '{"a":{"b":[1,2,null]}}'
    assert js.JSON.stringify({"u": "\u00e9", "n": float("nan")}, None, 1) == '{\n "u": "\u00e9",\n "n": null\n}'
    assert js.JSON.stringify(js.Object.new(gone=js.undefined, when=js.Date.new(0))) == (
        '{"when":"1970-01-01T00:00:00.000Z"}'
    )
    with pytest.raises(JsException, match="SyntaxError"):
        js.JSON.parse("{")


def test_an_array_is_a_sequence() -> None:
    numbers = js.Array.of(1, 2, 3)

    assert (numbers[0], numbers[-1], list(numbers[1:]), len(numbers), numbers.length) == (1, 3, [2, 3], 3, 3)
    assert numbers.push(4) == 4
    assert numbers.join("-") == "1-2-3-4"
    assert js.Array.isArray(getattr(js.Array, "from")([1]))
    assert numbers.map(lambda n: n * 2).to_py() == [2, 4, 6, 8]
    assert numbers.constructor.name == "Array"


def test_a_class_is_not_called() -> None:
    with pytest.raises(JsException, match="Class constructor Response cannot be invoked without 'new'"):
        js.Response("x")


@pytest.mark.asyncio
async def test_a_response_from_keywords_or_an_object() -> None:
    by_keywords = js.Response.new("x", status=404, headers={"a": "1"}.items())
    by_object = js.Response.new("x", js.Object.fromEntries([("status", 404)]))

    assert (by_keywords.status, by_object.status, by_keywords.headers.get("A")) == (404, 404, "1")
    assert await by_keywords.text() == "x"
    with pytest.raises(JsException, match="Body has already been used"):
        await by_keywords.text()


@pytest.mark.asyncio
async def test_json_of_a_response_is_two_functions() -> None:
    made = js.Response.json({"a": [1]}, status=201)

    assert (made.status, made.headers.get("content-type")) == (201, "application/json")
    assert (await made.json()).a[0] == 1


def test_headers() -> None:
    headers = js.Headers.new({"B": "2", "a": 1}.items())
    headers.append("b", "3")
    headers.append("Set-Cookie", "x=1")
    headers.append("Set-Cookie", "y=2")

    assert (headers.get("b"), headers.has("A"), headers.get("none")) == ("2, 3", True, jsnull)
    assert [tuple(pair) for pair in headers] == [
        ("a", "1"),
        ("b", "2, 3"),
        ("set-cookie", "x=1"),
        ("set-cookie", "y=2"),
    ]
    assert list(headers.getSetCookie()) == ["x=1", "y=2"]
    headers.set("B", "new")
    headers.delete("a")
    assert list(headers.keys()) == ["b", "set-cookie", "set-cookie"]


@pytest.mark.parametrize(("name", "value"), [("a b", "1"), ("", "1"), ("a", "1\r\nb: 2"), ("a:", "1")])
def test_a_header_cannot_smuggle_another(name: str, value: str) -> None:
    with pytest.raises(JsException, match="Invalid header"):
        js.Headers.new([(name, value)])


def test_a_python_dict_as_headers_works_with_a_warning(host: Any) -> None:
    assert js.Headers.new({"a": "1"}).get("a") == "1"
    assert "This works here and fails on Workers." in host.warnings[0]


def test_a_url_comes_apart() -> None:
    url = js.URL.new("HTTPS://user:pw@Example.TEST:8443/a/../b c?q=1&q=%C3%A9#top")

    assert url.href == "https://user:pw@example.test:8443/b%20c?q=1&q=%C3%A9#top"
    assert (url.protocol, url.host, url.hostname, url.port) == ("https:", "example.test:8443", "example.test", "8443")
    assert (url.pathname, url.search, url.hash) == ("/b%20c", "?q=1&q=%C3%A9", "#top")
    assert (url.origin, url.username, url.password) == ("https://example.test:8443", "user", "pw")
    assert (url.searchParams.get("q"), list(url.searchParams.getAll("q"))) == ("1", ["1", "\u00e9"])
    assert str(url) == url.toString() == url.href


@pytest.mark.parametrize(
    ("url", "base", "href"),
    [
        ("http://a.test:80", None, "http://a.test/"),
        ("/x/./y/..", "https://a.test/deep/er", "https://a.test/x/"),
        ("?q", "https://a.test/p", "https://a.test/p?q"),
        ("https://b\u00fccher.test", None, "https://xn--bcher-kva.test/"),
        ("http://[::1]:8787/", None, "http://[::1]:8787/"),
        ("https://a.test/../../x", None, "https://a.test/x"),
        ("https://a.test/a//b/%2E%2e/c/.", None, "https://a.test/a//c/"),
        ("https://a.test/..", None, "https://a.test/"),
        ("https://a.test?q", None, "https://a.test/?q"),
    ],
)
def test_a_url_is_normalised(url: str, base: str | None, href: str) -> None:
    assert js.URL.new(url, base).href == href


@pytest.mark.parametrize("url", ["nowhere", "", "https://", "http://a:99999/"])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    assert not js.URL.canParse(url)
    with pytest.raises(JsException, match="TypeError: Invalid URL"):
        js.URL.new(url)


def test_changing_the_parameters_changes_the_url() -> None:
    url = js.URL.new("https://a.test/?a=1&b=2&a=3")
    url.searchParams.set("a", "x y")
    url.searchParams.append("c", "&")
    url.searchParams.delete("b")

    assert url.search == "?a=x+y&c=%26"
    url.search = "?z=1"
    assert url.searchParams.get("z") == "1"
    assert js.URLSearchParams.new({"a": 1}).toString() == "a=1"


def test_bytes() -> None:
    view = js.Uint8Array.new([1, 2, 3])
    view[0] = 255

    assert (view.to_bytes(), view.to_py().tolist(), view.length, view.byteLength) == (
        b"\xff\x02\x03",
        [255, 2, 3],
        3,
        3,
    )
    assert view.buffer.to_bytes() == b"\xff\x02\x03"
    assert js.Uint16Array.new(view.buffer, 0, 1)[0] == 0x02FF
    assert view.subarray(1).to_bytes() == b"\x02\x03"
    assert js.Uint8Array.new(4).to_bytes() == bytes(4)
    assert js.TextDecoder.new().decode(js.TextEncoder.new().encode("\u00e9")) == "\u00e9"
    with pytest.raises(JsException, match="RangeError"):
        js.Uint16Array.new(view.buffer, 1)


def test_dates() -> None:
    date = js.Date.new(1_700_000_000_123)

    assert (date.getTime(), date.toISOString()) == (1_700_000_000_123, "2023-11-14T22:13:20.123Z")
    assert date.to_py() == datetime(2023, 11, 14, 22, 13, 20, 123000)
    assert js.Date.new("2023-11-14T22:13:20.123Z").getTime() == date.getTime()
    assert (date.getFullYear(), date.getMonth()) == (2023, 10)
    assert js.Date.now() > date.getTime()


@pytest.mark.asyncio
async def test_crypto() -> None:
    assert len(js.crypto.randomUUID()) == 36
    view = js.crypto.getRandomValues(js.Uint8Array.new(32))
    assert view.to_bytes() != bytes(32)
    digest = await js.crypto.subtle.digest("SHA-256", js.TextEncoder.new().encode("abc"))
    assert digest.to_bytes().hex().startswith("ba7816bf8f01cfea")
    with pytest.raises(JsException, match="NotSupportedError"):
        await js.crypto.subtle.digest("SHA-3", b"")


def test_the_console_writes_to_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    js.console.log("a", 1)
    js.console.error("b")

    assert capsys.readouterr() == ("a 1\n", "b\n")


@pytest.mark.asyncio
async def test_timers() -> None:
    seen: list[str] = []
    rung = asyncio.Event()

    async def ring() -> None:
        rung.set()

    js.clearTimeout(js.setTimeout(seen.append, 0, "taken back"))
    js.setTimeout(seen.append, 0, "first")
    repeated = js.setInterval(lambda: seen.append("again"), 0)
    js.setTimeout(ring, 1)
    await rung.wait()
    js.clearInterval(repeated)

    assert seen[:2] == ["first", "again"]


def test_an_error_is_what_throw_would_throw() -> None:
    with pytest.raises(JsException) as error:
        raise js.Error.new("no")

    assert (error.value.name, error.value.message) == ("Error", "no")


def test_what_is_not_served_says_so_and_stays_absent() -> None:
    assert not hasattr(js, "HTMLRewriter")
    with pytest.raises(AttributeError, match=r"js\.HTMLRewriter is not served by celld-py yet"):
        _ = js.HTMLRewriter  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match=r"js\.WebSocketPair is not served by celld-py yet"):
        exec("from js import WebSocketPair")


def test_javascript_objects_cross_a_boundary_as_python_values() -> None:
    made = js.Object.new(a=js.Array.of(1, jsnull), m=js.Map.new([["k", 1]]), d=js.Date.new(0), s=js.Set.new([1]))
    back: Any = values.decode(values.encode({"made": made, "bytes": js.Uint8Array.new([1])})[0])

    assert back["made"] == {"a": [1, None], "m": {"k": 1}, "d": datetime(1970, 1, 1), "s": {1}}
    assert bytes(back["bytes"]) == b"\x01"
    with pytest.raises(JsException, match=r'DataCloneError.*"Response"'):
        values.encode(js.Response.new())
