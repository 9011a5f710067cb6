"""What the person at the terminal is told while everything goes on."""

from __future__ import annotations

import io
import os
from types import SimpleNamespace
from typing import Any

import pytest

from runtime.cli.terminal import Terminal
from runtime.host import reports as module
from runtime.host.errors import ProjectError
from runtime.host.instances import Held
from runtime.host.problem import Problem
from runtime.host.reports import Reports
from runtime.store import Key, NewerStore, StoreFull, StoreUnusable

A = Key("orders", "a")


class Told:
    """Reports, and what came of them."""

    def __init__(self) -> None:
        self._out, self._err = io.StringIO(), io.StringIO()
        self.reports = Reports(Terminal.over(self._out, self._err, environ={}))

    @property
    def out(self) -> str:
        return self._out.getvalue()

    @property
    def err(self) -> str:
        return self._err.getvalue()


@pytest.fixture
def told() -> Told:
    return Told()


def loaded(role: str, pid: int = 7) -> Any:
    return SimpleNamespace(role=role, isolate=SimpleNamespace(pid=pid))


@pytest.mark.parametrize(
    ("error", "text", "hint"),
    [
        (
            StoreFull("x.db"),
            "No space is left on the disk to write x.db. Free some; work goes on by itself.",
            "It goes on by itself when there is room again.",
        ),
        (
            StoreUnusable("x.db", "I/O error"),
            "x.db cannot be used: I/O error.",
            "It goes on by itself as soon as this has passed.",
        ),
        (
            NewerStore("x.db", 9, 1),
            str(NewerStore("x.db", 9, 1)),
            "The other instances are not affected.",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_an_instance_that_cannot_go_on_is_named_with_the_reason(
    told: Told, error: Exception, text: str, hint: str
) -> None:
    told.reports.instance(A, error)

    assert told.err == f"error: orders/a is stopped: {text}\n  {hint}\n"


def test_instances_that_the_project_cannot_run_are_told_once_for_their_workflow(told: Told) -> None:
    for id in "abc":
        told.reports.instance(Key("orders", id), Held('the project has no Workflow "orders"'))

    assert told.err == (
        'error: Instances of orders are stopped: the project has no Workflow "orders"\n'
        "  They are kept, and go on when the project has it again.\n"
    )


def test_a_bug_of_ours_is_shown_with_its_traceback(told: Told) -> None:
    try:
        os.environ["MISSING"]
    except KeyError as error:
        told.reports.instance(A, error)

    assert told.err.startswith("error: orders/a is stopped: 'MISSING'\n  Traceback (most recent call last):\n")
    assert told.err.endswith(
        "  KeyError: 'MISSING'\n"
        "  This is a bug of celld-py. The instance is kept; it is tried again at the next start.\n"
    )


def test_the_same_is_said_once(told: Told) -> None:
    for _ in range(3):
        told.reports.instance(A, AssertionError("x"))
        told.reports.instance(Key("orders", "b"), AssertionError("x"))
        told.reports.advice(A, "careful")
        told.reports.advice(Key("orders", "b"), "careful")
        told.reports.wake_up(None, StoreUnusable("catalog.db", "I/O error"))

    assert told.err.count("error: orders/a") == told.err.count("error: orders/b") == 1
    assert told.err.count("warning: orders: careful\n") == 1
    assert told.err.count("catalog.db") == 1


def test_what_was_said_is_not_remembered_for_ever(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 2)

    for n in (1, 2, 3, 1):
        told.reports.instance(A, AssertionError(n))

    assert len(told.reports._said) == 2
    assert told.err.count("stopped: 1") == 2


@pytest.mark.parametrize(
    ("role", "status", "text"),
    [
        (
            "work",
            -9,
            "The work isolate was ended by signal 9; its instances go on by replay. Another is being started.",
        ),
        ("front", 3, "The front isolate ended with status 3; requests in flight failed. Another is being started."),
    ],
)
def test_an_isolate_that_ended_is_named_with_what_follows(told: Told, role: str, status: int, text: str) -> None:
    told.reports.isolate_lost(loaded(role), status)

    assert told.err == f"error: {text}\n"


def test_an_isolate_that_we_kill_is_named_once_and_its_number_can_come_again(told: Told) -> None:
    told.reports.stuck(loaded("work"), "code outside steps has blocked for 30 s: a.py:1 in run")
    told.reports.isolate_lost(loaded("work"), -9)

    assert told.err == (
        "error: The work isolate does not give its thread back: "
        "code outside steps has blocked for 30 s: a.py:1 in run\n"
        "  It is killed and replaced. Use await in async code, or asyncio.to_thread for blocking calls.\n"
    )
    told.reports.isolate_lost(loaded("work"), -11)
    assert "signal 11" in told.err


def test_code_that_does_not_load_is_shown_with_its_place(told: Told) -> None:
    told.reports.problem(Problem("SyntaxError", "bad", "Traceback ...\nSyntaxError: bad", "entry.py", 3))

    assert told.err == (
        "error: The code does not load (entry.py:3)\n  Traceback ...\n  SyntaxError: bad\n"
        "  Mend it and save: it is loaded again at once.\n"
    )


def test_where_files_are_not_watched_one_is_told_to_start_again() -> None:
    err = io.StringIO()
    reports = Reports(Terminal.over(io.StringIO(), err, environ={}), watched=False)
    reports.problem(Problem("SyntaxError", "bad", "SyntaxError: bad", "entry.py", 3))

    assert "Mend it and start celld-py again: with --no-watch, edits are not noticed." in err.getvalue()


def test_what_is_wrong_in_the_configuration_is_not_said_to_be_loaded_again(told: Told) -> None:
    told.reports.problem(Problem("Error", "bad flag", "bad flag", in_settings=True))

    assert told.err == (
        "error: The code does not load\n  bad flag\n"
        "  Correct it and start celld-py again: the configuration is read at its start only.\n"
    )


def test_a_request_is_a_line(told: Told) -> None:
    told.reports.request("GET", "/a", 200, 0.0123)
    told.reports.request("GET", "/b", 299, 2)

    assert told.out == "GET /a 200 OK (12 ms)\nGET /b 299 (2000 ms)\n"


def test_a_request_that_failed_in_the_worker_is_shown_with_its_place(told: Told) -> None:
    told.reports.request_failed({"traceback": "boom", "file": "entry.py", "line": 3})
    told.reports.request_failed({"traceback": "boom"})

    assert told.err == (
        "error: A request failed in the Worker (entry.py:3)\n  boom\nerror: A request failed in the Worker\n  boom\n"
    )


def test_other_errors_are_shown_with_what_to_do_if_that_is_known(told: Told) -> None:
    told.reports.error(ProjectError("broken", hint="mend it", detail="here"))
    told.reports.error(ValueError("odd"))

    assert told.err == "error: broken\n  here\n  mend it\nerror: ValueError: odd\n"
