from __future__ import annotations

from pathlib import Path

from wrangler_compat import diagnose
from wrangler_compat.findings import listing

SHOP = """{
  "name": "My Shop",
  "main": "entry.js",
  "compatibility_date": "2026-01-01",
  "name": "shop",
  "kv": [],
  "env": {
    "prod": {
      "workflows": [
        { "binding": "ORDER", "name": "order pipe", "class_name": "Order" }
      ]
    }
  }
}
"""
NAMES = (
    "Workflow names must be 1-64 characters long, start with a letter, number, or underscore, and may only contain "
    "letters, numbers, underscores, or hyphens."
)


def write(root: Path, text: str = SHOP) -> Path:
    (root / "entry.js").touch()
    (root / "wrangler.jsonc").write_text(text)
    return root / "wrangler.jsonc"


def test_errors_come_first_then_warnings_then_notes_each_with_its_place(tmp_path: Path) -> None:
    path = write(tmp_path)
    (tmp_path / "wrangler.toml").touch()

    found = diagnose(tmp_path, "prod", {})

    assert [(each.level, each.code, each.where, each.environment) for each in found] == [
        ("error", "workflow_name", f"{path}:10:39", "prod"),
        ("warning", "repeated_key", f"{path}:5:3", None),
        ("warning", "unexpected_fields", f"{path}:6:9", None),
        ("note", "config_choice", str(tmp_path / "wrangler.toml"), None),
    ]


def test_the_environment_may_come_from_the_variable(tmp_path: Path) -> None:
    write(tmp_path)

    assert diagnose(tmp_path, None, {"CLOUDFLARE_ENV": "prod"})[0].code == "workflow_name"
    assert [each.level for each in diagnose(tmp_path, "", {"CLOUDFLARE_ENV": "prod"})] == ["warning", "warning"]


def test_an_unknown_environment_does_not_hide_the_other_findings(tmp_path: Path) -> None:
    write(tmp_path)

    assert [each.code for each in diagnose(tmp_path, "gone", {})] == [
        "env_unknown",
        "repeated_key",
        "unexpected_fields",
    ]


def test_a_file_that_cannot_be_read_is_one_finding(tmp_path: Path) -> None:
    path = write(tmp_path, '{\n  "name": shop\n}')

    (found,) = diagnose(tmp_path, None, {})

    assert (found.level, found.code, found.where) == ("error", "config_syntax", f"{path}:2:11")


def test_no_file_is_one_finding_without_a_place(tmp_path: Path) -> None:
    (found,) = diagnose(tmp_path / "gone", None, {})

    assert (found.level, found.code, found.line) == ("error", "project_missing", None)


def test_what_only_the_deployment_refuses_is_an_error_here(tmp_path: Path) -> None:
    binding = '{ "binding": "W", "name": "n", "class_name": "C", "limits": { "steps": 5 } }'
    export = '{ "type": "workflow", "name": "n" }'
    write(
        tmp_path,
        f'{{ "name": "shop", "main": "entry.js", "compatibility_date": "2026-01-01",\n'
        f'"workflows": [{binding}], "exports": {{ "C": {export} }} }}',
    )

    (found,) = diagnose(tmp_path, None, {})

    assert (found.level, found.code, found.phase) == ("error", "workflow_settings_twice", "deploy")


def test_the_listing_nests_an_environment_as_wrangler_does(tmp_path: Path) -> None:
    path = write(tmp_path)

    text = listing(diagnose(tmp_path, "prod", {}), path.name)

    assert text.splitlines() == [
        "Processing wrangler.jsonc configuration:",
        f'  - "name" is written twice; the last one counts. ({path}:5:3)',
        "    Remove one.",
        f'  - Unexpected fields found in top-level field: "kv" ({path}:6:9)',
        "    Remove it: nothing reads it.",
        '  - "env.prod" environment configuration',
        f'    - "env.prod.workflows[0]" binding "name" field is invalid. {NAMES} ({path}:10:39)',
        '      Rename it, such as "send-invoice".',
    ]
