"""The rules P1-P16 of the projection onto celld, one test or more for each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.wrangler_compat.projection.flat import BASE, bound, projected, said, workflow
from wrangler_compat.code import read_code
from wrangler_compat.diagnostics import Diagnostics
from wrangler_compat.environments import resolve
from wrangler_compat.projection import ENTRY, project, restore


def test_p1_an_export_becomes_a_binding_named_after_its_class_in_the_order_of_the_map() -> None:
    found = projected(exports={"Zebra": workflow("zebra"), "Ape": workflow("ape")})

    assert found.config["workflows"] == [
        {"name": "zebra", "binding": "Zebra", "class_name": "Zebra"},
        {"name": "ape", "binding": "Ape", "class_name": "Ape"},
    ]
    assert [(row.path, row.becomes) for row in found.rows] == [
        (("exports", "Zebra"), "env.Zebra = zebra"),
        (("exports", "Ape"), "env.Ape = ape"),
    ]
    assert found.on_env == {"Zebra": "Zebra", "Ape": "Ape"}
    assert said(found) == []


def test_p2_schedules_are_refused_because_the_work_would_never_start() -> None:
    found = projected(exports={"Nightly": workflow("nightly", schedules=["0 3 * * *"])})

    assert said(found) == [("P2", "error", "exports.Nightly.schedules: celld would never start it.")]
    assert found.refusals[0].hint == (
        "Add a Cron Trigger (triggers.crons) whose handler creates the instance. Then pass --allow-drop."
    )


def test_p2_schedules_are_dropped_with_a_warning_when_that_is_allowed() -> None:
    found = projected(exports={"Nightly": workflow("nightly", schedules="0 3 * * *")}, allow_drop=True)

    assert found.refusals == ()
    assert said(found) == [("P2", "warning", "exports.Nightly.schedules: celld would never start it.")]
    assert found.config["workflows"] == [{"name": "nightly", "binding": "Nightly", "class_name": "Nightly"}]


def test_p3_limits_are_dropped_with_a_warning() -> None:
    found = projected(exports={"Onboarding": workflow("onboarding", limits={"steps": 500})})

    assert found.config["workflows"] == [{"name": "onboarding", "binding": "Onboarding", "class_name": "Onboarding"}]
    assert said(found) == [("P3", "warning", "exports.Onboarding.limits: celld has a cap of its own.")]


def test_p4_default_retention_is_dropped_with_a_warning() -> None:
    found = projected(exports={"Order": workflow("order", default_retention={"success_retention": "3 days"})})

    assert said(found) == [("P4", "warning", "exports.Order.default_retention: celld keeps instances for 30 days.")]
    assert "default_retention" not in found.text


def test_p5_concurrency_is_dropped_with_a_warning() -> None:
    found = projected(exports={"Order": workflow("order", concurrency={"limit": 5})})

    assert said(found) == [("P5", "warning", "exports.Order.concurrency: celld documents nothing like it.")]


def test_p5_jurisdiction_is_a_promise_and_refused_unless_its_loss_is_accepted() -> None:
    exports = {"Order": workflow("order", jurisdiction="eu")}

    assert [remark.rule for remark in projected(exports=exports).refusals] == ["P5"]
    assert projected(exports=exports, allow_drop=True).refusals == ()


def test_p6_of_a_binding_three_keys_stay_and_the_rest_goes_as_it_does_for_exports() -> None:
    settings: dict[str, Any] = {"limits": {"steps": 5}, "concurrency": {"limit": 1}, "schedules": "0 3 * * *", "odd": 1}

    found = projected(workflows=[{**settings, **bound("order", "ORDER", "Order")}])

    assert found.config["workflows"] == [{"name": "order", "binding": "ORDER", "class_name": "Order"}]
    assert [(rule, level) for rule, level, _ in said(found)] == [
        ("P3", "warning"),
        ("P5", "warning"),
        ("P2", "error"),
        ("P6", "warning"),
    ]
    assert [dropped.key for dropped in found.rows[0].dropped] == ["limits", "concurrency", "schedules", "odd"]


def test_p6_a_key_that_is_null_sets_nothing() -> None:
    assert said(projected(workflows=[bound("order", "ORDER", "Order", schedules=None)])) == []


def test_p7_a_binding_to_another_workers_workflow_is_refused_whatever_is_allowed() -> None:
    found = projected(workflows=[bound("bill", "BILL", "Bill", script_name="billing")], allow_drop=True)

    assert said(found) == [
        ("P7", "error", 'workflows[0]: env.BILL lives in the Worker "billing"; celld binds only own ones.')
    ]
    assert found.rows[0].becomes is None
    assert found.refusals[0].path == ("workflows", 0, "script_name")


def test_p8_a_script_name_that_is_the_workers_own_is_dropped() -> None:
    found = projected(workflows=[bound("order", "ORDER", "Order", script_name="shop")])

    assert found.config["workflows"] == [{"name": "order", "binding": "ORDER", "class_name": "Order"}]
    assert said(found) == [("P8", "note", "workflows[0].script_name: dropped, since it names this Worker.")]


def test_p8_the_own_name_is_that_of_the_environment() -> None:
    own: dict[str, Any] = {"env": {"prod": {"workflows": [bound("order", "ORDER", "Order", script_name="shop-prod")]}}}
    others: dict[str, Any] = {"env": {"prod": {"workflows": [bound("order", "ORDER", "Order", script_name="shop")]}}}

    assert projected("prod", **own).refusals == ()
    assert [remark.rule for remark in projected("prod", **others).refusals] == ["P7"]


def test_p9_the_binding_made_by_hand_stays_and_the_entry_knows_its_name() -> None:
    found = projected(workflows=[bound("order", "ORDER", "Order")], exports={"Order": workflow("order")})

    assert found.config["workflows"] == [{"name": "order", "binding": "ORDER", "class_name": "Order"}]
    assert found.on_env == {"Order": "ORDER"}
    assert said(found) == [
        ("P9", "note", "exports.Order: env.ORDER binds it already; ctx.exports.Order leads there."),
    ]


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        ({"kv_namespaces": [{"binding": "Order", "id": "1"}]}, "KV Namespace"),
        ({"vars": {"Order": "x"}}, "Environment Variable"),
        ({"secrets": {"required": ["Order"]}}, "Secret"),
        ({"queues": {"producers": [{"binding": "Order", "queue": "q"}]}}, "Queue"),
        ({"workflows": [bound("other", "Order", "Other")]}, "Workflow"),
    ],
)
def test_p10_a_class_name_that_another_binding_has_is_refused(config: dict[str, Any], kind: str) -> None:
    found = projected(exports={"Order": workflow("order")}, **config)

    assert said(found) == [("P10", "error", f"exports.Order: it becomes env.Order, but that is a {kind} binding.")]


def test_p10_with_a_binding_of_its_own_the_class_name_is_not_taken() -> None:
    found = projected(
        vars={"Order": "x"}, workflows=[bound("order", "ORDER", "Order")], exports={"Order": workflow("order")}
    )

    assert found.refusals == ()


@pytest.mark.parametrize("name", ["not-a-class", "3rd", "class", ""])
def test_p11_a_name_that_no_class_can_have_is_refused(name: str) -> None:
    found = projected(exports={name: workflow("order")})

    assert [remark.rule for remark in found.refusals] == ["P11"]
    assert found.refusals[0].text == f'exports.{name}: no class can be called "{name}".'


def test_p12_exports_of_other_types_pass_through_with_a_line_that_says_so() -> None:
    room = {"type": "durable-object", "storage": "sqlite"}
    admin = {"type": "worker", "cache": {"enabled": False}}

    found = projected(exports={"Room": room, "Order": workflow("order"), "Admin": admin})

    assert found.config["exports"] == {"Room": room, "Admin": admin}
    assert said(found) == [
        ("P12", "note", 'exports.Room: an export of the type "durable-object" is passed on as it is.'),
        ("P12", "note", 'exports.Admin: an export of the type "worker" is passed on as it is.'),
    ]
    assert [row.becomes for row in found.rows] == ["unchanged", "env.Order = order", "unchanged"]


def test_p12_without_others_there_are_no_exports() -> None:
    assert "exports" not in projected(exports={"Order": workflow("order")}).config


def test_p13_the_environment_is_flattened_first_and_the_result_has_none() -> None:
    found = projected(
        "prod",
        vars={"A": "top"},
        triggers={"crons": ["0 3 * * *"]},
        workflows=[bound("top", "TOP", "Top")],
        env={"prod": {"vars": {"A": "prod"}, "exports": {"Order": workflow("order-prod")}}},
    )

    assert found.config == {
        "name": "shop-prod",
        "main": f"src/{ENTRY}",
        "compatibility_date": "2026-11-01",
        "vars": {"A": "prod"},
        "workflows": [{"name": "order-prod", "binding": "Order", "class_name": "Order"}],
        "triggers": {"crons": ["0 3 * * *"]},
    }


def test_p13_inherited_exports_are_pointed_out_since_they_keep_their_names() -> None:
    found = projected("prod", exports={"Order": workflow("order")}, env={"prod": {}})

    assert found.config["workflows"] == [{"name": "order", "binding": "Order", "class_name": "Order"}]
    assert said(found) == [
        ("P13", "note", "env.prod has no exports of its own: it deploys the top level's, under the same names.")
    ]


def test_p14_without_a_main_module_there_is_nothing_to_deploy() -> None:
    found = projected(main=None)

    assert said(found) == [("P14", "error", 'There is no "main": nothing says which file is the Worker.')]


@pytest.mark.parametrize("main", ["../other/entry.py", "/srv/entry.py", "src/../../entry.py"])
def test_p14_the_main_module_must_be_in_the_project(main: str) -> None:
    assert [remark.rule for remark in projected(main=main).refusals] == ["P14"]


@pytest.mark.parametrize("main", ["src/my-worker.py", "src/class.py", f"src/{ENTRY}"])
def test_p14_the_generated_entry_must_be_able_to_import_the_main_module(main: str) -> None:
    assert [remark.rule for remark in projected(main=main, exports={"Order": workflow("order")}).refusals] == ["P14"]
    assert projected(main=main).refusals == ()


def test_p14_main_is_the_entry_only_when_something_is_exported() -> None:
    assert projected(main="./src/entry.py", workflows=[bound("a", "A", "A")]).config["main"] == "src/entry.py"
    assert projected(main="./src/entry.py", exports={"A": workflow("a")}).config["main"] == f"src/{ENTRY}"


def test_p15_the_result_is_strict_json_in_an_order_of_its_own() -> None:
    config = {"exports": {"Order": workflow("order")}, "vars": {"é": "ü \ud800"}, "observability": {"enabled": True}}
    data: dict[str, Any] = {"$schema": "node_modules/wrangler/config-schema.json", **config, **BASE}
    resolved = resolve(data, None, Diagnostics(Path("wrangler.jsonc")))

    text = project(resolved).text

    assert json.loads(text.encode("utf-8")) == {
        "name": "shop",
        "main": f"src/{ENTRY}",
        "compatibility_date": "2026-11-01",
        "vars": {"é": "ü \ud800"},
        "workflows": [{"name": "order", "binding": "Order", "class_name": "Order"}],
        "observability": {"enabled": True},
    }
    assert list(json.loads(text)) == ["name", "main", "compatibility_date", "vars", "workflows", "observability"]
    assert '"é": "ü \\ud800"' in text


def test_p15_what_json_cannot_hold_is_refused_with_its_place() -> None:
    found = projected(vars={"ENDLESS": float("inf")})

    assert said(found) == [("P15", "error", "vars: it holds a value that JSON has no word for, such as a date.")]


def test_p16_on_the_way_back_a_binding_with_its_classs_name_is_an_export_and_others_stay() -> None:
    exports = {"Order": workflow("order"), "Refund": workflow("refund"), "Room": {"type": "durable-object"}}
    there = projected(workflows=[bound("refund", "REFUND", "Refund")], exports=exports)

    back, rows = restore(there.config)

    assert back["exports"] == {"Order": workflow("order"), "Room": {"type": "durable-object"}}
    assert back["workflows"] == [bound("refund", "REFUND", "Refund")]
    assert [(row.path, row.becomes) for row in rows] == [
        (("workflows", 0), "unchanged"),
        (("workflows", 1), "exports.Order"),
    ]


def test_p16_there_and_back_again_is_the_same() -> None:
    there = projected(exports={"Order": workflow("order")}, vars={"A": 1}).config
    back, _ = restore(there)
    resolved = resolve({**back, "main": "src/entry.py"}, None, Diagnostics(Path("wrangler.json")))

    assert project(resolved).config == there


def test_a_class_that_the_code_lacks_is_refused(tmp_path: Path) -> None:
    main = tmp_path / "entry.py"
    main.write_text("from workers import WorkflowEntrypoint\nclass Order(WorkflowEntrypoint): ...\nclass Other: ...\n")
    config = {"exports": {name: workflow(name.lower()) for name in ("Order", "Other", "Gone")}}
    resolved = resolve({**BASE, **config}, None, Diagnostics(tmp_path / "wrangler.jsonc"))

    found = project(resolved, read_code(main, tmp_path))

    assert [remark.text for remark in found.refusals] == [
        f"exports.Other: the code has no Workflow class Other: what is exported under this name is none ({main}:3:1).",
        "exports.Gone: the code has no Workflow class Gone: it exports none of this name.",
    ]
