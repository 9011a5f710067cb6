"""A client's WebSocket on its way to the bridge: bytes pass unread once the Worker has taken it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import httptools
import msgspec

from runtime.http.pausable import Pausable
from runtime.http.tunnel import Near

from .head import head_of
from .requests import FAILURE
from .stacks import Stacks

_SWITCHING = 101

_decode = msgspec.json.Decoder().decode


class Upgrade(Pausable):
    """The connection to the bridge; `runtime.http.tunnel.Far` for the client's end."""

    def __init__(self, near: Near, stacks: Stacks, over: Callable[[Upgrade], None]) -> None:
        self._near = near
        self._stacks = stacks
        self._over = over
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)  # None: nothing is read
        self._held = bytearray()  # of the answer, until it is known for whom it is
        self._headed = self._whole = False
        self._failure: bytearray | None = None  # the Worker threw: what the bridge says of it
        self._done = False  # the client has all that it will get

    def begin(self, request: Mapping[str, Any], token: str, worker: str) -> None:
        """Ask for the upgrade."""
        assert self._transport is not None
        self._transport.write(head_of(request, token, worker, upgrade=True))

    # ------------------------------------------------------------------------------------------------------ to it

    def take(self, data: bytes) -> None:
        self._put(data)

    def close(self) -> None:
        self._done = True
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """workerd is gone."""
        if self._transport is not None:
            self._transport.abort()

    # ---------------------------------------------------------------------------------------------------- from it

    def data_received(self, data: bytes) -> None:
        if self._parser is None:
            self._near.give(data)
            return
        self._held += data
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._parser = None
        except httptools.HttpParserCallbackError:
            raise  # it is no fault of the answer's: the loop tells of it, and hangs up
        except httptools.HttpParserError as error:
            self._fail({"error": {"name": "Error", "message": f"The Worker's answer cannot be read: {error}"}})
        self._pass_on()

    def _pass_on(self) -> None:
        if self._done:
            return
        if self._headed and self._failure is None:
            self._near.give(bytes(self._held))
            self._held.clear()
        if self._whole and self._failure is not None:
            self._fail(_decode(self._failure))
        elif self._whole:  # an answer that is no WebSocket
            self._near.close()

    def _fail(self, told: Mapping[str, Any]) -> None:
        self._done = True
        traceback, file, line = self._stacks.failure(told)
        place = {} if file is None else {"file": file, "line": line}
        self._near.failed({"error": told["error"], "traceback": traceback, **place})
        self.abort()

    def pause_writing(self) -> None:
        self._near.pause_reading()

    def resume_writing(self) -> None:
        self._near.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._over(self)
        if not self._done and not self._headed:
            self._fail({"error": {"name": "Error", "message": "The isolate ended before it answered."}})
        elif not self._done:
            self._near.close()

    # ---------------------------------------------------------------------------------------------------- the parser

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == FAILURE.encode():
            self._failure = bytearray()

    def on_headers_complete(self) -> None:
        assert self._parser is not None
        self._headed = True
        if self._failure is None:
            self._near.answered(self._parser.get_status_code())

    def on_body(self, body: bytes) -> None:
        if self._failure is not None:
            self._failure += body

    def on_message_complete(self) -> None:
        assert self._parser is not None
        self._whole = self._parser.get_status_code() != _SWITCHING
