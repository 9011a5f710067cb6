"""The deploy settings that a class declares: what the server would refuse is said before."""

from __future__ import annotations

from collections.abc import Iterator

from wrangler_compat.lints.lint import Check, Example, Hit, Lint, Subject


def _problems(code: str) -> Check:
    """The findings of the static reading that bear this code."""

    def check(subject: Subject) -> Iterator[Hit]:
        for problem in subject.code.problems:
            if problem.code == code:
                yield Hit(problem.message, problem.place)

    return check


def _class(attribute: str) -> str:
    return f"""
from workers import WorkerEntrypoint, WorkflowEntrypoint


class Order(WorkflowEntrypoint):
    {attribute}

    async def run(self, event, step):
        return 1


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        await self.env.ORDER.create()
"""


def _example(bad: str, good: str) -> tuple[Example, ...]:
    return (Example("python", bad=_class(f"{bad}  # <-"), good=_class(good)),)


LINTS = (
    Lint(
        "name_format",
        "error",
        "Cloudflare refuses other names of Workflows.",
        "Use 1 to 64 letters, digits, - and _, and no - at the start.",
        _problems("name_format"),
        _example('workflow_name = "order pipe"', 'workflow_name = "order-pipe"'),
    ),
    Lint(
        "schedule_syntax",
        "error",
        "wrangler takes any text as a schedule, and the deploy fails.",
        "Write minute, hour, day of the month, month and weekday, in UTC; weekdays count from 1 = Sunday.",
        _problems("schedule_syntax"),
        _example('schedules = ["every night"]', 'schedules = ["0 3 * * *"]'),
    ),
    Lint(
        "retention_syntax",
        "error",
        "wrangler takes any text as a retention, and the deploy fails.",
        'Write a number of milliseconds, or a text such as "3 days".',
        _problems("retention_syntax"),
        _example(
            'default_retention = {"success_retention": "3 fortnights"}',
            'default_retention = {"success_retention": "3 days"}',
        ),
    ),
    Lint(
        "setting_shape",
        "error",
        "A setting of another shape cannot be written into the configuration.",
        "Write it as the configuration has it.",
        _problems("setting_shape"),
        _example("limits = 500", 'limits = {"steps": 500}'),
    ),
    Lint(
        "setting_not_literal",
        "error",
        "Deploy settings are read without running the code, so they have to stand there.",
        "Write the value itself: a text, a number, a list or a dict of these.",
        _problems("setting_not_literal"),
        _example("schedules = [nightly()]", 'schedules = ["0 3 * * *"]'),
    ),
    Lint(
        "code_syntax",
        "warning",
        "A file that cannot be parsed cannot be checked; the project's own interpreter may be newer than this one.",
        "Mend the syntax, or run celld-py on the version of Python that the code is written for.",
        _problems("code_syntax"),
        (
            Example(
                "python",
                bad="""
class Order(:  # <-
    pass
""",
                good="""
class Order:
    pass
""",
                config={"workflows": []},
            ),
            Example(
                "javascript",
                bad="""
export class Order { run( } // <-
""",
                good="""
export class Order { run() {} }
""",
                config={"workflows": []},
            ),
        ),
    ),
    Lint(
        "code_unreadable",
        "warning",
        "A file that cannot be read is not checked.",
        "Make it readable, or smaller.",
        _problems("code_unreadable"),
        (),
    ),
)
