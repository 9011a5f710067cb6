"""Files that stay modules of their own: text, data and WebAssembly, under wrangler's rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.javascript.tools import Tools
from tests.javascript.building import WORKER, built, code, failure, served

# (module (func (export "answer") (result i32) i32.const 42))
WASM = bytes.fromhex(
    "0061736d01000000010501600000017f03020100070a0106616e7377657200000a06010400412a0b".replace("01600000", "016000")
)
SHOW = "export default { fetch() { return Response.json(value) } };\n"


def test_text_is_a_module_of_its_own(tools: Tools, tmp_path: Path) -> None:
    main = 'import html from "./page.html";\nimport sql from "./a.sql";\nconst value = { html, sql };\n' + SHOW
    bundle = built(tmp_path, tools, {"src/index.ts": main, "src/page.html": "<p>ü", "src/a.sql": "select 1"})
    assert sorted(module.kind for module in bundle.modules) == ["esModule", "text", "text"]
    assert tmp_path / "src/a.sql" in bundle.inputs
    with served(tmp_path, tools, bundle) as workerd:
        assert workerd.json() == {"html": "<p>ü", "sql": "select 1"}


def test_data_is_an_array_buffer(tools: Tools, tmp_path: Path) -> None:
    main = 'import data from "./a.bin";\nconst value = [data instanceof ArrayBuffer, ...new Uint8Array(data)];\n' + SHOW
    bundle = built(tmp_path, tools, {"src/index.ts": main, "src/a.bin": b"\x00\xff"})
    with served(tmp_path, tools, bundle) as workerd:
        assert workerd.json() == [True, 0, 255]


@pytest.mark.parametrize("specifier", ["./a.wasm", "./a.wasm?module"])
def test_webassembly_is_compiled(specifier: str, tools: Tools, tmp_path: Path) -> None:
    main = f'import wasm from "{specifier}";\nconst value = new WebAssembly.Instance(wasm).exports.answer();\n' + SHOW
    bundle = built(tmp_path, tools, {"src/index.ts": main, "src/a.wasm": WASM})
    with served(tmp_path, tools, bundle) as workerd:
        assert workerd.json() == 42


def test_a_module_comes_from_a_package_too(tools: Tools, tmp_path: Path) -> None:
    files = {
        "src/index.ts": 'import value from "pkg/text.txt";\n' + SHOW,
        "node_modules/pkg/package.json": '{"exports": {"./text.txt": "./deep/file.txt"}}',
        "node_modules/pkg/deep/file.txt": "of the package",
    }
    with served(tmp_path, tools, built(tmp_path, tools, files)) as workerd:
        assert workerd.json() == "of the package"


def test_the_same_file_is_one_module(tools: Tools, tmp_path: Path) -> None:
    main = 'import a from "./a.txt";\nimport b from "../src/a.txt";\nconst value = a + b;\n' + WORKER
    assert len(built(tmp_path, tools, {"src/index.ts": main, "src/a.txt": "x"}).modules) == 2


def test_a_rule_of_the_project_makes_modules(tools: Tools, tmp_path: Path) -> None:
    main = 'import value from "./shader.glsl";\n' + SHOW
    rules = [{"type": "Text", "globs": ["**/*.glsl"], "fallthrough": True}]
    bundle = built(tmp_path, tools, {"src/index.ts": main, "src/shader.glsl": "void main"}, rules=rules)
    assert bundle.warnings == ()
    with served(tmp_path, tools, bundle) as workerd:
        assert workerd.json() == "void main"


def test_a_rule_without_fallthrough_replaces_the_later_ones_of_its_type(tools: Tools, tmp_path: Path) -> None:
    rules = [{"type": "Text", "globs": ["**/*.md"]}]
    files = {"src/index.ts": 'import value from "./a.md";\n' + WORKER, "src/a.md": "#"}
    (warning,) = built(tmp_path, tools, files, rules=rules).warnings
    assert warning.startswith(
        'The module rule {"type":"Text","globs":["**/*.md"]} does not have a fallback, the following rules will be '
        'ignored:\n {"type":"Text","globs":["**/*.txt","**/*.html","**/*.sql"]} (DEFAULT)'
    )
    files = {"src/index.ts": 'import value from "./a.txt";\n' + WORKER, "src/a.txt": "#"}
    (error,) = failure(tmp_path, tools, files, rules=rules).errors
    assert error.text.startswith("The file ./a.txt matched a module rule in your configuration") and error.line == 1


def test_fallthrough_false_says_that_it_is_meant(tools: Tools, tmp_path: Path) -> None:
    rules = [{"type": "Text", "globs": ["**/*.md"], "fallthrough": False}]
    assert built(tmp_path, tools, {"src/index.ts": "const value = 1;\n" + WORKER}, rules=rules).warnings == ()


def test_a_module_that_is_not_there_is_an_error_at_its_import(tools: Tools, tmp_path: Path) -> None:
    (error,) = failure(tmp_path, tools, {"src/index.ts": 'import value from "./gone.txt";\n' + WORKER}).errors
    assert (error.text, error.place) == ('Could not resolve "./gone.txt"', "src/index.ts:1:19")


def test_preserved_names_are_those_of_the_imports(tools: Tools, tmp_path: Path) -> None:
    files = {"src/index.ts": 'import value from "./deep/a.txt";\n' + SHOW, "src/deep/a.txt": "x"}
    bundle = built(tmp_path, tools, files, preserve_file_names=True)
    assert [module.name for module in bundle.modules] == ["index.js", "deep/a.txt"]
    with served(tmp_path, tools, bundle) as workerd:
        assert workerd.json() == "x"


def test_preserved_names_of_two_files_do_not_clash(tools: Tools, tmp_path: Path) -> None:
    files = {
        "src/index.ts": 'import one from "./a.txt";\nimport { two } from "./b/two";\nconst value = [one, two];\n'
        + SHOW,
        "src/a.txt": "1",
        "src/b/two.ts": 'import two from "./a.txt";\nexport { two };',
        "src/b/a.txt": "2",
    }
    with served(tmp_path, tools, built(tmp_path, tools, files, preserve_file_names=True)) as workerd:
        assert workerd.json() == ["1", "2"]


def test_json_is_taken_into_the_bundle(tools: Tools, tmp_path: Path) -> None:
    files = {"src/index.ts": 'import data from "./a.json";\nconst value = data;\n' + WORKER, "src/a.json": '{"a": 1}'}
    assert "a: 1" in code(built(tmp_path, tools, files))


def test_additional_modules_are_found_and_stay_as_they_are(tools: Tools, tmp_path: Path) -> None:
    main = """
      export default { async fetch(request) {
        const name = new URL(request.url).pathname.slice(1);
        const module = await import("../lang/" + name + ".mjs");
        return Response.json(module.default);
      } };
    """
    files = {
        "src/server/index.ts": main,
        "src/lang/fr.mjs": "export default 'bonjour';",
        "src/lang/notes.md": "not a module",
    }
    rules = [{"type": "ESModule", "globs": ["lang/**/*.mjs"]}]
    bundle = built(
        tmp_path, tools, files, main="src/server/index.ts", rules=rules, find_additional_modules=True, base_dir="src"
    )
    assert [module.name for module in bundle.modules] == ["index.js", "lang/fr.mjs"]
    with served(tmp_path, tools, bundle) as workerd:
        assert workerd.json("/fr") == "bonjour"


def test_an_additional_module_may_have_the_name_of_the_bundle(tools: Tools, tmp_path: Path) -> None:
    files = {
        "src/server/main.ts": 'import value from "../index.js";\n' + SHOW,
        "src/index.js": "export default 'additional';",
    }
    rules = [{"type": "ESModule", "globs": ["*.js"]}]
    bundle = built(
        tmp_path, tools, files, main="src/server/main.ts", rules=rules, find_additional_modules=True, base_dir="src"
    )
    assert [module.name for module in bundle.modules] == ["celld-main.js", "index.js"]
    with served(tmp_path, tools, bundle) as workerd:
        assert workerd.json() == "additional"
