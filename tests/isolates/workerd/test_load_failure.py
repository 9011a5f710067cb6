from __future__ import annotations

from pathlib import Path

from runtime.isolates.workerd.load_failure import load_failed
from runtime.isolates.workerd.stacks import Stacks

ROOT = Path("/project")


class Maps:
    """Source maps of a bundle whose lines are those of src/main.ts."""

    def apply(self, stack: str) -> str:
        return stack.replace("index.js", "/project/src/main.ts")

    def first(self, stack: str, inside: Path) -> tuple[Path, int] | None:
        return (inside / "src" / "main.ts", 2) if "    at f (index.js:2:21)" in stack else None


STACKS = {"app": Stacks(Maps(), ROOT)}


def test_an_error_of_the_code_has_its_name_its_text_and_its_place() -> None:
    said = "service worker:app: Uncaught TypeError: too early\n  at index.js:2:21 in f\n  at index.js:3:1"

    assert load_failed([said], STACKS, 1) == {
        "t": "load_failed",
        "error": {"name": "TypeError", "message": "too early"},
        "traceback": "TypeError: too early\n    at f (/project/src/main.ts:2:21)\n    at /project/src/main.ts:3:1",
        "file": "src/main.ts",
        "line": 2,
    }


def test_what_is_wrong_with_the_configuration_is_said_in_its_terms() -> None:
    failure = load_failed(["service worker:app: No such compatibility flag: nodejs_foo"], STACKS, 1)

    assert failure["error"]["name"] == "Error"
    assert "compatibility_flags" in failure["error"]["message"]
    assert failure["in_settings"]
    assert "file" not in failure


def test_everything_that_was_said_is_in_the_traceback() -> None:
    assert load_failed(["one", "two"], STACKS, 1)["traceback"] == "one\ntwo"


def test_an_end_without_a_word_names_the_status() -> None:
    assert load_failed([], STACKS, 127)["error"]["message"] == "workerd ended with status 127."
