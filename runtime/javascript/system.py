"""What machine this is, and where it keeps caches."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

CACHE_VARIABLE = "CELLD_PY_CACHE"

_CPUS = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def this_system() -> str:
    """The operating system and the processor, as in ``linux-x64``."""
    if sys.platform == "win32":
        return "windows"
    cpu = os.uname().machine
    return f"{sys.platform}-{_CPUS.get(cpu, cpu)}"


def has_glibc() -> bool:
    """Whether programs for glibc run here: musl has no name for its version."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") is not None
    except (AttributeError, ValueError, OSError):
        return False


def cache_folder(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """Our part of the person's cache: ``CELLD_PY_CACHE``, or a folder where the system keeps such things."""
    if chosen := environ.get(CACHE_VARIABLE):
        return Path(chosen).expanduser().absolute()
    if platform == "darwin":
        return Path("~/Library/Caches/celld-py").expanduser()
    shared = environ.get("XDG_CACHE_HOME", "")
    # The XDG base directory specification: a relative path is to be ignored.
    return Path(shared if shared.startswith("/") else "~/.cache").expanduser() / "celld-py"
