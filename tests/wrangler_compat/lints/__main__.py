"""``python -m tests.wrangler_compat.lints`` writes docs/lints.md."""

from __future__ import annotations

from tests.wrangler_compat.lints.page import PAGE, page

if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
