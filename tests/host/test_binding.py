"""``create``, ``createBatch``, ``get`` and ``deleteBatch``, case by case of Cloudflare's behaviour (C001-C043)."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from runtime.store import Key, MemoryStore, StoreUnusable
from tests.host.conftest import Hosts
from tests.host.fake_isolate import FakeIsolate
from tests.host.world import Host, refusal
from workers_shim.wire import devalue
from workers_shim.wire.neutral import UNDEFINED, Date, Map

pytestmark = pytest.mark.asyncio

A = Key("wf", "a")
INVALID_ID = "WorkflowError: Workflow instance has invalid id"
INVALID_ARGUMENT = "WorkflowError: (body) Provided argument is invalid"
NOT_FOUND = "instance.not_found"
BAD_INSTANCE_ID = "WorkflowError: (instance.invalid_id) Instance ID is invalid"
BAD_DURATION = (
    "WorkflowError: (body) Duration must be a number or a string in format '{{number}} {{unit}}' "
    "where unit is second(s), minute(s), etc."
)
MiB = 1 << 20


async def count(host: Host) -> int:
    """How many instances there are."""
    return len(await host.store.catalog.list())


# --------------------------------------------------------------------------------------------------------------- create


@pytest.mark.parametrize("id", ["a", "_a", "0", "A-b_c", "x" * 100], ids=lambda id: id[:10])
async def test_c001_c004_c006_a_valid_id_is_taken(host: Host, id: str) -> None:
    assert await host.bind("create", {"id": id}) == {"id": id}


@pytest.mark.parametrize(
    "id", ["", "-a", "a b", "a.b", "é", "x" * 101, 5, None, True, [], {}, "a\n"], ids=lambda id: repr(id)[:10]
)
async def test_c002_c003_c005_c007_c008_an_invalid_id_is_refused(host: Host, id: Any) -> None:
    assert await refusal(host, "create", {"id": id}) == INVALID_ID
    assert await count(host) == 0


@pytest.mark.parametrize("args", [[], [UNDEFINED], [None], [{}]], ids=repr)
async def test_c009_without_an_id_one_is_made_up(host: Host, args: list[Any]) -> None:
    made = await host.bind("create", *args)

    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", made["id"])


async def test_c010_without_params_the_payload_is_an_empty_object(host: Host, isolate: FakeIsolate) -> None:
    await host.bind("create", {"id": "a"})

    assert isolate.told("start")[0]["event"]["payload"] == "[{}]"


async def test_c011_c012_params_reach_the_run_as_they_are(host: Host, isolate: FakeIsolate) -> None:
    params = devalue.stringify({"a": 1, "when": Date(0), "map": Map([("k", 1)])})

    await host.bind("create", {"id": "a", "params": params})

    (start,) = isolate.told("start")
    assert start["event"] == {"payload": params, "timestamp": host.clock.now()}
    assert (start["instance"], start["workflow"]) == ("a", "wf")


async def test_c013_c014_create_does_not_wait_for_the_run(host: Host) -> None:
    assert await host.bind("create", {"id": "a"}) == {"id": "a"}
    assert await host.status() == "queued"


async def test_c015_c016_an_existing_id_is_refused_whatever_became_of_its_instance(host: Host, code: Any) -> None:
    text = 'WorkflowError: (instance.already_exists) Workflow instance with id "a" already exists'
    run = await code()

    assert await refusal(host, "create", {"id": "a"}) == text
    run.done()
    assert await refusal(host, "create", {"id": "a"}) == text


async def test_c018_after_delete_the_id_is_free(host: Host, isolate: FakeIsolate, code: Any) -> None:
    await code()
    await host.bind("delete", "a")

    assert await host.bind("create", {"id": "a"}) == {"id": "a"}
    assert len(isolate.codes("a")) == 2


async def test_c019_create_accepts_and_ignores_a_bad_retention_or_location_hint(host: Host) -> None:
    options = {"id": "a", "retention": {"successRetention": "zz"}, "locationHint": "mars"}

    assert await host.bind("create", options) == {"id": "a"}
    assert "retention.successRetention of create() is not used: 'zz' is no duration." in host.err.getvalue()


@pytest.mark.parametrize("options", [[], "a", 5, True])
async def test_options_that_are_no_object_are_refused(host: Host, options: Any) -> None:
    assert await refusal(host, "create", options) == INVALID_ARGUMENT


@pytest.mark.parametrize(("size", "fits"), [(MiB, True), (MiB + 1, False)])
async def test_params_are_at_most_1_mib(host: Host, size: int, fits: bool) -> None:
    options = {"id": "a", "params": devalue.stringify("x" * size)}

    if fits:
        assert await host.bind("create", options) == {"id": "a"}
    else:
        text = "WorkflowError: (body) The payload exceeds the maximum size of 1MiB"
        assert await refusal(host, "create", options) == text


# --------------------------------------------------------------------------------------------------- createBatch, array


async def test_c021_an_empty_batch_is_refused(host: Host) -> None:
    assert await refusal(host, "createBatch", []) == "WorkflowError: batchCreate should have at least 1 instance"


async def test_c022_more_than_100_instances_are_refused(host: Host) -> None:
    text = "WorkflowError: batchCreate only supports 100 instances at a time"

    assert await refusal(host, "createBatch", [{}] * 101) == text
    assert len(await host.bind("createBatch", [{}] * 100)) == 100


async def test_c023_handles_come_in_the_order_of_the_batch(host: Host, isolate: FakeIsolate) -> None:
    batch = [{"id": "b", "params": "[1]"}, {"id": "a", "params": "[2]"}]

    assert await host.bind("createBatch", batch) == [{"id": "b"}, {"id": "a"}]
    assert [start["event"]["payload"] for start in isolate.told("start")].count("[1]") == 1


async def test_c024_existing_and_repeated_ids_are_left_out(host: Host, isolate: FakeIsolate, code: Any) -> None:
    await code("old")
    batch = [{"id": "old"}, {"id": "new", "params": "[1]"}, {"id": "new", "params": "[2]"}]

    assert await host.bind("createBatch", batch) == [{"id": "new"}]
    assert isolate.codes("new")[0].start["event"]["payload"] == "[1]"


async def test_c025_one_invalid_id_refuses_the_whole_batch(host: Host) -> None:
    assert await refusal(host, "createBatch", [{"id": "a"}, {"id": "b c"}]) == INVALID_ID
    assert await count(host) == 0


async def test_an_item_that_is_no_object_refuses_the_whole_batch(host: Host) -> None:
    assert await refusal(host, "createBatch", [{"id": "a"}, "b"]) == INVALID_ARGUMENT
    assert await count(host) == 0


# -------------------------------------------------------------------------------------------------- createBatch, object


async def test_c026_a_count_makes_as_many_instances_with_ids_of_their_own(host: Host, isolate: FakeIsolate) -> None:
    made = await host.bind("createBatch", {"count": 2, "params": '["p"]'})

    ids = {one["id"] for one in made["created"]}
    assert (len(ids), made["errors"]) == (2, [])
    assert [start["event"]["payload"] for start in isolate.told("start")] == ['["p"]'] * 2


@pytest.mark.parametrize("number", [0, -1, 1.5, "2", None, True, math.nan, math.inf], ids=repr)
async def test_c027_a_count_that_is_no_positive_integer_is_refused(host: Host, number: Any) -> None:
    text = "WorkflowError: (body) count must be a positive integer"

    assert await refusal(host, "createBatch", {"count": number}) == text


async def test_c028_a_count_of_more_than_100_is_refused(host: Host) -> None:
    text = "WorkflowError: (body) batchCreate only supports 100 instances at a time"

    assert await refusal(host, "createBatch", {"count": 101}) == text


@pytest.mark.parametrize("size", [0, 101])
async def test_c029_a_list_of_none_or_of_more_than_100_is_refused(host: Host, size: int) -> None:
    text = "WorkflowError: (body) Batch size exceeds maximum allowed"

    assert await refusal(host, "createBatch", {"instances": [{}] * size}) == text


@pytest.mark.parametrize(
    "args",
    [[], [{}], [None], [UNDEFINED], ["a"], [{"x": 1}], [{"instances": 5}], [{"instances": ["a"]}]],
    ids=repr,
)
async def test_c030_what_is_neither_a_count_nor_a_list_of_instances_is_refused(host: Host, args: list[Any]) -> None:
    assert await refusal(host, "createBatch", *args) == INVALID_ARGUMENT


async def test_c031_what_exists_and_what_is_repeated_is_reported(host: Host, code: Any) -> None:
    await code("b1")

    answer = await host.bind("createBatch", {"instances": [{"id": "b1"}, {"id": "b5"}, {"id": "b5"}, {"id": "b1"}]})

    exists = {"code": 10405, "message": "workflows.api.error.instance.already_exists"}
    repeated = {"code": 10415, "message": "workflows.api.error.instance.duplicate_in_batch"}
    assert answer == {
        "created": [{"id": "b5"}],
        "errors": [
            {"index": 0, "id": "b1", **exists},
            {"index": 2, "id": "b5", **repeated},
            {"index": 3, "id": "b1", **repeated},
        ],
    }


@pytest.mark.parametrize("id", ["batch", "terminate", "terminateAll", f"cf_{'0a' * 32}", "a b", "", "x" * 101])
async def test_c032_bad_and_reserved_ids_refuse_the_whole_batch(host: Host, id: str) -> None:
    assert await refusal(host, "createBatch", {"instances": [{"id": "ok"}, {"id": id}]}) == BAD_INSTANCE_ID
    assert await count(host) == 0


async def test_c032_only_the_object_form_knows_reserved_ids(host: Host) -> None:
    assert await host.bind("createBatch", [{"id": "batch"}]) == [{"id": "batch"}]
    assert await host.bind("create", {"id": "terminate"}) == {"id": "terminate"}


@pytest.mark.parametrize("duration", ["zz", 0, -1, 1.5, True, None, "0 seconds", "-5 seconds", math.nan, math.inf])
async def test_c033_a_retention_that_is_no_duration_is_refused(host: Host, duration: Any) -> None:
    retention = {"successRetention": duration}

    assert await refusal(host, "createBatch", {"count": 1, "retention": retention}) == BAD_DURATION
    assert await refusal(host, "createBatch", {"instances": [{"retention": retention}]}) == BAD_DURATION


@pytest.mark.parametrize("duration", [1, "1 day", "1.5 hours", "500"])
async def test_c033_a_duration_is_taken(host: Host, duration: Any) -> None:
    answer = await host.bind("createBatch", {"count": 1, "retention": {"errorRetention": duration}})

    assert answer["errors"] == []


async def test_c034_an_unknown_location_is_refused(host: Host) -> None:
    text = (
        'WorkflowError: (body) Invalid option: expected one of "wnam"|"weur"|"enam"|"eeur"|"apac"|"apac-ne"|"apac-se"'
        '|"oc"|"sam"|"afr"|"me"'
    )

    assert await refusal(host, "createBatch", {"count": 1, "locationHint": "mars"}) == text
    assert (await host.bind("createBatch", {"count": 1, "locationHint": "weur"}))["errors"] == []


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"id": 5}, "expected string, received number"),
        ({"id": None}, "expected string, received null"),
        ({"id": True}, "expected string, received boolean"),
        ({"id": []}, "expected string, received array"),
        ({"id": {}}, "expected string, received object"),
        ({"retention": "1 day"}, "expected object, received string"),
    ],
    ids=repr,
)
async def test_an_option_of_the_wrong_kind_is_named(host: Host, options: dict[str, Any], text: str) -> None:
    message = await refusal(host, "createBatch", {"instances": [options]})

    assert message == f"WorkflowError: (body) Invalid input: {text}"


# ----------------------------------------------------------------------------------------------------- get, deleteBatch


@pytest.mark.parametrize("args", [["nobody"], [""], ["bad id!"], [5], [None], []], ids=repr)
async def test_c035_what_does_not_exist_is_not_found(host: Host, args: list[Any]) -> None:
    assert await refusal(host, "get", *args) == NOT_FOUND


async def test_c036_a_finished_instance_is_found_and_not_woken(host: Host, code: Any) -> None:
    (await code()).done()

    assert await host.bind("get", "a") == {"id": "a"}
    assert await host.in_memory() == 0


async def test_c037_each_position_has_an_outcome_and_each_instance_is_deleted_once(host: Host, code: Any) -> None:
    await code("d")

    answer = await host.bind("deleteBatch", ["d", "missing", "d"])

    missing = {"id": "missing", "code": 10400, "message": "workflows.api.error.instance.not_found"}
    assert answer == {"deleted": [{"id": "d"}, {"id": "d"}], "errors": [missing]}
    assert await count(host) == 0


async def test_c038_an_empty_list_of_ids_is_refused(host: Host) -> None:
    text = "WorkflowError: (body) batchDeleteInstances should have at least 1 instance"

    assert await refusal(host, "deleteBatch", []) == text


async def test_c039_more_than_100_ids_are_refused(host: Host) -> None:
    text = "WorkflowError: (body) batchDeleteInstances only supports 100 instances at a time"

    assert await refusal(host, "deleteBatch", ["bad!"] * 101) == text


@pytest.mark.parametrize("id", ["bad!", "", "x" * 272, 5, None, "a?"])
async def test_c040_one_bad_id_refuses_all(host: Host, code: Any, id: Any) -> None:
    await code()

    assert await refusal(host, "deleteBatch", ["a", id]) == BAD_INSTANCE_ID
    assert await count(host) == 1


@pytest.mark.parametrize("args", [[], [UNDEFINED], [None], ["a"], [{}]], ids=repr)
async def test_c041_ids_that_are_no_list_are_refused(host: Host, args: list[Any]) -> None:
    assert await refusal(host, "deleteBatch", *args) == INVALID_ARGUMENT


async def test_c042_ids_of_scheduled_instances_can_be_deleted(host: Host) -> None:
    answer = await host.bind("deleteBatch", ["*/30 * * * *-1786001400000"])

    assert answer["errors"][0]["code"] == 10400


async def test_c043_what_goes_wrong_inside_is_a_code_for_the_caller_and_a_text_for_the_developer(hosts: Hosts) -> None:
    store = MemoryStore()
    host = hosts(store)
    await host.create("a", "b")

    def hook(point: str, key: Key | None) -> None:
        if point == "delete.before_file" and key == A:
            raise StoreUnusable("a.db", "I/O error")

    store.journals._hook = hook
    answer = await host.bind("deleteBatch", ["a", "b"])
    store.journals._hook = lambda point, key: None

    assert answer == {
        "deleted": [{"id": "b"}],
        "errors": [{"id": "a", "code": 10001, "message": "workflows.api.error.internal_server"}],
    }
    assert "a.db cannot be used: I/O error" in host.err.getvalue()
    await host.instances.delete(A)
