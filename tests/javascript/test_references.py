"""Service bindings between the projects of one start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from runtime.javascript.notices import notices
from runtime.javascript.tools import Tools
from tests.javascript.workerd_world import plan, project, running

SHOP = """
import { WorkerEntrypoint } from "cloudflare:workers";
export class Prices extends WorkerEntrypoint {
  of(thing) { return [thing, this.ctx.props]; }
  fetch() { return new Response("prices"); }
}
export default class extends WorkerEntrypoint {
  hello(name) { return `hello ${name}`; }
  fetch() { return new Response("the shop"); }
}
"""


def service(name: str, **more: Any) -> dict[str, Any]:
    return {"binding": name, "service": "shop", **more}


def test_another_project_is_fetched_and_called(tools: Tools, tmp_path: Path) -> None:
    code = """
    export default {
      async fetch(request, env) {
        const fetched = await (await env.SHOP.fetch(request)).text();
        return Response.json([fetched, await env.SHOP.hello("you"), await env.PRICES.of("tea")]);
      },
    };
    """
    prices = service("PRICES", entrypoint="Prices", props={"currency": "EUR"})
    app = project(tmp_path / "app", code, services=[service("SHOP"), prices])
    shop = project(tmp_path / "shop", SHOP, ["Prices"], name="shop")

    with running(tools.workerd, plan(tmp_path, app, shop), tmp_path) as workerd:
        assert workerd.json() == ["the shop", "hello you", ["tea", {"currency": "EUR"}]]


def test_a_project_reaches_its_own_entrypoint(tools: Tools, tmp_path: Path) -> None:
    code = """
    import { WorkerEntrypoint } from "cloudflare:workers";
    export class Inner extends WorkerEntrypoint { double(n) { return 2 * n; } }
    export default { fetch: async (request, env) => Response.json(await env.INNER.double(4)) };
    """
    worker = project(tmp_path, code, ["Inner"], name="shop", services=[service("INNER", entrypoint="Inner")])

    with running(tools.workerd, plan(tmp_path, worker), tmp_path) as workerd:
        assert workerd.json(worker="shop") == 8


def test_a_project_with_assets_answers_with_them_first(tools: Tools, tmp_path: Path) -> None:
    code = """
    export default {
      async fetch(request, env) {
        const texts = [];
        for (const path of ["/tea.txt", "/other"])
          texts.push(await (await env.SHOP.fetch(`http://shop${path}`)).text());
        return Response.json([...texts, await env.SHOP.hello("you")]);
      },
    };
    """
    (tmp_path / "shop/public").mkdir(parents=True)
    (tmp_path / "shop/public/tea.txt").write_text("a file")
    app = project(tmp_path / "app", code, services=[service("SHOP")])
    shop = project(tmp_path / "shop", SHOP, ["Prices"], name="shop", assets={"directory": "public"})

    with running(tools.workerd, plan(tmp_path, app, shop), tmp_path) as workerd:
        assert workerd.json() == ["a file", "the shop", "hello you"]


def test_a_worker_that_is_not_started_is_named_and_answers_503(tools: Tools, tmp_path: Path) -> None:
    code = """
    export default {
      async fetch(request, env) {
        const answer = await env.SHOP.fetch(request);
        const called = await env.PRICES.of("tea").catch((error) => error.message);
        return Response.json([answer.status, await answer.text(), called]);
      },
    };
    """
    services = [service("SHOP"), service("PRICES", entrypoint="Prices", props={"a": 1})]
    planned = plan(tmp_path, project(tmp_path, code, services=services))

    with running(tools.workerd, planned, tmp_path) as workerd:
        told = 'Worker "shop" not found. Make sure it is running locally.'
        assert workerd.json() == [503, told, told]
    assert [notice.text for notice in notices(planned)] == [
        'env.SHOP will answer 503: the Worker "shop" is not started.',
        'env.PRICES will answer 503: the Worker "shop" is not started.',
    ]
