"""Rule R1: tools that are too old for exports stop the change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.wrangler_compat.reconcile.case import PIPE, config, rules, run


def install(folder: Path, package: str, version: str) -> None:
    place = folder / "node_modules" / package
    place.mkdir(parents=True)
    (place / "package.json").write_text(json.dumps({"version": version}))


@pytest.mark.parametrize(
    ("package", "version"),
    [
        ("wrangler", "4.141.9"),
        ("wrangler", "3.99.0"),
        ("wrangler", "4.142.0-beta.1"),
        ("@cloudflare/vite-plugin", "1.60.2"),
    ],
)
def test_r1_an_older_tool_stops_the_change_and_names_the_upgrade(tmp_path: Path, package: str, version: str) -> None:
    install(tmp_path, package, version)

    found = run(tmp_path / "app", config(), PIPE)

    assert found.refused
    (gate,) = [finding for finding in found.findings if finding.rule == "R1"]
    assert version in gate.message
    assert gate.hint == f"npm install --save-dev {package}@latest"


def test_r1_an_older_tool_is_only_told_when_nothing_is_to_be_done(tmp_path: Path) -> None:
    install(tmp_path, "wrangler", "4.100.0")

    found = run(tmp_path, config('"exports": { "OrderPipe": { "type": "workflow", "name": "order-pipe" } }'), PIPE)

    assert rules(found) == ["R1"]
    assert not found.refused


@pytest.mark.parametrize("version", ["4.142.0", "4.164.0", "5.0.0"])
def test_r1_a_tool_that_is_new_enough_says_nothing(tmp_path: Path, version: str) -> None:
    install(tmp_path, "wrangler", version)

    assert rules(run(tmp_path, config(), PIPE)) == ["R2"]


def test_r1_the_nearest_installation_counts_as_for_node(tmp_path: Path) -> None:
    install(tmp_path, "wrangler", "4.100.0")
    install(tmp_path / "app", "wrangler", "4.150.0")

    assert not run(tmp_path / "app", config(), PIPE).refused


def test_r1b_without_an_installed_wrangler_there_is_no_gate(tmp_path: Path) -> None:
    assert not run(tmp_path, config(), PIPE).refused
