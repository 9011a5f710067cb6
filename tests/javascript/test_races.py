"""Races: a replay takes the branch that the first run took, and counts repeated names as it did, wherever it died."""

from __future__ import annotations

import json
from contextlib import closing, suppress
from pathlib import Path
from random import Random

import httpx
import pytest

from tests.crash.recorder import recorder
from tests.dev import Dev, NotSeen, dev, eventually, write_project

pytestmark = [pytest.mark.usefixtures("tools"), pytest.mark.timeout(240)]

FORM = {"main": "src/main.js", "compatibility_flags": []}
SEED = 5
LIVES = 60  # more than it takes: taking up what was lost costs commits too
INSTANCES = 6

WEB = """
export default class extends WorkerEntrypoint {
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    const { RACER } = this.env;
    if (pathname === "/create") {
      const count = Number(searchParams.get("count"));
      for (let i = 0; i < count; i += 100) {
        const ids = Array.from({ length: Math.min(100, count - i) }, (_, j) => ({ id: `racer-${i + j}` }));
        await RACER.createBatch(ids);
      }
      return Response.json(count);
    }
    return Response.json(await (await RACER.get(searchParams.get("id"))).status());
  }
}
"""

RACES = """
import { WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";

const EAGER = { retries: { limit: 1000, delay: 1, backoff: "constant" } };
const soon = () => scheduler.wait(40 * Math.random());

export class Racer extends WorkflowEntrypoint {
  async run(event, step) {
    const note = (...line) => {
      const body = `${JSON.stringify([event.instanceId, ...line])}\\n`;
      return fetch(this.env.NOTES, { method: "POST", body });
    };
    const work = (name) => step.do(name, EAGER, async ({ step: { count } }) => {
      await soon();
      return `${name}-${count}`;
    });
    const race = async (what, ...racers) => {
      const winner = await Promise.race(racers);
      await note(what, winner);
      return winner;
    };

    const first = await race("steps", work("x"), work("y"));
    await note("after steps", await work(first[0]), await work("x"));
    const second = await race("a step and a sleep", work("y"), step.sleep("nap", 20).then(() => "slept"));
    await note("after a sleep", await work(second === "slept" ? "x" : "y"));
    await step.sleep("nap", 5);
    const told = step.do("tell", EAGER, async () => {
      await soon();
      await (await this.env.RACER.get(event.instanceId)).sendEvent({ type: "go" });
    });
    const heard = step.waitForEvent("go", { type: "go", timeout: "1 minute" }).then(() => "event");
    await race("an event and a sleep", heard, step.sleep("nap", 30).then(() => "slept"));
    await told;
    await note("at last", await work("x"), await work("y"));
    return "over";
  }
}
"""

TIMER = """
import { WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";

export class Racer extends WorkflowEntrypoint {
  async run(event, step) {
    return Promise.race([step.sleep("long", "1 year").then(() => "slept"), scheduler.wait(2000).then(() => "timer")]);
  }
}
"""


def test_a_race_goes_the_same_way_in_each_replay_wherever_the_host_dies(tmp_path: Path) -> None:
    random = Random(SEED)
    notes = tmp_path / "notes"
    with recorder(notes) as url:
        project = write_project(tmp_path / "project", RACES + WEB, "Racer", **FORM, vars={"NOTES": url})
        with closing(Dev(project, ["--no-watch", "--hibernate-after", "0.05"], {})) as server:
            lives = next(life for life in range(LIVES) if _all_end(server, random.randint(10, 40)))

    print(f"{lives} lives")
    assert lives > 3
    seen: dict[tuple[str, str], set[str]] = {}
    for line in notes.read_text().splitlines():
        instance, what, *counted = json.loads(line)
        seen.setdefault((instance, what), set()).add(str(counted))
    assert len(seen) == 6 * INSTANCES
    assert {place: ways for place, ways in seen.items() if len(ways) > 1} == {}


def _all_end(server: Dev, commits: int) -> bool:
    """Let a host live for so many commits; whether all instances came to their end before."""
    server.env["CELLD_PY_FAULT"] = f"journal.after_commit:{commits}"
    with suppress(NotSeen, httpx.TransportError):
        server.start()
        server.get("/create", params={"count": INSTANCES})  # those that are there are left alone
        with suppress(NotSeen):
            eventually(lambda: not server.running, timeout=2)
        if server.running and all(server.json(f"/?id=racer-{i}")["status"] == "complete" for i in range(INSTANCES)):
            return True
    if server.running:
        server.kill()
    server.exited()
    return False


def test_a_timer_of_the_codes_own_wins_against_a_long_sleep_beside_a_thousand_other_runs(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project", TIMER + WEB, "Racer", **FORM)
    with dev(project, "--no-watch", "--hibernate-after", "0.2") as server:
        server.get("/create", params={"count": 1001})

        for i in range(1001):
            done = server.until(f"/?id=racer-{i}", lambda seen: seen["status"] == "complete", look_again=0.2)
            assert done["output"] == "timer"
