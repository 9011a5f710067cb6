"""What the terminal says of the code once the server is up."""

from __future__ import annotations

import asyncio
import io
import sys
from pathlib import Path

import pytest

from runtime.cli.terminal import Terminal
from runtime.host import lints
from tests.dev import write_project
from wrangler_compat import load_project

CODE = """
import time
from workers import WorkflowEntrypoint

class Order(WorkflowEntrypoint):
    schedules = "0 3 * * *"

    async def run(self, event, step):
        first = time.time()
        print(first)
        second = time.time()
        return [first, second]
"""


async def shown(folder: Path) -> tuple[str, str]:
    """What is printed to both streams."""
    out, err = io.StringIO(), io.StringIO()
    up = asyncio.Event()
    up.set()
    await lints.show_errors(load_project(folder, environ={}), "cloudflare", Terminal.over(out, err, environ={}), up)
    return out.getvalue(), err.getvalue()


@pytest.mark.asyncio
async def test_errors_are_shown_with_their_place_and_the_hint_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write_project(tmp_path, CODE, "Order"))

    out, err = await shown(tmp_path)

    assert out == ""
    assert err == (
        "error: time.time() gives another value at each replay of run.\n"
        "  src/main.py:9:17\n"
        "  Move the call into a step: its result is stored and comes back at every replay.\n"
        "error: time.time() gives another value at each replay of run.\n"
        "  src/main.py:11:18\n"
    )


@pytest.mark.asyncio
async def test_nothing_is_said_of_code_without_errors(tmp_path: Path) -> None:
    write_project(tmp_path, CODE.replace("time.time()", "1"), "Order")

    assert await shown(tmp_path) == ("", "")


@pytest.mark.asyncio
async def test_many_errors_are_cut_short(tmp_path: Path) -> None:
    body = "\n".join(f"        x{number} = time.time()" for number in range(lints.SHOWN + 2))
    write_project(tmp_path, CODE.replace("        first = time.time()\n        print(first)", body), "Order")

    out, err = await shown(tmp_path)

    assert err.count("error: ") == lints.SHOWN
    assert out == "note: There are 3 more errors in the code. See: celld-py check\n"


@pytest.mark.asyncio
async def test_nothing_is_checked_before_the_server_is_up(tmp_path: Path) -> None:
    write_project(tmp_path, CODE, "Order")
    err = io.StringIO()
    terminal = Terminal.over(io.StringIO(), err, environ={})
    waiting = asyncio.create_task(
        lints.show_errors(load_project(tmp_path, environ={}), "cloudflare", terminal, asyncio.Event())
    )

    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert err.getvalue() == ""


@pytest.mark.asyncio
async def test_a_check_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_project(tmp_path, CODE, "Order")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))

    out, err = await shown(tmp_path)

    assert out.startswith("note: The code was not checked: ") and err == ""


@pytest.mark.asyncio
async def test_a_configuration_that_was_broken_meanwhile_is_told(tmp_path: Path) -> None:
    write_project(tmp_path, CODE, "Order")
    project = load_project(tmp_path, environ={})
    (tmp_path / "wrangler.jsonc").write_text("{")
    out = io.StringIO()
    up = asyncio.Event()
    up.set()

    await lints.show_errors(project, "cloudflare", Terminal.over(out, io.StringIO(), environ={}), up)

    assert out.getvalue() == "note: The code was not checked: celld-py check ended with exit code 2.\n"
