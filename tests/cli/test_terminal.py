from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any, TextIO

import pytest

from runtime.cli.terminal import Terminal
from runtime.host.options import LogFormat


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def terminal(
    out: TextIO | None = None, err: TextIO | None = None, format: LogFormat = "text", **environ: str
) -> Terminal:
    return Terminal.over(out or io.StringIO(), err or io.StringIO(), format, environ)


def test_answers_go_to_standard_output_and_complaints_to_standard_error() -> None:
    out, err = io.StringIO(), io.StringIO()
    shown = terminal(out, err)

    shown.line("Ready on http://127.0.0.1:8787")
    shown.note("a note", "its hint")
    shown.user_output("stderr", "from the Worker")
    shown.warning("careful", "do this\nor that")
    shown.error("broken", "at a.py:1\nin f", "mend it")
    shown.event("ready", port=8787)

    assert out.getvalue() == ("Ready on http://127.0.0.1:8787\nnote: a note\n  its hint\nfrom the Worker\n")
    assert err.getvalue() == ("warning: careful\n  do this\n  or that\nerror: broken\n  at a.py:1\n  in f\n  mend it\n")


@pytest.mark.parametrize(
    ("origin", "line"),
    [
        (
            {"workflow": "orders", "instance": "ab12", "step": "charge-1", "attempt": 2},
            "[orders/ab12 charge-1 #2] x",
        ),
        ({"workflow": "orders", "instance": "ab12"}, "[orders/ab12] x"),
        ({}, "x"),
    ],
)
def test_output_of_the_worker_says_which_run_wrote_it(origin: dict[str, Any], line: str) -> None:
    out = io.StringIO()

    terminal(out).user_output("stdout", "x", **origin)

    assert out.getvalue() == f"{line}\n"


def test_each_line_of_the_worker_has_the_prefix() -> None:
    out = io.StringIO()

    terminal(out).user_output("stdout", "a\nb", "orders", "1")

    assert out.getvalue() == "[orders/1] a\n[orders/1] b\n"


def test_json_is_one_object_a_line_all_on_standard_output() -> None:
    out, err = io.StringIO(), io.StringIO()
    shown = terminal(out, err, "json")

    shown.line("Ready")
    shown.warning("careful", "two\nlines")
    shown.error("broken", code="port_taken")
    shown.user_output("stderr", "hi", "orders", "1", "charge-1", 2)
    shown.event("ready", port=8787)

    assert err.getvalue() == ""
    assert [json.loads(line) for line in out.getvalue().splitlines()] == [
        {"kind": "line", "text": "Ready"},
        {"kind": "warning", "text": "careful", "hint": "two\nlines"},
        {"kind": "error", "title": "broken", "code": "port_taken"},
        {
            "kind": "output",
            "stream": "stderr",
            "text": "hi",
            "workflow": "orders",
            "instance": "1",
            "step": "charge-1",
            "attempt": 2,
        },
        {"kind": "ready", "port": 8787},
    ]


def test_colour_is_for_terminals_whose_owner_did_not_refuse_it() -> None:
    plain, screen, refused, dumb = io.StringIO(), Screen(), Screen(), Screen()

    terminal(err=plain).warning("x")
    terminal(err=screen).warning("x")
    terminal(err=refused, NO_COLOR="1").warning("x")
    terminal(err=dumb, TERM="dumb").warning("x")

    assert screen.getvalue() == "\x1b[33mwarning:\x1b[0m x\n"
    assert plain.getvalue() == refused.getvalue() == dumb.getvalue() == "warning: x\n"


def test_characters_that_the_stream_cannot_hold_become_escapes() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii", write_through=True)

    terminal(out).line("caf\xe9 \ud800")

    assert raw.getvalue() == b"caf\\xe9 \\ud800\n"


def test_every_line_is_flushed_into_a_pipe() -> None:
    reader, writer = os.pipe()
    with open(reader) as read, open(writer, "w") as out:
        terminal(out).line("Ready")

        assert read.readline() == "Ready\n"


def test_a_closed_pipe_silences_the_terminal_and_nothing_else() -> None:
    code = (
        "import sys\nfrom runtime.cli.terminal import Terminal\nterminal = Terminal.standard()\n"
        "terminal.line('first')\nsys.stdin.readline()\n"
        "for _ in range(3):\n    terminal.line('more')\n"
        "print('lives', file=sys.stderr)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        assert process.stdout.readline() == "first\n"
        process.stdout.close()
        process.stdin.write("go\n")
        process.stdin.close()

        assert process.stderr.read() == "lives\n"
    assert process.returncode == 0


def test_a_closed_stream_is_no_error() -> None:
    out = io.StringIO()
    shown = terminal(out)
    out.close()

    shown.line("x")


def test_lines_that_a_full_disk_cannot_take_are_lost_and_later_ones_are_not(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with open("/dev/full", "w") as out:
        shown = terminal(out)
        shown.line("lost")
        shown.line("lost too")
        with log.open("w") as disk:
            os.dup2(disk.fileno(), out.fileno())  # there is room again
        shown.line("kept")

    assert log.read_text() == "kept\n"


def test_a_full_disk_does_not_spoil_the_exit_code() -> None:
    code = (
        "import sys\nfrom runtime.cli.terminal import Terminal\nterminal = Terminal.standard()\n"
        "terminal.line('lost')\nprint('lives', file=sys.stderr)"
    )
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-c", code], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )

    assert (ended.returncode, ended.stderr) == (0, "lives\n")


def test_what_a_slow_reader_does_not_take_is_lost_and_the_next_line_is_a_line() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with open(reader, "rb", buffering=0) as read, open(writer, "w") as out:
        shown = terminal(out)
        shown.line("x" * 200_000)  # more than a pipe holds: only the beginning of it is written
        shown.line("lost")
        begun = read.read(200_000)
        shown.line("next")
        shown.line("last")

        assert set(begun) == {ord("x")}
        assert 0 < len(begun) < 200_000
        assert read.read(100) == b"\nnext\nlast\n"


def test_a_terminal_that_is_gone_silences_us(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    log = tmp_path / "log"
    with open(slave, "w") as out:
        shown = terminal(out)
        os.close(master)
        shown.line("nobody reads this")
        with log.open("w") as other:
            os.dup2(other.fileno(), out.fileno())
        shown.line("nor this")

    assert log.read_text() == ""
