"""Which process a recorded id belongs to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Any

import pytest

from runtime.store import processes
from runtime.store.processes import Process, start_time

SLEEP = [sys.executable, "-c", "import sys; sys.stdin.read()"]


def test_a_living_process_is_told_from_another_with_its_id() -> None:
    me = Process.of(os.getpid())
    assert me is not None
    assert me.alive
    assert not Process(me.pid, "another start").alive


def test_a_killed_process_is_dead_even_before_it_is_reaped() -> None:
    child = subprocess.Popen(SLEEP, stdin=subprocess.PIPE)
    process = Process.of(child.pid)
    assert process is not None
    process.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert not process.alive
    child.communicate()
    process.kill()  # no error, and no one else is hit


def test_there_is_no_process_under_a_free_id() -> None:
    child = subprocess.Popen(SLEEP, stdin=subprocess.PIPE)
    child.communicate()
    assert start_time(child.pid) is None
    assert Process.of(child.pid) is None


@pytest.mark.skipif(shutil.which("/bin/ps") is None, reason="needs ps")
def test_ps_tells_the_start_too() -> None:
    started = processes._start_time_by_ps(os.getpid())
    assert started is not None
    assert started == processes._start_time_by_ps(os.getpid())
    child = subprocess.Popen(SLEEP, stdin=subprocess.PIPE)
    child.communicate()
    assert processes._start_time_by_ps(child.pid) is None


@pytest.mark.skipif(shutil.which("/bin/ps") is None, reason="needs ps")
def test_what_ps_tells_does_not_depend_on_time_zone_and_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    tokyo = processes._start_time_by_ps(os.getpid())
    monkeypatch.setenv("TZ", "America/New_York")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert processes._start_time_by_ps(os.getpid()) == tokyo


def answer_of_ps(monkeypatch: pytest.MonkeyPatch, output: str, code: int = 0) -> list[list[str]]:
    """Lets `ps` say something; gives the commands that are run."""
    commands: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        return subprocess.CompletedProcess(command, code, output)

    monkeypatch.setattr(subprocess, "run", run)
    return commands


@pytest.mark.parametrize(
    ("output", "code", "started"),
    [
        ("Ss   Wed Mar  5 09:07:01 2025    \n", 0, "Wed Mar  5 09:07:01 2025"),
        ("S+ Wed Mar 15 09:07:01 2025\n", 0, "Wed Mar 15 09:07:01 2025"),
        ("Z    Wed Mar  5 09:07:01 2025\n", 0, None),
        ("Z+\n", 0, None),
        ("", 1, None),
        ("\n", 0, None),
    ],
)
def test_the_words_of_ps(monkeypatch: pytest.MonkeyPatch, output: str, code: int, started: str | None) -> None:
    commands = answer_of_ps(monkeypatch, output, code)

    assert processes._start_time_by_ps(7) == started
    assert commands == [["/bin/ps", "-o", "stat=", "-o", "lstart=", "-p", "7"]]
