"""What the client of a failed request sees: a page for people, JSON for programs."""

from __future__ import annotations

import html
import json
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from http import HTTPStatus
from typing import Any

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

RETRY_AFTER = b"1"  # seconds
_ADVICE = "Mend the code, save it, and load this page again."

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
  :root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }}
  body {{ max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }}
  header {{ border-left: .3rem solid #d93025; padding-left: 1rem; overflow-wrap: anywhere; }}
  h1 {{ font-size: 1.4rem; line-height: 1.3; margin: 0 0 .5rem; }}
  p {{ margin: .25rem 0; }}
  .place {{ font-family: ui-monospace, monospace; }}
  .request, footer {{ opacity: .7; }}
  pre {{ padding: 1rem; overflow-x: auto; font-size: .875rem; }}
  pre {{ background: color-mix(in srgb, currentColor 7%, transparent); }}
</style>
<header>
<h1>{title}</h1>
{place}<p class="request">{method} {path}</p>
</header>
<pre>{traceback}</pre>
<footer>{advice}</footer>
</html>
"""


async def error_response(scope: Scope, send: Send, failure: dict[str, Any]) -> int:
    """Answer 500 with what the Worker raised, as HTML or, for a client that asks for it, as JSON."""
    error = failure["error"]
    title = _last_line(error["message"]) if error["name"] == "PythonError" else f"{error['name']}: {error['message']}"
    if _wants_json(scope):
        shown = {"name": error["name"], "message": title, "traceback": failure["traceback"]}
        shown |= {name: failure[name] for name in ("file", "line") if failure.get(name) is not None}
        body = json.dumps({"error": shown}).encode()
        return await _answer(send, 500, b"application/json", body)
    place = ""
    if failure.get("file"):
        place = f'<p class="place">{html.escape(failure["file"])}:{failure.get("line")}</p>\n'
    page = _PAGE.format(
        title=html.escape(title),
        place=place,
        method=html.escape(scope["method"]),
        path=html.escape(scope["path"]),
        traceback=html.escape(failure["traceback"]),
        advice=html.escape(failure.get("advice", _ADVICE)),
    )
    return await _answer(send, 500, b"text/html; charset=utf-8", page.encode("utf-8", "replace"))


async def refusal(scope: Scope, send: Send, status: int, reason: str) -> int:
    """Answer that the Worker does not get this request; with 503 the same one will do in a moment."""
    headers = [(b"retry-after", RETRY_AFTER)] if status == HTTPStatus.SERVICE_UNAVAILABLE else []
    if _wants_json(scope):
        name = HTTPStatus(status).phrase.title().replace(" ", "")
        body = json.dumps({"error": {"name": name, "message": reason}}).encode()
        return await _answer(send, status, b"application/json", body, headers)
    return await _answer(send, status, b"text/plain; charset=utf-8", f"{reason}\n".encode(), headers)


def _wants_json(scope: Scope) -> bool:
    accept = b",".join(value for name, value in scope["headers"] if name.lower() == b"accept")
    return b"application/json" in accept and b"text/html" not in accept


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "Error"


async def _answer(
    send: Send, status: int, content_type: bytes, body: bytes, more: Sequence[tuple[bytes, bytes]] = ()
) -> int:
    headers = [(b"content-type", content_type), (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
    return status
