"""docs/lints.md is what the lints say."""

from __future__ import annotations

from tests.wrangler_compat.lints.page import PAGE, page
from wrangler_compat.lints import LINTS


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page(), "write it anew: make docs"


def test_every_lint_is_in_it() -> None:
    assert all(f"## {lint.code}\n" in page() for lint in LINTS)
