"""Arguments that several commands have, said in one way."""

from __future__ import annotations

from collections.abc import Callable

from runtime.cli.values import filled

Add = Callable[..., object]  # argparse's `add_argument`, of a parser or of a group


def add_project(add: Add) -> None:
    """The project that a command is about."""
    add(
        "project",
        nargs="?",
        default=".",
        type=filled,
        metavar="PROJECT",
        help="folder or configuration file of the project (default: the current folder)",
    )


def add_environment(add: Add, what: str = "environment of the configuration") -> None:
    """The environment that it takes the project in."""
    add("--env", metavar="NAME", help=f"{what} (default: $CLOUDFLARE_ENV)")
