"""What workerd says when it refuses to start, in the terms of the project's configuration."""

from __future__ import annotations

import re

_SERVICE = r"service (?:worker|assets):[^:]+: "

# What begins so can only be put right in the configuration.
_FLAGS = "compatibility_flags: "

# What workerd says, and what is said in its place, with the parts of the one in the other.
_RULES: tuple[tuple[str, str], ...] = (
    (
        _SERVICE + r"No such compatibility flag: (?P<flag>.+)",
        _FLAGS + 'this workerd knows no flag "{flag}". Remove it, or correct its name.',
    ),
    (
        _SERVICE + r"Compatibility flag specified multiple times: (?P<flag>.+)",
        _FLAGS + '"{flag}" is listed twice. Remove one.',
    ),
    (
        _SERVICE + r"Compatibility flags are mutually contradictory: (?P<flags>.+)",
        _FLAGS + "{flags} contradict each other. Remove one.",
    ),
    (
        r'Worker "worker:(?P<worker>[^"]+)"\'s binding "(?P<binding>[^"]+)" refers to service '
        r'"worker:(?P<target>[^"]+)" with a named entrypoint "(?P<entrypoint>[^"]+)".*',
        'services: env.{binding} of the Worker "{worker}" names the entrypoint {entrypoint} of the Worker "{target}", '
        "which exports no such class.",
    ),
    (
        r'Worker "bridge"\'s binding "[^"]+" refers to service "worker:(?P<target>[^"]+)" with a named entrypoint '
        r'"(?P<entrypoint>[^"]+)".*',
        'workflows: {entrypoint} of the Worker "{target}" is no class that extends WorkflowEntrypoint.',
    ),
    (_SERVICE + r"(?P<rest>.+)", "{rest}"),
)
_COMPILED = tuple((re.compile(pattern, re.DOTALL), told) for pattern, told in _RULES)


def explained(message: str) -> str:
    """One message of workerd's, without the names that only our configuration knows."""
    for pattern, told in _COMPILED:
        if found := pattern.fullmatch(message):
            return told.format(**found.groupdict())
    return message


def in_settings(told: str) -> bool:
    """Whether what `explained` has told can only be put right in the configuration."""
    return told.startswith(_FLAGS)
