"""Projects of a few lines through the real esbuild: what becomes of each thing that a project can say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runtime.javascript.build import build
from runtime.javascript.notices import notices
from runtime.javascript.plan import Worker
from runtime.javascript.tools import Tools
from tests.javascript.building import WORKER, WORKFLOW, built, code, failure
from tests.javascript.workerd_world import plan
from wrangler_compat import load_project

# ---------------------------------------------------------------------------------------------------------- the bundle


def test_typescript_becomes_one_module_with_its_source_map_beside_it(tools: Tools, tmp_path: Path) -> None:
    files = {
        "src/index.ts": 'import { value } from "./lib";\n' + WORKER,
        "src/lib.ts": "export const value: number = 1;",
    }
    bundle = built(tmp_path, tools, files)
    assert [(module.name, module.kind) for module in bundle.modules] == [("index.js", "esModule")]
    assert code(bundle).endswith("//# sourceMappingURL=index.js.map\n")
    assert (bundle.folder / "index.js.map").is_file()
    assert bundle.inputs == {tmp_path / "src/index.ts", tmp_path / "src/lib.ts"}
    assert bundle.warnings == ()


def test_exports_are_those_of_the_main_module_and_no_others(tools: Tools, tmp_path: Path) -> None:
    main = (
        WORKFLOW + "export class Wf extends WorkflowEntrypoint {}\nexport * from './more';\nconst value = 1;\n" + WORKER
    )
    workflows = [{"name": "w", "binding": "W", "class_name": "Wf"}]
    bundle = built(
        tmp_path, tools, {"src/index.ts": main, "src/more.ts": "export const more = 1;"}, workflows=workflows
    )
    assert bundle.exports == {"Wf", "more", "default"}
    assert bundle.missing == frozenset()
    assert 'wrapWorkflow(Wf, "Wf")' in code(bundle)


@pytest.mark.parametrize("suffix", ["ts", "js"])
def test_a_class_that_is_not_exported_is_missing_and_the_rest_is_built(
    suffix: str, tools: Tools, tmp_path: Path
) -> None:
    workflows = [{"name": name, "binding": name.upper(), "class_name": name.title()} for name in ("here", "gone")]
    main = WORKFLOW + "export class Here extends WorkflowEntrypoint {}\nconst value = 1;\n" + WORKER
    bundle = built(tmp_path, tools, {f"src/i.{suffix}": main}, main=f"src/i.{suffix}", workflows=workflows)
    assert bundle.missing == {"Gone"}
    assert bundle.exports == {"Here", "default"}


def test_a_main_module_needs_no_default_export(tools: Tools, tmp_path: Path) -> None:
    bundle = built(tmp_path, tools, {"src/index.ts": "export const value = 1;"})
    assert bundle.exports == {"value"}
    assert bundle.warnings == ()


@pytest.mark.parametrize("main", ["addEventListener('fetch', () => {});", "module.exports = { fetch() {} };"])
def test_the_service_worker_format_is_refused(main: str, tools: Tools, tmp_path: Path) -> None:
    failed = failure(tmp_path, tools, {"src/index.js": main}, main="src/index.js")
    assert "Service Worker format" in failed.errors[0].text
    assert failed.errors[0].file == "src/index.js"


def test_the_digest_changes_with_the_code_only(tools: Tools, tmp_path: Path) -> None:
    files = {"src/index.ts": "const value = 1;\n" + WORKER}
    first, second = built(tmp_path, tools, files), built(tmp_path, tools, files)
    assert first.folder != second.folder
    assert first.digest == second.digest
    assert built(tmp_path, tools, {"src/index.ts": "const value = 2;\n" + WORKER}).digest != first.digest


def test_the_runtimes_own_modules_stay_imports(tools: Tools, tmp_path: Path) -> None:
    main = 'import { env } from "cloudflare:workers";\nimport "workerd:unsafe";\nconst value = env;\n' + WORKER
    assert 'from "cloudflare:workers"' in code(built(tmp_path, tools, {"src/index.ts": main}))


# ------------------------------------------------------------------------------------------------------- configuration


def test_define_replaces_names(tools: Tools, tmp_path: Path) -> None:
    files = {"src/index.ts": "declare const VERSION: string;\nconst value = VERSION;\n" + WORKER}
    assert 'value = "1.2"' in code(built(tmp_path, tools, files, define={"VERSION": '"1.2"'}))


def test_node_env_is_development_unless_the_environment_says_otherwise(
    tools: Tools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"src/index.ts": "const value = process.env.NODE_ENV;\n" + WORKER}
    monkeypatch.delenv("NODE_ENV", raising=False)
    assert 'value = "development"' in code(built(tmp_path, tools, files))
    monkeypatch.setenv("NODE_ENV", "production")
    assert 'value = "production"' in code(built(tmp_path, tools, files))


def test_navigator_is_known_from_its_date_on(tools: Tools, tmp_path: Path) -> None:
    files = {"src/index.ts": "const value = navigator.userAgent;\n" + WORKER}
    assert '"Cloudflare-Workers"' in code(built(tmp_path, tools, files))
    assert "navigator.userAgent" in code(built(tmp_path, tools, files, compatibility_date="2022-01-01"))


def test_alias_names_another_module_for_whole_names_only(tools: Tools, tmp_path: Path) -> None:
    files = {
        "src/index.ts": 'import { value } from "pkg";\nimport { other } from "pkg/sub";\nconsole.log(other);\n'
        + WORKER,
        "shim.ts": "export const value = 'from the shim';",
        "node_modules/pkg/sub.js": "export const other = 'from the package';",
    }
    bundled = code(built(tmp_path, tools, files, alias={"pkg": "./shim.ts"}))
    assert "from the shim" in bundled and "from the package" in bundled


def test_an_alias_that_leads_nowhere_is_an_error_at_the_import(tools: Tools, tmp_path: Path) -> None:
    main = 'import { value } from "pkg";\n' + WORKER
    (error,) = failure(tmp_path, tools, {"src/index.ts": main}, alias={"pkg": "./gone.ts"}).errors
    assert error.text == 'Could not resolve "./gone.ts", which "alias" names for "pkg"'
    assert (error.file, error.line, error.column) == ("src/index.ts", 1, 23)


def test_tsconfig_gives_paths_and_jsx(tools: Tools, tmp_path: Path) -> None:
    settings = {"compilerOptions": {"paths": {"@/*": ["./src/*"]}, "jsx": "react", "jsxFactory": "h"}}
    files = {
        "src/index.tsx": 'import { value } from "@/lib/value";\nimport { h } from "@/lib/value";\n<b>{value}</b>;\n'
        + WORKER,
        "src/lib/value.ts": "export const value = 'by its path';\nexport const h = console.log;",
        "tsconfig.build.json": json.dumps(settings),
    }
    bundle = built(tmp_path, tools, files, main="src/index.tsx", tsconfig="tsconfig.build.json")
    assert "by its path" in code(bundle)
    assert tmp_path / "tsconfig.build.json" in bundle.inputs


def test_jsx_is_read_in_js_files_with_the_factory_of_the_configuration(tools: Tools, tmp_path: Path) -> None:
    main = "const h = console.log, F = 1;\nconst value = [<b>x</b>, <></>];\n" + WORKER
    bundle = built(tmp_path, tools, {"src/i.js": main}, main="src/i.js", jsx_factory="h", jsx_fragment="F")
    assert 'h("b", null, "x")' in code(bundle) and "h(F, null)" in code(bundle)


def test_minify_and_names(tools: Tools, tmp_path: Path) -> None:
    files = {"src/index.ts": "class LongName {}\nconst value = LongName.name;\n" + WORKER}
    assert '__name(this, "LongName")' in code(built(tmp_path, tools, files))
    assert "__name(this" not in code(built(tmp_path, tools, files, keep_names=False))
    small = code(built(tmp_path, tools, files, minify=True))
    assert '"LongName"' in small and len(small.splitlines()) < 10


def test_settings_of_the_whole_file_hold_in_an_environment(tools: Tools, tmp_path: Path) -> None:
    files = {
        "src/index.ts": 'import { value } from "pkg";\nconsole.log(STAGE);\n' + WORKER,
        "a.ts": "export const value = 'a';",
    }
    built(tmp_path, tools, files, alias={"pkg": "./a.ts"}, env={"staging": {"define": {"STAGE": '"s"'}}})
    bundle = build(load_project(tmp_path, "staging", environ={}), tools, tmp_path / "staging")
    assert 'console.log("s")' in code(bundle) and 'value = "a"' in code(bundle)


# ------------------------------------------------------------------------------------------------------------ packages


def test_a_package_gives_its_file_for_workers(tools: Tools, tmp_path: Path) -> None:
    exports = {".": {"node": "./node.js", "workerd": "./workerd.js", "default": "./default.js"}}
    files = {
        "src/index.ts": 'import value from "pkg";\n' + WORKER,
        "node_modules/pkg/package.json": json.dumps({"name": "pkg", "exports": exports}),
        "node_modules/pkg/workerd.js": "export default 'for workerd';",
        "node_modules/pkg/node.js": "export default 'for node';",
        "node_modules/pkg/default.js": "export default 'for all';",
    }
    bundled = code(built(tmp_path, tools, files))
    assert "for workerd" in bundled and "for node" not in bundled


def test_a_commonjs_package_is_taken_in(tools: Tools, tmp_path: Path) -> None:
    files = {
        "src/index.ts": 'import { value } from "cjs";\n' + WORKER,
        "node_modules/cjs/index.js": "exports.value = require('./part');",
        "node_modules/cjs/part.js": "module.exports = 'a part';",
    }
    assert "a part" in code(built(tmp_path, tools, files))


# -------------------------------------------------------------------------------------------------------------- errors


def test_all_syntax_errors_are_shown_with_their_lines(tools: Tools, tmp_path: Path) -> None:
    files = {
        "src/index.ts": 'import "./one";\nimport "./two";\n' + WORKER,
        "src/one.ts": "\nconst ü = 1; const = 2;",
        "src/two.ts": "let x: = 1;",
    }
    failed = failure(tmp_path, tools, files)
    assert {error.place for error in failed.errors} == {"src/one.ts:2:20", "src/two.ts:1:8"}
    shown = next(str(error) for error in failed.errors if error.file == "src/one.ts")
    assert shown.splitlines() == [
        'src/one.ts:2:20: Expected identifier but found "="',
        "    2 | const ü = 1; const = 2;",
        "                           ^",
    ]


def test_a_file_that_is_not_there_is_an_error_at_its_import(tools: Tools, tmp_path: Path) -> None:
    (error,) = failure(tmp_path, tools, {"src/index.ts": 'import value from "./gone";\n' + WORKER}).errors
    assert (error.text, error.place) == ('Could not resolve "./gone"', "src/index.ts:1:19")
    assert error.notes == ()


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"package.json": '{"dependencies": {"hono": "4"}}'}, "`npm install`"),
        ({"package.json": "{}", "pnpm-lock.yaml": ""}, "`pnpm add hono`"),
        ({}, "`npm install hono`"),
    ],
)
def test_a_package_that_is_not_installed_is_named_with_the_command(
    files: dict[str, str], command: str, tools: Tools, tmp_path: Path
) -> None:
    main = 'import value from "hono/tiny";\n' + WORKER
    (error,) = failure(tmp_path, tools, {"src/index.ts": main, **files}).errors
    assert error.text == 'Could not resolve "hono/tiny"'
    assert 'The package "hono" is not installed' in error.notes[-1] and command in error.notes[-1]


def test_a_name_that_another_module_does_not_export_is_an_error(tools: Tools, tmp_path: Path) -> None:
    files = {"src/i.js": 'import { value } from "./lib.js";\n' + WORKER, "src/lib.js": "export const other = 1;"}
    (error,) = failure(tmp_path, tools, files, main="src/i.js").errors
    assert error.text == 'No matching export in "src/lib.js" for import "value"'
    assert error.place == "src/i.js:1:10"


def test_warnings_are_passed_on_with_their_place(tools: Tools, tmp_path: Path) -> None:
    (warning,) = built(tmp_path, tools, {"src/index.ts": "const value = { a: 1, a: 2 };\n" + WORKER}).warnings
    assert warning.startswith('src/index.ts:1:23: Duplicate key "a" in object literal\n    1 | const value')


def test_warnings_are_among_what_a_start_says(tools: Tools, tmp_path: Path) -> None:
    bundle = built(tmp_path, tools, {"src/index.ts": "const value = { a: 1, a: 2 };\n" + WORKER})
    planned = plan(tmp_path / "world", Worker(load_project(tmp_path, environ={}), bundle))
    assert [(notice.code, notice.text) for notice in notices(planned)] == [("build", bundle.warnings[0])]


def test_type_errors_are_not_the_builds_business(tools: Tools, tmp_path: Path) -> None:
    assert built(tmp_path, tools, {"src/index.ts": "const value: string = 1;\n" + WORKER}).warnings == ()
