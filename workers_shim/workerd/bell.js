// A bell in one request that another of the same isolate rings. workerd lets neither touch what belongs to the other, a
// socket or a timer, but what one settles, the other may await: workerd then goes on with that one in a turn of its own
// (compatibility flag handle_cross_request_promise_resolution).

import { Promise } from "./globals.js";

export class Bell {
  #ring = () => {};

  /** Ring it; from whichever request. */
  ring() {
    this.#ring();
  }

  /** Do something at each ringing, for as long as the request lives, which this does not keep alive. */
  async answer(action) {
    for (;;) {
      await this.#next();
      action();
    }
  }

  #next() {
    // Not by `new Promise`: once V8 has compiled this, one that it makes is no request's, and what waits for it goes on in
    // the request that rings (measured with workerd 1.20261117; it took some 60,000 of them).
    const { promise, resolve } = Promise.withResolvers();
    this.#ring = resolve;
    return promise;
  }
}
