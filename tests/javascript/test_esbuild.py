"""The exchange with esbuild's service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runtime.javascript.esbuild import Hook, Hooked, Request, run_esbuild
from runtime.javascript.failures import BuildError, BuildFailed
from runtime.javascript.tools import Tools


def request(folder: Path, text: str, *flags: str) -> dict[str, Any]:
    """A build of a module in memory, to ``out.js`` of the folder."""
    return {
        "entries": [],
        "flags": ["--bundle", "--format=esm", f"--outfile={folder / 'out.js'}", "--log-level=silent", *flags],
        "write": True,
        "stdinContents": text.encode(),
        "stdinResolveDir": str(folder),
        "absWorkingDir": str(folder),
        "nodePaths": [],
    }


def test_hooks_ask_back_and_answer_in_any_number(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "real.js").write_text("export const real = 1;")

    def lead(asked: Request) -> Hooked:
        there = yield {"path": "./real.js", "resolveDir": str(tmp_path), "kind": asked["kind"], "pluginData": 1}
        return {"path": there["path"], "suffix": f"?{asked['path'][-3:]}"}

    imports = "".join(f"import {{ real as r{number:03} }} from 'made:{number:03}';\n" for number in range(300))
    uses = "console.log(" + ", ".join(f"r{number:03}" for number in range(300)) + ");"
    answer = run_esbuild(tools.esbuild, request(tmp_path, imports + uses), [Hook("^made:", lead)])
    assert answer["errors"] == []
    assert (tmp_path / "out.js").read_text().count("var real") == 300


def test_the_first_hook_with_an_answer_counts(tools: Tools, tmp_path: Path) -> None:
    def passing(asked: Request) -> None:
        return None

    def made(asked: Request) -> dict[str, Any]:
        return {"path": asked["path"], "namespace": "made"}

    def content(asked: Request) -> dict[str, Any]:
        return {"contents": f"console.log({asked['path']!r})".encode(), "loader": "js"}

    resolving = [Hook("^x$", passing), Hook("^x$", made), Hook("^x$", passing)]
    answer = run_esbuild(tools.esbuild, request(tmp_path, "import 'x';"), resolving, [Hook(".*", content, "made")])
    assert answer["errors"] == []
    assert 'console.log("x")' in (tmp_path / "out.js").read_text()


def test_an_esbuild_that_ends_is_told_with_its_last_words(tmp_path: Path) -> None:
    program = tmp_path / "esbuild"
    program.write_text("#!/bin/sh\necho 'no memory' >&2\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(BuildFailed) as failed:
        run_esbuild(program, request(tmp_path, ""))
    assert str(failed.value) == "esbuild ended in the middle of the build.\nno memory"


def test_an_error_is_shown_as_its_place_its_line_and_what_to_do() -> None:
    error = BuildError("No.", "src/a.ts", 3, 4, "\tx = y;", 2, ("Do this.\nAnd that.",))
    assert str(error) == "src/a.ts:3:4: No.\n    3 | \tx = y;\n        \t  ^^\n  Do this.\n  And that."
    assert str(BuildError("No.")) == "No."
    assert BuildError("No.", "src/a.ts").place == "src/a.ts"
