"""Requests to a Worker under test: their bodies, and answers that take a moment or never come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runtime.testing import NothingMoves, Worker

ECHO = """
    from workers import Response, WorkerEntrypoint

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            return Response(await request.text())
"""


def test_a_form_may_have_several_values_of_a_name(tmp_path: Path) -> None:
    with Worker.inline(tmp_path, ECHO) as worker:
        assert worker.fetch("/", "POST", data={"tag": ["a", "b"], "name": "ü"}).text == "tag=a&tag=b&name=%C3%BC"


@pytest.mark.parametrize(
    "body",
    [{"content": {"a": 1}}, {"content": ["a"]}, {"json": {}, "data": {}}, {"content": "x", "json": 1}],
)
def test_a_body_that_is_no_body_is_refused(tmp_path: Path, body: dict[str, Any]) -> None:
    with Worker.inline(tmp_path, ECHO) as worker, pytest.raises(TypeError, match=r"json"):
        worker.fetch("/", "POST", **body)


def test_a_request_that_is_never_answered_is_told_with_the_line_that_waits(tmp_path: Path) -> None:
    source = """
        import asyncio
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                if request.url.endswith("/hang"):
                    await self.forever()
                return Response("ok")

            async def forever(self):
                await asyncio.Event().wait()
    """
    with Worker.inline(tmp_path, source, patience=0.05) as worker:
        with pytest.raises(NothingMoves, match=r"no answer to GET /hang, .* waits at .*entry\.py:12\b"):
            worker.fetch("/hang")
        assert worker.fetch("/").text == "ok"


def test_a_handler_that_takes_a_moment_is_waited_for(tmp_path: Path) -> None:
    source = """
        import asyncio
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                await asyncio.sleep(0.02)
                return Response(await asyncio.to_thread(lambda: "done"))
    """
    with Worker.inline(tmp_path, source) as worker:
        assert worker.fetch("/").text == "done"
