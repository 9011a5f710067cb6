// The order in which results reach a run's code: the journal's on a replay, the order of arrival after it. This is
// workers_shim/replay.py for JavaScript, where it is explained; both number and order calls in the same way.

const VERBS = { do: "do", sleep: "sleep", wait: "waitForEvent" };

const key = (kind, name, nth) => `${kind}\n${nth}\n${name}`;

/** A call as it is named to the developer. */
export function words({ kind, name, nth }) {
  return `step.${VERBS[kind]}("${name}") number ${nth}`;
}

export class Replay {
  #unmade = [];
  #nested = new Map(); // kind and name -> numbers of calls that were made inside steps
  #last = new Map();
  #used = new Map();

  constructor(journal) {
    this.records = new Map();
    this.queue = []; // {record, result}: a call to be made again, or a result to be handed over
    for (const entry of journal) this.#read(entry);
    this.left = this.queue.length; // of the journal
    this.calls = this.#unmade.length; // in it
  }

  #read([what, kind, name, nth, rest]) {
    const identity = key(kind, name, nth);
    if (what === "c") {
      if (rest) {
        const of = key(kind, name, 0);
        this.#nested.set(of, (this.#nested.get(of) ?? new Set()).add(nth));
        return;
      }
      const record = { kind, name, nth, live: false };
      this.records.set(identity, record);
      this.#unmade.push(record);
      this.queue.push({ record, result: false });
      return;
    }
    const record = this.records.get(identity);
    if (record === undefined) return;
    record.settled = true;
    if (what === "v") record.outcome = { value: rest };
    else if (what === "e") record.outcome = { error: rest };
    this.queue.push({ record, result: true });
  }

  // ------------------------------------------------------------------------------------------------------- numbers

  number(kind, name, nested) {
    const of = key(kind, name, 0);
    if (nested) return this.#free(kind, name, of);
    const [owned, used] = [this.#nested.get(of), this.#used.get(of)];
    let nth = (this.#last.get(of) ?? 0) + 1;
    while (owned?.has(nth) || used?.has(nth)) nth += 1;
    this.#last.set(of, nth);
    return nth;
  }

  #free(kind, name, of) {
    const used = this.#used.get(of) ?? new Set();
    this.#used.set(of, used);
    let nth = Math.max(this.#last.get(of) ?? 0, ...used) + 1;
    while (this.#nested.get(of)?.has(nth) || this.records.has(key(kind, name, nth))) nth += 1;
    used.add(nth);
    return nth;
  }

  giveBack({ kind, name, nth }) {
    this.#used.get(key(kind, name, 0))?.delete(nth);
  }

  // --------------------------------------------------------------------------------------------------------- calls

  recordOf({ kind, name, nth }) {
    return this.records.size > 0 ? this.records.get(key(kind, name, nth)) : undefined;
  }

  /** The first call of the journal that has not been made again. */
  expected() {
    while (this.#unmade.length > 0 && (this.#unmade[0].call || this.#unmade[0].skipped)) this.#unmade.shift();
    return this.#unmade[0];
  }

  /** Note that a top-level call is made; gives what the journal has in its place, if it does not fit. */
  made(call) {
    const expected = this.expected();
    const record = this.recordOf(call);
    if (record !== undefined) {
      record.call = call;
      if (record.loose) this.queue.push({ record, result: true });
      this.#passMade();
    }
    return expected === undefined || expected === record ? undefined : words(expected);
  }

  #passMade() {
    const { queue } = this;
    while (queue.length > 0 && !queue[0].result && (queue[0].record.call || queue[0].record.skipped)) this.#pop();
  }

  // ------------------------------------------------------------------------------------------------------- results

  /** Queue a result that came from the host. */
  arrive(call, outcome, first) {
    const record = this.recordOf(call);
    if (record?.settled && record.outcome === undefined) {
      record.outcome = outcome; // it has its place in the queue since the journal was read
      record.answered = true;
      return;
    }
    const { kind, name, nth } = call;
    const item = { record: { kind, name, nth, call, outcome, live: true, answered: true }, result: true };
    if (first) this.queue.unshift(item);
    else this.queue.push(item);
  }

  /** Whether the journal has the call's result, but it was too large to come along. */
  lacks(call) {
    const record = this.recordOf(call);
    return record?.settled === true && record.outcome === undefined;
  }

  /** Whether there is a result that may be handed over: then it is the queue's first. */
  ready() {
    for (;;) {
      this.#passMade();
      const [head] = this.queue;
      if (head === undefined || !head.result) return false;
      if (head.record.call !== undefined) return head.record.outcome !== undefined;
      head.record.loose = true;
      this.#pop();
    }
  }

  /** Take the next result that may be handed over, if there is one. */
  next() {
    return this.ready() ? this.#pop() : undefined;
  }

  /** The call that the queue waits for. */
  blocked() {
    const [head] = this.queue;
    return head !== undefined && !head.result ? head.record : undefined;
  }

  /** Stop waiting for calls that the code does not make, up to the first result that can be handed over. */
  skip() {
    const end = this.queue.findIndex(({ record, result }) => result && record.call && record.outcome);
    if (end < 0) return false;
    for (const { record } of this.queue.slice(0, end)) record.skipped ||= record.call === undefined;
    return true;
  }

  #pop() {
    const { record } = this.queue.shift();
    if (!record.live && this.left > 0) this.left -= 1;
    return record;
  }
}
