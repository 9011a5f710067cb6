"""Frames on the stream socket between host and isolate.

A frame is a big-endian u32 length of the rest, a u8 type, and a payload of at most `MAX_FRAME` bytes:

====  =======  ===================================================
type  name     payload
====  =======  ===================================================
0     MESSAGE  one whole JSON object
1     PART     u32 message number, a piece of a large message
2     LAST     u32 message number, the piece that completes it
3     DATA     u32 stream id, bytes of a body
4     END      u32 stream id
====  =======  ===================================================

Neither class does any I/O.
"""

from __future__ import annotations

from collections import deque
from struct import Struct
from typing import NamedTuple

from workers_shim.wire.messages import MAX_FRAME

MESSAGE, PART, LAST, DATA, END = range(5)

MAX_MESSAGE = 64 * 1024 * 1024  # bytes
MAX_TEXT = MAX_MESSAGE // 2 - MAX_FRAME  # characters of a value that fits into a message, each of them escaped
MAX_PARALLEL = 8  # large messages that one writer cuts, and one reader puts together, at a time

_HEAD = Struct("!IB")
_TAGGED = Struct("!IBI")
_NUMBER = Struct("!I")
_PIECE = MAX_FRAME - _NUMBER.size  # bytes that fit into a frame behind its number


class FrameError(Exception):
    """The other side sent something that is not a frame, or one that is too large."""


class Data(NamedTuple):
    """A piece of the body of a stream."""

    stream: int
    data: bytes


class End(NamedTuple):
    """The end of the body of a stream."""

    stream: int


Frame = bytes | Data | End  # bytes: a whole message


class FrameReader:
    """Cuts a byte stream into frames, however it arrives, and puts large messages together."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._need = _HEAD.size  # bytes that must be there before looking again pays
        self._parts: dict[int, bytearray] = {}
        self._error: FrameError | None = None

    def feed(self, data: bytes) -> list[Frame]:
        """Take what the socket gave; give what is complete. After a `FrameError` only errors follow."""
        if self._error is not None:
            raise self._error
        if self._rest:
            self._rest += data
            if len(self._rest) < self._need:
                return []
            data = bytes(self._rest)
            self._rest.clear()
        try:
            return self._cut(data)
        except FrameError as error:
            self._error = error
            raise

    def _cut(self, data: bytes) -> list[Frame]:
        frames: list[Frame] = []
        head, start, size = _HEAD.unpack_from, 0, len(data)
        need = _HEAD.size
        while size - start >= _HEAD.size:
            length, kind = head(data, start)
            if not 0 < length <= MAX_FRAME + 1:
                raise FrameError(f"a frame of {length} bytes; it must have 1 to {MAX_FRAME + 1}")
            stop = start + 4 + length
            if stop > size:
                need = 4 + length
                break
            if kind == MESSAGE:
                frames.append(data[start + 5 : stop])
            else:
                frame = self._numbered(kind, data, start + 5, stop)
                if frame is not None:
                    frames.append(frame)
            start = stop
        self._rest += data[start:]
        self._need = need
        return frames

    def _numbered(self, kind: int, data: bytes, start: int, stop: int) -> Frame | None:
        if kind > END:
            raise FrameError(f"a frame of unknown type {kind}")
        if stop - start < _NUMBER.size:
            raise FrameError(f"a frame of type {kind} without its number")
        (number,) = _NUMBER.unpack_from(data, start)
        payload = data[start + _NUMBER.size : stop]
        if kind == DATA:
            return Data(number, payload)
        if kind != END:
            return self._part(number, payload, kind == LAST)
        if payload:
            raise FrameError(f"an END frame with {len(payload)} bytes of payload")
        return End(number)

    def _part(self, number: int, piece: bytes, last: bool) -> bytes | None:
        message = self._parts.get(number)
        if message is None:
            if len(self._parts) == MAX_PARALLEL:
                raise FrameError(f"more than {MAX_PARALLEL} unfinished messages")
            message = self._parts[number] = bytearray()
        if len(message) + len(piece) > MAX_MESSAGE:
            raise FrameError(f"an unfinished message of more than {MAX_MESSAGE} bytes")
        message += piece
        if not last:
            return None
        del self._parts[number]
        return bytes(message)


class _Large:
    """A message being cut, and what waits behind it in its lane."""

    def __init__(self, number: int, data: bytes, lane: int | None) -> None:
        self.number = number
        self.data = memoryview(data)
        self.lane = lane
        self.behind: deque[bytes] = deque()

    def next_frame(self) -> bytes:
        piece, self.data = self.data[:_PIECE], self.data[_PIECE:]
        kind = PART if self.data else LAST
        return b"".join((_TAGGED.pack(5 + len(piece), kind, self.number), piece))


class _Stream:
    """The body chunks of one stream that are not yet written; None is its end."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.chunks: deque[memoryview | None] = deque()

    def next_frame(self) -> bytes:
        chunk = self.chunks.popleft()
        if chunk is None:
            return _TAGGED.pack(5, END, self.number)
        if len(chunk) > _PIECE:
            self.chunks.appendleft(chunk[_PIECE:])
            chunk = chunk[:_PIECE]
        return b"".join((_TAGGED.pack(5 + len(chunk), DATA, self.number), chunk))


class FrameWriter:
    """Decides what is written next.

    Small messages go first, in the order given. Large ones are cut, `MAX_PARALLEL` at a time; their parts and the
    bodies of streams take turns, one frame each. A lane (a workflow run) keeps its order: messages behind a large one
    wait for it.
    The order between a message and the body of a stream is not kept otherwise.
    """

    def __init__(self) -> None:
        self._small: deque[bytes] = deque()
        self._small_bytes = 0
        self._turns: deque[_Large | _Stream] = deque()
        self._cutting = 0  # large messages among them
        self._uncut: deque[_Large] = deque()  # large messages whose turns have not begun
        self._lanes: dict[int, _Large] = {}
        self._streams: dict[int, _Stream] = {}
        self._bulk_bytes = 0  # payload not yet framed, of large messages and streams
        self._next_number = 0

    def message(self, data: bytes, lane: int | None = None) -> None:
        """Add a whole message; ``lane`` keeps it behind the earlier ones of the same lane."""
        if len(data) > MAX_MESSAGE:
            raise FrameError(f"a message of {len(data)} bytes; it may have {MAX_MESSAGE}")
        ahead = self._lanes.get(lane) if lane is not None else None
        if ahead is not None:
            ahead.behind.append(data)
            self._bulk_bytes += len(data)
        elif len(data) > MAX_FRAME:
            self._cut(data, lane)
            self._bulk_bytes += len(data)
        else:
            self._add_small(data)

    def data(self, stream: int, data: bytes) -> None:
        """Add bytes to the body of a stream."""
        if data:
            self._stream(stream).chunks.append(memoryview(data))
            self._bulk_bytes += len(data)

    def end(self, stream: int) -> None:
        """End the body of a stream."""
        self._stream(stream).chunks.append(None)

    def take(self, limit: int) -> bytes:
        """Give the frames to write now: as many whole ones as fit into ``limit`` bytes, at least one if any wait."""
        if not self._turns and self._small_bytes <= limit:
            taken = b"".join(self._small)
            self._small.clear()
            self._small_bytes = 0
            return taken
        frames: list[bytes] = []
        size = 0
        while self:
            if self._small:
                if frames and size + len(self._small[0]) > limit:
                    break
                frame = self._small.popleft()
                self._small_bytes -= len(frame)
            elif frames and size + MAX_FRAME + _HEAD.size > limit:
                break
            else:
                frame = self._take_turn()
            frames.append(frame)
            size += len(frame)
        return b"".join(frames)

    @property
    def pending(self) -> int:
        """How many bytes wait, without the heads of frames that are not made yet."""
        return self._small_bytes + self._bulk_bytes

    def __bool__(self) -> bool:
        return bool(self._small or self._turns)

    def _add_small(self, data: bytes) -> None:
        frame = _HEAD.pack(len(data) + 1, MESSAGE) + data
        self._small.append(frame)
        self._small_bytes += len(frame)

    def _cut(self, data: bytes, lane: int | None) -> _Large:
        large = _Large(self._next_number, data, lane)
        self._next_number = (self._next_number + 1) & 0xFFFFFFFF
        self._uncut.append(large)
        self._begin_cut()
        if lane is not None:
            self._lanes[lane] = large
        return large

    def _stream(self, number: int) -> _Stream:
        stream = self._streams.get(number)
        if stream is None:
            stream = self._streams[number] = _Stream(number)
            self._turns.append(stream)
        return stream

    def _take_turn(self) -> bytes:
        source = self._turns.popleft()
        frame = source.next_frame()
        if len(frame) > _TAGGED.size:
            self._bulk_bytes -= len(frame) - _TAGGED.size
        if isinstance(source, _Stream):
            if source.chunks:
                self._turns.append(source)
            else:
                del self._streams[source.number]
        elif source.data:
            self._turns.append(source)
        else:
            self._cut_through(source)
        return frame

    def _cut_through(self, large: _Large) -> None:
        self._cutting -= 1
        self._begin_cut()
        if large.lane is not None:
            self._open_lane(large.lane, large.behind)

    def _begin_cut(self) -> None:
        if self._uncut and self._cutting < MAX_PARALLEL:
            self._cutting += 1
            self._turns.append(self._uncut.popleft())

    def _open_lane(self, lane: int, behind: deque[bytes]) -> None:
        del self._lanes[lane]
        while behind:
            data = behind.popleft()
            if len(data) > MAX_FRAME:
                self._cut(data, lane).behind = behind
                return
            self._bulk_bytes -= len(data)
            self._add_small(data)
