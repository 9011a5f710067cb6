"""Durable Objects on workerd's own SQLite: their classes, their ids, and what stays when things move."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from runtime.javascript.notices import notices
from runtime.javascript.tools import Tools
from tests.javascript.workerd_world import plan, project, running


def counter(name: str = "Counter", reached: str = "env.COUNTER") -> str:
    """A Worker with a counter in a Durable Object, which counts each request."""
    return f"""
    import {{ DurableObject }} from "cloudflare:workers";
    export class {name} extends DurableObject {{
      async add() {{
        const count = ((await this.ctx.storage.get("count")) ?? 0) + 1;
        await this.ctx.storage.put("count", count);
        return count;
      }}
      one() {{ return this.ctx.storage.sql.exec("SELECT 1 AS one").one(); }}
    }}
    export default {{
      async fetch(request, env, ctx) {{
        const stub = {reached}.getByName("a");
        return Response.json(request.url.endsWith("/sql") ? await stub.one() : await stub.add());
      }},
    }};
    """


def bound(name: str = "Counter", **more: str) -> dict[str, Any]:
    return {"bindings": [{"name": "COUNTER", "class_name": name, **more}]}


def created(*names: str) -> list[dict[str, Any]]:
    return [{"tag": "v1", "new_sqlite_classes": [*names]}]


def test_an_object_keeps_its_storage_over_restarts(tools: Tools, tmp_path: Path) -> None:
    worker = project(tmp_path, counter(), ["Counter"], durable_objects=bound(), migrations=created("Counter"))
    planned = plan(tmp_path, worker)

    with running(tools.workerd, planned, tmp_path) as workerd:
        assert [workerd.json(), workerd.json()] == [1, 2]
    with running(tools.workerd, planned, tmp_path) as workerd:
        assert workerd.json() == 3


def test_an_object_keeps_its_storage_when_the_folder_moves(tools: Tools, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    worker = project(here, counter(), ["Counter"], durable_objects=bound(), migrations=created("Counter"))
    with running(tools.workerd, plan(here, worker), here) as workerd:
        assert workerd.json() == 1

    shutil.move(here, there)

    worker = project(there, counter(), ["Counter"], durable_objects=bound(), migrations=created("Counter"))
    with running(tools.workerd, plan(there, worker), there) as workerd:
        assert workerd.json() == 2


def test_an_object_keeps_its_storage_when_a_migration_renames_its_class(tools: Tools, tmp_path: Path) -> None:
    worker = project(tmp_path, counter(), ["Counter"], durable_objects=bound(), migrations=created("Counter"))
    with running(tools.workerd, plan(tmp_path, worker), tmp_path) as workerd:
        assert workerd.json() == 1

    renamed = [*created("Counter"), {"tag": "v2", "renamed_classes": [{"from": "Counter", "to": "Tally"}]}]
    worker = project(tmp_path, counter("Tally"), ["Tally"], durable_objects=bound("Tally"), migrations=renamed)

    with running(tools.workerd, plan(tmp_path, worker), tmp_path) as workerd:
        assert workerd.json() == 2


def test_a_class_created_again_after_its_deletion_begins_empty(tools: Tools, tmp_path: Path) -> None:
    worker = project(tmp_path, counter(), ["Counter"], durable_objects=bound(), migrations=created("Counter"))
    with running(tools.workerd, plan(tmp_path, worker), tmp_path) as workerd:
        assert workerd.json() == 1

    again = [*created("Counter"), {"tag": "v2", "deleted_classes": ["Counter"]}, {**created("Counter")[0], "tag": "v3"}]
    worker = project(tmp_path, counter(), ["Counter"], durable_objects=bound(), migrations=again)

    with running(tools.workerd, plan(tmp_path, worker), tmp_path) as workerd:
        assert workerd.json() == 1


@pytest.mark.parametrize(("kind", "status"), [("new_sqlite_classes", 200), ("new_classes", 500)])
def test_sql_is_for_classes_that_were_created_with_it(kind: str, status: int, tools: Tools, tmp_path: Path) -> None:
    migrations = [{"tag": "v1", kind: ["Counter"]}]
    worker = project(tmp_path, counter(), ["Counter"], durable_objects=bound(), migrations=migrations)

    with running(tools.workerd, plan(tmp_path, worker), tmp_path) as workerd:
        assert workerd.request("/sql").status_code == status
        assert workerd.json() == 1


@pytest.mark.parametrize(
    "declared",
    [
        {"migrations": created("Counter")},
        {"exports": {"Counter": {"type": "durable-object", "storage": "sqlite"}}},
    ],
    ids=["migrations", "exports"],
)
def test_a_declared_class_is_on_ctx_exports_without_a_binding(
    declared: dict[str, Any], tools: Tools, tmp_path: Path
) -> None:
    worker = project(tmp_path, counter(reached="ctx.exports.Counter"), ["Counter"], **declared)

    with running(tools.workerd, plan(tmp_path, worker), tmp_path) as workerd:
        assert workerd.json() == 1
        assert workerd.json("/sql") == {"one": 1}


def test_an_object_of_another_project_of_the_start_is_reached(tools: Tools, tmp_path: Path) -> None:
    code = 'export default { fetch: async (_, env) => Response.json(await env.COUNTER.getByName("a").add()) };'
    app = project(tmp_path / "app", code, durable_objects=bound(script_name="shop"))
    shop = project(
        tmp_path / "shop", counter(), ["Counter"], name="shop", durable_objects=bound(), migrations=created("Counter")
    )

    with running(tools.workerd, plan(tmp_path, app, shop), tmp_path) as workerd:
        assert [workerd.json(), workerd.json(worker="shop"), workerd.json()] == [1, 2, 3]


def test_objects_of_two_projects_are_apart(tools: Tools, tmp_path: Path) -> None:
    workers = [
        project(
            tmp_path / name, counter(), ["Counter"], name=name, durable_objects=bound(), migrations=created("Counter")
        )
        for name in ("app", "shop")
    ]

    with running(tools.workerd, plan(tmp_path, *workers), tmp_path) as workerd:
        assert [workerd.json(), workerd.json(worker="shop")] == [1, 1]


def test_what_cannot_be_reached_is_named_and_missing(tools: Tools, tmp_path: Path) -> None:
    code = "export default { fetch: (_, env) => Response.json(Object.keys(env)) };"
    bindings = [
        {"name": "ABSENT", "class_name": "Counter", "script_name": "elsewhere"},
        {"name": "UNKNOWN", "class_name": "Unknown", "script_name": "shop"},
    ]
    app = project(tmp_path / "app", code, durable_objects={"bindings": bindings})
    shop = project(tmp_path / "shop", code, name="shop")
    planned = plan(tmp_path, app, shop)

    with running(tools.workerd, planned, tmp_path) as workerd:
        assert workerd.json() == []
    assert [notice.text for notice in notices(planned)] == [
        'env.ABSENT will be missing: its class lives in the Worker "elsewhere", which is not started.',
        'env.UNKNOWN will be missing: the Worker "shop" has no Durable Object class Unknown.',
    ]


def test_a_class_that_is_not_exported_is_named_and_the_rest_runs(tools: Tools, tmp_path: Path) -> None:
    code = "export default { fetch: (_, env) => Response.json(Object.keys(env)) };"
    planned = plan(tmp_path, project(tmp_path, code, durable_objects=bound(), migrations=created("Counter")))

    with running(tools.workerd, planned, tmp_path) as workerd:
        assert workerd.json() == ["COUNTER"]
    assert [notice.text for notice in notices(planned)] == [
        "The Durable Object class Counter is not exported from index.js: calls to it fail."
    ]


def test_a_class_without_a_migration_runs_and_is_named(tools: Tools, tmp_path: Path) -> None:
    planned = plan(tmp_path, project(tmp_path, counter(), ["Counter"], durable_objects=bound()))

    with running(tools.workerd, planned, tmp_path) as workerd:
        assert workerd.json() == 1
    assert [notice.text for notice in notices(planned)] == [
        "No migration creates the Durable Object class Counter: it has no SQL storage here."
    ]
