"""What workerd prints: lines of user code, each with its place, and its own words.

Output of a run comes with a line before it that says whose it is, ``\\x01celld`` and a JSON object: ``r`` is the run,
``s`` and ``a`` are step and attempt of code in a step, ``c`` and ``v`` the calls made and the results taken so far.
``g`` is how many groups are open. With ``warning`` it is all: words of ours to the developer.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from .echo import Echo
from .stacks import Stacks

MARK = "\x01celld "
# workerd says so of every run that it ends because it rests, which is what it was asked for.
RESTED = "code had hung and would never generate a response"
_STDERR = frozenset({"error", "warn", "warning"})
# An error of user code that nobody caught is named with the place in workerd's own code that found it.
_INTERNAL = re.compile(r"^Uncaught exception: \S+: failed: (?:remote\.)?jsg\.")

# With --verbose workerd tells every error that nobody caught, also those of alarms, WebSockets, RPC and waitUntil.
_UNCAUGHT = re.compile(r"^uncaught exception; source = (?P<source>[^;]*); stack = (?P<stack>.*)", re.DOTALL)

_INDENT = "  "  # of console.group, as in Node.js
_DEEPEST = 10  # groups: those that a Durable Object leaves open stay open, and are not to push its lines away

_FRAME = re.compile(r"\n\s+at ")

_decode = msgspec.json.Decoder().decode


class Place(msgspec.Struct, frozen=True):
    """What a mark says of the next line; or ``told``, an error that is told otherwise, or a ``warning``."""

    run: int | None = msgspec.field(default=None, name="r")
    worker: str | None = msgspec.field(default=None, name="w")
    step: str | None = msgspec.field(default=None, name="s")
    attempt: int | None = msgspec.field(default=None, name="a")
    calls: int = msgspec.field(default=0, name="c")
    results: int = msgspec.field(default=0, name="v")
    groups: int = msgspec.field(default=0, name="g")
    told: str | None = None
    warning: str | None = None

    @property
    def shown(self) -> dict[str, Any]:
        """What a `log` message has of it."""
        parts = {"run": self.run, "step": self.step, "attempt": self.attempt}
        return {key: value for key, value in parts.items() if value is not None}


NOWHERE = Place()
_decode_place = msgspec.json.Decoder(Place).decode


class Speaker(NamedTuple):
    """What a line of somebody needs to be told: what of it is an echo, and the source maps of its code."""

    echo: Echo | None
    stacks: Stacks | None


class Line(NamedTuple):
    """A line of workerd's output. What is its ``own`` was not written by user code."""

    level: str
    text: str
    own: bool

    @property
    def uncaught(self) -> str | None:
        """The stack of an error that nobody caught."""
        found = _UNCAUGHT.match(self.text) if self.own else None
        return found["stack"] if found is not None else None

    @property
    def chatter(self) -> bool:
        """What workerd only says because it is to tell of errors too."""
        return self.own and (self.level in ("info", "debug") or self.text.startswith("NOSENTRY"))

    @classmethod
    def of(cls, raw: str) -> Line:
        """A line as it was printed; one that is not structured is workerd's own."""
        if raw.startswith("{"):
            try:
                line = _decode(raw)
                return cls(str(line["level"]), str(line["message"]), "source" in line)
            except (msgspec.DecodeError, KeyError, TypeError):
                pass
        return cls("error", raw, own=True)


class Logs:
    """Turns lines into `log` messages."""

    def __init__(self, speaker: Callable[[int | None, str | None], Speaker], front: str) -> None:
        self._front = front  # the Worker that clients' requests go to, whose failures become theirs
        self.complaints: list[str] = []  # workerd's own words before the code is loaded: why it is not, perhaps
        self._loading = True
        self._speaker = speaker
        self._place = NOWHERE  # of the next line
        self._elsewhere: deque[str] = deque(maxlen=64)  # stacks of errors that are told otherwise

    def loaded(self) -> list[dict[str, Any]]:
        """The code is loaded: what workerd said meanwhile was no reason not to."""
        self._loading = False
        return [log for complaint in self.complaints for log in self._told("stderr", complaint, NOWHERE)]

    def messages(self, raw: Iterable[str]) -> list[dict[str, Any]]:
        """What the lines that arrived together say."""
        return [message for line in raw for message in self._of(Line.of(line))]

    def _of(self, line: Line) -> Iterator[dict[str, Any]]:
        place = _marked(line.text)
        if place is not None:
            if place.told is not None:
                yield from self._held_back(place.told, place)
            elif place.warning is not None:
                yield from self._told("warning", place.warning, place)
            else:
                self._place = place
            return
        stack = line.uncaught
        if stack is not None and stack in self._elsewhere:
            self._elsewhere.remove(stack)
            return
        if stack is not None and _FRAME.search(stack) and RESTED not in stack:  # the bridge's own errors have none
            yield from self._told("stderr", f"Uncaught {stack}", NOWHERE)
            return
        if line.chatter:
            return
        place, self._place = self._place, NOWHERE
        if line.own and self._loading:
            self.complaints.append(line.text)
        elif not (line.own and (RESTED in line.text or not line.text)):
            stream = "stderr" if line.level in _STDERR else "stdout"
            yield from self._told(stream, _INTERNAL.sub("Uncaught ", line.text) if line.own else line.text, place)

    def _held_back(self, stack: str, place: Place) -> Iterator[dict[str, Any]]:
        """An error that workerd need not tell of. It leaves its stack behind where another Worker gets it."""
        self._elsewhere.append(stack)
        if place.worker not in (None, self._front):
            yield from self._told("stderr", f"Uncaught in the Worker {place.worker}: {stack}", place)

    def _told(self, stream: str, text: str, place: Place) -> Iterator[dict[str, Any]]:
        speaker = self._speaker(place.run, place.worker)
        outside = place.run is not None and place.step is None
        if outside and speaker.echo is not None and speaker.echo.mutes(place.calls, place.results):
            return
        shown = text if speaker.stacks is None else speaker.stacks.mapped(text)
        where = place.shown
        indent = _INDENT * min(place.groups, _DEEPEST)
        for part in shown.split("\n"):
            yield {"t": "log", "stream": stream, "text": indent + part if part else part, **where}


def _marked(text: str) -> Place | None:
    """The place that a line gives to the next one; code of the user may print what looks like one."""
    if not text.startswith(MARK):
        return None
    try:
        place = _decode_place(text[len(MARK) :])
    except msgspec.DecodeError:
        return None
    tells = (place.run, place.worker, place.told, place.warning)
    return place if place.groups or any(each is not None for each in tells) else None
