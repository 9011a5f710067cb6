"""``no_bundle``: modules as they are, beside the generated entry."""

from __future__ import annotations

from pathlib import Path

from runtime.javascript.bundle import SourceMaps
from runtime.javascript.tools import Tools
from tests.javascript.building import DATE, WORKER, WORKFLOW, built, failure, served

MODULES = [{"type": "ESModule", "globs": ["**/*.js"]}]
MAIN = """\
import { lib } from "./lib/lib.js";
import text from "./a.txt";
export default { fetch() { return Response.json([lib(), text]) } };
"""


def test_all_modules_run_as_they_are(tools: Tools, tmp_path: Path) -> None:
    files = {"dist/index.js": MAIN, "dist/lib/lib.js": "export const lib = () => 1;", "dist/a.txt": "x"}
    bundle = built(tmp_path, tools, files, main="dist/index.js", no_bundle=True, rules=MODULES)
    assert [module.name for module in bundle.modules] == ["celld-entry.js", "index.js", "a.txt", "lib/lib.js"]
    assert bundle.modules[1].path.read_text() == MAIN
    assert bundle.exports == {"default"}
    assert tmp_path / "dist/lib/lib.js" in bundle.inputs
    with served(tmp_path, tools, bundle) as workerd:
        assert workerd.json() == [1, "x"]


def test_workflows_are_wrapped_also_when_another_module_has_them(tools: Tools, tmp_path: Path) -> None:
    workflows = [{"name": name.lower(), "binding": name, "class_name": name} for name in ("Here", "Gone")]
    files = {
        "index.js": 'export * from "./wf.js";\nconst value = 1;\n' + WORKER,
        "wf.js": WORKFLOW + "export class Here extends WorkflowEntrypoint {}",
    }
    bundle = built(tmp_path, tools, files, main="index.js", no_bundle=True, rules=MODULES, workflows=workflows)
    assert bundle.exports == {"Here", "default"}
    assert bundle.missing == {"Gone"}
    with served(tmp_path, tools, bundle) as workerd:
        assert workerd.request().text == "1"


def test_the_configuration_is_no_module(tools: Tools, tmp_path: Path) -> None:
    files = {"index.js": "const value = 1;\n" + WORKER}
    rules = [{"type": "Text", "globs": ["**/*.json"]}]
    bundle = built(tmp_path, tools, files, main="index.js", no_bundle=True, rules=rules)
    assert [module.name for module in bundle.modules] == ["celld-entry.js", "index.js"]


def test_what_earlier_builds_have_made_is_no_module(tools: Tools, tmp_path: Path) -> None:
    files = {"index.js": "const value = 1;\n" + WORKER}
    for _ in range(2):
        bundle = built(tmp_path, tools, files, main="index.js", no_bundle=True, rules=MODULES)
        assert [module.name for module in bundle.modules] == ["celld-entry.js", "index.js"]
    assert bundle.folder.parent == tmp_path


def test_a_project_may_have_files_of_any_name(tools: Tools, tmp_path: Path) -> None:
    files = {"index.js": "const value = 1;\n" + WORKER, "lib.js": "export {}", "origins.json": "[]"}
    bundle = built(tmp_path, tools, files, main="index.js", no_bundle=True, rules=MODULES)
    assert [module.name for module in bundle.modules] == ["celld-entry.js", "index.js", "lib.js"]


def test_a_syntax_error_is_shown_before_workerd_meets_it(tools: Tools, tmp_path: Path) -> None:
    failed = failure(tmp_path, tools, {"index.js": "const = 1;"}, main="index.js", no_bundle=True)
    assert failed.errors[0].place == "index.js:1:7"


def test_typescript_has_to_be_bundled(tools: Tools, tmp_path: Path) -> None:
    failed = failure(tmp_path, tools, {"src/index.ts": WORKER}, no_bundle=True)
    assert failed.errors[0].text == (
        '"no_bundle" takes modules as they are, so "main" has to be a .js or .mjs file, not index.ts.'
    )


def test_a_stack_names_the_project_s_own_files(tools: Tools, tmp_path: Path) -> None:
    main = 'export default { fetch() { return new Response(new Error("no").stack) } };'
    bundle = built(tmp_path, tools, {"index.js": main}, main="index.js", no_bundle=True, compatibility_date=DATE)
    with served(tmp_path, tools, bundle) as workerd:
        stack = workerd.request().text
    lines = SourceMaps(bundle.folder).apply(stack).split("\n")
    assert lines[0] == "Error: no"
    assert lines[1] == f"    at Object.fetch ({tmp_path}/index.js:1:{main.index('new Error') + 1})"
    assert len(lines) == 2
