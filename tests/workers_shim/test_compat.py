"""Compatibility dates and flags (A.7 of the notes on Python Workers)."""

from __future__ import annotations

import pytest

from workers_shim.compat import flags_for


@pytest.mark.parametrize(
    ("flag", "since"),
    [
        ("enable_ctx_exports", "2025-11-17"),
        ("python_workflows_implicit_dependencies", "2026-02-25"),
        ("workflows_preserve_non_retryable_error_message", "2026-05-14"),
        ("python_no_global_handlers", "2025-08-14"),
    ],
)
def test_a_flag_is_on_from_its_date_on(flag: str, since: str) -> None:
    day_before = since[:-2] + f"{int(since[-2:]) - 1:02}"

    assert flags_for(since, []).on(flag)
    assert not flags_for(day_before, []).on(flag)


def test_a_flag_in_the_list_is_on_before_its_date() -> None:
    assert flags_for("2024-01-01", ["enable_ctx_exports"]).on("enable_ctx_exports")


@pytest.mark.parametrize(
    ("opposite", "flag"),
    [
        ("disable_ctx_exports", "enable_ctx_exports"),
        ("no_python_workflows_implicit_dependencies", "python_workflows_implicit_dependencies"),
        ("disable_python_no_global_handlers", "python_no_global_handlers"),
    ],
)
def test_the_opposite_of_a_flag_wins_over_the_date(opposite: str, flag: str) -> None:
    assert not flags_for("2026-11-01", [opposite]).on(flag)


def test_a_flag_without_a_date_is_on_only_by_name() -> None:
    assert flags_for("2026-11-01", ["nodejs_compat"]).on("nodejs_compat")
    assert not flags_for("2026-11-01", []).on("nodejs_compat")
