"""The compatibility date and flags under which a project's code runs."""

from __future__ import annotations

from wrangler_compat import Notice, Project

from .node_builtins import DEFAULT_FROM

# What the shim in the project's isolate needs, and the date from which workerd has it without a flag: the
# AsyncLocalStorage that tells which run a line of output is of (for no date without nodejs_compat), calls over RPC, and
# that what one request settles another may await.
ASYNC_CONTEXT = "nodejs_als"
NEEDED = {ASYNC_CONTEXT: None, "rpc": "2024-04-03", "handle_cross_request_promise_resolution": "2024-10-14"}
_NEVER = {"no_nodejs_als", "no_rpc", "no_handle_cross_request_promise_resolution"}
_NODE = frozenset({"nodejs_compat", "nodejs_compat_v2"})  # workerd complains of these at dates that imply them


def flags(project: Project) -> list[str]:
    """The project's flags, and those that the shim needs.

    workerd takes ``nodejs_als`` beside ``nodejs_compat`` and at dates which imply it, but no flag twice.
    """
    today = project.compatibility_date
    implied = _NODE if today >= DEFAULT_FROM else frozenset()
    own = [flag for flag in project.compatibility_flags if flag not in _NEVER and flag not in implied]
    needed = [flag for flag, since in NEEDED.items() if since is None or today < since]
    return [*own, *(flag for flag in needed if flag not in own)]


def date(project: Project, newest: str) -> str:
    """The project's date, or workerd's newest where the project is ahead of it."""
    return min(project.compatibility_date, newest)


def newest_date(version: str) -> str:
    """The date that a version of workerd is made for: 1.20261117.1 is of 2026-11-17."""
    day = version.split(".")[1]
    return f"{day[:4]}-{day[4:6]}-{day[6:]}"


def date_warning(project: Project, newest: str) -> Notice | None:
    """What to say when the project asks for a date that workerd does not know yet; it would refuse to start."""
    if project.compatibility_date <= newest:
        return None
    return Notice(
        f"compatibility_date {project.compatibility_date} is newer than this workerd knows: {newest} is used.",
        "Cloudflare may already act differently; a newer celld-py brings a newer workerd.",
        key="compatibility_date",
        file=project.config_path,
        code="compatibility_date_clamped",
    )
