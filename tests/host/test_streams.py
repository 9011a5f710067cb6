"""Streams that steps return: whole in the store before the step is done, and gone when nobody can ask for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace

import pytest
from msgspec.structs import replace as replaced

from runtime.engine import commands as cmd
from runtime.engine.failures import STORAGE_LIMIT, bad_stream, not_serialisable
from runtime.engine.rules import CELLD
from runtime.host.streams import BLOCK, StreamGone
from runtime.isolates.streams import BrokenStream
from runtime.store import Key, MemoryStore, StoreFull, Stream
from runtime.store.memory import MemoryJournal
from tests.host.conftest import Hosts
from tests.host.fake_isolate import Code, FakeIsolate
from tests.host.virtual_clock import rest
from tests.host.world import WORKFLOW, Host, crash, rules
from workers_shim.wire.neutral import ReadableStream

pytestmark = pytest.mark.asyncio
A = Key("wf", "a")


async def pieces(*data: bytes) -> AsyncIterator[bytes]:
    for piece in data:
        yield piece


class Upload:
    """A stream that comes as the test wants it to."""

    def __init__(self, host: Host, code: Code, call: int, attempt: int = 1) -> None:
        self._pieces: asyncio.Queue[bytes | BaseException | None] = asyncio.Queue()
        self.task = asyncio.create_task(host.streams.store(code.run, call, attempt, self._body()))

    async def _body(self) -> AsyncIterator[bytes]:
        while (piece := await self._pieces.get()) is not None:
            if isinstance(piece, BaseException):
                raise piece
            yield piece

    async def comes(self, *pieces: bytes | BaseException | None) -> None:
        for piece in pieces:
            self._pieces.put_nowait(piece)
        await rest()


async def returned(host: Host, code: Code, data: Iterable[bytes], name: str = "a") -> int:
    """A whole step that returns a stream; its call."""
    call = code.do(name)
    assert await host.streams.store(code.run, call, 1, pieces(*data))
    await rest()
    return call


async def read(host: Host, step: int = 1, attempt: int = 1, id: str = "a") -> bytes | None:
    """All of a stored stream."""
    found = await host.streams.open("wf", id, step, attempt)
    if found is None:
        return None
    data = b"".join([block async for block in found.blocks])
    assert len(data) == found.size
    return data


def stored(host: Host, key: Key = A) -> dict[tuple[int, int], list[int]]:
    """The sizes of the blocks that a file holds, by step and attempt."""
    assert isinstance(host.store, MemoryStore)
    found: dict[tuple[int, int], list[int]] = {}
    for (stream, _), data in sorted(host.store.journals.blocks.get(key, {}).items()):
        found.setdefault((stream.step, stream.attempt), []).append(len(data))
    return found


# ------------------------------------------------------------------------------------------------------------------ in


async def test_the_caller_gets_what_names_the_stream_when_all_of_it_is_stored(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    upload = Upload(host, code, code.do())
    await upload.comes(b"hello ", b"", b"world")
    assert code.rets == {}

    await upload.comes(None)

    assert await upload.task
    assert code.rets == {1: ReadableStream(step=1, attempt=1, size=11, preview="hello world")}
    assert await host.kinds() == [
        *("created", "workflow_queued", "workflow_started", "workflow_running"),
        *("step_started", "attempt_started", "attempt_completed", "step_completed"),
    ]


async def test_bytes_are_cut_into_blocks_of_one_size_however_they_come(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    data = bytes(range(251)) * 3000  # 753,000 bytes

    await returned(host, code, [data[:100], data[100:600_000], data[600_000:]])

    assert stored(host) == {(1, 1): [BLOCK, BLOCK, len(data) - 2 * BLOCK]}
    assert await read(host) == data
    assert await read(host) == data


async def test_an_empty_stream_is_a_result_without_blocks(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)

    await returned(host, code, [b""])

    assert code.rets == {1: ReadableStream(1, 1, 0, "")}
    assert (stored(host), await read(host)) == ({}, b"")


async def test_no_more_is_read_than_the_disk_has_taken(
    host: Host, isolate: FakeIsolate, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = await host.code(isolate)
    journal = host.instances._live[A].journal
    slow = asyncio.Event()

    async def put_block(stream: Stream, number: int, data: bytes) -> None:
        await slow.wait()

    monkeypatch.setattr(journal, "put_block", put_block)
    upload = Upload(host, code, code.do())
    await upload.comes(b"x" * BLOCK, b"y", b"z")
    assert upload._pieces.qsize() == 2

    slow.set()
    await upload.comes(None)
    assert await upload.task


async def test_two_streams_of_one_instance_arrive_side_by_side(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    first, second = Upload(host, code, code.do("a")), Upload(host, code, code.do("b"))

    await second.comes(b"b", None)
    await first.comes(b"a", None)

    assert (await read(host, 1), await read(host, 2)) == (b"a", b"b")


async def test_a_stream_is_stored_once(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    call = code.do()
    first = Upload(host, code, call)
    await first.comes(b"x")
    assert not await host.streams.store(code.run, call, 1, pieces(b"y"))

    await first.comes(None)

    assert await read(host) == b"x"


# ----------------------------------------------------------------------------------------------------------- given up


async def test_i3_a_stream_of_nobody_is_not_read(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    call = code.do()
    for run, number, attempt in [(99, call, 1), (code.run, 99, 1), (code.run, call, 2)]:
        assert not await host.streams.store(run, number, attempt, pieces(b"x"))
    assert stored(host) == {}


async def test_draining_counts_as_part_of_the_attempt(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    call = code.do(config={"timeout": 1000, "retries": {"limit": 1, "delay": 0}})
    code.began(call)
    upload = Upload(host, code, call)
    await upload.comes(b"x" * BLOCK)
    assert stored(host) == {(1, 1): [BLOCK]}

    await host.later(1)
    assert code.execs == [(call, 1), (call, 2)]
    await upload.comes(b"y")

    assert not await upload.task
    assert stored(host) == {}
    assert await host.streams.store(code.run, call, 2, pieces(b"second"))
    assert (await read(host, attempt=1), await read(host, attempt=2)) == (None, b"second")


async def test_a_stream_that_is_whole_when_the_time_is_over_wins(
    host: Host, isolate: FakeIsolate, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = await host.code(isolate)
    call = code.do(config={"timeout": 1000})
    code.began(call)
    upload = Upload(host, code, call)
    await host.later(0.999)

    await upload.comes(b"x", None)
    await host.later(1)

    assert await upload.task
    assert code.rets == {call: ReadableStream(1, 1, 1, "x")}


async def test_what_a_broken_connection_left_is_deleted(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    upload = Upload(host, code, code.do())

    await upload.comes(b"x" * BLOCK, ConnectionError("gone"))

    with pytest.raises(ConnectionError, match="gone"):
        await upload.task
    assert (stored(host), code.rets) == ({}, {})


async def test_c167_a_stream_that_is_broken_ends_the_instance_and_nothing_is_tried_again(
    host: Host, isolate: FakeIsolate
) -> None:
    code = await host.code(isolate)
    upload = Upload(host, code, code.do(config={"retries": {"limit": 5, "delay": 0}}))

    await upload.comes(b"x" * BLOCK, BrokenStream("Failed to read.", "Error: boom\n    at index.ts:3:4"))

    assert not await upload.task
    assert (code.execs, code.released, stored(host)) == ([(1, 1)], True, {})
    error = (await host.instances.state(A)).error
    assert error == replaced(bad_stream("a", "Failed to read."), detail="Error: boom\n    at index.ts:3:4")


async def test_a_broken_stream_of_an_attempt_that_was_given_up_ends_nothing(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    call = code.do(config={"timeout": 1000, "retries": {"limit": 1, "delay": 0}})
    code.began(call)
    upload = Upload(host, code, call)
    await host.later(1)

    await upload.comes(BrokenStream("Failed to read."))

    assert not await upload.task
    assert await host.status() == "running"


async def test_a_stream_goes_with_its_run(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    upload = Upload(host, code, code.do())
    await upload.comes(b"x" * BLOCK)

    isolate.dies()
    await upload.comes(b"y")

    assert not await upload.task
    assert stored(host) == {}


async def test_a_stream_that_ends_with_its_instance_is_deleted(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    upload = Upload(host, code, code.do())
    await upload.comes(b"x" * BLOCK)

    await host.instances.delete(A)
    await upload.comes(None)

    assert not await upload.task


async def test_a_full_disk_stops_the_instance_and_it_goes_on_later(
    host: Host, isolate: FakeIsolate, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = await host.code(isolate)
    journal = host.instances._live[A].journal
    assert isinstance(journal, MemoryJournal)

    async def put_block(stream: Stream, number: int, data: bytes) -> None:
        raise StoreFull("a.db")

    with monkeypatch.context() as full:
        full.setattr(journal, "put_block", put_block)
        assert not await host.streams.store(code.run, code.do(), 1, pieces(b"x"))
    assert "No space is left on the disk" in host.err.getvalue()
    assert code.released


# -------------------------------------------------------------------------------------------------------------- limits


async def test_a_stream_that_is_too_long_for_the_instance_ends_it_while_it_comes(host: Host) -> None:
    host.declare(replace(WORKFLOW, rules=rules(max_state=1000)))
    code = await host.code(host.serve())
    upload = Upload(host, code, code.do())
    await upload.comes(b"x" * 900)
    assert await host.status() == "running"

    await upload.comes(b"x" * 100)

    assert not await upload.task
    assert (await host.instances.state(A)).error == STORAGE_LIMIT
    assert stored(host) == {}


async def test_all_that_comes_at_once_has_to_fit(host: Host) -> None:
    host.declare(replace(WORKFLOW, rules=rules(max_state=1000)))
    code = await host.code(host.serve())
    first, second = Upload(host, code, code.do("a")), Upload(host, code, code.do("b"))
    await first.comes(b"x" * 500)

    await second.comes(b"x" * 500)

    assert (await host.instances.state(A)).error == STORAGE_LIMIT
    await first.comes(None)
    assert (await first.task, await second.task) == (False, False)


async def test_a_target_without_streams_ends_the_instance(host: Host) -> None:
    host.declare(replace(WORKFLOW, rules=CELLD))
    code = await host.code(host.serve())

    assert not await host.streams.store(code.run, code.do("a"), 1, pieces(b"x"))

    assert (await host.instances.state(A)).error == not_serialisable("a")
    assert stored(host) == {}


# ----------------------------------------------------------------------------------------------------------------- out


async def test_there_is_no_stream_but_those_that_results_name(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    await returned(host, code, [b"x"])
    code.step("plain", 1)
    await rest()
    for workflow, id, step, attempt in [("wf", "b", 1, 1), ("other", "a", 1, 1), ("wf", "a", 2, 1), ("wf", "a", 1, 2)]:
        assert await host.streams.open(workflow, id, step, attempt) is None


async def test_a_replay_gets_the_stream_that_the_journal_names(hosts: Hosts) -> None:
    host = hosts()
    code = await host.code(host.serve())
    await returned(host, code, [b"x" * BLOCK, b"y"])

    host = hosts(await crash(host))
    isolate = host.serve()
    await host.recover()

    (again,) = isolate.codes("a")
    text = code.heard[-1]["value"]
    assert ["v", "do", "a", 1, text] in again.start["journal"]
    assert await read(host) == b"x" * BLOCK + b"y"


async def test_a_finished_instance_still_has_its_streams(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    await returned(host, code, [b"x"])
    code.done()
    assert await host.in_memory() == 0

    assert await read(host) == b"x"


async def test_reading_holds_no_file_open_between_blocks(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    await returned(host, code, [b"x" * BLOCK, b"y"])
    code.done()
    await rest()
    found = await host.streams.open("wf", "a", 1, 1)
    assert found is not None
    assert await anext(found.blocks) == b"x" * BLOCK

    await host.store.journals.shut(A)
    assert isinstance(host.store, MemoryStore)
    assert host.store.journals.open_files == 0

    assert await anext(found.blocks) == b"y"


# ------------------------------------------------------------------------------------------------ restarts and crashes


async def test_a_restart_deletes_the_streams_that_it_forgets(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    await returned(host, code, [b"x"], "a")
    await returned(host, code, [b"y"], "b")

    await host.instances.ask(A, cmd.Restart("b", partial=True))
    await rest()
    assert stored(host) == {(1, 1): [1]}

    await host.instances.ask(A, cmd.Restart())
    await rest()
    assert stored(host) == {}


async def test_a_restart_deletes_no_stream_that_comes_after_it(
    host: Host, isolate: FakeIsolate, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = await host.code(isolate)
    await returned(host, code, [b"x"])
    journal = host.instances._live[A].journal
    look = journal.streams
    late = asyncio.Event()

    async def streams() -> set[Stream]:
        await late.wait()
        return await look()

    monkeypatch.setattr(journal, "streams", streams)
    await host.instances.ask(A, cmd.Restart())
    await rest()
    again = isolate.codes("a")[-1]
    upload = Upload(host, again, again.do())
    await upload.comes(b"z" * BLOCK)

    late.set()
    await rest()
    assert stored(host) == {(2, 1): [BLOCK]}
    await upload.comes(None)
    assert await read(host, 2) == b"z" * BLOCK


async def test_a_reader_is_told_that_its_stream_is_gone(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    await returned(host, code, [b"x" * BLOCK, b"y"])
    found = await host.streams.open("wf", "a", 1, 1)
    assert found is not None
    await anext(found.blocks)

    await host.instances.ask(A, cmd.Restart())
    await rest()

    with pytest.raises(StreamGone):
        await anext(found.blocks)


async def test_the_next_life_deletes_what_a_killed_host_had_not_finished(hosts: Hosts) -> None:
    host = hosts()
    code = await host.code(host.serve())
    await returned(host, code, [b"kept"], "a")
    upload = Upload(host, code, code.do("b"))
    await upload.comes(b"x" * BLOCK)
    store = await crash(host)
    upload.task.cancel()
    await rest()

    host = hosts(store)
    assert stored(host) == {(1, 1): [4], (2, 1): [BLOCK]}
    isolate = host.serve()
    await host.recover()

    assert stored(host) == {(1, 1): [4]}
    (again,) = isolate.codes("a")
    assert (again.do("a"), again.do("b")) == (1, 2)
    assert await host.streams.store(again.run, 2, 2, pieces(b"whole"))
    assert (await read(host, 1), await read(host, 2, 2)) == (b"kept", b"whole")


# --------------------------------------------------------------------------------------------------------------- shown


async def test_status_and_events_show_the_beginning(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    await returned(host, code, [b"hello world"])
    number = await host.bind("subscribe", "a", {"filter": ["step_completed"]})

    event = (await host.bind("next", number))["value"]

    assert event["stepName"] == "a-1"
    assert event["output"] == ReadableStream(1, 1, 11, "hello world")


async def test_a_sensitive_stream_is_not_shown(host: Host, isolate: FakeIsolate) -> None:
    code = await host.code(isolate)
    call = code.do(config={"sensitive": "output"})
    assert await host.streams.store(code.run, call, 1, pieces(b"secret"))
    number = await host.bind("subscribe", "a", {"filter": ["step_completed"]})

    assert (await host.bind("next", number))["value"]["output"] == "[REDACTED]"
