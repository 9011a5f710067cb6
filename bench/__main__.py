"""The command: ``python -m bench [ROW...] [--rounds N] [--no-wrangler]``."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import processes, session
from bench.rows import ROWS
from bench.sides import POWER, PROCESS, NotHere, Side, celld, celld_js, wrangler
from bench.sizes import FULL, QUICK
from bench.table import table, write_json

RESULTS = Path(__file__).with_name("results")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, keep the figures; 1 when a measurement of celld-py failed."""
    options = _parser().parse_args(arguments)
    if not processes.SUPPORTED:
        _say("Memory and processes are read from Linux's /proc, which is not here.")
        return 1
    rows = [row for row in ROWS if not options.rows or row.name in options.rows]
    sides = _sides(options)
    sizes = QUICK if options.quick else FULL
    _say(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; " + "; ".join(s.version for s in sides))
    results = asyncio.run(session.run(rows, sides, options.rounds, sizes, _say))
    versions = {side.name: side.version for side in sides}
    file = write_json(options.results, rows, results, session.machine(), versions)
    print(table(rows, results))
    _say(f"Load after each round: {', '.join(f'{load:.1f}' for load in results.load)}. All figures: {file}")
    for failure in results.failures:
        _say(f"failed: {failure}")
    return int(any(f", {side.name}: " in failure for side in sides if side.ours for failure in results.failures))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure celld-py dev beside wrangler dev.")
    parser.add_argument("rows", nargs="*", metavar="ROW", choices=[[], *(row.name for row in ROWS)], default=[])
    parser.add_argument("--rounds", type=int, default=3, help="how often everything is measured (default: 3)")
    parser.add_argument("--no-wrangler", dest="wrangler", action="store_false", help="measure celld-py alone")
    parser.add_argument("--no-js", dest="javascript", action="store_false", help="measure celld-py with Python alone")
    parser.add_argument(
        "--power", action="store_true", help="celld-py syncs each commit, as wrangler dev's workerd does"
    )
    parser.add_argument("--quick", action="store_true", help="tiny sizes: shows that the bench works, not how fast")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="where the figures are kept")
    parser.epilog = "Rows: " + ", ".join(row.name for row in ROWS)
    return parser


def _sides(options: argparse.Namespace) -> list[Side]:
    durability = POWER if options.power else PROCESS
    sides = [celld(durability)]
    wanted: list[tuple[str, bool, Callable[[], Side]]] = [
        ("celld-py dev with JavaScript", options.javascript, lambda: celld_js(durability)),
        ("wrangler dev", options.wrangler, wrangler),
    ]
    for name, is_wanted, side in wanted:
        try:
            sides += [side()] if is_wanted else []
        except NotHere as reason:
            _say(f"{name} is missing from this run: {reason}.")
    return sides


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
