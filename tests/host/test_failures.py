"""What is said of rollbacks that go wrong."""

from __future__ import annotations

import io

import pytest

from runtime.cli.terminal import Terminal
from runtime.engine import Failure
from runtime.engine import commands as cmd
from runtime.engine.failures import LOST, ROLLBACK_MISSING
from runtime.host.failures import FailureReports, headline
from tests.engine.driver import Instance

TRACEBACK = 'Traceback (most recent call last):\n  File "main.py", line 3, in refund\nRuntimeError: no bank'


def undoing() -> Instance:
    """An instance whose step "charge" is being undone."""
    instance = Instance().start()
    instance.done(instance.do("charge", rollback=True))
    instance.raised()
    return instance


def said(instance: Instance) -> str:
    """What the latest decision makes the terminal say."""
    out = io.StringIO()
    FailureReports(Terminal.over(io.StringIO(), out, environ={})).happened(instance.state, instance.last.events)
    return out.getvalue()


def test_a_failed_undo_is_told_with_its_traceback_and_when_it_is_tried_again() -> None:
    instance = undoing()
    instance.tell(cmd.RollbackFinished(1, 1, Failure("PythonError", TRACEBACK)))
    told = said(instance)
    assert told.startswith("error: wf/id: rollback of charge-1 failed: RuntimeError: no bank\n")
    assert 'File "main.py", line 3, in refund' in told and "It is tried again in 10 s." in told


def test_the_last_failure_of_an_undo_says_what_it_leaves_undone() -> None:
    instance = undoing()
    instance.tell(cmd.RollbackFinished(1, 1, Failure("NonRetryableError", "no bank")))
    told = said(instance)
    assert "rollback of charge-1 failed: NonRetryableError: no bank" in told
    assert "The steps that started before it are not rolled back." in told


def test_an_undo_that_was_cut_off_is_a_warning() -> None:
    assert "rollback of charge-1 was cut off; it runs again at once" in said(undoing().crash())


@pytest.mark.parametrize("missing", [True, False])
def test_an_undo_function_that_is_missing_is_told_as_that(missing: bool) -> None:
    instance = undoing()
    instance.tell(cmd.RollbackFinished(1, 1, None if missing else LOST, missing=missing))
    assert ("rollback of charge-1 is not possible: the replay did not come" in said(instance)) is missing
    assert not missing or instance.state.rollback_result == ("failed", ROLLBACK_MISSING)


def test_an_error_of_many_lines_is_told_by_the_first_line_after_its_frames() -> None:
    error = f"{TRACEBACK}\n  For further information visit the bank"
    assert headline(Failure("PythonError", error)) == "RuntimeError: no bank"
