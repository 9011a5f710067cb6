"""HTTP: each request goes to a new instance of the Worker's default entrypoint."""

from __future__ import annotations

import asyncio

from workers_shim import env
from workers_shim.arity import relaxed_call
from workers_shim.exchange import Exchange, Handler
from workers_shim.host import IsolateHost
from workers_shim.load import Program
from workers_shim.scope import NEUTRAL
from workers_shim.transport import Transport
from workers_shim.wire.messages import Credit, Disconnect, Drain, Request


class Server:
    """The requests that are being served."""

    def __init__(self, transport: Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._exchanges: dict[int, Exchange] = {}
        self._draining = False
        self._program: Program
        self._host: IsolateHost
        self._exports: env.Exports

    def serve(self, program: Program, host: IsolateHost, exports: env.Exports) -> None:
        """Take requests for this program from now on."""
        self._program = program
        self._host = host
        self._exports = exports
        host.idle = self._settled

    # ------------------------------------------------------------------------------------------------ from the host

    def request(self, message: Request) -> None:
        """Serve a request in a task of its own."""
        number = message["id"]
        exchange = self._exchanges[number] = Exchange(message, self._transport)
        exchange.task = self._loop.create_task(exchange.serve(self._handler), context=NEUTRAL.copy())
        exchange.task.add_done_callback(lambda _task: self._forget(number), context=NEUTRAL)

    def data(self, stream: int, data: bytes) -> None:
        """A piece of a request's body; of a request that is over it is dropped."""
        if (exchange := self._exchanges.get(stream)) is not None and exchange.inflow is not None:
            exchange.inflow.data(data)

    def end(self, stream: int) -> None:
        """The end of a request's body."""
        if (exchange := self._exchanges.get(stream)) is not None and exchange.inflow is not None:
            exchange.inflow.end()

    def credit(self, message: Credit) -> None:
        """The client has taken some of a response."""
        if (exchange := self._exchanges.get(message["id"])) is not None:
            exchange.outflow.credit(message["bytes"])

    def disconnect(self, message: Disconnect) -> None:
        """The client is gone."""
        if (exchange := self._exchanges.get(message["id"])) is not None:
            exchange.disconnect()

    def drain(self, _message: Drain) -> None:
        """Tell when all requests and their wait_until work are done."""
        self._draining = True
        self._settled()

    def _forget(self, number: int) -> None:
        del self._exchanges[number]
        self._settled()

    def _settled(self) -> None:
        if self._draining and not self._exchanges and not self._host.work:
            self._draining = False
            self._transport.send({"t": "drained"})

    # ----------------------------------------------------------------------------------------------------- handlers

    def _handler(self) -> Handler:
        """The handler of one request: `fetch` of a new instance, or the legacy function."""
        program, host = self._program, self._host
        entrypoint = program.entrypoints.get("Default")
        ctx = env.make_context(self._exports)
        if entrypoint is not None:
            fetch = getattr(entrypoint(ctx, host.env), "fetch", None)
            if fetch is not None:
                return lambda request: relaxed_call(fetch, request, None, None)  # no env, no ctx, as on Cloudflare
        elif "on_fetch" in program.handlers and not host.flag("python_no_global_handlers"):
            legacy = program.handlers["on_fetch"]
            return lambda request: relaxed_call(legacy, request.js_object, host.env, ctx)
        raise RuntimeError("Handler does not export a fetch() function.")
