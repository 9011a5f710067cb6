"""What is said when workerd or esbuild cannot be had."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from runtime.host.errors import CelldError

from .pins import PINS, Pin
from .system import CACHE_VARIABLE

INSTALL_HINT = "Install Node.js with npm, or its packaged form beside celld-py: pip install 'celld-py[js]'"


class ToolsError(CelldError):
    """workerd or esbuild, which JavaScript projects need, cannot be had."""

    code = "tools"


def unsupported(system: str) -> ToolsError:
    """There is no workerd for this machine."""
    return ToolsError(
        f"JavaScript projects do not run on this machine: there is no workerd for {system}.",
        hint=f"It is made for {', '.join(PINS)}. Python projects run without it.",
        code="tools_unsupported",
    )


def needs_glibc() -> ToolsError:
    """A Linux such as Alpine."""
    return ToolsError(
        "JavaScript projects do not run on this machine: workerd needs glibc, and this Linux has another C library.",
        hint="Use a distribution with glibc (Debian, Ubuntu, Fedora), or a container of one.",
        code="tools_unsupported",
    )


def no_npm() -> ToolsError:
    """Nothing to install with."""
    return ToolsError(
        "JavaScript projects need workerd and esbuild, which are installed with npm, and there is no npm here.",
        hint=f"{INSTALL_HINT}\nBoth are needed once only, to install.",
        code="tools_no_npm",
    )


def npm_failed(words: Sequence[tuple[str, str]]) -> ToolsError:
    """What each npm that was tried said last."""
    detail = "\n".join(f"{name}:\n{said or '(it said nothing)'}" for name, said in words)
    if any("EINTEGRITY" in said for _, said in words):
        return ToolsError(
            "npm was given other packages than the workerd and esbuild that celld-py knows; nothing was installed.",
            detail=detail,
            hint="Whatever npm downloads from (a mirror, a proxy, its own cache) does not hold the original.\n"
            "Try `npm cache verify`, and another network.",
            code="tools_integrity",
        )
    return ToolsError(
        "npm could not install workerd and esbuild.",
        detail=detail,
        hint=f"The network is needed for this once. npm has to be version 7 or newer; {_lower(INSTALL_HINT)}",
        code="tools_npm_failed",
    )


def does_not_run(pin: Pin, reason: str) -> ToolsError:
    """The program is there and does not run, or is another version."""
    return ToolsError(
        f"{pin.program} {pin.version} was installed, but does not run on this machine.",
        detail=reason,
        hint=f"If the cache is on a volume without programs (noexec), name another folder with {CACHE_VARIABLE}.",
        code="tools_do_not_run",
    )


def no_cache(folder: Path, error: OSError) -> ToolsError:
    """The cache cannot be written."""
    return ToolsError(
        f"workerd and esbuild cannot be installed into {folder}: {error.strerror or error}.",
        hint=f"Name a folder that can be written with {CACHE_VARIABLE}.",
        code="tools_cache",
    )


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]
