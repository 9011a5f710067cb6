from __future__ import annotations

import struct
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers_shim.wire import frames
from workers_shim.wire.frames import Data, End, Frame, FrameError, FrameReader, FrameWriter
from workers_shim.wire.messages import MAX_FRAME


def drain(writer: FrameWriter, limit: int = 1 << 16) -> bytes:
    taken = []
    while writer:
        taken.append(writer.take(limit))
    return b"".join(taken)


def read(data: bytes) -> list[Frame]:
    return FrameReader().feed(data)


def test_message_data_and_end_arrive() -> None:
    writer = FrameWriter()
    writer.message(b'{"t":"drain"}')
    writer.data(7, b"body")
    writer.end(7)
    assert read(drain(writer)) == [b'{"t":"drain"}', Data(7, b"body"), End(7)]
    assert not writer
    assert writer.pending == 0


def test_layout_of_a_small_message() -> None:
    writer = FrameWriter()
    writer.message(b"{}")
    assert writer.take(100) == b"\0\0\0\3\0{}"


@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(0, 400), max_size=12))
def test_any_split_of_the_bytes_gives_the_same_frames(messages: list[bytes], cuts: list[int]) -> None:
    writer = FrameWriter()
    for message in messages:
        writer.message(message)
        writer.data(1, message)
    writer.end(1)
    data = drain(writer)
    reader = FrameReader()
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    got = [frame for start, stop in pairwise(edges) for frame in reader.feed(data[start:stop])]
    assert got == read(data)


def test_frames_arrive_byte_by_byte() -> None:
    writer = FrameWriter()
    writer.message(b"x" * 300)
    writer.end(2)
    reader = FrameReader()
    got = [frame for byte in drain(writer) for frame in reader.feed(bytes([byte]))]
    assert got == [b"x" * 300, End(2)]


def test_a_large_message_is_cut_and_put_together() -> None:
    message = bytes(range(256)) * 1000
    writer = FrameWriter()
    writer.message(message, 1)
    data = drain(writer)
    assert read(data) == [message]
    assert len(data) > MAX_FRAME


def test_no_frame_has_more_than_the_limit_of_payload() -> None:
    writer = FrameWriter()
    writer.message(b"m" * (3 * MAX_FRAME))
    writer.data(1, b"d" * (3 * MAX_FRAME))
    data, start = drain(writer), 0
    while start < len(data):
        (length,) = struct.unpack_from("!I", data, start)
        assert length <= MAX_FRAME + 1
        start += 4 + length


def test_a_small_message_overtakes_large_ones_and_bodies() -> None:
    writer = FrameWriter()
    writer.message(b"b" * (10 * MAX_FRAME), 1)
    writer.data(1, b"d" * (10 * MAX_FRAME))
    first = writer.take(MAX_FRAME + 5)
    writer.message(b"{}", 2)
    assert writer.take(100) == b"\0\0\0\3\0{}"
    assert read(first + b"\0\0\0\3\0{}" + drain(writer)).count(b"{}") == 1


def test_large_messages_and_bodies_take_turns() -> None:
    writer = FrameWriter()
    writer.message(b"a" * (2 * MAX_FRAME), 1)
    writer.message(b"b" * (20 * MAX_FRAME), 2)
    writer.data(1, b"d" * MAX_FRAME)
    writer.end(1)
    got = read(drain(writer))
    assert [frame[:1] for frame in got if isinstance(frame, bytes)] == [b"a", b"b"]
    assert got.index(End(1)) < len(got) - 1


def test_a_lane_waits_for_its_large_message() -> None:
    writer = FrameWriter()
    large = b"L" * (2 * MAX_FRAME)
    writer.message(b"first", 1)
    writer.message(large, 1)
    writer.message(b"behind", 1)
    writer.message(large, 1)
    writer.message(b"last", 1)
    writer.message(b"other", 2)
    got = read(drain(writer))
    assert [frame for frame in got if frame != b"other"] == [b"first", large, b"behind", large, b"last"]
    assert got.index(b"other") == 1
    assert writer.pending == 0


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from([5, 100, MAX_FRAME, MAX_FRAME + 1, 2 * MAX_FRAME])), max_size=14
    ),
    st.integers(1, 3 * MAX_FRAME),
    st.integers(0, 5),
)
def test_no_lane_is_ever_reordered(sent: list[tuple[int, int]], limit: int, early: int) -> None:
    writer, reader = FrameWriter(), FrameReader()
    got: list[Frame] = []
    expected: dict[int, list[int]] = {}
    for number, (lane, size) in enumerate(sent):
        expected.setdefault(lane, []).append(number)
        writer.message(struct.pack("!BI", lane, number).ljust(size, b"."), lane)
        writer.data(lane, struct.pack("!I", number))
        if early:
            got += reader.feed(writer.take(limit))
    got += reader.feed(drain(writer, limit))
    arrived: dict[int, list[int]] = {}
    bodies: dict[int, bytes] = {}
    for frame in got:
        if isinstance(frame, bytes):
            lane, number = struct.unpack_from("!BI", frame)
            arrived.setdefault(lane, []).append(number)
        elif isinstance(frame, Data):
            bodies[frame.stream] = bodies.get(frame.stream, b"") + frame.data
    assert arrived == expected
    assert bodies == {lane: struct.pack(f"!{len(numbers)}I", *numbers) for lane, numbers in expected.items()}
    assert writer.pending == 0


@given(st.integers(1, 50), st.lists(st.integers(1, 5 * MAX_FRAME), min_size=1, max_size=4))
def test_a_large_message_never_holds_up_a_small_one(limit: int, sizes: list[int]) -> None:
    writer = FrameWriter()
    for lane, size in enumerate(sizes):
        writer.message(b"x" * (MAX_FRAME + size), lane)
    while writer.pending > 10:
        writer.take(limit)
        writer.message(b"now", 99)
        assert read(writer.take(limit)) == [b"now"]


@given(st.integers(6, 200_000))
def test_take_keeps_to_its_limit_when_more_than_one_frame_waits(limit: int) -> None:
    writer = FrameWriter()
    for size in (10, 1000, 50_000):
        writer.message(b"s" * size)
    writer.data(1, b"d" * 100_000)
    while writer:
        taken = writer.take(limit)
        assert len(taken) <= max(limit, MAX_FRAME + 5)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\0\0\0\0", "FRAME"),
        (struct.pack("!IB", MAX_FRAME + 2, 0), "a frame of 65538 bytes"),
        (struct.pack("!IB", 0xFFFFFFFF, 3), "a frame of 4294967295 bytes"),
        (b"\0\0\0\1\x09", "unknown type 9"),
        (b"\0\0\0\3\x04ab", "type 4 without its number"),
        (b"\0\0\0\6\x04\0\0\0\1x", "END frame with 1 bytes"),
    ],
)
def test_what_is_no_frame_is_refused(data: bytes, says: str) -> None:
    reader = FrameReader()
    if says == "FRAME":
        data, says = data + b"\0", "a frame of 0 bytes"
    with pytest.raises(FrameError, match=says):
        reader.feed(data)
    with pytest.raises(FrameError, match=says):
        reader.feed(b"\0\0\0\3\0{}")


def test_unfinished_messages_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MAX_MESSAGE", 1000)
    reader = FrameReader()
    part = struct.pack("!IBI", 5 + 400, frames.PART, 1) + b"x" * 400
    assert reader.feed(part + part) == []
    with pytest.raises(FrameError, match="more than 1000 bytes"):
        reader.feed(part)


def test_messages_are_bounded_each_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MAX_MESSAGE", 1000)
    reader = FrameReader()
    for number in range(frames.MAX_PARALLEL):
        assert reader.feed(struct.pack("!IBI", 5 + 1000, frames.PART, number) + b"x" * 1000) == []
    assert reader.feed(struct.pack("!IBI", 5, frames.LAST, 0)) == [b"x" * 1000]


def test_unfinished_messages_are_bounded_in_number() -> None:
    with pytest.raises(FrameError, match="more than 8 unfinished messages"):
        read(b"".join(struct.pack("!IBI", 5, frames.PART, number) for number in range(9)))


def test_however_many_large_messages_are_written_at_once_a_reader_takes_them() -> None:
    writer = FrameWriter()
    messages = [bytes([number]) * (3 * MAX_FRAME) for number in range(3 * frames.MAX_PARALLEL)]
    for number, message in enumerate(messages):
        writer.message(message, number % 5)
        writer.message(b"behind %d" % number, number % 5)
    got = read(drain(writer))
    assert sorted(got, key=repr) == sorted([*messages, *(b"behind %d" % n for n in range(len(messages)))], key=repr)
    assert writer.pending == 0


def test_large_values_of_runs_that_end_together_arrive() -> None:
    writer = FrameWriter()
    for lane in (1, 2):
        writer.message(b"x" * (40 * 1024 * 1024), lane)
    reader = FrameReader()
    sizes = []
    while writer:
        sizes += [len(frame) for frame in reader.feed(writer.take(1 << 20)) if isinstance(frame, bytes)]
    assert sizes == [40 * 1024 * 1024] * 2


def test_a_message_that_no_reader_would_take_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MAX_MESSAGE", MAX_FRAME * 2)
    with pytest.raises(FrameError, match="it may have 131072"):
        FrameWriter().message(b"x" * (MAX_FRAME * 2 + 1), 1)


def test_empty_bodies_have_only_an_end() -> None:
    writer = FrameWriter()
    writer.data(1, b"")
    writer.end(1)
    assert read(drain(writer)) == [End(1)]
