from __future__ import annotations

import subprocess
import sys

import pytest

from runtime.cli.main import main

HEAVY = {"asyncio", "uvloop", "uvicorn", "starlette", "msgspec", "watchfiles", "tomllib", "typer", "rich"}


def usage_error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    output = capsys.readouterr()
    assert output.out == ""
    return output.err


def test_help_is_complete_and_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["dev", "--help"])

    assert caught.value.code == 0
    shown = capsys.readouterr().out
    listed = (
        "PROJECT --port --ip --env --persist-to --target --var --python --no-watch --log-format "
        "--hibernate-after --durability"
    )
    assert [option for option in listed.split() if option not in shown] == []


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])

    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith("celld-py ")


def test_without_a_command_the_help_is_shown_as_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage: celld-py" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nope"], "celld-py: unrecognized arguments: --nope"),
        (["devv"], "celld-py: argument COMMAND: invalid choice: 'devv'"),
        (["dev", "--nope"], "celld-py dev: unrecognized arguments: --nope"),
        (["dev", "--por=1"], "celld-py dev: unrecognized arguments: --por=1 (did you mean --port?)"),
        (["check", "a", "b"], "celld-py check: unrecognized arguments: b"),
        (["dev", "--port"], "celld-py dev: argument --port: expected one argument"),
        (["dev", "--port", "http"], 'argument --port: a port is a number from 0 to 65535, not "http"'),
        (["dev", "--port", "65536"], 'argument --port: a port is a number from 0 to 65535, not "65536"'),
        (["dev", "--port", "²"], 'argument --port: a port is a number from 0 to 65535, not "²"'),
        (["dev", "--var", "A=1"], 'argument --var: a variable is KEY:VALUE, not "A=1"'),
        (["dev", "--var", ":1"], 'argument --var: a variable is KEY:VALUE, not ":1"'),
        (["dev", "--target", "aws"], "argument --target: invalid choice: 'aws'"),
        (["dev", "--log-format", "xml"], "argument --log-format: invalid choice: 'xml'"),
        (["dev", "--durability", "none"], "argument --durability: invalid choice: 'none'"),
        (
            ["dev", "--hibernate-after", "soon"],
            'argument --hibernate-after: a duration is seconds or a text like "30s" or "5 minutes", not "soon"',
        ),
        (["dev", "--hibernate-after=-1"], 'like "30s" or "5 minutes", not "-1"'),
        (["dev", "--ip", ""], "argument --ip: it must not be empty"),
        (["dev", ""], "argument PROJECT: it must not be empty"),
    ],
)
def test_wrong_usage_is_one_message_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    shown = usage_error(capsys, *arguments)

    assert message in shown
    assert shown.splitlines()[-1].startswith("See: celld-py")
    assert len(shown.splitlines()) == 2


def test_nothing_heavy_is_imported_before_the_arguments_are_checked() -> None:
    code = (
        "import sys\nfrom runtime.cli.main import main\n"
        "try:\n    main(['dev', '--port', 'x'])\nexcept SystemExit:\n    print(*sys.modules)"
    )

    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert not HEAVY & set(shown.split())
