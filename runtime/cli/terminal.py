"""Writes what a person or a program reads: lines of text, or one JSON object a line.

As text, answers go to standard output (the banner, `Ready on ...`, what the Worker prints) and complaints to
standard error. As JSON everything goes to standard output, in one order. Every line is written at once, into a
pipe too. Whatever becomes of the reader, the server lives on: lines that a full disk or a slow reader cannot take
are lost, and when nobody reads any more, the terminal falls silent.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TextIO

from runtime.host.options import LogFormat

_CODES = {"red": "31", "green": "32", "yellow": "33", "cyan": "36", "dim": "2"}
_INDENT = "  "
_NOBODY_READS = frozenset({errno.EPIPE, errno.EIO, errno.EBADF})  # pipe, terminal or descriptor are closed


class _Channel:
    """A stream that may go away."""

    def __init__(self, stream: TextIO, environ: Mapping[str, str]) -> None:
        self._stream = stream
        self._descriptor = _descriptor(stream)
        self._gone = False
        self._torn = False  # the last line could be written in part only
        quiet = environ.get("NO_COLOR") or environ.get("TERM") == "dumb"
        self._colours = not quiet and stream.isatty()

    def paint(self, text: str, colour: str) -> str:
        return f"\x1b[{_CODES[colour]}m{text}\x1b[0m" if self._colours else text

    def write(self, text: str) -> None:
        """Write a whole line, now; characters that the stream cannot hold become escapes."""
        if self._gone or self._stream.closed:
            return
        start = "\n" if self._torn else ""
        try:
            self._put(f"{start}{text}\n".encode(self._stream.encoding or "utf-8", "backslashreplace"))
        except OSError as error:
            self._gone = error.errno in _NOBODY_READS

    def _put(self, line: bytes) -> None:
        if self._descriptor is None:
            self._stream.write(line.decode(self._stream.encoding or "utf-8"))
            self._stream.flush()
            return
        # Not through the stream: it would keep what cannot be written, and fail with it once more when Python exits.
        while line:
            line = line[os.write(self._descriptor, line) :]
            self._torn = line != b""


def _descriptor(stream: TextIO) -> int | None:
    """What a stream writes to; None for one in memory."""
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class Terminal:
    """The one place that prints. The methods differ in what they mean, so that each format can show it its way."""

    out: _Channel
    err: _Channel
    format: LogFormat

    @classmethod
    def over(
        cls, out: TextIO, err: TextIO, format: LogFormat = "text", environ: Mapping[str, str] = os.environ
    ) -> Terminal:
        """A terminal that writes to these streams."""
        return cls(_Channel(out, environ), _Channel(err, environ), format)

    @classmethod
    def standard(cls, format: LogFormat = "text") -> Terminal:
        """The terminal of this process."""
        return cls.over(sys.stdout, sys.stderr, format)

    def line(self, text: str) -> None:
        """A plain line of ours, such as `Ready on http://...`."""
        self._say("line", text, text=text)

    def note(self, text: str, hint: str | None = None) -> None:
        """Something worth knowing."""
        self._say("note", self._with_hint(f"{self.out.paint('note:', 'cyan')} {text}", hint), text=text, hint=hint)

    def warning(self, text: str, hint: str | None = None) -> None:
        """Something that runs, but not as one may expect."""
        shown = self._with_hint(f"{self.err.paint('warning:', 'yellow')} {text}", hint)
        self._complain("warning", shown, text=text, hint=hint)

    def error(self, title: str, detail: str | None = None, hint: str | None = None, code: str | None = None) -> None:
        """What went wrong, where or how in full, and what to do."""
        shown = f"{self.err.paint('error:', 'red')} {title}"
        if detail:
            shown += "".join(f"\n{_INDENT}{line}" for line in detail.splitlines())
        self._complain("error", self._with_hint(shown, hint), title=title, detail=detail, hint=hint, code=code)

    def user_output(
        self,
        stream: Literal["stdout", "stderr"],
        text: str,
        workflow: str | None = None,
        instance: str | None = None,
        step: str | None = None,
        attempt: int | None = None,
    ) -> None:
        """What the Worker's own code printed, and which run of it: ``[orders/ab12 charge-1 #2] text``."""
        prefix = _prefix(workflow, instance, step, attempt)
        painted = self.out.paint(prefix, "dim") + " " if prefix else ""
        shown = "\n".join(f"{painted}{line}" for line in text.split("\n"))
        self._say(
            "output",
            shown,
            stream=stream,
            text=text,
            workflow=workflow,
            instance=instance,
            step=step,
            attempt=attempt,
        )

    def event(self, kind: str, **fields: Any) -> None:
        """Something that happened, for programs; people see nothing of it."""
        if self.format == "json":
            self._object(kind, fields)

    def _say(self, kind: str, shown: str, **fields: Any) -> None:
        if self.format == "json":
            self._object(kind, fields)
        else:
            self.out.write(shown)

    def _complain(self, kind: str, shown: str, **fields: Any) -> None:
        if self.format == "json":
            self._object(kind, fields)
        else:
            self.err.write(shown)

    def _object(self, kind: str, fields: Mapping[str, Any]) -> None:
        filled = {key: value for key, value in fields.items() if value is not None}
        self.out.write(json.dumps({"kind": kind, **filled}, default=str))

    @staticmethod
    def _with_hint(shown: str, hint: str | None) -> str:
        return shown + "".join(f"\n{_INDENT}{line}" for line in (hint or "").splitlines())


def _prefix(workflow: str | None, instance: str | None, step: str | None, attempt: int | None) -> str:
    run = "/".join(part for part in (workflow, instance) if part)
    parts = [run, step or "", f"#{attempt}" if attempt is not None else ""]
    words = " ".join(part for part in parts if part)
    return f"[{words}]" if words else ""
