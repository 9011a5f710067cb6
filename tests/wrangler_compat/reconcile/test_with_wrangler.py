"""The real wrangler reads what reconciling has written. Skipped where none is named."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from bench.sides import NODE_VARIABLE, WRANGLER_VARIABLE
from tests.dev import ROOT
from tests.wrangler_compat.reconcile.case import project, run
from tests.wrangler_compat.reconcile.odd import CODE, ODD
from tests.wrangler_compat.reconcile.test_properties import Case, cases
from wrangler_compat import jsonc

GENERATED = 100
READ = """
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
const wrangler = createRequire(import.meta.url)(process.argv[2]);
const paths = JSON.parse(readFileSync(0, "utf8"));
console.log("\\n" + JSON.stringify(paths.map((config) => wrangler.unstable_readConfig({ config, env: "" }))));
"""


def wrangler_reads(folder: Path, paths: list[Path]) -> list[dict[str, Any]]:
    """The configurations as wrangler understands them, read in one process."""
    script = os.environ.get(WRANGLER_VARIABLE)
    if script is None:
        pytest.skip(f"{WRANGLER_VARIABLE} names no wrangler")
    package = next(place for place in Path(script).resolve().parents if (place / "package.json").exists())
    (folder / "read.mjs").write_text(READ)
    done = subprocess.run(
        [os.environ.get(NODE_VARIABLE, "node"), str(folder / "read.mjs"), str(package)],
        input=json.dumps([str(path) for path in paths]),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "WRANGLER_SEND_METRICS": "false", "HOME": str(folder)},
    )
    found: list[dict[str, Any]] = json.loads(done.stdout.rstrip("\n").split("\n")[-1], parse_int=float)
    return found


def check(folder: Path, results: list[str]) -> None:
    """Write the texts, let wrangler read them, and compare with what we read."""
    paths = []
    for index, text in enumerate(results):
        text = text.replace('"main"', '"compatibility_flags": ["python_workers"], "main"', 1)
        paths.append(project(folder / str(index), text, "") / "wrangler.jsonc")
    for path, read in zip(paths, wrangler_reads(folder, paths), strict=True):
        ours = jsonc.parse(path.read_bytes().decode()).data()
        assert read["exports"] == (ours.get("exports") or {})
        assert read["workflows"] == (ours.get("workflows") or [])
        assert read["vars"] == ours.get("vars", {})


@pytest.mark.timeout(180)
def test_wrangler_reads_generated_configurations_as_they_were_meant(tmp_path: Path) -> None:
    results: list[str] = []

    @settings(max_examples=GENERATED, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(case=cases())
    def gather(case: Case) -> None:
        results.append(run(tmp_path / "made", case.text, case.code).result)

    gather()
    check(tmp_path, results)


def test_wrangler_reads_odd_configurations_as_they_were_meant(tmp_path: Path) -> None:
    odd = {name: text for name, text in ODD.items() if name != "escaped keys"}

    check(tmp_path, [run(tmp_path / "made", text, CODE).result for text in odd.values()])


@pytest.mark.parametrize("path", sorted((ROOT / "tests/e2e/golden/shop").glob("*.jsonc")), ids=lambda path: path.name)
def test_wrangler_reads_the_shop(path: Path, tmp_path: Path) -> None:
    check(tmp_path, [path.read_text().replace('"compatibility_flags": ["python_workers"],\n', "")])
