"""Why the project's code cannot serve, as terminal and error page show it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """Why an isolate cannot serve: what its code raised, and where; or what is wrong ``in_settings``."""

    name: str
    message: str
    traceback: str
    file: str | None = None
    line: int | None = None
    in_settings: bool = False

    def advice(self, *, watched: bool = True) -> str:
        """What to do, where the files are ``watched`` or not."""
        if self.in_settings:
            return "Correct it and start celld-py again: the configuration is read at its start only."
        if not watched:
            return "Mend it and start celld-py again: with --no-watch, edits are not noticed."
        return "Mend it and save: it is loaded again at once."

    @property
    def place(self) -> str | None:
        """Where it is, as an editor takes it."""
        return None if self.file is None else f"{self.file}:{self.line}"


class DoesNotLoad(Exception):
    """The code was found not to load before there was an isolate to say so."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem
