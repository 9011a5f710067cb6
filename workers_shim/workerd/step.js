// The engine's end of `step`: what local_step.js calls over RPC.

import { RpcTarget } from "cloudflare:workers";

/** One run's step API. What a call is answered with is explained in answers.js. */
export class Step extends RpcTarget {
  #run;

  constructor(run) {
    super();
    this.#run = run;
  }

  /** Take the function through which the run's own functions are called. */
  open(invoke) {
    this.#run.open(invoke);
  }

  call(id, kind, name, given) {
    return this.#run.call(id, kind, name, given);
  }

  /** A call was not sent after all. */
  skip(id) {
    this.#run.skip(id);
  }

  again(id, invoke) {
    return this.#run.again(id, invoke);
  }

  /** Throw what a call settled with. */
  thrown(id) {
    throw this.#run.thrown(id);
  }

  /** `run()` is about to end with this error. */
  failed(error, invoke) {
    this.#run.open(invoke);
    this.#run.failed(error);
  }

  /** The bytes of a stream that a call gave. */
  stream(stored) {
    return this.#run.fetch(stored);
  }
}
