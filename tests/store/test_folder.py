"""One host owns a folder; what a dead one left behind is cleared away."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.store import FolderInUse, StateFolder
from runtime.store import folder as store_folder
from runtime.store.processes import Process, start_time

HOST = """
import subprocess, sys
from pathlib import Path
from runtime.store.folder import StateFolder
folder = StateFolder.open(Path(sys.argv[1]))
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"],
    pass_fds=[folder.lock], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
if sys.argv[2] == "recorded":
    folder.add_child(child.pid)
print(child.pid, flush=True)
sys.stdin.read()
"""


def host(path: Path, record: str = "recorded") -> tuple[subprocess.Popen[str], int]:
    """A host with an isolate, in a process of its own; gives the isolate's process id."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOST, str(path), record],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_a_second_host_is_refused_with_the_first_ones_pid(tmp_path: Path) -> None:
    first, child = host(tmp_path)
    with pytest.raises(FolderInUse, match=f"in use by process {first.pid}") as caught:
        StateFolder.open(tmp_path)
    assert caught.value.pid == first.pid
    assert start_time(child) is not None
    end(first)
    StateFolder.open(tmp_path).close()


def test_the_isolate_of_a_killed_host_is_killed_by_the_next(tmp_path: Path) -> None:
    first, child = host(tmp_path)
    end(first)
    assert start_time(child) is not None
    folder = StateFolder.open(tmp_path)
    assert start_time(child) is None
    folder.close()


def test_an_isolate_that_nobody_recorded_keeps_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_folder, "LOCK_WAIT_SECONDS", 0.2)
    first, child = host(tmp_path, "not recorded")
    end(first)
    with pytest.raises(FolderInUse, match="that an earlier host left behind"):
        StateFolder.open(tmp_path)
    os.kill(child, 9)
    monkeypatch.undo()
    StateFolder.open(tmp_path).close()


def test_a_process_that_only_got_the_same_pid_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    owner = StateFolder.open(tmp_path)
    owner._record.host = Process(1, "another start")
    owner._record.children = [Process(bystander.pid, "another start")]
    owner._write_record()
    store_folder.kill_orphans(tmp_path)
    assert bystander.poll() is None
    bystander.communicate()
    owner.close()


def test_forgotten_children_are_not_killed(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    owner = StateFolder.open(tmp_path)
    owner.add_child(child.pid)
    owner.forget_child(child.pid)
    owner._record.host = None
    owner._write_record()
    store_folder.kill_orphans(tmp_path)
    assert child.poll() is None
    child.communicate()
    owner.close()


def test_a_folder_can_be_opened_again_after_closing(tmp_path: Path) -> None:
    StateFolder.open(tmp_path).close()
    StateFolder.open(tmp_path).close()


def test_the_lock_is_inherited_by_children(tmp_path: Path) -> None:
    owner = StateFolder.open(tmp_path)
    assert os.get_inheritable(owner.lock)
    owner.close()


def test_a_damaged_record_does_not_keep_the_folder(tmp_path: Path) -> None:
    StateFolder.open(tmp_path).close()
    (tmp_path / "host.json").write_text("{")
    StateFolder.open(tmp_path).close()
