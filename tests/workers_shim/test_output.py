"""What user code prints: whole lines, with who wrote them."""

from __future__ import annotations

import threading

from workers_shim import current, output

Told = list[tuple[str, str, output.Origin]]


def lines(told: Told, later: list[int]) -> output.Lines:
    return output.Lines("stdout", lambda *line: told.append(line), lambda: later.append(1))


def test_whole_lines_go_out_and_the_rest_waits() -> None:
    told: Told = []
    later: list[int] = []
    stream = lines(told, later)
    print("one\r\ntwo\nthr", end="", file=stream)
    assert told == [("stdout", "one", None), ("stdout", "two", None)]
    assert later
    print("ee", file=stream)
    assert told[-1] == ("stdout", "three", None)


def test_writers_do_not_mix_within_a_line() -> None:
    told: Told = []
    stream = lines(told, [])
    for text, run in (("a", 1), ("b", 2), ("A\n", 1), ("B\n", 2)):
        token = current.ORIGIN.set((run, None, None))
        stream.write(text)
        current.ORIGIN.reset(token)
    assert [(text, origin and origin[0]) for _, text, origin in told] == [("aA", 1), ("bB", 2)]


def test_an_unfinished_line_is_shown_when_its_writer_ends() -> None:
    told: Told = []
    stream = lines(told, [])
    stream.write("half")
    stream.flush_partial(None)
    stream.flush_partial(None)
    assert told == [("stdout", "half", None)]


def test_bytes_and_lone_surrogates_are_taken() -> None:
    told: Told = []
    stream = lines(told, [])
    stream.buffer.write(b"caf\xc3\xa9 \xff\n")
    stream.buffer.flush()
    stream.write("\ud800\n")
    assert [text for _, text, _ in told] == ["café \\xff", "\ud800"]


def test_threads_write_whole_lines() -> None:
    told: Told = []
    stream = lines(told, [])
    threads = [threading.Thread(target=lambda: [stream.write("x" * 50 + "\n") for _ in range(200)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [text for _, text, _ in told] == ["x" * 50] * 800


def test_a_line_without_end_is_broken_at_a_bound() -> None:
    told: Told = []
    lines(told, []).write("y" * (output.LONGEST_LINE + 1))
    assert [len(text) for _, text, _ in told] == [output.LONGEST_LINE]


def test_it_is_not_a_terminal() -> None:
    assert not lines([], []).isatty()
    assert lines([], []).encoding == "utf-8"
