"""`celld-py dev`: runs a project until it is interrupted."""

from __future__ import annotations

import argparse
from pathlib import Path

from runtime.cli.arguments import Add, add_environment
from runtime.cli.shown import show_mistakes
from runtime.cli.values import duration, filled, port, variable
from runtime.host.options import DEFAULT_HIBERNATE_AFTER, DEFAULT_IP, DEFAULT_PORT, Options

_INTERRUPTED = 130  # what a shell reports for a command ended by SIGINT


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command and its options."""
    dev = commands.add_parser(
        "dev", help="run a project", description="Run a Worker project and its workflows.", allow_abbrev=False
    )
    dev.set_defaults(run=run, parser=dev)
    _add_server(dev.add_argument)
    _add_project(dev.add_argument)
    _add_state(dev.add_argument)
    _add_checks(dev.add_argument)


def _add_server(add: Add) -> None:
    add("--port", type=port, default=DEFAULT_PORT, help="port to listen on; 0 takes any (default: %(default)s)")
    add("--ip", type=filled, default=DEFAULT_IP, help="address to listen on (default: %(default)s)")
    add(
        "--no-schedules",
        dest="schedules",
        action="store_false",
        help="do not create instances when the schedules of workflows say so",
    )
    add("--inspect", action="store_true", help="let a debugger into JavaScript code; what blocks is then not killed")
    add("--no-watch", dest="watch", action="store_false", help="do not reload when files change")
    add(
        "--log-format",
        choices=("text", "json"),
        default="text",
        help="lines for people, or one JSON object a line (default: %(default)s)",
    )


def _add_project(add: Add) -> None:
    add(
        "projects",
        nargs="*",
        default=["."],
        type=filled,
        metavar="PROJECT",
        help="folder or configuration file of the project (default: the current folder); JavaScript projects may be "
        "started together: the first answers requests and has the state of all",
    )
    add_environment(add)
    add(
        "--target",
        choices=("cloudflare", "celld"),
        default="cloudflare",
        help="where the project will be deployed, so whose rules hold (default: %(default)s)",
    )
    add(
        "--var",
        dest="vars",
        type=variable,
        action="append",
        default=[],
        metavar="KEY:VALUE",
        help="a variable for env, over those of the files; may be repeated",
    )
    add("--python", type=filled, metavar="PATH", help="interpreter or virtual environment for the Worker's code")


def _add_state(add: Add) -> None:
    add(
        "--persist-to",
        type=filled,
        metavar="DIR",
        help="folder of the state (default: .celld/state beside the configuration)",
    )
    add(
        "--hibernate-after",
        type=duration,
        default=DEFAULT_HIBERNATE_AFTER,
        metavar="DURATION",
        help='when an instance that only waits leaves memory: seconds, or a text like "1m" (default: 5)',
    )
    add(
        "--durability",
        choices=("process", "power"),
        default="process",
        help="what acknowledged work survives: kill -9, or also power loss (default: %(default)s)",
    )


def _add_checks(add: Add) -> None:
    add(
        "--strict-replay",
        action="store_true",
        help="end an instance with an error when its replay does not fit its history",
    )
    add(
        "--replay-every-step",
        action="store_true",
        help="drop each instance from memory after every step and replay it, so that code which leans on memory fails",
    )


def options(parsed: argparse.Namespace) -> Options:
    """The parsed words as the host takes them."""
    first, *others = map(Path, parsed.projects)
    return Options(
        project=first,
        others=tuple(others),
        port=parsed.port,
        ip=parsed.ip,
        env=parsed.env,
        persist_to=Path(parsed.persist_to) if parsed.persist_to else None,
        target=parsed.target,
        vars=dict(parsed.vars),
        python=parsed.python,
        watch=parsed.watch,
        log_format=parsed.log_format,
        hibernate_after=parsed.hibernate_after,
        durability=parsed.durability,
        schedules=parsed.schedules,
        strict_replay=parsed.strict_replay,
        replay_every_step=parsed.replay_every_step,
        inspect=parsed.inspect,
    )


def run(parsed: argparse.Namespace) -> int:
    """Serve the project; what the person can put right is told in one message, without a traceback."""
    from runtime.cli.terminal import Terminal
    from runtime.host.errors import CelldError
    from runtime.host.start import begin
    from wrangler_compat import ConfigError

    chosen = options(parsed)
    terminal = Terminal.standard(chosen.log_format)
    try:
        start = begin(chosen, terminal)

        # The isolates are importing by now; so is this.
        import asyncio

        import uvloop

        from runtime.host.app import serve

        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(serve(start, terminal))
    except ConfigError as error:
        show_mistakes(error.all, terminal)
        return 1
    except CelldError as error:
        terminal.error(error.message, error.detail, error.hint, code=error.code)
        return error.exit_code
    except KeyboardInterrupt:  # before serve() has taken the signal over
        return _INTERRUPTED
