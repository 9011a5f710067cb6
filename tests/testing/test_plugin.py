"""The pytest plugin, in pytest runs of its own: the tests of a user's project."""

from __future__ import annotations

import importlib.metadata
import shutil
import textwrap
from pathlib import Path

import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures"

# Of an installed celld-py pytest finds the plugin by itself.
INSTALLED = bool(importlib.metadata.entry_points(group="pytest11", name="celld_py"))
PLUGIN = [] if INSTALLED else ["-p", "runtime.testing.plugin"]

A_WEEK = FIXTURES / "onboarding/tests/test_onboarding.py"


@pytest.fixture
def project(pytester: pytest.Pytester) -> Path:
    """A copy of the onboarding project without its tests, in which pytest is run."""
    shutil.copytree(FIXTURES / "onboarding", pytester.path, ignore=shutil.ignore_patterns("tests"), dirs_exist_ok=True)
    return pytester.path


def write(project: Path, source: str, name: str = "tests/test_it.py") -> None:
    path = project / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(textwrap.dedent(source))


def test_a_users_test_file_of_a_week(project: Path, pytester: pytest.Pytester) -> None:
    assert len(A_WEEK.read_text().splitlines()) < 40
    write(project, A_WEEK.read_text())
    result = pytester.runpytest_subprocess(*PLUGIN, "--strict-markers", "-p", "no:asyncio", "-W", "error")
    result.assert_outcomes(passed=2)


def test_a_failing_test_shows_the_timeline_of_its_instances(project: Path, pytester: pytest.Pytester) -> None:
    write(
        project,
        """
        def test_it(worker):
            worker.env.ONBOARDING.create(id="ada", params={"email": "ada@example.com"})
            worker.clock.advance("20 seconds")
            assert False
        """,
    )
    result = pytester.runpytest_subprocess(*PLUGIN)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*Workflow instances*",
            "onboarding/ada",
            "*+00:00:00.000  step_started 'send welcome mail-1'*",
            "*+00:00:15.000  sleep_completed 'first night-1'*",
        ]
    )


def test_the_report_of_what_a_worker_raises_shows_the_tests_lines_and_not_ours(
    project: Path, pytester: pytest.Pytester
) -> None:
    write(
        project,
        """
        import pytest
        from runtime.testing import crash_everywhere

        def test_the_binding_raises(worker):
            worker.env.ONBOARDING.get("nobody")

        @pytest.mark.worker(env="no such environment")
        def test_the_fixture_raises(worker):
            pass

        def test_the_scenario_raises():
            def scenario(worker):
                assert worker.env.ONBOARDING.name == "another"
            crash_everywhere(".", scenario)
        """,
    )
    result = pytester.runpytest_subprocess(*PLUGIN)
    result.assert_outcomes(failed=2, errors=1)
    result.stdout.fnmatch_lines(["*JsException: Error: instance.not_found", "*AssertionError: assert*"])
    result.stdout.no_fnmatch_line("*concurrent*")
    result.stdout.no_fnmatch_line("*session.py*")
    result.stdout.no_fnmatch_line("*everywhere.py*")
    pytester.runpytest_subprocess(*PLUGIN, "--full-trace").stdout.fnmatch_lines(["*session.py*"])


def test_it_works_with_asynchronous_tests_and_on_several_processes(project: Path, pytester: pytest.Pytester) -> None:
    write(
        project,
        """
        import asyncio
        import pytest

        @pytest.mark.parametrize("name", ["a", "b", "c", "d"])
        @pytest.mark.asyncio
        async def test_it(worker, name):
            mine = asyncio.get_running_loop()
            instance = worker.env.ONBOARDING.create(id=name, params={"email": name})
            await asyncio.sleep(0)
            worker.clock.advance("2 minutes")
            assert instance.status()["status"] == "complete"
            assert asyncio.all_tasks() == {asyncio.current_task()}
            assert asyncio.get_running_loop() is mine
        """,
    )
    (project / "pytest.ini").write_text("[pytest]\nasyncio_mode = strict\nfilterwarnings = error\n")
    result = pytester.runpytest_subprocess(*PLUGIN, "-n", "2", "-o", "asyncio_default_fixture_loop_scope=function")
    result.assert_outcomes(passed=4)


def test_the_project_is_named_by_option_or_marker_or_found_upwards(pytester: pytest.Pytester) -> None:
    shutil.copytree(FIXTURES / "onboarding", pytester.path / "one")
    shutil.copytree(FIXTURES / "orders", pytester.path / "two")
    write(
        pytester.path,
        """
        import pytest

        def test_the_option_names_it(worker):
            assert "ONBOARDING" in dir(worker.env)

        @pytest.mark.worker("../two")
        def test_the_marker_names_it(worker):
            assert "ORDERS" in dir(worker.env)

        @pytest.mark.worker(vars={"FIRST_NIGHT": "2 years"})
        def test_the_marker_gives_variables(worker):
            assert worker.env.FIRST_NIGHT == "2 years"
        """,
    )
    (pytester.path / "pytest.ini").write_text("[pytest]\ncelld_py_project = one\n")
    pytester.runpytest_subprocess(*PLUGIN, "--strict-markers", "tests").assert_outcomes(passed=3)
    write(pytester.path, "def test_it(worker): assert 'ORDERS' in dir(worker.env)", "two/test_found.py")
    (pytester.path / "pytest.ini").write_text("[pytest]\n")
    pytester.runpytest_subprocess(*PLUGIN, "two/test_found.py").assert_outcomes(passed=1)


def test_a_test_file_that_imports_workers_is_told_where_to_do_it(project: Path, pytester: pytest.Pytester) -> None:
    write(project, "from workers import Response\n\ndef test_it(worker): pass")
    result = pytester.runpytest_subprocess(*PLUGIN)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*No module named 'workers'*", "*inside a test, after its fixture `worker`*"])
    write(
        project, "def test_it(worker):\n    from workers import Response\n    assert worker.module.Response is Response"
    )
    pytester.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)


def test_a_package_of_tests_beside_the_main_module_stays_loaded(pytester: pytest.Pytester) -> None:
    shutil.copytree(FIXTURES / "onboarding", pytester.path, ignore=shutil.ignore_patterns("tests"), dirs_exist_ok=True)
    config = (pytester.path / "wrangler.jsonc").read_text()
    (pytester.path / "wrangler.jsonc").write_text(config.replace("src/entry.py", "entry.py"))
    for file in (pytester.path / "src").glob("*.py"):
        file.rename(pytester.path / file.name)
    write(pytester.path, "", "tests/__init__.py")
    write(pytester.path, "EMAIL = 'ada@example.com'", "tests/params.py")
    write(
        pytester.path,
        """
        import importlib
        import tests.params as params

        def test_it(worker):
            assert importlib.import_module("tests.params") is params
            worker.crash()
            assert importlib.import_module("tests.params") is params
        """,
    )
    pytester.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)


def test_a_run_that_does_not_use_it_does_not_import_the_host(pytester: pytest.Pytester) -> None:
    write(
        pytester.path,
        """
        import sys

        def test_it(request):
            assert request.config.pluginmanager.get_plugins()
            loaded = [name for name in sys.modules if name.partition(".")[0] in ("runtime", "workers_shim", "msgspec")]
            assert set(loaded) <= {"runtime", "runtime.testing", "runtime.testing.plugin"}
            assert "runtime.testing.plugin" in loaded
        """,
    )
    pytester.runpytest_subprocess(*PLUGIN).assert_outcomes(passed=1)


def test_a_callback_that_blocks_the_thread_does_not_hang_the_report(project: Path, pytester: pytest.Pytester) -> None:
    write(
        project,
        """
        import time
        import pytest
        import runtime.testing.life

        runtime.testing.life.CLOSING = 0.1

        @pytest.mark.timeout(1)
        def test_it(worker, monkeypatch):
            monkeypatch.setattr(worker.module, "send_mail", lambda to, subject: time.sleep(60))
            worker.env.ONBOARDING.create(id="ada", params={"email": "ada@example.com"})
        """,
    )
    result = pytester.runpytest_subprocess(*PLUGIN)
    result.assert_outcomes(failed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["*did not give its thread back*", "*Timeout*", "*attempt_started 'send welcome mail-1'*"]
    )
