"""Stacks of the bundle, told in the project's own files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runtime.javascript.bundle import SourceMaps
from runtime.javascript.entry import SHIM
from runtime.javascript.mappings import SourceMap
from runtime.javascript.tools import Tools
from tests.javascript.building import built, code, served

MAIN = """\
import { twice } from "pkg";
interface Unused { a: string }
export class Shop {
  async sell(): Promise<void> {
    await twice(async () => {
      throw new TypeError("sold out\\n  at no place (index.js:1:1) of ours");
    });
  }
}
export default {
  async fetch(): Promise<Response> {
    try { await new Shop().sell(); } catch (error: any) { return new Response(error.stack); }
    return new Response();
  },
};
"""


def test_a_stack_leads_through_a_package_to_the_line_of_typescript(tools: Tools, tmp_path: Path) -> None:
    files = {"src/index.ts": MAIN, "node_modules/pkg/index.js": "\nexport async function twice(f) {\n  await f();\n}"}
    bundle = built(tmp_path, tools, files)
    with served(tmp_path, tools, bundle) as workerd:
        stack = workerd.request().text
    lines = SourceMaps(bundle.folder).apply(stack).split("\n")
    assert lines[:2] == ["TypeError: sold out", "  at no place (index.js:1:1) of ours"]
    assert f"({tmp_path}/src/index.ts:6:13)" in lines[2] or lines[2].endswith(f"{tmp_path}/src/index.ts:6:13")
    assert lines[3].endswith(f"at twice ({tmp_path}/node_modules/pkg/index.js:3:9)")
    assert lines[4].endswith(f"at Shop.sell ({tmp_path}/src/index.ts:5:11)")
    assert not any("workers_shim" in line or "celld-entry" in line for line in lines)
    assert SourceMaps(bundle.folder).first(stack, tmp_path) == (tmp_path / "src/index.ts", 6)


def test_first_is_the_project_s_own_line_before_one_of_its_packages(tools: Tools, tmp_path: Path) -> None:
    main = 'import { fail } from "pkg";\nexport default {\n  fetch() { return new Response(fail().stack) },\n};\n'
    files = {"src/index.ts": main, "node_modules/pkg/index.js": "export function fail() { return new Error() }"}
    bundle = built(tmp_path, tools, files)
    with served(tmp_path, tools, bundle) as workerd:
        stack = workerd.request().text
    assert SourceMaps(bundle.folder).first(stack, tmp_path) == (tmp_path / "src/index.ts", 3)
    assert SourceMaps(bundle.folder).first(stack, tmp_path / "elsewhere") is None


def test_first_names_a_project_that_is_reached_through_a_link_by_that_link(tools: Tools, tmp_path: Path) -> None:
    link = tmp_path / "link"
    (tmp_path / "real").mkdir()
    link.symlink_to(tmp_path / "real")
    bundle = built(link, tools, {"src/index.ts": "\nexport default { fetch() { throw new RangeError() } };"})
    line, text = next(each for each in enumerate(code(bundle).split("\n"), 1) if "new RangeError" in each[1])
    stack = f"Error\n    at fetch (index.js:{line}:{text.index('new RangeError') + 1})"
    assert SourceMaps(bundle.folder).first(stack, link) == (link / "src/index.ts", 2)


def mapped(folder: Path, *sources: str, mappings: str = "AAAA;AACA,IAAI") -> SourceMaps:
    """The maps of a folder with one ``index.js``: line 1 is line 1 of the first source, line 2 line 2 of it."""
    text = json.dumps({"version": 3, "sources": sources, "mappings": mappings})
    (folder / "index.js.map").write_text(text)
    return SourceMaps(folder)


def test_every_form_of_a_frame_is_told(tmp_path: Path) -> None:
    maps = mapped(tmp_path, "../src/a.ts")
    a = tmp_path.parent / "src/a.ts"
    stack = "\n".join(
        [
            "Error: x",
            "    at fn (index.js:1:1)",
            "    at async Object.fetch (index.js:2:5)",
            "    at new Thing (file:///index.js:1:9)",
            "    at async file:///index.js:2:1",
            "    at index.js:1:2",
            "    at async Promise.all (index 0)",
            "    at async WorkflowImpl.create (cloudflare-internal:workflows-api:12:3)",
            "    at Array.map (<anonymous>)",
        ]
    )
    assert maps.apply(stack).split("\n") == [
        "Error: x",
        f"    at fn ({a}:1:1)",
        f"    at async Object.fetch ({a}:2:5)",
        f"    at new Thing ({a}:1:1)",
        f"    at async {a}:2:1",
        f"    at {a}:1:1",
        "    at async Promise.all (index 0)",
        "    at async WorkflowImpl.create (cloudflare-internal:workflows-api:12:3)",
        "    at Array.map (<anonymous>)",
    ]
    assert maps.first(stack, tmp_path.parent) == (a, 1)


def test_frames_of_what_stands_around_the_code_are_left_out(tmp_path: Path) -> None:
    maps = mapped(tmp_path, str(SHIM / "entry.js"))
    assert maps.apply("Error: x\n    at keeping (index.js:1:1)\n    at fetch (index.js:2:1)") == "Error: x"
    assert maps.first("    at keeping (index.js:1:1)", Path("/")) is None
    assert mapped(tmp_path, "celld-entry.js").apply("Error: x\n    at index.js:1:1") == "Error: x"


def test_a_folder_without_maps_leaves_stacks_as_they_are(tmp_path: Path) -> None:
    stack = "Error\n    at fn (index.js:1:1)\n    at ../../etc/passwd:1:1"
    assert SourceMaps(tmp_path).apply(stack) == stack
    assert SourceMaps(tmp_path).first(stack, tmp_path) is None


def test_a_place_is_that_of_the_segment_at_or_before_it(tmp_path: Path) -> None:
    # columns 0, 4 and 8 of the only line lead to lines 1, 1 and 3; the second segment says where it has no source
    text = json.dumps({"version": 3, "sourceRoot": "src/", "sources": ["a.ts"], "mappings": "AAAA,IAAI,IAEJ"})
    read = SourceMap(text, tmp_path)
    a = tmp_path / "src/a.ts"
    assert [read.place(1, column) for column in (1, 4, 5, 9, 99)] == [
        (a, 1, 1),
        (a, 1, 1),
        (a, 1, 5),
        (a, 3, 1),
        (a, 3, 1),
    ]
    assert read.place(2, 1) is None


def test_numbers_of_many_digits_and_signs_are_read(tmp_path: Path) -> None:
    # 16 and 511 need a second digit; -16 is the same with the sign's bit
    read = SourceMap(json.dumps({"sources": ["a"], "mappings": "gBAgB+f,AAhBA"}), tmp_path)
    assert read.place(1, 17) in {(tmp_path / "a", 17, 512), (tmp_path / "a", 1, 512)}
    assert read.place(1, 1) is None


@pytest.mark.parametrize(
    "text",
    [
        "no JSON",
        "[]",
        '{"version": 3, "sections": []}',
        "\xff",
        '{"version": 3, "sources": ["a.ts"], "mappings": "A!AA"}',
        '{"version": 3, "sources": ["a.ts"], "mappings": ["AAAA"]}',
        '{"version": 3, "sources": [null], "mappings": "AAAA"}',
        '{"version": 3, "sources": ["a.ts"], "mappings": "ADAA"}',
        '{"version": 3, "sources": "a.ts", "mappings": "AAAA"}',
    ],
)
def test_a_map_that_leads_nowhere_leaves_stacks_as_they_are(text: str, tmp_path: Path) -> None:
    (tmp_path / "index.js.map").write_text(text)
    stack = "Error\n    at fn (index.js:1:1)"
    assert SourceMaps(tmp_path).apply(stack) == stack
    assert SourceMaps(tmp_path).first(stack, tmp_path.parent) is None
