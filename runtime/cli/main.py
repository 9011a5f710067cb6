"""The `celld-py` command.

It is parsed with argparse, because importing typer and rich costs about 100 ms, more than the rest of the
start-up. For the same reason nothing of the host is imported before the arguments are known to be right.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from runtime.cli import check, deploy, dev, reconcile

PROGRAM = "celld-py"


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and where to read more."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\nSee: {self.prog} --help\n")


class _Version(argparse.Action):
    """Looks the version up only when it is asked for; importing the metadata reader is slow."""

    def __init__(self, option_strings: Sequence[str], dest: str, **settings: Any) -> None:
        super().__init__(option_strings, dest=argparse.SUPPRESS, nargs=0, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version(PROGRAM)
        except PackageNotFoundError:  # run from a checkout that is not installed
            number = "(not installed)"
        print(f"{PROGRAM} {number}")
        parser.exit()


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    root: argparse.ArgumentParser = _Parser(
        prog=PROGRAM,
        description="Run Cloudflare and celld Worker projects with durable Workflows on your own machine.",
        allow_abbrev=False,
    )
    root.add_argument("--version", action=_Version)
    commands = root.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    dev.add_parser(commands)
    check.add_parser(commands)
    reconcile.add_parser(commands)
    deploy.add_parser(commands)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the result is the exit code: 0, 1 for a failure, 2 for wrong usage."""
    root = parser()
    parsed, unknown = root.parse_known_args(arguments)
    if unknown:
        _refuse(getattr(parsed, "parser", root), unknown)
    if parsed.command is None:
        root.print_help(sys.stderr)
        return 2
    code: int = parsed.run(parsed)
    return code


def _refuse(command: argparse.ArgumentParser, unknown: list[str]) -> NoReturn:
    from difflib import get_close_matches

    near = get_close_matches(unknown[0].partition("=")[0], command._option_string_actions, 1)
    advice = f" (did you mean {near[0]}?)" if near else ""
    command.error(f"unrecognized arguments: {' '.join(unknown)}{advice}")


if __name__ == "__main__":
    sys.exit(main())
