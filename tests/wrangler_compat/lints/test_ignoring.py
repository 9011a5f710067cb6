from __future__ import annotations

from pathlib import Path

from wrangler_compat.lints.ignoring import Ignored


def test_a_comment_counts_for_its_own_line(tmp_path: Path) -> None:
    file = tmp_path / "main.py"
    file.write_text("first()\nsecond()  # celld: ignore[side_effect_outside_step]\nthird()\n")

    assert [Ignored().has(file, line, "side_effect_outside_step") for line in (1, 2, 3)] == [False, True, False]
    assert not Ignored().has(file, 2, "another_code")


def test_a_comment_on_a_line_of_its_own_counts_for_the_next_line_of_code(tmp_path: Path) -> None:
    file = tmp_path / "main.js"
    file.write_text("// celld-ignore nested_step, unawaited_step\n// because of this\nfirst();\nsecond();\n")

    assert Ignored().has(file, 3, "nested_step")
    assert Ignored().has(file, 3, "unawaited_step")
    assert not Ignored().has(file, 4, "nested_step")


def test_the_configuration_has_comments_too(tmp_path: Path) -> None:
    file = tmp_path / "wrangler.jsonc"
    file.write_text('{\n  "workflows": [] // celld-ignore workflow_unused\n}\n')

    assert Ignored().has(file, 2, "workflow_unused")


def test_each_language_has_its_own_comment(tmp_path: Path) -> None:
    file = tmp_path / "main.py"
    file.write_text("first()  # celld-ignore nested_step\n")

    assert not Ignored().has(file, 1, "nested_step")


def test_a_file_that_is_gone_takes_nothing_back(tmp_path: Path) -> None:
    assert not Ignored().has(tmp_path / "gone.py", 1, "nested_step")
