"""One run of esbuild, driven through its service protocol.

Its command line would do for the bundling, but gives errors as text for a terminal, and asks nobody where an import
leads: wrangler's ``rules``, ``alias`` and Node.js modules are decided by plugins, and plugins need the protocol.
"""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from .failures import BuildError, BuildFailed
from .packets import Packet, decode_packet, encode_packet
from .pins import ESBUILD_VERSION
from .project_copies import version_of

Request = Mapping[str, Any]
Answer = dict[str, Any]
# A hook answers what esbuild asks, or None: then the next one, or esbuild itself, does. It may first `yield` an import
# for esbuild to resolve, and gets back where it leads.
Hooked = Generator[Answer, Answer, Answer | None]
HookCode = Callable[[Request], Hooked | Answer | None]

_PLUGIN = "celld"
_KEY = 0  # of the only build
_BUILD_NUMBER = 0


@dataclass(frozen=True, slots=True)
class Hook:
    """Code that esbuild calls for imports, or for files to load, whose path ``filter`` matches (a Go regexp)."""

    filter: str
    answer: HookCode
    namespace: str = ""


def run_esbuild(binary: Path, request: Request, resolving: Sequence[Hook] = (), loading: Sequence[Hook] = ()) -> Answer:
    """Build; the answer has ``errors``, ``warnings`` and, when there are no errors, ``metafile``."""
    with TemporaryFile() as complaints:
        # the service starts only for a caller who names its version
        command = [str(binary), f"--service={version_of(binary) or ESBUILD_VERSION}"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints) as process:
            assert process.stdin is not None and process.stdout is not None
            session = _Session(process.stdin, process.stdout)
            try:
                return session.build(request, resolving, loading)
            except (EOFError, BrokenPipeError):
                complaints.seek(0)
                told = complaints.read().decode(errors="replace").strip()[-2000:]
                raise BuildFailed([BuildError(f"esbuild ended in the middle of the build.\n{told}")]) from None
            finally:
                with suppress(BrokenPipeError):
                    process.stdin.close()
                process.kill()  # its files are written; its own way out takes as long as a small build


class _Session:
    """The exchange with one esbuild: our build, and the questions that it has meanwhile."""

    def __init__(self, to: IO[bytes], of: IO[bytes]) -> None:
        self._to = to
        self._of = of
        self._numbers = itertools.count(_BUILD_NUMBER + 1)
        self._hooks: dict[int, Hook] = {}
        self._asked: dict[int, tuple[int, Hooked]] = {}  # by our request's number: whom its answer is for

    def build(self, request: Request, resolving: Sequence[Hook], loading: Sequence[Hook]) -> Answer:
        self._hooks = dict(enumerate([*resolving, *loading]))
        plugin = {
            "name": _PLUGIN,
            "onStart": False,
            "onEnd": False,
            "onResolve": [_described(number, hook) for number, hook in enumerate(resolving)],
            "onLoad": [_described(number, hook) for number, hook in enumerate(loading, len(resolving))],
        }
        self._read()  # the version, which each side says first
        build = {"command": "build", "key": _KEY, "context": False, "plugins": [plugin], **request}
        self._send(Packet(_BUILD_NUMBER, True, build))
        while True:
            packet = decode_packet(self._read())
            if packet.is_request:
                self._go_on(packet.number, self._answering(packet.value), None)
            elif packet.number == _BUILD_NUMBER:
                return dict(packet.value)
            else:
                self._go_on(*self._asked.pop(packet.number), packet.value)

    def _answering(self, request: Answer) -> Hooked:
        if request["command"] == "on-start":
            return {"errors": [], "warnings": []}
        for number in request.get("ids", ()):
            given = self._hooks[number].answer(request)
            answer = (yield from given) if isinstance(given, Generator) else given
            if answer is not None:
                return {"id": number, **answer}
        return {}

    def _go_on(self, number: int, hooked: Hooked, value: Answer | None) -> None:
        """Run a hook until it asks, or has its answer."""
        try:
            question = hooked.send(value) if value is not None else next(hooked)
        except StopIteration as done:
            self._send(Packet(number, False, done.value))
            return
        own = next(self._numbers)
        self._asked[own] = (number, hooked)
        self._send(Packet(own, True, {"command": "resolve", "key": _KEY, "pluginName": _PLUGIN, **question}))

    def _send(self, packet: Packet) -> None:
        self._to.write(encode_packet(packet))
        self._to.flush()

    def _read(self) -> bytes:
        return self._exactly(int.from_bytes(self._exactly(4), "little"))

    def _exactly(self, length: int) -> bytes:
        data = self._of.read(length)
        if len(data) < length:
            raise EOFError
        return data


def _described(number: int, hook: Hook) -> Answer:
    return {"id": number, "filter": hook.filter, "namespace": hook.namespace}
