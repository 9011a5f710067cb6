"""The pytest plugin: the fixture `worker`, and the timeline of a failed test's instances in its report.

pytest imports this module in every run of a project that has celld-py installed, so it imports nothing itself.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .worker import Worker

INI = "celld_py_project"
MARKER = "worker"
SECTION = "Workflow instances"

WORKERS_ONLY = ("workers", "js", "pyodide")
HINT = (
    "workers, js, pyodide and your Worker's own modules can be imported while a Worker is open: inside a test, after "
    "its fixture `worker`. The main module is worker.module."
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the ini option."""
    parser.addini(INI, "the Worker project that the fixture `worker` runs: its folder, relative to the root")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    line = "worker(path, **options): the project that the fixture `worker` runs; the options are those of Worker.open"
    config.addinivalue_line("markers", line)


@pytest.fixture
def worker(request: pytest.FixtureRequest) -> Iterator[Worker]:
    """The project's Worker, in this process, on a clock that stands still; a new one with nothing stored.

    The project is the one that the marker names (relative to the test's file), that the ini option names, or that the
    test's file lies in.
    """
    from .worker import Worker

    options = _options(request.node)
    with Worker.open(options.pop("path", None) or _project(request), **options) as opened:
        yield opened


def _options(node: pytest.Item) -> dict[str, Any]:
    """What the markers say, the nearest last."""
    options: dict[str, Any] = {}
    for owner, marker in reversed(list(node.iter_markers_with_node(MARKER))):
        options |= marker.kwargs
        if marker.args:
            options["path"] = _folder(owner) / marker.args[0]
    return options


def _folder(node: Any) -> Path:
    path: Path = node.path
    return path if path.is_dir() else path.parent


def _project(request: pytest.FixtureRequest) -> Path:
    named = request.config.getini(INI)
    if named:
        return request.config.rootpath / str(named)
    return request.path.parent  # wrangler's own search goes up from here


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Tell a test file that imports what only a Worker has where to import it."""
    report = yield
    if report.failed and any(f"No module named '{name}'" in report.longreprtext for name in WORKERS_ONLY):
        report.sections.append(("Imports of a Worker", HINT))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell what happened to the instances of a test that failed."""
    # Only when a Worker is under test is there something to tell, and this module loaded.
    sessions = sys.modules.get(f"{__package__}.session")
    if sessions is not None and call.excinfo is not None and not item.config.getoption("fulltrace"):
        from .frames import users

        error = call.excinfo.value
        call.excinfo = pytest.ExceptionInfo.from_exception(error.with_traceback(users(error)))
    report = yield
    if report.failed and sessions is not None and (told := sessions.told()):
        report.sections.append((SECTION, told))
    return report
