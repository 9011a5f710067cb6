"""``python -m tests.golden.record URL FILE [SCENARIO...]``: play our scenarios on a server, and keep what was seen.

The server runs tests/golden/worker: `wrangler dev` for recorded.json, `celld-py dev` for a look at ours. With names
only those scenarios are played, and the others in the file stay as they are.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import httpx

from tests.golden.suites import FOLDER, Suite, Traces, ask_ours


def main() -> None:
    """Play, and write the file."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.record", description=__doc__)
    parser.add_argument("url", metavar="URL")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    given = parser.parse_args()
    kept = json.loads(given.file.read_text("utf-8")) if given.scenarios and given.file.exists() else {}
    names = given.scenarios or httpx.get(given.url, timeout=60).json()
    traces: Traces = kept | Suite("new", FOLDER / "worker", {}, ask_ours).play(given.url, names)
    given.file.write_text(json.dumps(traces, indent=1) + "\n", "utf-8")
    for name, seen in traces.items():
        if isinstance(seen, dict) and ("failed" in seen or "answered" in seen):
            print(f"{name}: {seen}")
    print(f"{len(traces)} scenarios in {given.file}")


if __name__ == "__main__":
    main()
