from __future__ import annotations

from pathlib import Path

from wrangler_compat.projection import find_tool


def installed(folder: Path, name: str) -> Path:
    """A command of this name in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    command = folder / name
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    return command


def test_the_projects_own_wrangler_goes_before_that_on_path(tmp_path: Path) -> None:
    project = tmp_path / "project"
    on_path = installed(tmp_path / "bin", "wrangler")

    assert find_tool(project, "javascript", {"PATH": str(tmp_path / "bin")}) == on_path
    own = installed(project / "node_modules" / ".bin", "wrangler")
    assert find_tool(project, "javascript", {"PATH": str(tmp_path / "bin")}) == own


def test_a_workspaces_wrangler_is_found_above_the_project(tmp_path: Path) -> None:
    above = installed(tmp_path / "node_modules" / ".bin", "wrangler")

    assert find_tool(tmp_path / "packages" / "shop", "python", {"PATH": ""}) == above


def test_a_python_project_is_given_to_pywrangler_which_packs_its_packages(tmp_path: Path) -> None:
    project = tmp_path / "project"
    wrangler = installed(project / "node_modules" / ".bin", "wrangler")
    assert find_tool(project, "python", {"PATH": ""}) == wrangler

    pywrangler = installed(project / ".venv" / "bin", "pywrangler")
    assert find_tool(project, "python", {"PATH": ""}) == pywrangler
    assert find_tool(project, "javascript", {"PATH": ""}) == wrangler


def test_there_may_be_none(tmp_path: Path) -> None:
    assert find_tool(tmp_path, "python", {"PATH": ""}) is None
