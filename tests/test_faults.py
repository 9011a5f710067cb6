"""Named points at which a test makes the process crash, wait or fail."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from runtime import faults
from runtime.faults import FaultInjected, fault


@pytest.fixture(autouse=True)
def disarmed() -> Iterator[None]:
    yield
    faults.arm("")


def test_nothing_happens_unless_a_point_is_armed() -> None:
    fault("a.point")


def test_a_point_raises_at_its_nth_turn_only() -> None:
    faults.arm("a.point:2:raise")
    fault("a.point")
    fault("another.point")
    with pytest.raises(FaultInjected, match=r"a\.point"):
        fault("a.point")
    fault("a.point")


def test_a_point_can_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    faults.arm("a.point:delay=250")
    fault("a.point")
    assert slept == [0.25]


@pytest.mark.parametrize(("text", "turns"), [("a.point", 1), ("a.point:3", 3), ("a.point:2:crash", 2)])
def test_the_environment_makes_a_process_crash(text: str, turns: int) -> None:
    code = "from runtime.faults import fault\nfor n in range(9):\n    print(n, flush=True)\n    fault('a.point')"
    environment = {**os.environ, "CELLD_PY_FAULT": text, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment)
    assert done.returncode == -signal.SIGKILL
    assert len(done.stdout.split()) == turns


@pytest.mark.parametrize("text", ["p:explode", "p:delay", "p:delay=soon", "p:1:crash:more", "p:crash=1"])
def test_a_mistake_in_the_variable_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="CELLD_PY_FAULT"):
        faults.arm(text)
