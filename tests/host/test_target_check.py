from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runtime.engine.rules import CELLD, CLOUDFLARE
from runtime.host.options import Options
from runtime.host.projects import open_project
from runtime.host.target_check import TargetError, refused_keys
from runtime.host.workflows import workflows_of
from wrangler_compat import Project

PLAIN: dict[str, Any] = {"name": "orders", "binding": "ORDERS", "class_name": "Orders"}


def opened(folder: Path, target: Any, **config: Any) -> Project:
    (folder / "entry.py").touch()
    settings = {
        "name": "w",
        "main": "entry.py",
        "compatibility_date": "2026-11-01",
        "compatibility_flags": ["python_workers"],
    }
    (folder / "wrangler.json").write_text(json.dumps(settings | config))
    return open_project(Options(folder, target=target), {})


def refusal(folder: Path, **config: Any) -> TargetError:
    with pytest.raises(TargetError) as caught:
        opened(folder, "celld", **config)
    return caught.value


@pytest.mark.parametrize(
    ("setting", "advice"),
    [
        (
            {"schedules": "0 3 * * *"},
            "workflows[0].schedules: remove it, and create instances from a Cron Trigger (triggers.crons)",
        ),
        ({"limits": {"steps": 500}}, "workflows[0].limits: remove it; the target has a cap of its own"),
        (
            {"script_name": "other"},
            "workflows[0].script_name: remove the binding; only workflows of this Worker can be bound",
        ),
    ],
)
def test_celld_refuses_at_start_with_file_key_and_what_to_do(
    tmp_path: Path, setting: dict[str, Any], advice: str
) -> None:
    error = refusal(tmp_path, workflows=[PLAIN | setting])

    assert error.message == "The target celld refuses what wrangler.json sets."
    assert error.detail == f"{tmp_path / 'wrangler.json'}\n{advice}"
    assert error.hint == "Or run the project for the other target: --target cloudflare."
    assert (error.code, error.exit_code) == ("target", 2)


def test_everything_that_is_refused_is_named_in_one_go(tmp_path: Path) -> None:
    exports = {"Orders": {"type": "workflow", "name": "orders", "limits": {"steps": 5}, "schedules": ["0 3 * * *"]}}
    foreign = PLAIN | {"name": "far", "binding": "FAR", "script_name": "other"}

    error = refusal(tmp_path, exports=exports, workflows=[foreign])

    assert error.detail is not None
    assert [line.partition(":")[0] for line in error.detail.splitlines()[1:]] == [
        "exports.Orders.schedules",
        "exports.Orders.limits",
        "workflows[0].script_name",
    ]


def test_what_celld_does_without_is_said_and_left_out(tmp_path: Path) -> None:
    project = opened(tmp_path, "celld", workflows=[PLAIN | {"concurrency": {"limit": 2}}])

    (notice,) = [notice for notice in project.warnings if "concurrency" in notice.text]
    assert notice.text == (
        "workflows[0].concurrency: the target celld does not document it, "
        "so its instances are not held back here either"
    )
    assert workflows_of(project, "celld")[0].concurrency is None
    assert workflows_of(project, "cloudflare")[0].concurrency == 2


def test_cloudflare_takes_all_of_it(tmp_path: Path) -> None:
    settings = {"schedules": "0 3 * * *", "limits": {"steps": 500}, "concurrency": {"limit": 2}}

    project = opened(tmp_path, "cloudflare", workflows=[PLAIN | settings])

    assert not any("target" in notice.text for notice in project.warnings)
    assert workflows_of(project, "cloudflare")[0].rules.step_limit == 500


def test_the_own_name_as_script_name_is_no_other_worker(tmp_path: Path) -> None:
    assert opened(tmp_path, "celld", workflows=[PLAIN | {"script_name": "w"}]).workflows


def test_the_keys_that_a_target_refuses_come_from_its_table() -> None:
    assert refused_keys(CELLD) == ["schedules", "limits", "script_name"]
    assert refused_keys(CLOUDFLARE) == []


def test_an_export_whose_name_on_env_a_variable_has_is_refused_for_celld_only(tmp_path: Path) -> None:
    exports = {"Orders": {"type": "workflow", "name": "orders"}}

    error = refusal(tmp_path, exports=exports, vars={"Orders": "x"})

    assert error.detail is not None
    assert error.detail.splitlines()[1:] == [
        "exports.Orders: it becomes env.Orders, but that is a variable; rename one of them"
    ]
    opened(tmp_path, "cloudflare", exports=exports, vars={"Orders": "x"})
    opened(tmp_path, "celld", exports=exports, vars={"Orders": "x"}, workflows=[PLAIN])
