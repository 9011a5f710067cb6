"""The mutants of the isolate."""

from __future__ import annotations

from tests.mutants.mutant import Mutant


def isolate(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    """A mutant of the isolate; its tests are ``topic::name`` of tests/workers_shim/test_TOPIC.py."""
    ids = tuple(f"tests/workers_shim/test_{test.replace('::', '.py::', 1)}" for test in tests)
    return Mutant(name, f"workers_shim/{file}", old, new, ids)


ISOLATE = [
    # I1 A result is seen only after the host has answered; a live one has passed through the codec.
    isolate(
        "i1-live-result-skips-codec-and-commit", "attempt.py",
        '            ran["value"], ran["size"] = _sendable(*values.encode(value))\n',
        '            ran["value"], ran["size"] = _sendable(*values.encode(value))\n'
        "            from workers_shim.call import Outcome\n"
        "            kept = Outcome()\n"
        "            kept.value, kept._decoded = value, True\n"
        "            self._run.calls.pop(call.number).settle(kept)\n",
        "run::test_live_result_has_the_type_that_a_replay_gives",
        "run::test_result_is_seen_only_when_the_host_has_answered",
    ),
    isolate(
        "i1-live-result-is-not-of-the-sdks-types", "call.py",
        "            self.value = values.decode(self.text)",
        "            self.value = __import__('workers_shim.wire.devalue').wire.devalue.parse(self.text)",
        "run::test_live_result_has_the_type_that_a_replay_gives",
    ),
    # I5 Results in the order in which they settled, one at a time, at rest, behind every earlier call.
    isolate(
        "i5-replay-order-is-lost", "replay.py",
        "            self.queue.append(Item(found, result=True))",
        "            self.queue.insert(len(self.records), Item(found, result=True))",
        "replay::test_race_takes_the_branch_that_the_journal_has",
    ),
    isolate(
        "i5-large-value-comes-when-it-comes", "replay.py",
        "            elif record.outcome is None:\n                return None",
        "            elif record.outcome is None:\n                self.queue.rotate(-1)\n                return None",
        "replay::test_large_value_is_asked_for_and_keeps_its_place",
    ),
    isolate(
        "i5-live-result-does-not-wait-for-rest", "run.py",
        "        if (refused or not self.replay.queue) and not self.pump.busy():",
        "        if refused or not self.replay.queue:",
        "replay::test_results_that_arrive_together_are_handed_over_one_at_a_time",
    ),
    isolate(
        "i5-next-result-does-not-wait-for-rest", "pump.py",
        "        if self.busy() and self._turns < SPIN_TURNS:",
        "        if False:",
        "replay::test_results_that_arrive_together_are_handed_over_one_at_a_time",
        "replay::test_recorded_results_are_handed_over_one_at_a_time",
    ),
    isolate(
        "i5-replay-hands-over-two-at-a-time", "pump.py",
        "            self._run.hand_over(record)\n",
        "            self._run.hand_over(record)\n"
        "            if (record := self._run.replay.next()) is not None:\n"
        "                self._run.hand_over(record)\n",
        "replay::test_recorded_results_are_handed_over_one_at_a_time",
    ),
    isolate(
        "i5-result-overtakes-an-earlier-call", "replay.py",
        "        while queue and not queue[0].result and"
        " (queue[0].record.call is not None or queue[0].record.skipped):",
        "        while queue and not queue[0].result:",
        "replay::test_result_waits_for_a_call_that_was_made_before_it",
    ),
    isolate(
        "i5-own-awaits-are-not-waited-for", "pump.py",
        "        if awaits or self._within_grace():",
        "        if self._within_grace():",
        "replay::test_result_waits_for_a_call_that_was_made_before_it",
    ),
    # I9 Parked only when every task waits on engine calls; nothing is left of what was released.
    isolate(
        "i9-timer-is-overlooked", "rest.py",
        "        if _belongs(handle, mine):\n            return True",
        "        if False:\n            return True",
        "rest::test_time_limit_around_a_step_is_its_own",
        "rest::test_limit_of_wait_is_its_own",
    ),
    isolate(
        "i9-unknown-future-counts-as-the-engines", "rest.py",
        "        return sources is None or any(",
        "        return sources is not None and any(",
        "rest::test_future_of_unknown_origin_is_its_own_wherever_it_hides",
        "rest::test_answer_comes_when_what_it_awaited_is_over",
    ),
    isolate(
        "i9-foreign-task-counts-as-the-engines", "rest.py",
        "            return future not in self._alive or self.own_task(future)",
        "            return future in self._alive and self.own_task(future)",
        "rest::test_task_of_nobody_is_awaited_as_its_own",
    ),
    isolate(
        "i9-parks-while-a-step-works", "pump.py",
        "        awaits, where = own_wait(run.loop, run.tasks, self._anywhere)",
        "        awaits, where = own_wait(run.loop, run.tasks, self._outside)",
        "rest::test_step_that_works_is_not_parked",
    ),
    isolate(
        "i9-parked-does-not-tell-what-it-knew", "pump.py",
        '"rets": run.given',
        '"rets": run.sent',
        "rest::test_counts_tell_an_answer_that_crossed_newer_news",
    ),
    isolate(
        "i9-gather-of-waits-stays", "rest.py",
        "        if isinstance(future, _GATHERING):",
        "        if False:",
        "rest::test_gather_of_waits_parks",
    ),
    isolate(
        "i9-released-run-is-kept", "runs.py",
        '        run = self._runs.pop(message["run"], None)',
        '        run = self._runs.get(message["run"])',
        "run::test_nothing_is_left_of_a_released_run",
    ),
    isolate(
        "i9-released-tasks-live-on", "run.py",
        "            task.scope.dead = True\n            task.cancel()",
        "            task.scope.dead = True",
        "run::test_release_cancels_what_is_left_and_says_so",
        "run::test_nothing_is_left_of_a_released_run",
    ),
    isolate(
        "i9-released-is-said-too-early", "runs.py",
        "        alive = any(not task.done() for task in run.tasks)",
        "        alive = False",
        "run::test_code_that_catches_its_release_is_named_deaf_and_cannot_call",
    ),
    # I12 What does not fit the journal is told, with file and line.
    isolate(
        "i12-another-order-is-not-told", "run.py",
        "                self.report(misfit, describe(call.identity), call.place)",
        "                pass",
        "replay::test_calls_made_together_in_another_order_are_told",
    ),
    isolate(
        "i12-new-call-is-not-told", "run.py",
        "            self.report(call.misfit, describe(call.identity), call.place)\n",
        "",
        "replay::test_new_call_in_front_of_the_recorded_ones_is_told",
    ),
    isolate(
        "i12-call-not-made-is-not-told", "pump.py",
        "        self._run.report_missing(missing)\n",
        "",
        "replay::test_recorded_call_that_the_code_does_not_make_is_told_when_it_comes_to_rest",
    ),
    isolate(
        "i12-rest-of-the-journal-is-not-told", "run.py",
        '            self.report(describe(missing.identity), "run() ended", self._last_place())',
        "            pass",
        "replay::test_run_that_ends_before_the_journal_does_is_told",
    ),
    isolate(
        "i12-without-file-and-line", "run.py",
        "        if where is not None:\n            message |=",
        "        if False:\n            message |=",
        "replay::test_call_that_code_no_longer_makes_is_told_and_passed_over",
    ),
    isolate(
        "i12-refused-call-is-told", "run.py",
        "        if refused:\n            call.misfit = None",
        "        if refused:\n            self.accepted(call)",
        "replay::test_refused_call_is_no_mismatch",
    ),
    # I4 A replay for undo functions asks the host for nothing new.
    isolate(
        "i4-replay-for-undo-makes-calls", "run.py",
        "        if (nested or not self._repeat(call)) and not (self.undoing and not self.replay.lacks(call)):",
        "        if nested or not self._repeat(call):",
        "undo::test_i4_a_replay_finds_the_undo_functions_again_and_asks_nothing_of_the_host",
    ),
]  # fmt: skip
