"""Simulate for as long as wanted: ``python -m tests.simulation --operations 1000000 [--seed N]``."""

from __future__ import annotations

import argparse
import sys
import time

from tests.simulation.driver import Failure, Tally, simulate_seed

TOLD_EVERY = 20.0  # seconds


def main(arguments: list[str]) -> int:
    """Simulate worlds until enough was done; 1 when a law was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description="Simulate hosts with crashes.")
    parser.add_argument("--operations", type=int, default=100_000, help="how many to simulate (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first world; each next one has the next seed")
    options = parser.parse_args(arguments)
    tally, seed = Tally(), options.seed
    began = told = time.monotonic()
    while tally.total < options.operations:
        try:
            simulate_seed(seed, tally)
        except Failure as failure:
            print(failure)
            print(f"\nbroken after {tally.total} operations; again: python -m tests.simulation --seed {seed}")
            return 1
        seed += 1
        if time.monotonic() - told > TOLD_EVERY:
            told = time.monotonic()
            print(f"{tally.total} operations, {tally.total / (told - began):.0f} a second", flush=True)
    seconds = time.monotonic() - began
    print(
        f"{tally}\nno law broken; {tally.total / seconds:.0f} operations a second, seeds {options.seed} to {seed - 1}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
