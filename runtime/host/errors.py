"""The errors that reach the person at the terminal.

    CelldError                  what happened, where, what to do; exit code 1
    ├── UsageError              the command line is wrong; exit code 2
    ├── TargetError             the configuration holds what the target refuses; exit code 2 (target_check.py)
    ├── ToolsError              workerd or esbuild cannot be had (runtime/javascript/tool_errors.py)
    └── ProjectError            the project cannot run as it is
        ├── InterpreterError    its Python is missing, too old or broken
        └── LanguageError       its main module is in a language that is not run

Errors of the configuration file are `wrangler_compat.ConfigError`, which has the same ``code``, ``message``,
``hint``.
"""

from __future__ import annotations


class CelldError(Exception):
    """The root: anything that the person at the terminal can put right.

    ``message`` says what happened, ``detail`` where or how in full (several lines, such as an installer's
    last words), ``hint`` what to do. ``code`` is stable, for programs.
    """

    code = "error"
    exit_code = 1

    def __init__(
        self, message: str, *, hint: str | None = None, detail: str | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.detail = detail
        if code is not None:
            self.code = code


class UsageError(CelldError):
    """The command line asks for something that cannot be."""

    code = "usage"
    exit_code = 2


class ProjectError(CelldError):
    """The project cannot run as it is."""

    code = "project"


class InterpreterError(ProjectError):
    """No usable Python for the project."""

    code = "interpreter"


class LanguageError(ProjectError):
    """The main module is in a language that is not run."""

    code = "language"
