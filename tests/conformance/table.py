"""docs/conformance.md: what we do in each case, in the words of the tests that show it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.conformance.agreement import CASES, Case

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "conformance.md"

_NAME = re.compile(r"test_((?:c\d{3}_)+)(\w+)")
_MEANT = {
    "json": "JSON",
    "iso": "ISO",
    "rpc": "RPC",
    "1 mib": "1 MiB",
    "cloudflares": "Cloudflare's",
    "2026 05 14": "2026-05-14",
    "nonretryableerror": "NonRetryableError",
}
_INTRODUCTION = """\
# Conformance

How celld-py behaves, case by case, and with whom it agrees: with Cloudflare's **production** as its documentation has
it, with the **local** engine of `wrangler dev` as it was measured where production documents nothing, with **both**, or
with **neither**. Each case is shown by at least one test, whose name is the sentence; `make docs` writes this page.

"""


class Shown(NamedTuple):
    """A test, and the case that it shows."""

    number: int
    sentence: str
    file: str


def shown(folder: Path = ROOT / "tests") -> Iterator[Shown]:
    """All tests whose names carry a case's number, file by file."""
    for path in sorted(folder.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (name := _NAME.fullmatch(node.name)):
                for number in re.findall(r"\d{3}", name[1]):
                    yield Shown(int(number), _sentence(name[2]), path.relative_to(ROOT).as_posix())


def _sentence(name: str) -> str:
    """A test's name as a sentence: what a name cannot write is put right."""
    words = name.replace("_", " ")
    for written, meant in _MEANT.items():
        words = re.sub(rf"\b{written}\b", meant, words)
    return words


def page(tests: Sequence[Shown], cases: Mapping[int, Case] = CASES) -> str:
    """The text of docs/conformance.md."""
    rows = "".join(_row(number, case, [t for t in tests if t.number == number]) for number, case in cases.items())
    return f"{_INTRODUCTION}{_counts(cases)}\n| case | about | what we do | as |\n| --- | --- | --- | --- |\n{rows}"


def _counts(cases: Mapping[int, Case]) -> str:
    counted = ", ".join(
        f"{sum(case.agreement == agreement for case in cases.values())} {agreement}"
        for agreement in ("both", "production", "local", "neither")
    )
    return f"{len(cases)} cases: {counted}.\n"


def _row(number: int, case: Case, tests: Sequence[Shown]) -> str:
    links = [f"[{test.sentence}](../{test.file})" for test in tests]
    agreement = f"{case.agreement}: {case.why}" if case.why else case.agreement
    return f"| C{number:03} | {case.area} | {'; '.join(links) or 'not done'} | {agreement} |\n"
