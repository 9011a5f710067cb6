"""Reloads under steady load: no request fails, and what a Durable Object counts is what clients were told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.dev import Dev, dev
from tests.javascript.e2e.typescript import write_code, write_typescript

pytestmark = [pytest.mark.usefixtures("tools"), pytest.mark.timeout(300)]

RELOADS = 20
CLIENTS = 3
SCHEDULED = "/cdn-cgi/handler/scheduled"

PLAIN = """
export default {
  fetch: async () => {
    await scheduler.wait(5);
    return Response.json({ version: "VERSION 0" });
  },
};
"""

COUNTER = """
import { DurableObject } from "cloudflare:workers";

export class Counter extends DurableObject {
  async increment() {
    const value = ((await this.ctx.storage.get("value")) ?? 0) + 1;
    await this.ctx.storage.put("value", value);
    return value;
  }
}

export default {
  async fetch(request, env) {
    const value = await env.COUNTER.get(env.COUNTER.idFromName("one")).increment();
    return Response.json({ value, version: "VERSION 0" });
  },
};
"""


class Load:
    """Clients that ask again and again, each as soon as it has its answer."""

    def __init__(self, server: Dev) -> None:
        self._server = server
        self._over = threading.Event()
        self.answers: list[Any] = []
        self.failures: list[str] = []

    def ask(self) -> None:
        while not self._over.is_set():
            try:
                answer = self._server.get("/")
            except httpx.HTTPError as error:
                self.failures.append(repr(error))
                return
            if answer.is_success:
                self.answers.append(answer.json())
            else:
                self.failures.append(f"{answer.status_code} {answer.text}")

    @contextmanager
    def running(self) -> Iterator[None]:
        clients = [threading.Thread(target=self.ask) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        try:
            yield
        finally:
            self._over.set()
            for client in clients:
                client.join()


def reload_under_load(server: Dev, project: Path, code: str) -> Load:
    load = Load(server)
    with load.running():
        for number in range(1, RELOADS + 1):
            mark = len(server.lines)
            write_code(project, code.replace("VERSION 0", f"VERSION {number}"))
            server.printed("Reloaded", since=mark)
    return load


def test_no_request_fails(tmp_path: Path) -> None:
    project = write_typescript(tmp_path / "w", PLAIN)
    with dev(project) as server:
        load = reload_under_load(server, project, PLAIN)

        assert load.failures == []
        assert server.json("/")["version"] == f"VERSION {RELOADS}"


def test_no_increment_of_a_durable_object_is_lost_or_made_twice(tmp_path: Path) -> None:
    project = write_typescript(
        tmp_path / "w",
        COUNTER,
        durable_objects={"bindings": [{"name": "COUNTER", "class_name": "Counter"}]},
        migrations=[{"tag": "v1", "new_sqlite_classes": ["Counter"]}],
    )
    with dev(project) as server:
        load = reload_under_load(server, project, COUNTER)

        assert load.failures == []
        values = [answer["value"] for answer in load.answers]
        assert sorted(values) == list(range(1, len(values) + 1))
        assert server.json("/") == {"value": len(values) + 1, "version": f"VERSION {RELOADS}"}


def test_an_attempt_may_finish_though_a_durable_object_has_to_move(tmp_path: Path) -> None:
    code = (
        COUNTER.partition("export default")[0]
        + """
        export class Slow extends WorkflowEntrypoint<any> {
          run(_: any, step: any) { return step.do("slow", { retries: { limit: 0, delay: 0 } }, async (context: any) => {
            console.log("begun");
            await scheduler.wait(2500);
            return context.attempt;
          }); }
        }
        export default { fetch: (request: Request, env: any) => routes(request, env.SLOW) };
    """
    )
    code = code.replace("{ DurableObject }", "{ DurableObject, WorkflowEntrypoint }")
    migrations = [{"tag": "v1", "new_sqlite_classes": ["Counter"]}]
    objects = {"bindings": [{"name": "COUNTER", "class_name": "Counter"}]}
    project = write_typescript(tmp_path, code, "Slow", durable_objects=objects, migrations=migrations)
    with dev(project) as server:
        server.get("/create?id=one")
        server.printed("begun")
        write_code(project, code + "// edited")
        server.printed("Reloaded")
        assert server.until("/status?id=one", lambda seen: seen["status"] == "complete")["output"] == 1


def test_a_cron_handler_comes_to_its_end_though_a_durable_object_has_to_move(tmp_path: Path) -> None:
    code = (
        COUNTER.partition("export default")[0]
        + """
        export default {
          fetch: () => new Response("here"),
          async scheduled(_: any, __: any, ctx: any) {
            console.log("begun");
            await scheduler.wait(400);
            ctx.waitUntil(scheduler.wait(100).then(() => console.log("all done")));
          },
        };
    """
    )
    migrations = [{"tag": "v1", "new_sqlite_classes": ["Counter"]}]
    objects = {"bindings": [{"name": "COUNTER", "class_name": "Counter"}]}
    project = write_typescript(tmp_path, code, durable_objects=objects, migrations=migrations)
    with dev(project) as server:
        answers: list[int] = []
        asking = threading.Thread(target=lambda: answers.append(server.get(SCHEDULED).status_code))
        asking.start()
        server.printed("begun")
        write_code(project, code + "// edited")
        server.printed("Reloaded")
        asking.join()
        assert answers == [200]
        assert any("all done" in line for line in server.lines)
