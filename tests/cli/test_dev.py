from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from runtime.cli.main import main
from runtime.cli.terminal import Terminal
from runtime.host.errors import CelldError, InterpreterError, UsageError
from runtime.host.options import Options
from wrangler_compat import load_project

Serve = Callable[[Options], Awaitable[int]]
Install = Callable[[Serve], None]


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts this coroutine function in the place of the host's `serve`; nothing is begun before it."""

    def begin(options: Options, terminal: Terminal) -> SimpleNamespace:
        return SimpleNamespace(options=options)

    def install(serve: Serve) -> None:
        module = ModuleType("runtime.host.app")
        module.__dict__["serve"] = lambda start, terminal: serve(start.options)
        monkeypatch.setitem(sys.modules, "runtime.host.app", module)
        monkeypatch.setattr("runtime.host.start.begin", begin)

    return install


def failing(error: BaseException) -> Serve:
    async def serve(_: Options) -> int:
        raise error

    return serve


def options_of(host: Install, *arguments: str) -> Options:
    seen: list[Options] = []

    async def serve(options: Options) -> int:
        seen.append(options)
        return 0

    host(serve)
    assert main(["dev", *arguments]) == 0
    return seen[0]


def test_the_defaults(host: Install) -> None:
    assert options_of(host) == Options(
        project=Path(),
        port=8787,
        ip="127.0.0.1",
        env=None,
        persist_to=None,
        target="cloudflare",
        vars={},
        python=None,
        watch=True,
        log_format="text",
        hibernate_after=5.0,
        durability="process",
        schedules=True,
        strict_replay=False,
        replay_every_step=False,
    )


def test_every_option_reaches_the_host(host: Install) -> None:
    line = (
        "app --port 0 --ip ::1 --env staging --persist-to state --target celld --var A:1 --var B:x:y "
        "--python python3.13 --no-watch --log-format json --hibernate-after 1m --durability power "
        "--no-schedules "
        "--strict-replay --replay-every-step"
    )

    assert options_of(host, *line.split()) == Options(
        project=Path("app"),
        port=0,
        ip="::1",
        env="staging",
        persist_to=Path("state"),
        target="celld",
        vars={"A": "1", "B": "x:y"},
        python="python3.13",
        watch=False,
        log_format="json",
        hibernate_after=60.0,
        durability="power",
        schedules=False,
        strict_replay=True,
        replay_every_step=True,
    )


def test_the_host_s_answer_is_the_exit_code(host: Install) -> None:
    async def serve(_: Options) -> int:
        return 7

    host(serve)

    assert main(["dev"]) == 7


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CelldError("It broke.", hint="Mend it.", detail="line 1\nline 2"), 1),
        (InterpreterError("It broke.", hint="Mend it.", detail="line 1\nline 2"), 1),
        (UsageError("It broke.", hint="Mend it.", detail="line 1\nline 2"), 2),
    ],
)
def test_a_failure_is_one_message_without_a_traceback(
    host: Install, capsys: pytest.CaptureFixture[str], error: CelldError, code: int
) -> None:
    host(failing(error))

    assert main(["dev"]) == code

    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == "error: It broke.\n  line 1\n  line 2\n  Mend it.\n"


def test_a_failure_as_json_carries_its_code(host: Install, capsys: pytest.CaptureFixture[str]) -> None:
    host(failing(InterpreterError("It broke.")))

    assert main(["dev", "--log-format", "json"]) == 1

    assert capsys.readouterr().out == '{"kind": "error", "title": "It broke.", "code": "interpreter"}\n'


def test_all_mistakes_of_the_configuration_are_told_with_their_places(
    host: Install, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    async def serve(options: Options) -> int:
        load_project(options.project, environ={})
        return 0

    host(serve)
    config = tmp_path / "wrangler.jsonc"
    config.write_text('{\n"main": "gone.js",\n"compatibility_date": "2026-01-01",\n"vars": 1\n}')

    assert main(["dev", str(tmp_path)]) == 1

    assert capsys.readouterr().err == (
        'error: The field "vars" should be an object but got 1.\n'
        f"  {config}:4:9\n"
        '  Write { "NAME": value }.\n'
        f'error: "main" names {tmp_path}/gone.js, which does not exist.\n'
        f"  {config}:2:9\n"
        "  Paths in the configuration are relative to the configuration file.\n"
    )


def test_an_interrupt_before_the_host_is_ready_ends_quietly(host: Install, capsys: pytest.CaptureFixture[str]) -> None:
    host(failing(KeyboardInterrupt()))

    assert main(["dev"]) == 130
    assert capsys.readouterr().err == ""
