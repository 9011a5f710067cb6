"""``python -m tests.targets`` writes docs/targets.md."""

from __future__ import annotations

from tests.targets.page import PAGE, page

if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
