"""Which workerd and esbuild are run, and what their packages must be, bit for bit.

The hashes are the registry's own (``npm view PACKAGE@VERSION dist.integrity``) of the packages that hold the program
for one system and nothing else. A new version needs new hashes for every system; the version before it stays in
`TESTED` only while the tests pass with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

WORKERD_VERSION = "1.20261117.1"
ESBUILD_VERSION = "0.28.2"

# Versions in a project's own node_modules that are as good as ours: those that our tests have passed with.
TESTED: Mapping[str, frozenset[str]] = {
    "workerd": frozenset({WORKERD_VERSION}),
    "esbuild": frozenset({ESBUILD_VERSION}),
}

DOWNLOAD_MEGABYTES = 52  # both packages for Linux x64, packed; 174 unpacked


class Pin(NamedTuple):
    """One program as a package for one system."""

    program: str
    version: str
    package: str
    integrity: str

    @property
    def path(self) -> str:
        """Where the program is, below a folder that npm has installed into."""
        return f"node_modules/{self.package}/bin/{self.program}"


class Pins(NamedTuple):
    """The two programs for one system."""

    workerd: Pin
    esbuild: Pin


def _pins(workerd: tuple[str, str], esbuild: tuple[str, str]) -> Pins:
    return Pins(
        Pin("workerd", WORKERD_VERSION, f"@cloudflare/workerd-{workerd[0]}", f"sha512-{workerd[1]}"),
        Pin("esbuild", ESBUILD_VERSION, f"@esbuild/{esbuild[0]}", f"sha512-{esbuild[1]}"),
    )


# By system, as `system.this_system` names it. The packages of workerd call x64 "64".
PINS: Mapping[str, Pins] = {
    "linux-x64": _pins(
        (
            "linux-64",
            "gZLA8X11m/luZwn+YA3+mDu61vdxNJzpksP/QZqjydKTQ+VUCulsK5gtn9Bqst1p3KJu2kafQpJ1nDQv4B23jA==",
        ),
        (
            "linux-x64",
            "4xTZr1FUmSoQW4XIWmit3tzQrUTZM+N3P0XV8xROKYF50XfI7xeO90+1bZvNwxIufQ9hDQVRJH5YhgPVF8A/HQ==",
        ),
    ),
    "linux-arm64": _pins(
        (
            "linux-arm64",
            "gxWngFojq41ULKNKb9rpWYvKotN5hT2I/xot+Bpy31cXzrwcTgtDLSMb2t75sW5BJxH7hihFvikgYb577kB3Zg==",
        ),
        (
            "linux-arm64",
            "pW4AC0P3it8c7do9MVM4p51FzHzdM/TZrerurgRcHJ2WTa1VQ1CIq18xncfpBJw4ojkiZZrKW2yIBWBP92j6Ug==",
        ),
    ),
    "darwin-x64": _pins(
        (
            "darwin-64",
            "qfAYw6iPoey0BmPsp4z5ARWOa+XSBD3gQzmcBI2ql9pKTSA5eEC8F1oI6BIk/FVguhomfSn5gS4RzbWhTd/EpQ==",
        ),
        (
            "darwin-x64",
            "uq6suIWYP37qzGddBKPw5QEQPi6HiLGsO7UmkpfyaYNQ3D+rN6w6WfwH+nuqcGXWvawGwxOEroO4YGnFh95azw==",
        ),
    ),
    "darwin-arm64": _pins(
        (
            "darwin-arm64",
            "cInx5Cr9O27oW+ujyI49lTRQZra/lMgWUFiKmGY3jxDncATSxzfQ6udXHkVvK4//1/PfxQTDyMjdQUIN8m6Aqg==",
        ),
        (
            "darwin-arm64",
            "n4KqkOQrraxHJcgjM1RvwbigfQKIKJVpM7xp+KsxiyUSrRdIXnt73VhrPAx0fV44hgfmIVKjxMN9J1t5jySVkw==",
        ),
    ),
}
