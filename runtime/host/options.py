"""What the command line asks of the host, parsed once; after this nothing parses text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Target = Literal["cloudflare", "celld"]
LogFormat = Literal["text", "json"]
Durability = Literal["process", "power"]

DEFAULT_PORT = 8787  # wrangler dev's
DEFAULT_IP = "127.0.0.1"
DEFAULT_HIBERNATE_AFTER = 5.0  # seconds an instance that only waits stays in memory


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of one `celld-py dev`.

    ``project`` is a folder or a configuration file; ``python`` is as given (a path, a folder of a virtual
    environment or a command); ``persist_to`` names the state folder itself. ``others`` are started together with the
    project, and can be reached from it.
    """

    project: Path = Path()
    others: tuple[Path, ...] = ()
    port: int = DEFAULT_PORT
    ip: str = DEFAULT_IP
    env: str | None = None
    persist_to: Path | None = None
    target: Target = "cloudflare"
    vars: Mapping[str, str] = field(default_factory=dict)
    python: str | None = None
    watch: bool = True
    log_format: LogFormat = "text"
    hibernate_after: float = DEFAULT_HIBERNATE_AFTER
    durability: Durability = "process"
    schedules: bool = True  # cron entries of workflows create instances
    strict_replay: bool = False  # a replay that does not fit the history ends its instance
    replay_every_step: bool = False
    inspect: bool = False  # JavaScript: a debugger may come, and hold the code for as long as it likes
