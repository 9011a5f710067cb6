"""workerd and esbuild are found fast, offline and without node once they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.host.errors import CelldError
from runtime.javascript import npm_client, tools
from runtime.javascript.__main__ import main
from runtime.javascript.pins import ESBUILD_VERSION, PINS, Pin
from runtime.javascript.system import CACHE_VARIABLE, this_system
from runtime.javascript.tools import Tools, find_tools, installation

ROOT = Path(__file__).parent.parent.parent


def no_note(text: str) -> None:
    raise AssertionError(f"nothing has to be said, but: {text}")


def put(program: Path, pin: Pin) -> None:
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (program.parent.parent / "package.json").write_text(f'{{"version": "{pin.version}"}}')


def fill(folder: Path) -> None:
    for pin in PINS[this_system()]:
        put(folder / pin.path, pin)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, on a machine without any npm."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(npm_client, "clients", list)
    return tmp_path / "cache"


def test_what_is_installed_is_found(cache: Path) -> None:
    folder = installation(PINS[this_system()], this_system())
    fill(folder)

    found = find_tools(None, no_note)

    assert folder.parent == cache
    assert found == (folder / PINS[this_system()].workerd.path, folder / PINS[this_system()].esbuild.path)


def test_finding_what_is_installed_imports_and_starts_nothing(tools: Tools) -> None:
    """Every start of a JavaScript project waits for it."""
    code = (
        "import sys; from runtime.javascript.tools import find_tools; find_tools(None, print);"
        "print(*sorted({'subprocess', 'json', 'asyncio', 'importlib.util', 'shutil'} & set(sys.modules)))"
    )

    assert subprocess.check_output([sys.executable, "-S", "-c", code], cwd=ROOT, text=True) == "\n"


def test_the_installed_tools_work_with_the_network_cut_and_no_node(tools: Tools) -> None:
    unshare = shutil.which("unshare")
    alone = [str(unshare), "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if unshare is None or subprocess.run([*alone, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine does not let a program be cut off from the network")
    code = (
        "import subprocess; from runtime.javascript.tools import find_tools\n"
        "for program in find_tools(None, print): subprocess.run([program, '--version'], check=True)"
    )
    environment = {"PATH": "/nonexistent", CACHE_VARIABLE: os.environ[CACHE_VARIABLE]}

    said = subprocess.check_output([*alone, sys.executable, "-c", code], cwd=ROOT, env=environment, text=True)

    assert said == f"workerd 2026-11-17\n{ESBUILD_VERSION}\n"


def test_a_projects_own_tested_copies_spare_the_installation(cache: Path, tmp_path: Path) -> None:
    fill(tmp_path / "project")

    found = find_tools(tmp_path / "project", no_note)

    assert found.workerd == tmp_path / "project" / PINS[this_system()].workerd.path
    assert not cache.exists()


def test_what_is_installed_goes_before_a_projects_copies(cache: Path, tmp_path: Path) -> None:
    fill(tmp_path / "project")
    fill(installation(PINS[this_system()], this_system()))

    assert find_tools(tmp_path / "project", no_note).workerd.is_relative_to(cache)


@pytest.mark.parametrize("system", ["windows", "linux-riscv64", "freebsd14-x64"])
def test_a_machine_that_workerd_is_not_made_for_is_told_so(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "this_system", lambda: system)

    with pytest.raises(CelldError, match=f"there is no workerd for {system}") as raised:
        find_tools(None, no_note)

    assert raised.value.code == "tools_unsupported"
    assert "linux-x64, linux-arm64, darwin-x64, darwin-arm64" in str(raised.value.hint)


def test_the_module_can_be_run_to_install_ahead(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = installation(PINS[this_system()], this_system())
    fill(folder)

    assert main() == 0
    assert capsys.readouterr().out.splitlines() == [str(folder / pin.path) for pin in PINS[this_system()]]


def test_the_module_says_why_it_cannot(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main() == 1
    assert "there is no npm here" in capsys.readouterr().err
