"""``python -m tests.mutants [NAME...]``: break the code on purpose, one line at a time, and see that the tests notice.

Works on a copy of the tree. Ends with 1 when a mutant survives, that is, when one of the tests that must fail with it
passes; NAME picks mutants by the beginning of their name, such as ``i3`` or ``nested``.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import hypothesis  # noqa: F401  imported once, not in every fork
import pytest

from tests.mutants.mutant import Mutant
from tests.mutants.mutants import MUTANTS

ROOT = Path(__file__).parent.parent.parent
COPIED = ("runtime", "workers_shim", "wrangler_compat", "tests", "fixtures", "bench", "pyproject.toml")
PASSED, FAILED, BROKEN = 0, 1, 3  # pytest's exit codes; others mean that it did not come to run the tests
OPTIONS = ["-q", "--tb=no", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+::[^\s\[]+)", re.MULTILINE)


def main(names: list[str]) -> int:
    """Run the mutants, print what became of each, give the exit code."""
    chosen = [m for m in MUTANTS if not names or any(f"{m.name}-".startswith(f"{name}-") for name in names)]
    if not chosen:
        print(f"no mutant's name begins with {' or '.join(names)}", file=sys.stderr)
        return 2
    sys.dont_write_bytecode = True  # it could outlive a change within one second
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = copy(Path(folder))
        code, output, _ = run(tree, {test for mutant in chosen for test in mutant.tests})
        if code != PASSED:
            print(output, "the tests must pass before the code is broken", sep="\n", file=sys.stderr)
            return 2
        survivors = [mutant.name for mutant in chosen if not killed(tree, mutant)]
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutants killed")
    return 1 if survivors else 0


def copy(folder: Path) -> Path:
    """A copy of what the tests need."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".celld", ".venv*"))
        elif source.exists():
            shutil.copy(source, folder / name)
    return folder


def killed(tree: Path, mutant: Mutant) -> bool:
    """Whether every test of the mutant fails with it."""
    path = tree / mutant.file
    original = path.read_text()
    assert original.count(mutant.old) == 1, f"{mutant.name}: its line stands {original.count(mutant.old)} times"
    path.write_text(original.replace(mutant.old, mutant.new))
    try:
        code, output, failed = run(tree, mutant.tests)
    finally:
        path.write_text(original)
    passed = [test for test in mutant.tests if test not in failed]
    if code == FAILED and not passed:
        print(f"killed    {mutant.name}")
        return True
    print(f"SURVIVED  {mutant.name}", *(passed if code in (PASSED, FAILED) else [output]), sep="\n          ")
    return False


def run(tree: Path, tests: Iterable[str]) -> tuple[int, str, set[str]]:
    """Run tests on the copy: pytest's exit code, what it printed, and which of them failed.

    In a fork, for pytest and its plugins take longer to import than most tests to run.
    """
    with tempfile.TemporaryFile("w+") as output:
        sys.stdout.flush()
        child = os.fork()
        if not child:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            try:
                os._exit(run_here(tree, sorted(tests)))
            finally:
                os._exit(BROKEN)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        printed = output.read()
    return code, printed, set(FAILURE.findall(printed))


def run_here(tree: Path, tests: list[str]) -> int:
    """Run tests with the copy in the place of the tree. Nothing of the tree but this package is imported yet."""
    os.chdir(tree)
    sys.path[:] = [str(tree), *(path for path in sys.path if Path(path).resolve() != ROOT)]
    for module in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[module]
    try:
        return pytest.main([*OPTIONS, *tests])
    finally:
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
