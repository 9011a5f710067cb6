"""The isolate's main program: ``PYTHON -I [-S] .../workers_shim/isolate.py SOCKET_FD WATCH_FD``.

It is run by path, isolated from everything but the interpreter (``-I``), because the user's interpreter must not see
what else is installed beside this package. The two descriptors are inherited Unix sockets: frames, and the watch.
"""

from __future__ import annotations

import asyncio
import importlib.util
import locale
import os
import signal
import socket
import sys
import time


def main() -> None:
    """Run until the host closes the socket."""
    stream, watch = (socket.socket(fileno=int(number)) for number in sys.argv[1:3])
    for sock in (stream, watch):  # a process that user code starts must not keep them open after this one
        sock.set_inheritable(False)
    if "workers_shim" not in sys.modules:
        register_package(os.path.dirname(os.path.abspath(__file__)))
    settle_process()
    asyncio.run(live(stream, watch))


def register_package(folder: str) -> None:
    """Make ``import workers_shim`` work without its parent folder on the path, where the host's packages may be."""
    init = os.path.join(folder, "__init__.py")
    spec = importlib.util.spec_from_file_location("workers_shim", init, submodule_search_locations=[folder])
    assert spec is not None and spec.loader is not None
    package = sys.modules["workers_shim"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != folder]  # `-I` leaves it out already


def settle_process() -> None:
    """Be as a Worker's process is: in UTC, in UTF-8, and not ended by signals, which are the host's."""
    os.environ["TZ"] = "UTC"
    time.tzset()
    if locale.getencoding().lower() not in ("utf-8", "utf8"):
        locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # `timeout` and service managers signal every process of a group; the host drains, and hangs up when it is done. Not
    # SIG_IGN, which the user's own child processes would inherit.
    signal.signal(signal.SIGTERM, lambda number, frame: None)


async def live(stream: socket.socket, watch: socket.socket) -> None:
    """Connect, then do what the host says."""
    from workers_shim import in_order
    from workers_shim.inbox import Inbox
    from workers_shim.load import keep_no_compiled_code_of_new_files
    from workers_shim.scope import task_factory
    from workers_shim.transport import Transport
    from workers_shim.watch import Watch

    keep_no_compiled_code_of_new_files()
    loop = asyncio.get_running_loop()
    in_order.install()
    loop.set_task_factory(task_factory)  # type: ignore[arg-type]  # typeshed has no word for its options
    transport = Transport(loop)
    Watch(watch, loop, transport.logs).start()
    inbox = Inbox(loop, transport)
    await transport.connect(stream, inbox)
    await inbox.gone.wait()
    os._exit(0)  # user code's threads and exit handlers must not keep a process that nobody can reach


if __name__ == "__main__":
    main()
