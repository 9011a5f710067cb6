// Two requests of one isolate that work together. workerd lets neither touch what belongs to the other, a timer or a
// socket, but what one settles, the other may await: workerd then goes on with that one in a turn of its own
// (compatibility flag handle_cross_request_promise_resolution). That costs a tenth of what an RPC does.

const { Promise } = globalThis; // code may put another in its place (zone.js does), of which workerd knows nothing

/** What is asked of one request by another: jobs, done in their order, in turns of the request that serves them. */
export class Mailbox {
  #jobs = [];
  #ring;

  /** Leave a job; from whichever request. */
  post(job) {
    this.#jobs.push(job);
    this.#ring?.();
  }

  /** Do what is left, and whatever comes, for as long as the request lives. A job that throws ends it. */
  async serve() {
    for (;;) {
      if (this.#jobs.length === 0) await this.#news();
      const jobs = this.#jobs;
      this.#jobs = [];
      for (const job of jobs) job();
    }
  }

  /** Wait until a job is left. */
  #news() {
    // Not by `new Promise`: once V8 has compiled this, one that it makes is no request's, and what waits for it goes on in
    // the request that rings (measured with workerd 1.20261117; it took some 60,000 of them).
    const { promise, resolve } = Promise.withResolvers();
    this.#ring = resolve;
    return promise;
  }
}
