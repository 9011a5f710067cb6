"""Streams that steps return: taken in while they arrive, given out again as often as they are read.

The bytes go block by block into the instance's own file, beside its journal, and only when all are committed does the
attempt end with a value that names them (I1). So a stream of which the journal knows is whole; of any other the blocks
are deleted: by whoever took them in when the attempt is given up, else when the instance is next brought into memory.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import suppress

from msgspec.structs import replace

from runtime.engine import commands as cmd
from runtime.engine.events import StepCompleted
from runtime.engine.failures import STORAGE_LIMIT, Failure, bad_stream
from runtime.isolates.streams import BrokenStream, StoredStream
from runtime.store import StoreError
from runtime.store.types import JournalStore, Key, Stream
from workers_shim.wire import devalue
from workers_shim.wire.neutral import ReadableStream

from .instance import Instance
from .instances import Instances, NotFound
from .previews import HEAD, preview
from .run import Run

BLOCK = 256 << 10  # bytes; the size that the local engine has


class StreamGone(Exception):
    """The stream was deleted while it was read: its instance began anew, or is gone."""


class Streams:
    """The streams of all instances; what `runtime.isolates.streams.StreamStore` asks for."""

    def __init__(self, instances: Instances, journals: JournalStore) -> None:
        self._instances = instances
        self._journals = journals
        self._arriving: dict[tuple[Key, Stream], Arrival] = {}

    # -------------------------------------------------------------------------------------------------------- in

    async def store(self, run: int, call: int, attempt: int, body: AsyncIterable[bytes]) -> bool:
        """Store what an attempt returns, as it comes; the attempt ends with it. False when nobody waits for it."""
        arrival = self._arrival(run, call, attempt)
        if arrival is None:
            return False
        self._arriving[arrival.id] = arrival
        whole = False
        try:
            whole = await self._take_in(arrival, body)
        except BrokenStream as broken:
            if arrival.wanted:
                arrival.refuse(replace(bad_stream(arrival.step_name, broken.detail), detail=broken.stack))
        except StoreError as error:
            if arrival.wanted:
                arrival.instance.fail(error)
        finally:
            del self._arriving[arrival.id]
            if not whole:
                await arrival.drop()
        return whole and await arrival.complete()

    def _arrival(self, number: int, call: int, attempt: int) -> Arrival | None:
        instance = self._instances.runs.owner(number)
        run = None if instance is None else instance.run
        step = None if run is None or run.id != number else run.calls.get(call)
        if instance is None or run is None or step is None:
            return None
        arrival = Arrival(instance, run, Stream(step, attempt))
        return arrival if arrival.wanted and arrival.id not in self._arriving else None

    async def _take_in(self, arrival: Arrival, body: AsyncIterable[bytes]) -> bool:
        """True when all of it is stored, and still wanted."""
        if not self._instances.rules(arrival.instance.key.workflow).streams:
            return True  # the engine refuses it, whatever is in it
        async for piece in body:
            arrival.add(piece)
            if not self._has_room(arrival.instance):
                arrival.refuse(STORAGE_LIMIT)
                return False
            while arrival.wanted and len(arrival.buffer) >= BLOCK:
                await arrival.put_block()
            if not arrival.wanted:
                return False
        if arrival.buffer:
            await arrival.put_block()
        return arrival.wanted

    def _has_room(self, instance: Instance) -> bool:
        arriving = sum(arrival.size for arrival in self._arriving.values() if arrival.instance is instance)
        return instance.state.has_room("", self._instances.rules(instance.key.workflow).max_state, arriving)

    # ------------------------------------------------------------------------------------------------------- out

    async def open(self, workflow: str, instance: str, step: int, attempt: int) -> StoredStream | None:
        """A stream that a step has returned; None when there is none, or none any more."""
        key = Key(workflow, instance)
        try:
            state = await self._instances.state(key)
        except NotFound:
            return None
        record = state.records.get(step)
        if record is None or record.stream is None or record.attempt != attempt:
            return None
        return StoredStream(record.stream, self._read(key, Stream(step, attempt), record.stream))

    async def _read(self, key: Key, stream: Stream, size: int) -> AsyncIterator[bytes]:
        number = 0
        while size > 0:
            journal = await self._journals.open(key)  # for each block: a slow reader is to keep no file open
            try:
                data = await journal.read_block(stream, number)
            finally:
                self._journals.release(journal)
            if data is None:
                raise StreamGone
            yield data
            size -= len(data)
            number += 1


class Arrival:
    """One stream that is being taken in."""

    def __init__(self, instance: Instance, run: Run, stream: Stream) -> None:
        self.instance = instance
        self.id = (instance.key, stream)
        self.size = 0
        self.buffer = bytearray()
        self._run = run
        self._stream = stream
        self._head = b""
        self._blocks = 0

    @property
    def wanted(self) -> bool:
        """Whether its attempt still runs: a late one is not heard (I3)."""
        record = self.instance.state.open.get(self._stream.step)
        return (
            self.instance.run is self._run
            and record is not None
            and record.live
            and record.attempt == self._stream.attempt
        )

    def add(self, piece: bytes) -> None:
        """More of it has come."""
        self.buffer += piece
        self.size += len(piece)
        if len(self._head) < HEAD:
            self._head += piece[: HEAD - len(self._head)]

    async def put_block(self) -> None:
        """Commit what has come, up to a block's size."""
        data = bytes(self.buffer[:BLOCK])
        del self.buffer[:BLOCK]
        await self.instance.journal.put_block(self._stream, self._blocks, data)
        self._blocks += 1

    @property
    def step_name(self) -> str:
        return self.instance.state.records[self._stream.step].name

    def refuse(self, error: Failure) -> None:
        """No code may go on from this stream: the instance ends."""
        self.instance.tell(cmd.AttemptFinished(*self._stream, error=error, fatal=True), self._run)

    async def complete(self) -> bool:
        """End the attempt with a value that names the stream; False when that comes too late after all."""
        run, value = self._run, ReadableStream(*self._stream, self.size, preview(self._head, self.size))
        run.stirs()
        run.over(self._stream.step)
        text = devalue.stringify(value)
        command = cmd.AttemptFinished(*self._stream, output=text, stream=self.size, held=run.moving)
        try:
            decision = await self.instance.ask(command)
        except Exception:
            return False  # the instance was stopped or deleted, and whoever did that has said so
        if any(isinstance(event, StepCompleted) for event in decision.events):
            return True
        await self.drop()
        return False

    async def drop(self) -> None:
        """Delete what was committed of it."""
        with suppress(StoreError):  # then it is deleted when the instance is brought into memory again
            await self.instance.journal.drop_stream(self._stream)
