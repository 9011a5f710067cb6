"""A campaign: clients order, the server is killed again and again, and in the end nothing may be wrong."""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.crash.clients import Clients, Refused
from tests.crash.effects import EffectFile, Judge
from tests.crash.moments import ALL, FRONT, HOST, WORK, WORKERD, Moment, named_points, plan
from tests.crash.orders import Order, Orders
from tests.crash.project import LAST, PYTHON, Subject
from tests.dev import Dev, NotSeen, eventually, isolates, workerds

OPTIONS = ("--no-watch", "--hibernate-after", "0.05")
POINT_PATIENCE = 4.0  # seconds until a point counts as not passed
TRIES = 5  # for a point that is not passed
LATEST = 1.0  # seconds after work is in flight until a kill at any moment
COMPLETE = 30.0  # seconds in which everything under way has to end once nothing is killed any more


@dataclass
class Report:
    """What a campaign found."""

    seed: int
    points: list[str]
    kills: Counter[str] = field(default_factory=Counter)  # that found acknowledged work in flight, by moment
    idle_kills: int = 0  # those that found none, and do not count
    orders: int = 0
    seconds: float = 0.0
    violations: list[str] = field(default_factory=list)

    @property
    def missed(self) -> list[str]:
        """Points at which nothing was killed."""
        return [point for point in self.points if not self.kills[point]]

    def __str__(self) -> str:
        width = max(map(len, self.kills), default=0)
        lines = [f"  {name:{width}}  {count:4}  {'#' * count}" for name, count in sorted(self.kills.items())]
        lines.append(
            f"{self.kills.total()} kills with acknowledged work in flight ({self.idle_kills} without), "
            f"{self.orders} instances, {self.seconds:.0f} s, seed {self.seed}"
        )
        lines += [f"never passed: {point}" for point in self.missed]
        lines += [f"VIOLATION {text}" for text in self.violations]
        return "\n".join([*lines, f"{len(self.violations)} violations"])


def run_campaign(folder: Path, kills: int, seed: int, subject: Subject = PYTHON, points: Sequence[str] = ()) -> Report:
    """Kill the server of a new project in ``folder`` that many times; at all its named points, or at some."""
    began = time.monotonic()
    effects = folder / "effects.jsonl"
    report = Report(seed, list(points) or [point for point in named_points() if point not in subject.never_passed])
    with (
        subject.recording(effects) as place,
        closing(Dev(subject.make(folder / "journeys", place), OPTIONS, {})) as server,
    ):
        campaign = _Campaign(server, EffectFile(effects, LAST), report, folder / "printed.log", subject)
        campaign.run(kills)
    report.seconds = time.monotonic() - began
    return report


class _Campaign:
    def __init__(self, server: Dev, effects: EffectFile, report: Report, log: Path, subject: Subject) -> None:
        self.server, self.effects, self.report, self.log, self.subject = server, effects, report, log, subject
        self.random = Random(report.seed)
        self.orders = Orders()
        self.clients = Clients(server, self.orders, effects.path, report.seed)

    def run(self, kills: int) -> None:
        """Kill, then let everything come to its end, then look at everything."""
        moments = deque(plan(kills, self.report.points, self.random, self.subject.victims))
        self.clients.start()
        while moments or self.report.kills.total() < kills:
            moment = moments.popleft() if moments else Moment(HOST)
            if moment.point is not None or self.report.kills.total() < kills:
                moments.extendleft(reversed(self._kill_once(moment)))
        self._start()
        if self.clients.finish(COMPLETE):
            self._look_at_all()
        else:
            stuck = ", ".join(order.id for order in self._in_flight())
            self.report.violations.append(f"did not end in {COMPLETE:g} s after the last start: {stuck}")
        self._end_life()
        self._judge()

    # --------------------------------------------------------------------------------------------------------- kills

    def _kill_once(self, moment: Moment) -> list[Moment]:
        """Bring about one kill; gives what has to be tried again."""
        if moment.point is None:
            self._get_busy()
            time.sleep(self.random.uniform(0, LATEST))
            self._strike(moment)
            return []
        if self.server.running or not self._in_flight():
            self._get_busy()
            self._strike(Moment(HOST))
        if self._passes(moment):
            if self._count(moment):
                return []
        else:
            self._strike(Moment(HOST))
        return moment.again() if moment.tries < TRIES else []

    def _get_busy(self) -> None:
        """Have acknowledged work in flight."""
        self._start()
        eventually(self._in_flight)

    def _passes(self, moment: Moment) -> bool:
        """Start the host with a point armed; whether it died of it."""
        self._start(fault=f"{moment.point}:{moment.turn}")
        try:
            eventually(lambda: not self.server.running, timeout=POINT_PATIENCE)
        except NotSeen:
            return False
        return True

    def _strike(self, moment: Moment) -> None:
        """Kill somebody now."""
        if moment.victim in (WORK, FRONT, WORKERD):
            self._kill_isolate(moment)
            return
        assert self.server.process is not None
        with suppress(ProcessLookupError):
            if moment.victim == ALL:
                for pid in workerds(self.server.process.pid):  # in a group of its own
                    os.kill(pid, signal.SIGKILL)
                os.killpg(self.server.process.pid, signal.SIGKILL)
            else:
                os.kill(self.server.process.pid, signal.SIGKILL)
        self.server.exited()
        self._count(moment)

    def _kill_isolate(self, moment: Moment) -> None:
        """Kill an isolate: what was under way has to end without the host being started again."""
        pid = self._isolate(moment.victim)
        if not pid:
            return
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        under_way = self._in_flight()
        self._tally(moment, under_way)
        try:
            eventually(lambda: all(order.complete or order.deleting for order in under_way), timeout=COMPLETE)
        except NotSeen:
            stuck = [order.id for order in under_way if not order.complete]
            self.report.violations.append(f"after a kill ({moment.name}) {stuck} did not end in {COMPLETE:g} s")

    def _isolate(self, victim: str) -> int:
        """The process of an isolate; 0 while there is none."""
        assert self.server.process is not None
        host = self.server.process.pid
        if victim == WORKERD:
            return next(iter(workerds(host)), 0)
        front = int(self.clients.insist("/front"))
        return front if victim == FRONT else next((pid for pid in isolates(host) if pid != front), 0)

    def _count(self, moment: Moment) -> bool:
        """The host is dead: whether this kill counts."""
        counts = self._tally(moment, self._in_flight())
        self._end_life()
        return counts

    def _tally(self, moment: Moment, under_way: list[Order]) -> bool:
        self.server.lines.append(f"---- killed: {moment.name}, {len(under_way)} under way, {time.monotonic():.2f}")
        if under_way:
            self.report.kills[moment.name] += 1
        else:
            self.report.idle_kills += 1
        return bool(under_way)

    def _in_flight(self) -> list[Order]:
        self.effects.read()
        return self.orders.in_flight(self.effects.closed)

    # --------------------------------------------------------------------------------------------------------- lives

    def _start(self, fault: str = "") -> None:
        """Start the host; with a fault it may die before it is ready."""
        if self.server.running:
            return
        self.server.env["CELLD_PY_FAULT"] = fault
        try:
            self.server.start()
        except NotSeen:
            if not fault:
                raise
            self.server.exited()  # at a point that it passes before it serves
        else:
            self.clients.up.set()

    def _end_life(self) -> None:
        """Put what a life printed into the log, and look for what it should not have printed."""
        self.clients.up.clear()
        if self.server.running:
            self.server.kill()
        lines, self.server.lines[:] = self.server.lines[:], []
        with self.log.open("a") as log:
            log.writelines(f"{line}\n" for line in lines)
        for line, detail in itertools.zip_longest(lines, lines[1:], fillvalue=""):
            wrong = line.startswith(("error:", "Traceback")) or "never retrieved" in line
            if wrong and not any(expected in line + detail for expected in self.subject.expected_errors):
                self.report.violations.append(f"it printed: {line} {detail.strip()}")

    # ----------------------------------------------------------------------------------------------------------- end

    def _look_at_all(self) -> None:
        """Look at every order, before and after one more kill."""
        for order in self.orders.all():
            self._look_at(order)
        self.effects.read()
        lines = len(self.effects.effects)
        self.server.kill()
        self._end_life()
        self._start()
        for order in self.orders.all():
            self._look_at(order)
        self.effects.read()
        if len(self.effects.effects) != lines:
            self.report.violations.append("something ran although everything was complete")

    def _look_at(self, order: Order) -> None:
        try:
            seen = self.clients.insist("/status", id=order.id)
        except Refused as refused:
            gone = "not_found" in str(refused)
            if not gone or (order.created and not order.deleting):
                self.orders.problem(order, f"its status is {refused}")
            return
        if order.deleting:
            self.orders.problem(order, f"it was deleted and is {seen}")
        elif order.complete:
            self.clients.check(order, seen)
        else:  # its client walked away, maybe without an answer: what exists runs
            self.clients.complete(order)

    def _judge(self) -> None:
        self.effects.read()
        self.report.orders = len(self.orders.all())
        self.report.violations += Judge(self.subject.seen).violations(self.effects.effects)
        self.report.violations += self.orders.problems
        for order in self.orders.all():
            if order.deleted_at is not None:
                undead = self.effects.undead(order.id, order.deleted_at)
                self.report.violations += [f"{order.id}: {undead}"] if undead else []
