"""Our engine agrees with what was recorded of the official one, but for what is listed in differences.json."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden.agreement import disagreements
from tests.golden.known import known
from tests.golden.suites import Suite, official, ours


def agrees(suite: Suite, folder: Path) -> None:
    wrong = disagreements(suite, known(), folder)
    for name, verdict in wrong.items():
        vanished = [f"{path}: it is listed, and does not differ" for path in verdict.vanished]
        print(name, *verdict.unlisted, *vanished, sep="\n  ")
    assert not wrong


@pytest.mark.usefixtures("tools")
@pytest.mark.timeout(300)
def test_our_scenarios_agree_with_what_was_recorded(tmp_path: Path) -> None:
    agrees(ours(), tmp_path)


@pytest.mark.usefixtures("tools")
@pytest.mark.timeout(900)
def test_the_official_scenarios_agree_with_what_was_recorded(tmp_path: Path) -> None:
    suite = official()
    if suite is None:
        pytest.skip("the official scenarios are not at hand")
    agrees(suite, tmp_path)
