"""A workerd from the moment of its start: it dies with the host, whether anybody listens to it yet or not.

It can be started in any thread, and long before there is an event loop: keep this module's imports few.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

# workerd does not notice that its starter is gone. So a shell stands by, in the same process group, and reads a pipe
# whose other end only the host has: when the host ends, however it does, the shell ends the group. Its standard input
# carries the pipe, because not every shell takes a descriptor above 9 in a redirection.
LIFELINE = 'exec 3<&0 </dev/null; (read -r _ <&3; kill -s KILL -- "-$$") >/dev/null 2>&1 & exec 3<&-; exec "$@"'


class Started:
    """The process, and the ends of the pipes that lead to it. Raises `OSError` when it cannot be started."""

    def __init__(self, command: Sequence[str], cwd: Path, keep: Sequence[int] = ()) -> None:
        self._buried = False
        alive, self._lifeline = os.pipe()
        self.control, their_control = os.pipe()
        self.output, their_output = os.pipe()
        try:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", LIFELINE, "sh", *command, f"--control-fd={their_control}"],
                cwd=cwd,
                stdin=alive,
                stdout=their_output,
                stderr=their_output,
                pass_fds=[their_control, *keep],
                process_group=0,  # the terminal's Ctrl-C is the host's affair
            )
        except OSError:
            for descriptor in (self._lifeline, self.control, self.output):
                os.close(descriptor)
            raise
        finally:
            for descriptor in (alive, their_control, their_output):
                os.close(descriptor)
        self.pid = self._process.pid

    def wait(self) -> int:
        """Block until it has ended; gives its exit status."""
        return self._process.wait()

    def bury(self) -> None:
        """It has ended: end the shell that stands by, too."""
        self.kill()
        self._buried = True
        os.close(self._lifeline)

    def terminate(self) -> None:
        """Let it finish its requests, and end."""
        if not self._buried:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it, and everything of its process group, at once."""
        if self._buried:
            return  # the system gives numbers out again
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
