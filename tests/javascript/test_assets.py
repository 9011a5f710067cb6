"""Static files beside a Worker, as Cloudflare serves them: which requests get a file, and which the Worker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runtime.javascript.plan import Worker
from runtime.javascript.tools import Tools
from tests.javascript.workerd_world import plan, project, running

CODE = """
export default {
  fetch(request, env) {
    const url = new URL(request.url);
    if (!url.pathname.startsWith("/through")) return new Response(`worker ${request.method} ${url.pathname}`);
    return env.ASSETS.fetch(new Request(new URL(url.pathname.slice("/through".length), url), request));
  },
};
"""
FILES = {
    "index.html": "the index",
    "about.html": "about us",
    "sub/index.html": "a folder",
    "404.html": "not here",
    "style.css": "body {}",
    "hidden.txt": "not to be served",
    ".assetsignore": "hidden.txt",
    "_headers": "/*\n  X-All: yes\n/style.css\n  ! X-All\n  X-Css: yes\n",
    "_redirects": "/old /about 301\n/proxied/* /:splat 200\n/away/* https://example.com/:splat 302\n",
}


def site(folder: Path, **assets: Any) -> Worker:
    """A project with the files above."""
    for name, text in FILES.items():
        file = folder / "public" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return project(folder, CODE, assets={"directory": "./public", "binding": "ASSETS", **assets})


DEFAULTS = [
    ("GET", "/", 200, "the index"),
    ("GET", "/index.html", 307, "/"),
    ("GET", "/about", 200, "about us"),
    ("GET", "/about.html", 307, "/about"),
    ("GET", "/about/", 307, "/about"),
    ("GET", "/sub", 307, "/sub/"),
    ("GET", "/sub/", 200, "a folder"),
    ("GET", "/style.css", 200, "body {}"),
    ("HEAD", "/style.css", 200, ""),
    ("POST", "/style.css", 405, ""),
    ("POST", "/nothing", 200, "worker POST /nothing"),
    ("GET", "/nothing", 200, "worker GET /nothing"),
    ("GET", "/hidden.txt", 200, "worker GET /hidden.txt"),
    ("GET", "/_headers", 200, "worker GET /_headers"),
    ("GET", "/_redirects", 200, "worker GET /_redirects"),
    ("GET", "/old", 301, "/about"),
    ("GET", "/proxied/about", 200, "about us"),
    ("GET", "/away/a?b=c", 302, "https://example.com/a?b=c"),
    ("GET", "/%2e%2e/index.js", 200, "worker GET /index.js"),
    ("GET", "/through/about", 200, "about us"),
    ("GET", "/through/nothing", 404, ""),
]
CASES: dict[str, tuple[dict[str, Any], list[tuple[str, str, int, str]]]] = {
    "defaults": ({}, DEFAULTS),
    "single-page": (
        {"not_found_handling": "single-page-application"},
        [("GET", "/about", 200, "about us"), ("GET", "/through/nothing", 200, "the index")],
    ),
    "404-page": (
        {"not_found_handling": "404-page"},
        [("GET", "/nothing", 200, "worker GET /nothing"), ("GET", "/through/nothing", 404, "not here")],
    ),
    "html-none": (
        {"html_handling": "none"},
        [("GET", "/about", 200, "worker GET /about"), ("GET", "/about.html", 200, "about us")],
    ),
    "html-force-slash": (
        {"html_handling": "force-trailing-slash"},
        [("GET", "/about", 307, "/about/"), ("GET", "/about/", 200, "about us")],
    ),
    "worker-first": (
        {"run_worker_first": True},
        [("GET", "/about", 200, "worker GET /about"), ("GET", "/through/about", 200, "about us")],
    ),
    "worker-first-for-some": (
        {"run_worker_first": ["/a*", "!/about"]},
        [("GET", "/about", 200, "about us"), ("GET", "/a", 200, "worker GET /a"), ("GET", "/sub/", 200, "a folder")],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_request_gets_its_file_or_the_worker(case: str, tools: Tools, tmp_path: Path) -> None:
    settings, requests = CASES[case]

    with running(tools.workerd, plan(tmp_path, site(tmp_path, **settings)), tmp_path) as workerd:
        for method, path, status, told in requests:
            answer = workerd.request(path, method=method)
            shown = answer.headers.get("location", answer.text)
            assert (method, path, answer.status_code, shown) == (method, path, status, told)


def test_files_have_types_validators_and_the_headers_of_their_rules(tools: Tools, tmp_path: Path) -> None:
    with running(tools.workerd, plan(tmp_path, site(tmp_path)), tmp_path) as workerd:
        page, style = workerd.request("/about"), workerd.request("/style.css")
        again = workerd.request("/about", if_none_match=page.headers["etag"])

    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["cache-control"] == "public, max-age=0, must-revalidate"
    assert page.headers["x-all"] == "yes"
    assert style.headers["content-type"] == "text/css; charset=utf-8"
    assert (style.headers.get("x-all"), style.headers["x-css"]) == (None, "yes")
    assert (again.status_code, again.text) == (304, "")


def test_a_file_that_changes_is_served_as_it_is_now(tools: Tools, tmp_path: Path) -> None:
    with running(tools.workerd, plan(tmp_path, site(tmp_path)), tmp_path) as workerd:
        assert workerd.request("/about").text == "about us"
        (tmp_path / "public/about.html").write_text("more about us")
        (tmp_path / "public/new.txt").write_text("new")

        assert [workerd.request(path).text for path in ("/about", "/new.txt")] == ["more about us", "new"]


def test_a_rule_that_cannot_be_read_is_named_and_the_others_hold(tools: Tools, tmp_path: Path) -> None:
    worker = site(tmp_path)
    (tmp_path / "public/_redirects").write_text("/old /about 301\nnonsense\n")

    with running(tools.workerd, plan(tmp_path, worker), tmp_path) as workerd:
        assert workerd.request("/old").status_code == 301
        assert "at _redirects:2 | nonsense" in workerd.output.read_text()


def test_assets_without_a_binding_are_not_on_env(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    code = "export default { fetch: (_, env) => Response.json(Object.keys(env)) };"
    worker = project(tmp_path, code, assets={"directory": "public"})

    with running(tools.workerd, plan(tmp_path, worker), tmp_path) as workerd:
        assert workerd.json() == []


def test_each_worker_has_its_own_assets(tools: Tools, tmp_path: Path) -> None:
    workers = []
    for name in ("app", "shop"):
        (tmp_path / name / "public").mkdir(parents=True)
        (tmp_path / name / "public/who.txt").write_text(name)
        workers.append(project(tmp_path / name, CODE, name=name, assets={"directory": "public"}))

    with running(tools.workerd, plan(tmp_path, *workers), tmp_path) as workerd:
        assert [workerd.request("/who.txt", name).text for name in ("app", "shop")] == ["app", "shop"]
