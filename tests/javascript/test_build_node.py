"""Imports of Node.js modules, with and without compatibility."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.javascript.node_builtins import BARE, KNOWN, NodeBuiltins
from runtime.javascript.tools import Tools
from tests.javascript.building import WORKER, built, code, failure, served

COMPAT = {"compatibility_flags": ["nodejs_compat"]}
SHOW = "export default { fetch() { return Response.json(value) } };\n"


@pytest.mark.parametrize("specifier", ["node:path", "path"])
def test_modules_are_workerds_own(specifier: str, tools: Tools, tmp_path: Path) -> None:
    main = f'import {{ join }} from "{specifier}";\nconst value = join("a", "b");\n' + SHOW
    bundle = built(tmp_path, tools, {"src/index.ts": main}, **COMPAT)
    assert 'from "node:path"' in code(bundle)
    with served(tmp_path, tools, bundle) as workerd:
        assert workerd.json() == "a/b"


def test_compatibility_is_on_by_default_from_its_date_on(tools: Tools, tmp_path: Path) -> None:
    main = 'import { join } from "path";\nconst value = [join("a", "b"), typeof Buffer];\n' + SHOW
    bundle = built(tmp_path, tools, {"src/index.ts": main}, compatibility_date="2026-08-04")
    with served(tmp_path, tools, bundle) as workerd:
        assert workerd.json() == ["a/b", "function"]


def test_a_commonjs_package_can_require_them(tools: Tools, tmp_path: Path) -> None:
    files = {
        "src/index.ts": 'import { value } from "cjs";\n' + SHOW,
        "node_modules/cjs/index.js": "const fs = require('fs'); exports.value = [typeof fs.readFileSync,"
        " require('node:path').join('a', 'b'), new (require('events'))().listenerCount('x')];",
    }
    with served(tmp_path, tools, built(tmp_path, tools, files, **COMPAT)) as workerd:
        assert workerd.json() == ["function", "a/b", 0]


def test_a_module_that_the_date_lacks_loads_and_is_named_when_it_is_used(tools: Tools, tmp_path: Path) -> None:
    main = """
      import tty, { isatty } from "tty";
      class Mine extends tty.ReadStream {}
      let value;
      try { isatty(1) } catch (error) { value = error.message }
    """
    bundle = built(tmp_path, tools, {"src/index.ts": main + SHOW}, compatibility_date="2025-10-01", **COMPAT)
    (warning,) = bundle.warnings
    assert warning == (
        "node:tty is there from compatibility_date 2026-03-17 on; this project has 2025-10-01. "
        "Code that uses it will fail; src/index.ts imports it."
    )
    with served(tmp_path, tools, bundle) as workerd:
        assert workerd.json() == (
            "[node:tty] node:tty is there from compatibility_date 2026-03-17 on; this project has 2025-10-01. "
            "It is used here: isatty."
        )


def test_a_module_that_node_does_not_know_either_is_refused(tools: Tools, tmp_path: Path) -> None:
    (error,) = failure(tmp_path, tools, {"src/index.ts": 'import value from "node:fss";\n' + WORKER}, **COMPAT).errors
    assert (error.text, error.notes) == ('No such module "node:fss".', ("node:fss does not exist.",))


def test_without_compatibility_an_import_is_refused_as_a_deployment_would(tools: Tools, tmp_path: Path) -> None:
    main = 'import { AsyncLocalStorage as value } from "node:async_hooks";\n' + WORKER
    (error,) = failure(tmp_path, tools, {"src/index.ts": main}).errors
    assert error.text == 'No such module "node:async_hooks".'
    assert error.place == "src/index.ts:1:44"
    assert "nodejs_als" in error.notes[0] and "nodejs_compat" in error.notes[0]


@pytest.mark.parametrize("flag", ["nodejs_als", "nodejs_compat"])
def test_async_hooks_come_with_either_flag(flag: str, tools: Tools, tmp_path: Path) -> None:
    main = 'import { AsyncLocalStorage } from "node:async_hooks";\nconst value = typeof AsyncLocalStorage;\n' + SHOW
    bundle = built(tmp_path, tools, {"src/index.ts": main}, compatibility_flags=[flag])
    with served(tmp_path, tools, bundle) as workerd:
        assert workerd.json() == "function"


def test_without_compatibility_a_dynamic_import_fails_where_it_runs(tools: Tools, tmp_path: Path) -> None:
    main = 'let value;\ntry { await import("node:fs") } catch (error) { value = error.message }\n' + SHOW
    bundle = built(tmp_path, tools, {"src/index.ts": main})
    assert bundle.warnings[0].startswith('node:fs is built into node: add the "nodejs_compat" compatibility flag')
    with served(tmp_path, tools, bundle) as workerd:
        assert "node:fs" in workerd.json()


@pytest.mark.parametrize(
    ("config", "advice"),
    [
        ({}, 'Add the "nodejs_compat" compatibility flag to your project.'),
        ({"compatibility_date": "2024-01-01", **COMPAT}, 'Prefix the module name with "node:"'),
    ],
)
def test_a_bare_name_is_explained(config: dict[str, str], advice: str, tools: Tools, tmp_path: Path) -> None:
    (error,) = failure(tmp_path, tools, {"src/index.ts": 'import value from "fs";\n' + WORKER}, **config).errors
    assert error.text == 'Could not resolve "fs"'
    (note,) = error.notes
    assert (
        note.startswith('The package "fs" wasn\'t found on the file system but is built into node.') and advice in note
    )


def test_a_package_may_replace_a_bare_name_in_browsers(tools: Tools, tmp_path: Path) -> None:
    files = {
        "src/index.ts": 'import value from "pkg";\n' + WORKER,
        "node_modules/pkg/package.json": '{"browser": {"fs": false}}',
        "node_modules/pkg/index.js": "module.exports = typeof require('fs');",
    }
    assert built(tmp_path, tools, files).warnings == ()


# ------------------------------------------------------------------------------------------------------------ the table

DATES = ["2024-01-01", "2024-09-23", "2025-08-15", "2025-09-01", "2025-09-15", "2025-09-21", "2025-10-01", "2025-12-04"]
LATE = ["2026-01-29", "2026-03-17"]
PROBE = """\
const value = {};
for (const name of NAMES) value[name] = await import("node" + ":" + name).then(() => true, () => false);
"""


@pytest.mark.parametrize(
    ("date", "flags"),
    [
        *((date, ["nodejs_compat"]) for date in [*DATES, *LATE]),
        ("2026-08-04", []),
        ("2026-08-04", ["no_nodejs_compat"]),
        ("2026-08-04", ["no_nodejs_compat", "no_nodejs_compat_v2"]),
        ("2025-01-01", ["nodejs_compat", "enable_nodejs_fs_module"]),
        ("2026-08-04", ["disable_nodejs_fs_module"]),
        ("2024-01-01", ["nodejs_compat_v2"]),
        ("2024-01-01", ["nodejs_als"]),
    ],
)
def test_workerd_has_the_modules_that_the_table_says(date: str, flags: list[str], tools: Tools, tmp_path: Path) -> None:
    main = f"const NAMES = {sorted(KNOWN)};\n" + PROBE + SHOW
    bundle = built(tmp_path, tools, {"src/index.ts": main}, compatibility_date=date, compatibility_flags=flags)
    table = NodeBuiltins(date, flags)
    with served(tmp_path, tools, bundle) as workerd:
        found = workerd.json()
    if table.mode == "none":
        found["async_hooks"] = False  # workerd has it from us, and the build refuses it
    assert {name for name in KNOWN if table.has(name)} == {name for name, there in found.items() if there}


def test_bare_names_are_those_that_node_knows_without_prefix() -> None:
    assert "fs" in BARE and "sqlite" not in BARE
