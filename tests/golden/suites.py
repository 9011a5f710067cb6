"""The two sets of scenarios: our own with what we recorded, and the official ones where they are at hand.

Ours are in this folder. The official ones are a folder ``golden`` with a Worker and its traces; CELLD_PY_GOLDEN names
it, or it lies in a folder beside the checkout.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

FOLDER = Path(__file__).parent
RECORDED = FOLDER / "recorded.json"
DIFFERENCES = FOLDER / "differences.json"
SIDE_BY_SIDE = 3  # scenarios that are played at once: most of a scenario is waiting
PATIENCE = 150.0  # seconds for one scenario

Traces = dict[str, Any]
"""What was seen, by scenario."""


@dataclass(frozen=True, slots=True)
class Suite:
    """A set of scenarios: where their Worker is, how it is asked, and what was seen of it on the official engine."""

    name: str
    worker: Path
    theirs: Traces
    ask: Callable[[httpx.Client, str], Any]

    def play(self, url: str, only: Iterable[str] = ()) -> Traces:
        """Play the scenarios, or some of them, on a server that runs the Worker."""
        names = list(only) or list(self.theirs)
        with (
            httpx.Client(base_url=url, timeout=PATIENCE, trust_env=False) as client,
            ThreadPoolExecutor(SIDE_BY_SIDE) as threads,
        ):
            return dict(zip(names, threads.map(lambda name: self.ask(client, name), names), strict=True))


def ask_ours(client: httpx.Client, scenario: str) -> Any:
    """Play one of our scenarios."""
    take = f"{time.time_ns():x}"  # ids of instances are not used twice, whatever server it is
    return _seen(client.get("/play", params={"scenario": scenario, "take": take}))


def _ask_official(client: httpx.Client, scenario: str) -> Any:
    seen = _seen(client.get(f"/scenario/{quote(scenario, safe='')}"))
    return seen.get("observed", seen)


def _seen(answer: httpx.Response) -> Any:
    return answer.json() if answer.is_success else {"answered": answer.status_code, "text": answer.text}


@cache
def ours() -> Suite:
    """Our own scenarios."""
    return Suite("recorded", FOLDER / "worker", json.loads(RECORDED.read_text("utf-8")), ask_ours)


@cache
def official() -> Suite | None:
    """The official scenarios, when they are at hand."""
    named = os.environ.get("CELLD_PY_GOLDEN")
    beside = FOLDER.parents[2].glob("*/golden/traces.json")
    traces = Path(named, "traces.json") if named else next(beside, None)
    if traces is None:
        return None
    theirs = {trace["id"]: trace["observed"] for trace in json.loads(traces.read_text("utf-8"))["traces"]}
    return Suite("official", traces.parent / "worker", theirs, _ask_official)
