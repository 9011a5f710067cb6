"""``python -m tests.conformance`` writes docs/conformance.md."""

from __future__ import annotations

from tests.conformance.table import PAGE, page, shown

if __name__ == "__main__":
    PAGE.write_text(page(list(shown())), "utf-8")
