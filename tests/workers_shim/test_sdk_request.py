"""workers.Request (case 36)."""

from __future__ import annotations

from http import HTTPMethod
from typing import Any

import js
import pytest
from workers import Request


def test_the_method_is_an_http_method() -> None:
    request = Request("https://a.test", method="POST")

    assert request.method is HTTPMethod.POST
    assert request.method == "POST"


def test_a_method_that_python_does_not_know_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        _ = Request("https://a.test", method="PURGE").method


def test_the_url_is_normalised() -> None:
    assert Request("https://A.test:443").url == "https://a.test/"


@pytest.mark.asyncio
async def test_json_is_pythons() -> None:
    request = Request("https://a.test", method="POST", body='{"a": 1.0, "b": null}')

    assert repr(await request.json()) == "{'a': 1.0, 'b': None}"


@pytest.mark.asyncio
async def test_a_second_read_is_an_os_error() -> None:
    request = Request("https://a.test", method="POST", body="x")
    await request.bytes()

    with pytest.raises(OSError, match="already used"):
        await request.text()


def test_options_beside_a_javascript_request_are_refused() -> None:
    inner = js.Request.new("https://a.test")

    assert Request(inner).js_object is inner
    with pytest.raises(ValueError, match="Expected no options"):
        Request(inner, method="POST")


@pytest.mark.asyncio
async def test_a_request_can_be_made_from_another_with_changes(host: Any) -> None:
    first = Request("https://a.test/x", method="POST", body="data", headers={"A": "1"})
    second = Request(first, headers={"A": "2"})

    assert (second.url, second.method, second.headers["a"]) == ("https://a.test/x", "POST", "2")
    assert await second.text() == "data"
    assert first.body_used


def test_a_get_request_has_no_body() -> None:
    with pytest.raises(Exception, match="GET or HEAD method cannot have a body"):
        Request("https://a.test", body="x")


@pytest.mark.asyncio
async def test_forms_are_read_in_both_encodings() -> None:
    plain = Request(
        "https://a.test",
        method="POST",
        body="a=1&a=2&b=%20x",
        headers={"content-type": "application/x-www-form-urlencoded"},
    )
    form = await plain.form_data()

    assert form.get_all("a") == ["1", "2"]
    assert list(form.items()) == [("a", "1"), ("a", "2"), ("b", " x")]


@pytest.mark.asyncio
async def test_a_form_with_a_file_makes_the_round_trip() -> None:
    from workers import File, FormData

    form = FormData({"text": 'line\r\n--x "q"'})
    form.append("file", File([b"\x00\xff\r\n"], 'na"me.bin', content_type="image/png"))

    back = await Request("https://a.test", method="POST", body=form).form_data()

    assert back["text"] == 'line\r\n--x "q"'
    assert (back["file"].name, back["file"].content_type) == ('na"me.bin', "image/png")
    assert await back["file"].bytes() == b"\x00\xff\r\n"
