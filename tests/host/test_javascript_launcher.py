"""What starting JavaScript leaves behind when it fails."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from runtime.host.errors import ProjectError
from runtime.host.javascript_launcher import JavaScriptLauncher
from runtime.host.options import Options
from runtime.host.problem import DoesNotLoad
from runtime.isolates.streams import StreamStore
from runtime.isolates.transport import Listener
from runtime.isolates.workerd import launch
from runtime.isolates.workerd.spawn import Spawned
from runtime.javascript.tools import Tools
from runtime.store import StateFolder
from wrangler_compat import load_project

pytestmark = pytest.mark.asyncio

NOBODY = cast(Listener, None)
NOTHING = cast(StreamStore, None)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[StateFolder]:
    opened = StateFolder.open(tmp_path / "state", "process")
    yield opened
    opened.close()


def launcher_of(code: str, root: Path, folder: StateFolder, tools: Tools) -> JavaScriptLauncher:
    (root / "index.js").write_text(code)
    (root / "wrangler.json").write_text(
        json.dumps({"name": "app", "main": "index.js", "compatibility_date": "2026-05-01"})
    )
    return JavaScriptLauncher([load_project(root, environ={})], tools, folder, Options(), lambda notice: None)


async def test_code_that_does_not_load_leaves_no_build(tools: Tools, tmp_path: Path, folder: StateFolder) -> None:
    launcher = launcher_of("const = 1;", tmp_path, folder, tools)
    with pytest.raises(DoesNotLoad):
        await launcher.launch("both", NOBODY, NOTHING)
    assert not list((folder.path / "build").iterdir())


async def test_a_build_that_cannot_be_written_is_not_put_down_to_workerd(
    tools: Tools, tmp_path: Path, folder: StateFolder
) -> None:
    (folder.path / "build").write_text("a file where the builds should be")
    launcher = launcher_of("export default { fetch() {} }", tmp_path, folder, tools)
    with pytest.raises(ProjectError) as failed:
        await launcher.launch("both", NOBODY, NOTHING)
    assert failed.value.message == "The project cannot be built."
    assert str(folder.path / "build") in (failed.value.detail or "")


async def test_a_workerd_that_nobody_comes_to_hear_is_ended(
    tools: Tools, tmp_path: Path, folder: StateFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Spawned] = []

    async def attach(spawned: Spawned, *_: object, mute: bool) -> None:
        seen.append(spawned)
        raise OSError("no port is free")

    monkeypatch.setattr(launch, "attach", attach)
    launcher = launcher_of("export default { fetch() {} }", tmp_path, folder, tools)
    with pytest.raises(OSError, match="no port is free"):
        await launcher.launch("both", NOBODY, NOTHING)
    (spawned,) = seen
    with pytest.raises(ProcessLookupError):
        os.kill(spawned.started.pid, 0)
    assert not list((folder.path / "build").iterdir())
