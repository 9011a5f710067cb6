"""Which modules of Node.js a Worker has, at its compatibility date and with its flags.

The table was measured with workerd 1.20261117.1, by importing every module at every date that workerd's
compatibility-date.capnp names; a test measures it again.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

Mode = Literal["v2", "v1", "als", "none"]

V2_FROM = "2024-09-23"  # nodejs_compat has bare names ("fs") and globals (Buffer, process)
DEFAULT_FROM = "2026-08-04"  # on without a flag
PREFIX = "node:"

_ALWAYS = frozenset({"process"})
_BASE = frozenset(
    {
        "_stream_duplex", "_stream_passthrough", "_stream_readable", "_stream_transform", "_stream_writable",
        "_tls_common", "_tls_wrap", "assert", "assert/strict", "async_hooks", "buffer", "constants", "crypto",
        "diagnostics_channel", "dns", "dns/promises", "events", "fs/promises", "module", "net", "path", "path/posix",
        "path/win32", "querystring", "stream", "stream/consumers", "stream/promises", "stream/web", "string_decoder",
        "test", "timers", "timers/promises", "tls", "url", "util", "util/types", "zlib",
    }
)  # fmt: skip
_V2 = frozenset({"sys"})
# By the name in the flags enable_nodejs_NAME: the date from which nodejs_compat implies the flag, and what it brings.
_LATER: dict[str, tuple[str, frozenset[str]]] = {
    "http_modules": (
        "2025-08-15",
        frozenset(
            {
                "_http_agent", "_http_client", "_http_common", "_http_incoming", "_http_outgoing", "http", "https",
            }
        ),
    ),
    "http_server_modules": ("2025-09-01", frozenset({"_http_server"})),
    "http2_module": ("2025-09-01", frozenset({"http2"})),
    "fs_module": ("2025-09-15", frozenset({"fs"})),
    "os_module": ("2025-09-15", frozenset({"os"})),
    "console_module": ("2025-09-21", frozenset({"console"})),
    "vm_module": ("2025-10-01", frozenset({"vm"})),
    "cluster_module": ("2025-12-04", frozenset({"cluster"})),
    "domain_module": ("2025-12-04", frozenset({"domain"})),
    "punycode_module": ("2025-12-04", frozenset({"punycode"})),
    "trace_events_module": ("2025-12-04", frozenset({"trace_events"})),
    "wasi_module": ("2025-12-04", frozenset({"wasi"})),
    "dgram_module": ("2026-01-29", frozenset({"dgram"})),
    "inspector_module": ("2026-01-29", frozenset({"inspector", "inspector/promises"})),
    "sqlite_module": ("2026-01-29", frozenset({"sqlite"})),
    "stream_wrap_module": ("2026-01-29", frozenset({"_stream_wrap"})),
    "child_process_module": ("2026-03-17", frozenset({"child_process"})),
    "perf_hooks_module": ("2026-03-17", frozenset({"perf_hooks"})),
    "readline_module": ("2026-03-17", frozenset({"readline", "readline/promises"})),
    "repl_module": ("2026-03-17", frozenset({"repl"})),
    "tty_module": ("2026-03-17", frozenset({"tty"})),
    "v8_module": ("2026-03-17", frozenset({"v8"})),
    "worker_threads_module": ("2026-03-17", frozenset({"worker_threads"})),
}  # fmt: skip
_NOWHERE = frozenset({"sea", "test/reporters"})  # Node.js has them, workerd at no date
_WITH_PREFIX_ONLY = frozenset({"sea", "sqlite", "test", "test/reporters"})
_FLAGS = {name: flag for flag, (_, names) in _LATER.items() for name in names}

KNOWN = _ALWAYS | _BASE | _V2 | frozenset(_FLAGS) | _NOWHERE
BARE = KNOWN - _WITH_PREFIX_ONLY


@dataclass(frozen=True, slots=True)
class NodeBuiltins:
    """The modules of Node.js at a date and with flags. ``mode`` is wrangler's word for how much there is."""

    date: str
    flags: Collection[str]

    @property
    def mode(self) -> Mode:
        """v2: all, v1: with the prefix ``node:`` only, als: only ``node:async_hooks``."""
        if self._v2:
            return "v2"
        if self._compat:
            return "v1"
        return "als" if "nodejs_als" in self.flags else "none"

    def has(self, name: str) -> bool:
        """Whether workerd has the module (named without ``node:``)."""
        if name in _ALWAYS or (name == "async_hooks" and self.mode == "als"):
            return True
        if name in _BASE:
            return self._compat or self._v2
        return self._v2 if name in _V2 else self._has_later(name)

    def since(self, name: str) -> str | None:
        """The compatibility date from which on ``nodejs_compat`` brings the module, if any does."""
        if name in _FLAGS:
            return _LATER[_FLAGS[name]][0]
        return V2_FROM if name in _V2 else None

    def _has_later(self, name: str) -> bool:
        flag = _FLAGS.get(name)
        if flag is None or f"disable_nodejs_{flag}" in self.flags:
            return False
        return f"enable_nodejs_{flag}" in self.flags or (self._compat and self.date >= _LATER[flag][0])

    @property
    def _compat(self) -> bool:
        default = self.date >= DEFAULT_FROM and "no_nodejs_compat" not in self.flags
        return "nodejs_compat" in self.flags or default

    @property
    def _v2(self) -> bool:
        if "nodejs_compat_v2" in self.flags:
            return True
        implied = self.date >= DEFAULT_FROM or (self._compat and self.date >= V2_FROM)
        return implied and "no_nodejs_compat_v2" not in self.flags
