"""What is shown before `Ready`."""

from __future__ import annotations

import dataclasses
import datetime
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runtime.cli.terminal import Terminal
from runtime.host import banner
from runtime.host.interpreter import Interpreter
from runtime.host.options import Options
from runtime.host.projects import open_project
from runtime.host.python_launcher import PythonLauncher
from runtime.host.recovery import Recovered
from runtime.host.schedules import entries_of
from runtime.host.start import Start
from runtime.store import DamagedCatalog, DamagedJournal, NewerStore, Rebuilt, Repair, StoreError
from wrangler_compat import Project

CONFIG = """{
  "name": "shop", "main": "entry.py", "compatibility_date": "2026-06-01",
  "compatibility_flags": ["python_workers"], "vars": {"REGION": "eu"},
  "workflows": [{"name": "orders", "binding": "ORDERS", "class_name": "Orders"}]
}"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "entry.py").touch()
    (tmp_path / "wrangler.jsonc").write_text(CONFIG)
    (tmp_path / ".dev.vars").write_text("API_KEY=do-not-show")
    return open_project(Options(tmp_path), {})


def shown(
    project: Project, *, recovered: Recovered | None = None, repair: Any = None, format: Any = "text", **options: Any
) -> tuple[str, str]:
    """What goes to standard output and to standard error."""
    out, err = io.StringIO(), io.StringIO()
    store: Any = SimpleNamespace(folder=SimpleNamespace(path=project.root / ".celld" / "state"), repair=repair)
    start = started(project, Options(project.root, **options))
    banner.show(Terminal.over(out, err, format, {}), start, store, recovered or Recovered(0, 0, None))
    return out.getvalue(), err.getvalue()


def started(project: Project, options: Options) -> Start:
    """The project as it was begun, on a Python of its own."""
    folder: Any = SimpleNamespace(unclean=False)
    interpreter = Interpreter(Path("/usr/bin/python3"), "3.13.1", (), "the project's .venv")
    launcher = PythonLauncher(project, interpreter, folder, options.target)
    return Start(options, (project,), [], folder, launcher, 0.0)


def test_it_shows_what_runs_where_its_state_is_and_no_secret(project: Project) -> None:
    out, err = shown(project)

    assert out.splitlines()[:5] == [
        "shop (wrangler.jsonc), target cloudflare",
        "  Python 3.13.1: the project's .venv",
        "  Workflow orders: class Orders, reached by env.ORDERS",
        "  Variables REGION and secrets API_KEY",
        "  State .celld/state (survives kill -9)",
    ]
    assert "do-not-show" not in out + err


def test_it_says_what_the_state_survives(project: Project) -> None:
    out, _ = shown(project, durability="power")

    assert "(survives kill -9 and power loss)" in out


def test_it_says_what_goes_on_and_when_the_next_wakes(project: Project) -> None:
    soon = datetime.datetime.now().astimezone().replace(hour=23, minute=59, second=58, microsecond=0)
    far = soon.replace(year=2099)

    today, _ = shown(project, recovered=Recovered(1, 3, round(soon.timestamp() * 1000)))
    later, _ = shown(project, recovered=Recovered(2, 0, round(far.timestamp() * 1000)))
    none, _ = shown(project, recovered=Recovered(2, 1, None))

    assert "  1 instance taken up again, 3 waiting, the next wakes at 23:59:58\n" in today
    assert f"  2 instances taken up again, 0 waiting, the next wakes at {far:%Y-%m-%d} 23:59:58\n" in later
    assert "  2 instances taken up again, 1 waiting\n" in none


@pytest.mark.parametrize("damage", [None, DamagedCatalog("c.db", "c.db.damaged", "malformed")], ids=["lost", "damaged"])
def test_it_says_that_the_catalog_was_made_again(project: Project, damage: DamagedCatalog | None) -> None:
    _, err = shown(project, repair=Repair(damage, Rebuilt(2, [])))

    what = "The catalog was missing." if damage is None else str(damage)
    assert f"warning: {what} It was made again from the journals: 2 instances found.\n" in err
    assert err.count("warning:") == 1


def test_it_names_each_journal_that_the_new_catalog_lacks(project: Project) -> None:
    unreadable: list[StoreError] = [DamagedJournal("a.db", "a.db.damaged", "malformed"), NewerStore("b.db", 2, 1)]

    _, err = shown(project, repair=Repair(None, Rebuilt(1, unreadable)))

    assert err.splitlines() == [
        "warning: The catalog was missing. It was made again from the journals: 1 instance found.",
        *(f"warning: An instance was left out of it. {error}" for error in unreadable),
    ]
    assert "a.db.damaged" in err


def test_it_says_what_expired(project: Project) -> None:
    some, _ = shown(project, recovered=Recovered(0, 0, None, 3))
    none, _ = shown(project)

    assert "  Expired while the server was down: 3 instances, deleted now\n" in some
    assert "xpired" not in none


def schedules_shown(project: Project, *, on: bool, format: Any = "text") -> str:
    """What is printed of a Workflow that runs at three each night."""
    out = io.StringIO()
    (orders,) = project.workflows
    scheduled = dataclasses.replace(project, workflows=(dataclasses.replace(orders, schedules=("0 3 * * 1",)),))
    at = 1_700_000_000_000
    next_times = dict.fromkeys(entries_of(scheduled), at) if on else {}
    start = started(scheduled, Options(project.root, schedules=on))
    banner.show_schedules(Terminal.over(out, io.StringIO(), format, {}), start, next_times)
    return out.getvalue()


def test_each_schedule_is_shown_with_its_next_time_in_utc(project: Project) -> None:
    assert schedules_shown(project, on=True) == "  Schedule 0 3 * * 1 of orders: next Tue 2023-11-14 22:13 UTC\n"
    assert '{"kind": "schedule", "workflow": "orders", "cron": "0 3 * * 1", "next": 1700000000000}' in schedules_shown(
        project, on=True, format="json"
    )


def test_schedules_that_are_off_are_named(project: Project) -> None:
    assert schedules_shown(project, on=False) == "  Schedules are off (--no-schedules): 0 3 * * 1 of orders\n"


def test_programs_get_one_object(project: Project) -> None:
    out, _ = shown(project, format="json", recovered=Recovered(1, 2, 3))

    assert (
        '{"kind": "started", "project": "shop", "workflows": ["orders"], "resumed": 1, "waiting": 2, "next_wake": 3}'
        in out
    )


def test_a_missing_class_is_an_error_that_says_what_is_there(project: Project) -> None:
    assert banner.missing_classes(project, ["Orders", "Other"]) is None

    missing = banner.missing_classes(project, ["Other", "Another"])
    none = banner.missing_classes(project, [])

    assert missing is not None
    assert none is not None
    assert missing.message == "entry.py lacks a WorkflowEntrypoint that wrangler.jsonc names."
    assert missing.detail == 'Workflow "orders" needs the class Orders\nentry.py has Another, Other'
    assert missing.code == "missing_class"
    assert none.detail == 'Workflow "orders" needs the class Orders\nentry.py has none'


def test_the_address_is_one_that_a_browser_takes() -> None:
    assert banner.url("127.0.0.1", 8787) == "http://127.0.0.1:8787"
    assert banner.url("::1", 8787) == "http://[::1]:8787"
