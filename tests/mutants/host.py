"""The mutants of the host and of the folder it owns."""

from __future__ import annotations

from tests.mutants.mutant import Mutant


def host(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    """A mutant of the host; its tests are ``topic::name`` of tests/host/test_TOPIC.py."""
    ids = tuple(f"tests/host/test_{test.replace('::', '.py::', 1)}" for test in tests)
    return Mutant(name, f"runtime/host/{file}", old, new, ids)


HOST = [
    # I1 Commit, then act: the shell.
    host(
        "i1-shell-acts-before-the-commit", "instance.py",
        "            if pending is None:\n                self._act(decided, events)\n                return",
        "            if True:\n                self._act(decided, events)\n                return",
        "instance::test_i1_an_attempt_runs_once_it_is_committed",
        "instance::test_i1_a_result_is_heard_once_it_is_committed",
        "instance::test_i1_a_caller_is_answered_once_it_is_committed",
        "instance::test_i1_a_refusal_waits_for_what_it_was_decided_on",
        "instance::test_i1_nothing_of_a_failed_commit_is_heard",
        "instance::test_i1_subscribers_hear_once_it_is_committed",
    ),
    host(
        "i1-uncommitted-state-is-shown", "instances.py",
        "            if not instance.gone:  # else the commit may have failed",
        "            if True:  # else the commit may have failed",
        "store_failures::test_i1_a_state_that_could_not_be_committed_is_not_shown",
    ),
    # I2 One transaction per decision, and per turn.
    host(
        "i2-turn-leaves-commands-behind", "instance.py",
        "        batch, self._inbox = self._inbox, []\n        decided",
        "        batch, self._inbox = self._inbox[:1], self._inbox[1:]\n        decided",
        "instance::test_i2_all_that_arrives_together_is_committed_together",
        "instance::test_i2_what_arrives_during_a_commit_is_committed_together_after_it",
    ),
    # I3 Attempts are fenced: so are runs.
    host(
        "i3-lost-run-makes-calls", "instance.py",
        "        if waiting.run is not None and waiting.run is not self.run:",
        "        if False:",
        "instance::test_i3_a_call_of_a_run_that_is_lost_in_the_same_turn_is_not_journalled",
    ),
    host(
        "i3-aborted-run-lives-on", "instance.py",
        "        if any(isinstance(effect, fx.AbortRun) for effect in decision.effects):",
        "        if False:",
        "instance::test_i3_an_ended_run_is_not_heard",
        "binding_instances::test_c068_a_resumed_instance_replays_and_goes_on",
    ),
    host(
        "i3-aborted-run-is-answered", "instance.py",
        "            if waiting.after is not None and (waiting.run is None or waiting.run is self.run):",
        "            if waiting.after is not None:",
        "instance::test_i3_a_call_that_was_decided_just_before_the_abort_is_not_answered_either",
    ),
    host(
        "i3-given-up-attempt-goes-on", "instance.py",
        '            self._say(run, effect.step, t="cancel", attempt=effect.attempt)',
        "            pass",
        "instance::test_i3_a_given_up_attempt_is_cancelled_before_the_next_one_runs",
    ),
    host(
        "i3-ended-run-is-not-released", "runs.py",
        '        run.isolate.send({"t": "release", "run": run.id}, run.id)',
        "        pass",
        "instance::test_i3_an_ended_run_is_not_heard",
        "binding_instances::test_c075_code_that_terminates_itself_hears_nothing_more",
    ),
    # I4 Nothing owed is kept only in memory.
    host(
        "i4-sleeper-has-no-time", "instances.py",
        "                    wake_at=state.next_due(),",
        "                    wake_at=None,",
        "wakeups::test_i4_a_sleeper_keeps_its_time_over_a_restart",
        "wakeups::test_i4_what_came_due_while_no_host_ran_is_seen_to_at_start_up_the_longest_overdue_first",
    ),
    host(
        "i4-dirty-instance-is-not-looked-at", "recovery.py",
        "    instances.runs.queue((row.key for row in unsettled), begun)",
        "    pass",
        "recovery::test_what_ran_goes_on_by_itself_and_what_was_in_flight_counts_as_lost",
        "recovery::test_a_pending_pause_is_finished",
        "instances::test_i8_a_created_instance_runs_though_its_host_is_gone",
    ),
    host(
        "i4-failed-settling-is-forgotten", "instances.py",
        "            self.report(key, error)\n            self._look_again(key)",
        "            self.report(key, error)",
        "store_failures::test_a_sleeper_whose_row_could_not_be_written_is_put_to_bed_again",
    ),
    # I8 An acknowledged create runs exactly once.
    host(
        "i8-existing-id-is-made-anew", "instances.py",
        "        fresh = {key: new for key, new in rows.items() if key not in existed}",
        "        fresh = dict(rows)",
        "instances::test_an_id_that_exists_is_left_alone",
        "instances::test_i8_of_64_creations_of_one_id_at_once_one_is_done",
    ),
    host(
        "i8-half-made-instance-keeps-its-id", "instances.py",
        "            await self._take_back(list(fresh), ours)",
        "            pass",
        "instances::test_a_creation_that_fails_raises_its_error_and_leaves_nothing",
        "instances::test_when_one_file_of_a_batch_cannot_be_made_none_is",
    ),
    host(
        "i8-created-during-its-deletion", "instances.py",
        "        for key in keys:\n            await self._deletion(key)",
        "        pass",
        "deletion::test_a_creation_waits_for_a_deletion_of_its_id",
    ),
    host(
        "i8-foreign-file-is-removed", "instances.py",
        "            ours = [key for key, outcome in outcomes.items() if not isinstance(outcome, JournalExists)]",
        "            ours = list(fresh)",
        "instances::test_a_file_that_stood_there_without_a_row_is_not_removed",
    ),
    # I9 No instance is held in memory while it only waits.
    host(
        "i9-parked-run-stays", "runs.py",
        '            fault("hibernate.before_end")\n            instance.end_run()',
        '            fault("hibernate.before_end")\n            return',
        "resting::test_a_parked_run_leaves_memory_after_its_grace_period",
        "resting::test_of_more_than_64_parked_runs_the_longest_parked_leave_at_once",
        "resting::test_an_await_of_its_own_keeps_a_run_in_memory_for_five_minutes_and_is_then_named",
    ),
    host(
        "i9-parked-runs-without-number", "runs.py",
        "                while len(self._parked) > MAX_PARKED:",
        "                while False:",
        "resting::test_of_more_than_64_parked_runs_the_longest_parked_leave_at_once",
    ),
    host(
        "i9-disturbed-run-stays", "runs.py",
        "            run.parked = False  # something happens to it just now",
        "            pass  # something happens to it just now",
        "resting::test_news_that_is_not_for_it_does_not_keep_a_run_in_memory",
    ),
    host(
        "i9-file-stays-open", "instances.py",
        "            if not state.final:\n                await self._journals.shut(key)\n            if settle:",
        "            if settle:",
        "resting::test_a_parked_run_leaves_memory_after_its_grace_period",
    ),
    host(
        "i9-place-is-kept", "runs.py",
        "        self._pending.pop(key, None)\n        problem",
        "        problem",
        "places::test_what_is_asked_while_it_waits_for_an_isolate_costs_no_second_place",
    ),
    # I10 One owner.
    Mutant(
        "i10-folder-is-not-locked", "runtime/store/folder.py",
        "        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "        pass",
        (
            "tests/store/test_folder.py::test_a_second_host_is_refused_with_the_first_ones_pid",
            "tests/store/test_folder.py::test_an_isolate_that_nobody_recorded_keeps_the_folder",
        ),
    ),
    Mutant(
        "i10-isolates-do-not-hold-the-lock", "runtime/store/folder.py",
        "            os.set_inheritable(lock, True)",
        "            pass",
        ("tests/store/test_folder.py::test_the_lock_is_inherited_by_children",),
    ),
    Mutant(
        "i10-orphans-live", "runtime/store/folder.py",
        "        child.kill()",
        "        pass",
        ("tests/store/test_folder.py::test_the_isolate_of_a_killed_host_is_killed_by_the_next",),
    ),
    host(
        "i10-second-place-for-one-instance", "instances.py",
        "                self.runs.arrived(instance)",
        "                pass",
        "places::test_a_running_instance_that_is_queued_once_more_takes_no_second_place",
    ),
    # I11 Time is a parameter.
    host(
        "i11-wall-clock-moves-it", "clock.py",
        "        return (self._start + _steady_ns()) // 1_000_000 + self.offset_ms",
        "        return time.time_ns() // 1_000_000 + self.offset_ms",
        "clock::test_i11_a_jump_of_the_wall_clock_does_not_move_it",
    ),
    host(
        "i11-long-nap", "clock.py",
        "min(max(left, 0), MAX_NAP)",
        "max(left, 0)",
        "clock::test_i11_a_distant_alarm_is_armed_anew_every_ten_seconds_so_that_a_suspend_delays_it_no_longer",
    ),
    host(
        "i11-early-alarm", "clock.py",
        "        if self._clock.now() < self.at:",
        "        if False:",
        "clock::test_a_timer_of_the_loop_that_is_early_rings_nothing",
        "clock::test_i11_a_distant_alarm_is_armed_anew_every_ten_seconds_so_that_a_suspend_delays_it_no_longer",
    ),
    host(
        "i11-offset-is-forgotten", "clock.py",
        "        return (self._start + _steady_ns()) // 1_000_000 + self.offset_ms",
        "        return (self._start + _steady_ns()) // 1_000_000",
        "clock::test_the_offset_moves_it",
    ),
    host(
        "i11-retry-is-announced-while-its-run-moves", "instance.py",
        "        due = self.state.next_due(attempts=not self.run.moving)",
        "        due = self.state.next_due()",
        "runs::test_a_retry_that_comes_due_while_its_run_moves_waits_for_the_new_code",
    ),
    # I3, I4 Rollback: an undo moves with its run, comes back when it was due, and is committed before it runs.
    host(
        "i3-undo-is-cut-off-by-a-reload", "runs.py",
        "            if not self._owners[run.id].state.busy:",
        "            if not self._owners[run.id].state.live:",
        "undo::test_a_rollback_moves_to_new_code_between_two_undo_functions",
    ),
    host(
        "i3-given-up-undo-keeps-its-timeout", "instance.py",
        "            run.undo.over()\n            run.isolate.send({**cancel_message",
        "            run.isolate.send({**cancel_message",
        "undo::test_the_attempt_after_one_that_timed_out_has_a_time_of_its_own",
    ),
    # I8 Retention: who expires, and when.
    host(
        "i8-ended-instance-never-expires", "instances.py",
        "                    expires_at=expiry,",
        "                    expires_at=None,",
        "sweeper::test_an_instance_is_deleted_when_its_retention_is_over",
    ),
    host(
        "i8-late-firing-is-made-up", "schedules.py",
        "        in_time = now - at <= LATE",
        "        in_time = True",
        "schedules::test_a_firing_that_is_more_than_a_minute_late_is_missed",
    ),
    # I10 Concurrency: no more than the limit, and nobody's slot is lost.
    host(
        "i10-slots-have-no-limit", "slots.py",
        "        while len(self.holders) < self.limit and (line",
        "        while True and (line",
        "concurrency::test_no_more_than_the_limit_run_and_the_others_are_queued",
    ),
    host(
        "i10-new-ones-go-first", "slots.py",
        "(line := self.begun or self.new)",
        "(line := self.new or self.begun)",
        "concurrency::test_a_waking_instance_goes_before_a_new_one_and_is_queued_until_then",
        "slots::test_who_has_begun_goes_before_who_has_not_wherever_it_comes_in",
    ),
]  # fmt: skip
