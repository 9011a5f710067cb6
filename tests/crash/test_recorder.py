"""Lines that a Worker sends are in the file when it is answered."""

from __future__ import annotations

from pathlib import Path

import httpx

from tests.crash.recorder import recorder


def test_a_line_is_written_when_it_is_answered(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    with recorder(file) as url, httpx.Client() as client:
        for line in ("one", "two"):
            assert client.post(url, content=f"{line}\n").status_code == 204
            assert file.read_text().splitlines()[-1] == line


def test_a_connection_that_is_still_open_does_not_keep_the_recorder(tmp_path: Path) -> None:
    with httpx.Client() as client, recorder(tmp_path / "lines") as url:
        client.post(url, content="one\n")
