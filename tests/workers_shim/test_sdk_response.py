"""workers.Response: what it takes, what it refuses, and how it is read (cases 33 to 35)."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Any

import js
import pytest
from workers import FormData, Response

from workers_shim.errors import JsException


@pytest.mark.parametrize("body", [{"a": 1}, [1], 5, bytearray(b"x"), memoryview(b"x"), 1.5])
def test_a_body_that_is_no_text_and_no_bytes_is_refused_with_its_type(body: Any) -> None:
    with pytest.raises(TypeError) as error:
        Response(body)

    assert str(error.value) == f"Unsupported type in Response: {type(body).__name__}"


@pytest.mark.asyncio
@pytest.mark.parametrize(("body", "text"), [(b"ab", "ab"), (None, ""), ("\u00e9", "\u00e9")])
async def test_text_bytes_and_nothing_are_bodies(body: Any, text: str) -> None:
    assert await Response(body).text() == text


@pytest.mark.asyncio
async def test_a_form_and_javascript_buffers_are_bodies(host: Any) -> None:
    form = Response(FormData({"name": "value"}))

    assert form.headers["content-type"].startswith("multipart/form-data; boundary=")
    assert (await form.form_data())["name"] == "value"
    assert await Response(js.Uint8Array.new(b"xyz").buffer).bytes() == b"xyz"


def test_text_says_its_type_and_bytes_do_not(host: Any) -> None:
    assert Response("x").headers["content-type"] == "text/plain;charset=UTF-8"
    assert Response(b"x").headers["content-type"] is None


def test_a_javascript_response_is_wrapped_without_options_only() -> None:
    inner = js.Response.new("x", status=404)

    assert Response(inner).status == 404
    assert Response(inner).js_object is inner
    with pytest.raises(ValueError, match="Expected no options"):
        Response(inner, status=200)


@pytest.mark.parametrize("status", [199, 600, 0, 100])
def test_a_status_out_of_range_is_javascripts_range_error(status: int) -> None:
    with pytest.raises(JsException) as error:
        Response("x", status=status)

    assert str(error.value) == (
        "RangeError: Responses may only be constructed with status codes in the range 200 to 599, inclusive."
    )


def test_a_status_that_forbids_a_body_refuses_one() -> None:
    with pytest.raises(JsException, match="null body status"):
        Response("x", status=HTTPStatus.NO_CONTENT)

    assert Response(None, status=204).status == 204


@pytest.mark.asyncio
async def test_json_on_the_class_makes_a_response_with_pythons_own_text(host: Any) -> None:
    response = Response.json({"a": [1, 2], "u": "\u00e9"}, status=201)

    assert response.status == 201
    assert await response.text() == '{"a": [1, 2], "u": "\\u00e9"}'


def test_json_sets_a_content_type_only_if_there_is_none(host: Any) -> None:
    assert Response.json({}).headers["content-type"].startswith("application/json")
    assert Response.from_json({}, headers={"Content-Type": "text/x"}).headers["content-type"] == "text/x"


def test_json_of_a_datetime_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        Response.json({"when": datetime(2026, 1, 1)})


@pytest.mark.asyncio
async def test_json_on_an_instance_reads_the_body() -> None:
    assert await Response('{"a": 1.0, "b": null}').json() == {"a": 1.0, "b": None}


def test_redirect_gives_a_javascript_response() -> None:
    redirect = Response.redirect("https://a.test/x", 301)

    assert type(redirect) is js.Response
    assert (redirect.status, redirect.headers.get("location")) == (301, "https://a.test/x")


def test_a_bad_redirect_says_why() -> None:
    with pytest.raises(ValueError, match="200"):
        Response.redirect("https://a.test", 200)
    with pytest.raises(TypeError, match="Unable to parse URL"):
        Response.redirect("nowhere")


def test_the_sdks_response_has_no_new() -> None:
    assert not hasattr(Response, "new")


@pytest.mark.asyncio
async def test_a_second_read_is_an_os_error() -> None:
    response = Response("x")
    await response.text()

    with pytest.raises(OSError, match="already used") as error:
        await response.text()

    assert type(error.value).__name__ == "BodyUsedError"
    assert response.body_used


@pytest.mark.asyncio
async def test_a_clone_can_be_read_beside_the_original() -> None:
    response = Response("x", status=202)
    twin = response.clone()

    assert (await response.text(), await twin.text(), twin.status) == ("x", "x", 202)
    assert type(twin).__name__ == "FetchResponse"


def test_an_error_status_can_be_raised() -> None:
    Response("x").raise_for_status()

    with pytest.raises(OSError, match="404"):
        Response("x", status=404).raise_for_status()


@pytest.mark.parametrize(
    "headers", [{"X-A": 1}, [("X-A", "1")], js.Headers.new([["X-A", "1"]]), js.Object.fromEntries([("X-A", "1")])]
)
def test_headers_come_in_any_form(host: Any, headers: Any) -> None:
    assert Response("", headers=headers).headers["x-a"] == "1"


def test_headers_know_no_case_and_a_missing_one_is_none(host: Any) -> None:
    headers = Response("", headers={"X-Thing": "1"}).headers

    assert headers["x-thing"] == headers["X-THING"] == "1"
    assert headers["missing"] is None
    assert [name for name, _ in headers.items()] == ["content-type", "x-thing"]


def test_two_cookies_stay_apart(host: Any) -> None:
    headers = Response("", headers=[("Set-Cookie", "a=1, x"), ("Set-Cookie", "b=2"), ("A", "1"), ("a", "2")]).headers

    assert headers.get_all("set-cookie") == ["a=1, x", "b=2"]
    assert headers.get_all("a") == ["1, 2"]


def test_before_the_flag_a_comma_ended_a_value(host: Any) -> None:
    host.compatibility_date = "2026-02-16"

    assert Response("", headers={"a": "1, 2"}).headers.get_all("a") == ["1", "2"]


def test_a_websocket_response_says_that_it_is_not_served() -> None:
    with pytest.raises(NotImplementedError, match="not served by celld-py yet"):
        Response(None, status=101, web_socket=js.Object.new())
