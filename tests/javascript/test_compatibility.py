"""Compatibility dates that workerd does not know yet."""

from __future__ import annotations

from pathlib import Path

from runtime.javascript.compatibility import date, newest_date
from runtime.javascript.notices import notices
from tests.javascript.workerd_world import NEWEST, plan, project

CODE = "export default {};"


def test_a_version_of_workerd_knows_the_dates_up_to_its_own() -> None:
    assert newest_date("1.20261117.1") == "2026-11-17"


def test_a_date_ahead_of_workerd_is_held_back_and_named(tmp_path: Path) -> None:
    worker = project(tmp_path, CODE, compatibility_date="2026-11-18")

    assert date(worker.project, NEWEST) == NEWEST
    assert [notice.text for notice in notices(plan(tmp_path, worker))] == [
        "compatibility_date 2026-11-18 is newer than this workerd knows: 2026-11-17 is used."
    ]


def test_a_date_that_workerd_knows_is_used_in_silence(tmp_path: Path) -> None:
    worker = project(tmp_path, CODE, compatibility_date="2024-02-29")

    assert date(worker.project, NEWEST) == "2024-02-29"
    assert notices(plan(tmp_path, worker)) == ()
