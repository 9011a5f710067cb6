"""Compares every row with the real wrangler and marks those that agree with its version."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from tests.wrangler_compat.messages.comparison import disagreements_in_reading, disagreements_later
from tests.wrangler_compat.messages.real_wrangler import RealWrangler
from tests.wrangler_compat.messages.rows import HERE, Row, all_rows


def main() -> int:
    """The number of rows that disagree."""
    real, rows = RealWrangler(), all_rows()
    with tempfile.TemporaryDirectory() as folder:
        wrong: set[str] = set()
        for suffix in (".json", ".toml"):
            found = disagreements_in_reading(real, rows, Path(folder, suffix[1:]), suffix)
            wrong |= found.keys()
            for name, (wranglers, ours) in found.items():
                print(f"{name} ({suffix}): wrangler says {wranglers}, the row {ours}")
        for index, row in enumerate(rows):
            for phase in row.wrangler:
                said = disagreements_later(real, row, phase, Path(folder, "later", str(index)))
                print(f"{row.case}, {phase}: {'agrees' if said is None else said}", flush=True)
                wrong |= set() if said is None else {_name(row)}
    _mark({_name(row) for row in rows} - wrong, real.version)
    return len(wrong)


def _name(row: Row) -> str:
    return f"{row.group}: {row.case}"


def _mark(agreed: set[str], version: str) -> None:
    for path in HERE.glob("*.json"):
        raws = json.loads(path.read_text(encoding="utf-8"))
        for raw in raws:
            raw["compared"] = version if f"{path.stem}: {raw['case']}" in agreed else None
        lines = ",\n".join(f"  {json.dumps(raw, ensure_ascii=False)}" for raw in raws)
        path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
