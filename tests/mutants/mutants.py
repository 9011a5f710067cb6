"""The table of mutants: for each invariant of docs/architecture.md, one-line changes of the code that break it, and the
tests that notice. Add a line to `MUTANTS` with every test of an invariant; `test_table.py` keeps the table true."""

from __future__ import annotations

from tests.mutants.host import HOST
from tests.mutants.isolate import ISOLATE
from tests.mutants.mutant import Mutant


def engine(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    """A mutant of the engine; its tests are ``topic::name`` of tests/engine/test_engine_TOPIC.py."""
    ids = tuple(f"tests/engine/test_engine_{test.replace('::', '.py::', 1)}" for test in tests)
    return Mutant(name, f"runtime/engine/{file}", old, new, ids)


ENGINE = [
    # I1 Commit, then act. A committed step is never run again.
    engine(
        "i1-settled-step-runs-again", "calls.py",
        "    if record.settled:",
        "    if False:",
        "steps::test_c181_a_settled_step_is_answered_and_not_run_again",
    ),
    engine(
        "i1-failed-step-is-forgotten", "apply.py",
        "    record.error = event.error\n    state.settle(record)",
        "    record.error = None\n    state.settle(record)",
        "steps::test_c182_a_failure_is_remembered_too",
    ),
    # I2 One transaction per decision.
    engine(
        "i2-step-completes-after-its-attempt", "attempts.py",
        "        ev.StepCompleted(at=now, step=record.step, output=command.output, stream=command.stream),",
        "",
        "steps::test_attempt_and_step_complete_in_one_decision",
    ),
    engine(
        "i2-step-fails-after-its-attempt", "attempts.py",
        "    return _settled(state, record, now, _errored(record, attempt_error, now, None), failed)",
        "    return _settled(state, record, now, _errored(record, attempt_error, now, None))",
        "steps::test_a_step_that_fails_for_good_fails_in_one_decision",
    ),
    engine(
        "i2-event-is-handed-out-later", "control.py",
        "        decision.events.append(ev.WaitCompleted(at=now, step=waiter.step, event=oldest))",
        "        pass",
        "waits::test_c091_an_event_sent_during_a_wait_is_delivered",
    ),
    # I3 Attempts are fenced.
    engine(
        "i3-attempt-runs-before-it-is-journalled", "calls.py",
        "        decision.events.append(ev.AttemptStarted(at=now, step=started.step, attempt=1))",
        "        pass",
        "steps::test_an_attempt_is_journalled_before_it_runs",
    ),
    engine(
        "i3-late-answer-is-heard", "attempts.py",
        "    return record if record is not None and record.live and record.attempt == attempt else None",
        "    return record if record is not None and record.live else None",
        "steps::test_a_late_answer_of_an_earlier_attempt_is_not_heard",
    ),
    engine(
        "i3-late-delay-is-heard", "attempts.py",
        "    if record is None or record.asked is None or record.attempt != command.attempt:",
        "    if record is None or record.error is None:",
        "delay_functions::test_an_answer_to_another_attempt_is_not_heard",
    ),
    engine(
        "i3-late-undo-is-heard", "rollback.py",
        "    if undo is None or not undo.live or undo.steps[0] != command.step or undo.attempt != command.attempt:",
        "    if undo is None or not undo.live or undo.steps[0] != command.step:",
        "rollback::test_a_late_answer_of_an_earlier_undo_is_not_heard",
    ),
    engine(
        "i3-attempt-starts-twice", "calls.py",
        "    if record.live:",
        "    if False:",
        "retries::test_a_retry_that_came_due_before_its_call_was_made_again_runs_when_it_is",
    ),
    engine(
        "i3-timed-out-attempt-is-not-cancelled", "attempts.py",
        "    decision.effects.insert(0, CancelAttempt(record.step, record.attempt))",
        "    pass",
        "steps::test_c151_a_timeout_fails_the_attempt_with_its_length",
    ),
    engine(
        "i3-dead-attempt-makes-calls", "calls.py",
        "    return parent is None or not parent.live or parent.attempt != command.parent_attempt",
        "    return False",
        "nested_steps::test_code_that_goes_on_after_its_timeout_is_not_heard",
        "nested_steps::test_code_that_goes_on_after_its_step_has_ended_is_not_heard",
    ),
    engine(
        "i3-epoch-stands-still", "apply.py",
        "    state.epoch += 1",
        "    pass",
        "steps::test_answers_from_before_a_restart_are_not_heard",
        "restart::test_c080_c081_a_restart_begins_from_scratch_from_every_status",
    ),
    engine(
        "i3-steps-are-numbered-anew", "apply.py",
        "    state.forget(event.since)",
        "    state.forget(event.since)\n    state.last_step = max(state.records, default=0)",
        "steps::test_answers_from_before_a_restart_are_not_heard",
        "restart::test_steps_are_numbered_on_over_a_restart",
    ),
    engine(
        "i3-restart-leaves-the-run-alive", "control.py",
        "        return Decision([ev.Restarted(at=now), ev.WorkflowQueued(at=now)], [AbortRun()])",
        "        return Decision([ev.Restarted(at=now), ev.WorkflowQueued(at=now)])",
        "restart::test_c080_c081_a_restart_begins_from_scratch_from_every_status",
    ),
    engine(
        "i3-paused-run-is-heard", "state.py",
        '        return self.final or self.status in ("queued", "paused")',
        "        return self.final",
        "pause::test_c264_c266_what_a_paused_run_says_is_not_heard",
    ),
    engine(
        "i3-loss-never-ends", "attempts.py",
        "    if record.attempt - 1 > record.config.limit:",
        "    if False:",
        "lost_attempts::test_a_step_that_kills_its_process_every_time_ends",
    ),
    engine(
        "i3-first-loss-waits", "attempts.py",
        "    if record.losses == 0:",
        "    if False:",
        "lost_attempts::test_c210_c211_a_lost_attempt_is_journalled_as_failed_and_tried_again_at_once",
    ),
    # I4 Nothing owed is kept only in memory.
    engine(
        "i4-created-is-forgotten", "owed.py",
        '    if state.status in ("queued", "running", "rollingBack"):',
        '    if state.status in ("running", "rollingBack"):',
        "owed::test_an_instance_that_never_ran_owes_its_run",
    ),
    engine(
        "i4-timer-is-forgotten", "owed.py",
        "    return [ArmTimer(due)]",
        "    return []",
        "owed::test_a_waiting_instance_owes_its_earliest_timer",
    ),
    engine(
        "i4-running-attempt-is-forgotten", "owed.py",
        '    if state.live or state.asking or undoing or state.status == "waitingForPause":',
        '    if state.asking or undoing or state.status == "waitingForPause":',
        "owed::test_an_opened_instance_owes",
    ),
    engine(
        "i4-rollback-is-forgotten", "owed.py",
        "    undoing = state.rollback is not None and state.rollback.live",
        "    undoing = False",
        "owed::test_an_opened_instance_owes",
    ),
    engine(
        "i4-pending-pause-is-forgotten", "attempts.py",
        '    if state.status == "waitingForPause":',
        "    if False:",
        "pause::test_c217_a_pending_pause_is_a_pause_after_a_crash",
    ),
    engine(
        "i4-early-event-is-dropped", "apply.py",
        "    state.buffered.setdefault(event.type, []).append(event.number)",
        "    state.buffered.setdefault(event.type, [])",
        "waits::test_a9_c094_an_event_that_comes_early_is_kept",
    ),
    engine(
        "i4-retry-is-forgotten", "apply.py",
        "        state.schedule(record, event.at + max(0, round(event.retry_delay)))",
        "        pass",
        "lost_attempts::test_c213_a_crash_in_a_retry_delay_costs_no_attempt",
    ),
    engine(
        "i4-question-outlives-the-pause", "attempts.py",
        "        decision.events += stop_asking(state, now, over)",
        "        pass",
        "delay_functions::test_a_pause_that_waited_for_another_step_does_not_wait_for_the_answer_either",
    ),
    engine(
        "i4-held-step-stays-held", "control.py",
        "        if blocked and (record.due is None or record.due <= now):",
        "        if False:",
        "pause::test_a7_c069_an_early_resume_cancels_the_pause_and_lets_go_what_it_held",
    ),
    engine(
        "i4-pause-waits-for-what-waits-for-it", "state.py",
        '        return self.status == "waitingForPause" and not parent',
        '        return self.status == "waitingForPause"',
        "nested_steps::test_a_pending_pause_lets_the_inside_of_a_running_step_go_on",
    ),
    engine(
        "i4-undo-starts-without-a-run", "decide.py",
        "        return rollback.retry(state, now) if command.run else Decision()",
        "        return rollback.retry(state, now)",
        "rollback::test_a_rollback_goes_on_after_a_crash_where_it_was",
    ),
    # I5 Results are delivered in the order in which they first settled.
    engine(
        "i5-settling-order-is-lost", "state.py",
        "        self.timeline.append((True, record.step))",
        "        self.timeline.insert(0, (True, record.step))",
        "steps::test_parallel_steps_settle_in_the_order_in_which_they_end",
    ),
    engine(
        "i5-due-order-is-lost", "state.py",
        "        return [r for at, step in sorted(due) if",
        "        return [r for at, step in sorted(due, reverse=True) if",
        "sleeps::test_sleeps_end_in_the_order_of_their_due_times_however_late_the_timer_is",
    ),
    engine(
        "i5-order-of-a-pause-is-lost", "control.py",
        "for event, step in sorted(taken)]",
        "for event, step in sorted(taken, reverse=True)]",
        "pause::test_events_sent_while_paused_go_to_the_oldest_waits_oldest_first",
    ),
    # I6 First record wins.
    engine(
        "i6-duration-is-part-of-identity", "state.py",
        "        return self.kind, self.name, self.nth",
        '        return self.kind, f"{self.name}{self.duration}", self.nth',
        "sleeps::test_duration_is_not_part_of_a_sleeps_identity_and_the_first_due_time_wins",
    ),
    engine(
        "i6-record-is-not-found", "calls.py",
        "    record = state.find((command.kind, command.name, command.nth))",
        "    record = None",
        "steps::test_c183_the_first_config_wins",
        "waits::test_the_first_deadline_wins",
    ),
    engine(
        "i6-passed-target-is-refused-on-replay", "calls.py",
        "    if record is not None:\n        return _known(state, record, now)",
        '    if record is not None and command.until is None:\n        return _known(state, record, now)',
        "sleeps::test_c201_a_target_that_has_passed_on_a_replay_is_simply_done",
    ),
    engine(
        "i6-rollback-config-is-the-default", "rollback.py",
        "    config = state.records[step].rollback_config or resolve_config(None, delay_function=False, rules=rules)",
        "    config = resolve_config(None, delay_function=False, rules=rules)",
        "rollback::test_c226_the_first_undo_function_that_fails_for_good_ends_the_rollback",
    ),
    engine(
        "i6-taken-numbers-become-free", "state.py",
        "if s >= since or not (r.settled or r.parent)]",
        "if s >= since or not r.settled]",
        "restart::test_numbers_taken_inside_a_kept_step_stay_taken",
        "restart::test_numbers_taken_inside_a_step_that_begins_anew_stay_taken_too",
    ),
    # I7 An acknowledged event is delivered exactly once, oldest first.
    engine(
        "i7-newest-event-first", "calls.py",
        "        decision.events.append(ev.WaitCompleted(at=now, step=step, event=waiting[0]))",
        "        decision.events.append(ev.WaitCompleted(at=now, step=step, event=waiting[-1]))",
        "waits::test_c092_events_sent_before_are_delivered_in_sending_order",
    ),
    engine(
        "i7-newest-wait-first", "state.py",
        "        return (r for r in waits.values() if r.due is not None and r.due > now)",
        "        return (r for r in reversed(waits.values()) if r.due is not None and r.due > now)",
        "waits::test_c093_the_wait_that_was_registered_first_gets_the_first_event",
        "pause::test_events_sent_while_paused_go_to_the_oldest_waits_oldest_first",
    ),
    engine(
        "i7-event-is-delivered-twice", "apply.py",
        "    queue.pop(0)",
        "    pass",
        "waits::test_c262_an_event_is_delivered_once_also_after_a_crash_and_a_pause",
    ),
    engine(
        "i7-expired-wait-swallows-an-event", "state.py",
        "        return (r for r in waits.values() if r.due is not None and r.due > now)",
        "        return (r for r in waits.values() if r.due is not None)",
        "waits::test_a1_a_wait_past_its_deadline_takes_no_event_even_before_its_timer_comes_round",
        "pause::test_a_wait_that_was_over_before_the_pause_takes_no_event_of_the_pause",
    ),
    engine(
        "i7-event-of-a-pause-is-not-handed-out", "control.py",
        "        return Decision([resumed, *_deliver(state, state.paused_at, now)])",
        "        return Decision([resumed])",
        "pause::test_a7_c096_an_event_sent_while_paused_is_kept_and_delivered",
    ),
    engine(
        "i7-event-to-the-finished-is-acknowledged", "control.py",
        "        return refuse(CANNOT_SEND_EVENT)",
        "        return Decision()",
        "waits::test_c097_a_finished_instance_rejects_events",
    ),
    engine(
        "i7-large-payload-is-acknowledged", "control.py",
        "    if command.size > rules.max_payload:",
        "    if False:",
        "waits::test_c101_a_payload_of_exactly_1_mib_is_taken_and_a_larger_one_refused",
    ),
    # I8 An acknowledged create runs exactly once.
    engine(
        "i8-created-twice", "apply.py",
        '    assert not state.workflow, "an instance is created once"',
        "    pass",
        "steps::test_an_instance_is_created_once",
    ),
    engine(
        "i8-runs-while-it-runs", "decide.py",
        '    assert not state.live and not state.asking, "a run starts when nothing of an earlier one is left"',
        "    pass",
        "owed::test_a_new_run_begins_only_when_nothing_of_the_old_one_is_left",
    ),
    engine(
        "i8-finished-instance-is-heard", "decide.py",
        "    if state.dormant or state.rollback is not None:",
        "    if state.rollback is not None:",
        "steps::test_calls_of_a_finished_instance_are_not_heard",
    ),
    # I9 No instance is held in memory while it only waits: the engine tells which one does.
    engine(
        "i9-waits-while-it-works", "decide.py",
        '    if state.status != "running" or not state.only_waits():',
        '    if state.status != "running":',
        "sleeps::test_an_instance_with_a_running_attempt_is_not_waiting",
        "sleeps::test_an_instance_that_waits_for_nothing_of_ours_is_not_waiting",
    ),
    engine(
        "i9-never-rests", "decide.py",
        "    return Decision([ev.WorkflowWaiting(at=now)])",
        "    return Decision()",
        "sleeps::test_an_instance_that_only_sleeps_is_waiting_until_it_is_due",
    ),
    engine(
        "i9-retry-is-announced-for-ever", "state.py",
        '        return record.kind != "do" or (attempts and not self.holds(record.parent))',
        "        return True",
        "pause::test_with_a_pause_pending_a_due_retry_is_neither_started_nor_announced",
        "retries::test_without_a_run_a_retry_waits_until_the_code_is_back",
    ),
    # I11 Time is a parameter.
    engine(
        "i11-a-moment-late", "state.py",
        "            if i < len(self._due) and self._due[i][0] <= now:",
        "            if i < len(self._due) and self._due[i][0] < now:",
        "sleeps::test_c194_a_number_sleeps_milliseconds",
    ),
    engine(
        "i11-a-moment-early", "calls.py",
        "    due = now + max(0, math.ceil(duration))",
        "    due = now + max(0, math.floor(duration))",
        "sleeps::test_a_fraction_of_a_millisecond_is_slept_in_full",
    ),
    engine(
        "i11-time-goes-on-in-a-pause", "control.py",
        "        resumed = ev.Resumed(at=now, shift=max(0, now - state.paused_at))",
        "        resumed = ev.Resumed(at=now, shift=0)",
        "pause::test_a7_a_sleep_has_what_was_left_of_it_after_a_pause",
        "pause::test_c072_a_retry_delay_has_what_was_left_of_it_after_a_pause",
    ),
    engine(
        "i11-what-passed-meanwhile-is-missed", "calls.py",
        "    return record.due is not None and record.due <= now",
        "    return False",
        "sleeps::test_c212_a_sleep_that_ended_while_the_host_was_down_ends_when_the_code_is_back",
        "waits::test_c214_a_deadline_that_passed_while_the_host_was_down_is_kept",
    ),
    engine(
        "i11-queued-instance-keeps-the-timer-busy", "state.py",
        "        if self.dormant:\n            return None",
        '        if self.final or self.status == "paused":\n            return None',
        "pause::test_what_comes_due_while_a_resumed_instance_queues_is_seen_to_when_it_runs",
    ),
    engine(
        "i11-endless-delay-is-lost", "retries.py",
        "    return max(-MAX_DELAY, min(base * factor, MAX_DELAY))",
        "    return base * factor",
        "retries::test_a_delay_without_end_survives_the_journal",
        "retries::test_no_delay_is_beyond_what_the_journal_can_hold",
    ),
    # Nested steps.
    engine(
        "nested-deep-call-outlives-its-attempt", "state.py",
        "            yield from self.nested_in(record.step)",
        "            pass",
        "nested_steps::test_what_an_attempt_left_unfinished_inside_is_given_up_with_it",
        "lost_attempts::test_all_that_was_running_is_lost_together_and_steps_inside_others_go_with_them",
        "nested_steps::test_a_pause_completes_with_the_outer_step_whatever_still_runs_inside",
    ),
    engine(
        "nested-given-up-call-is-answered", "calls.py",
        "    if record.abandoned:",
        "    if False:",
        "nested_steps::test_a_call_that_was_given_up_is_never_answered",
    ),
    engine(
        "nested-lost-twice", "attempts.py",
        "        if record.parent not in state.live:  # else it ends with the attempt that called it",
        "        if True:",
        "lost_attempts::test_all_that_was_running_is_lost_together_and_steps_inside_others_go_with_them",
    ),
    # Rollback.
    engine(
        "rollback-in-start-order", "rollback.py",
        "    steps.reverse()",
        "    pass",
        "rollback::test_c220_undo_functions_run_in_reverse_start_order_and_the_error_stays",
    ),
    engine(
        "rollback-twice", "rollback.py",
        "    steps = [r.step for r in state.records.values() if r.rollback and r.step not in state.rolled_back]",
        "    steps = [r.step for r in state.records.values() if r.rollback]",
        "rollback::test_a_step_is_undone_once_even_if_the_instance_fails_again_after_a_restart_from_a_later_step",
    ),
    engine(
        "rollback-leaves-attempts-running", "rollback.py",
        "    decision.effects += [CancelAttempt(step, state.records[step].attempt) for step in sorted(state.live)]\n",
        "",
        "rollback::test_i3_what_still_runs_is_given_up_before_anything_is_undone",
    ),
    engine(
        "rollback-loses-its-next-attempt", "apply.py",
        "    undo.attempt, undo.due = 0, event.at",
        "    undo.attempt, undo.due = 0, None",
        "rollback::test_c078_terminate_with_rollback_of_a_paused_instance_undoes_once_there_is_a_run",
    ),
]  # fmt: skip

MUTANTS: list[Mutant] = [*ENGINE, *HOST, *ISOLATE]
