"""What clients of failed requests get: a page, JSON or a line of text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runtime.http.error_page import error_response, refusal
from tests.http.scripted import Client, scope

pytestmark = pytest.mark.asyncio
FAILURE = {
    "error": {"name": "PythonError", "message": "Traceback (most recent call last):\n  ...\nKeyError: '<b>'"},
    "traceback": "Traceback (most recent call last):\n  ...\nKeyError: '<b>'",
    "file": "/shop/<src>/entry.py",
    "line": 7,
}


def accepting(*accepted: bytes) -> Any:
    return scope("POST", "/<path>", headers=[(b"Accept", value) for value in accepted])


async def answered(failure: dict[str, Any], *accepted: bytes) -> Client:
    client = Client()
    assert await error_response(accepting(*accepted), client.send, failure) == 500
    assert (client.status, client.complete) == (500, True)
    assert client.headers[b"content-length"] == str(len(client.body)).encode()
    return client


async def test_people_get_a_page_that_shows_what_where_and_how() -> None:
    client = await answered(FAILURE, b"text/html,application/xhtml+xml,*/*;q=0.8")

    page = client.body.decode()
    assert client.headers[b"content-type"] == b"text/html; charset=utf-8"
    assert "<title>KeyError: &#x27;&lt;b&gt;&#x27;</title>" in page
    assert '<p class="place">/shop/&lt;src&gt;/entry.py:7</p>' in page
    assert '<p class="request">POST /&lt;path&gt;</p>' in page
    assert "<pre>Traceback (most recent call last):\n  ...\nKeyError: &#x27;&lt;b&gt;&#x27;</pre>" in page


async def test_the_page_says_what_to_do() -> None:
    assert b"<footer>Mend the code, save it, and load" in (await answered(FAILURE)).body
    assert b"<footer>Start again.</footer>" in (await answered(FAILURE | {"advice": "Start again."})).body


@pytest.mark.parametrize(
    "accepted", [(), (b"*/*",), (b"application/json, text/html",), (b"application/json", b"text/html")]
)
async def test_the_page_is_for_whoever_does_not_ask_for_json_alone(accepted: tuple[bytes, ...]) -> None:
    client = await answered(FAILURE, *accepted)

    assert client.headers[b"content-type"].startswith(b"text/html")


async def test_programs_get_json() -> None:
    client = await answered(FAILURE, b"application/json")

    assert client.headers[b"content-type"] == b"application/json"
    assert json.loads(client.body) == {
        "error": {
            "name": "PythonError",
            "message": "KeyError: '<b>'",
            "traceback": FAILURE["traceback"],
            "file": "/shop/<src>/entry.py",
            "line": 7,
        }
    }


async def test_a_place_that_is_not_known_is_left_out() -> None:
    failure = {"error": {"name": "TypeError", "message": "no"}, "traceback": "", "file": None}

    page, data = await answered(failure), await answered(failure, b"application/json")

    assert b"<h1>TypeError: no</h1>" in page.body
    assert b'class="place"' not in page.body
    assert json.loads(data.body) == {"error": {"name": "TypeError", "message": "TypeError: no", "traceback": ""}}


async def test_an_error_without_a_text_still_has_a_title() -> None:
    client = await answered({"error": {"name": "PythonError", "message": " \n"}, "traceback": ""})

    assert b"<h1>Error</h1>" in client.body


@pytest.mark.parametrize("accepted", [b"text/html", b"application/json"])
async def test_text_that_is_no_unicode_is_shown_as_far_as_it_goes(accepted: bytes) -> None:
    client = await answered({"error": {"name": "Error", "message": "a\ud800b"}, "traceback": "a\ud800b"}, accepted)

    assert b"Error: a" in client.body


async def test_a_refusal_is_one_line_of_text() -> None:
    client = Client()

    assert await refusal(accepting(b"*/*"), client.send, 400, "No host.") == 400

    assert (client.status, client.body, client.complete) == (400, b"No host.\n", True)
    assert client.headers == {b"content-type": b"text/plain; charset=utf-8", b"content-length": b"9"}


async def test_a_refusal_for_programs() -> None:
    client = Client()

    await refusal(accepting(b"application/json"), client.send, 503, "In a moment.")

    assert json.loads(client.body) == {"error": {"name": "ServiceUnavailable", "message": "In a moment."}}
    assert client.headers[b"retry-after"] == b"1", "the same request will do in a moment"
