"""Errors that nobody catches are told, wherever they are thrown, once, and with their place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dev import Dev, dev
from tests.javascript.e2e.typescript import write_typescript

pytestmark = [pytest.mark.usefixtures("tools"), pytest.mark.timeout(120)]

CODE = """
import { DurableObject } from "cloudflare:workers";

interface Env { OBJECT: any }

export class Fragile extends DurableObject<Env> {
  async ring() { await this.ctx.storage.setAlarm(Date.now()); }
  async alarm() { throw new Error("alarm failed"); }
  async rpc() { throw new Error("rpc failed"); }
}

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext) {
    const object = env.OBJECT.getByName("one");
    switch (new URL(request.url).pathname) {
      case "/background": ctx.waitUntil((async () => { throw new Error("background failed"); })()); break;
      case "/forgotten": Promise.reject(new Error("forgotten failed")); break;
      case "/alarm": await object.ring(); break;
      case "/rpc": await object.rpc().catch(() => undefined); break;
      case "/fetch": throw new Error("fetch failed");
    }
    return new Response("fine");
  },
};
"""
OBJECT = {"bindings": [{"name": "OBJECT", "class_name": "Fragile"}]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    migrations = [{"tag": "v1", "new_sqlite_classes": ["Fragile"]}]
    project = write_typescript(tmp_path_factory.mktemp("fragile"), CODE, durable_objects=OBJECT, migrations=migrations)
    with dev(project, "--no-watch") as server:
        yield server


@pytest.mark.parametrize("what", ["background", "forgotten", "alarm", "rpc"])
def test_an_error_that_nobody_catches_is_told_with_its_place(server: Dev, what: str) -> None:
    since = len(server.lines)
    server.get(f"/{what}")
    assert "Uncaught" in server.printed(f"{what} failed", since=since)
    assert "src/index.ts:" in server.printed("    at ", since=since)


def test_what_the_host_tells_is_not_told_twice(server: Dev) -> None:
    since = len(server.lines)
    assert server.get("/fetch").status_code == 500
    server.get("/forgotten")
    server.printed("forgotten failed", since=since)
    assert sum("fetch failed" in line for line in server.lines[since:]) == 1
