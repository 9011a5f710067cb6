// What holds a run: a request in the isolate of its code, whose socket is there for as long as the run. It calls run() over
// RPC, which makes a second request, and in that one are the code and its engine (run.js). The end of this one ends that
// one too, which is so with no other kind of request (measured); and when workerd ends that one, this one learns why.

import { Bell } from "./bell.js";
import { describe, isHung } from "./errors.js";
import { Promise, Response, WebSocketPair } from "./globals.js";
import { workflow } from "./hidden.js";
import { Line } from "./line.js";
import { Run } from "./run.js";

const OPEN = 1; // a WebSocket's readyState
const BROKEN = 1011; // the host takes it that the run is lost, and begins it anew

const holds = new Map(); // by number of the run

/** Accept the socket that holds a run of a class. */
export function holdRun(name) {
  const [theirs, ours] = Object.values(new WebSocketPair());
  let hold;
  ours.accept();
  ours.addEventListener("message", ({ data }) => {
    for (const message of JSON.parse(data)) {
      if (message.t !== "start") {
        hold.bell.ring(); // the host has something to say, and no line
        continue;
      }
      hold = new Hold(message, ours);
      hold.begin(workflow(name));
    }
  });
  ours.addEventListener("close", () => {
    holds.delete(hold?.number);
    ours.close(); // without an answer the connection stays, and the code with it
  });
  return new Response(null, { status: 101, webSocket: theirs });
}

/** Live the run of a number, in the request that was made for it, which this never ends; `main` is its run(). */
export function live(number, main) {
  const hold = holds.get(number);
  if (hold === undefined) return undefined; // it was let go before it began
  const end = Promise.withResolvers();
  const line = new Line(number, { hear: (messages) => hold.run.hear(messages), broken: (error) => hold.broke(error, end) });
  hold.run = new Run(hold.start, line);
  hold.bell.answer(() => line.open());
  line.open();
  hold.run.begin(main);
  return end.promise;
}

class Hold {
  bell = new Bell();
  run; // the `Run`, as soon as it lives
  #failure; // of the engine
  #socket;

  constructor(start, socket) {
    this.start = start;
    this.number = start.run;
    this.#socket = socket;
    holds.set(this.number, this);
  }

  /** Have the code run, in a request of its own; `entrypoint` is that of its class. */
  async begin(entrypoint) {
    try {
      await entrypoint.run(undefined, undefined, this.number); // it never returns
    } catch (error) {
      this.#ended(error);
    }
  }

  /** The engine has failed. */
  broke(error, end) {
    this.#failure = error;
    end.reject(error);
  }

  /** The request of the code has ended. */
  #ended(error) {
    const { run } = this;
    if (this.#failure !== undefined) {
      console.error(`The bridge: ${this.#failure?.stack ?? this.#failure}`);
      this.#socket.close(BROKEN, String(this.#failure).slice(0, 100));
    } else if (!run?.over) {
      const parked = isHung(error) && run?.calls.size > 0;
      this.#say(parked ? { t: "parked", calls: run.sent, rets: run.given } : { t: "done", error: describe(error) });
    }
  }

  #say(message) {
    if (this.#socket.readyState === OPEN) this.#socket.send(JSON.stringify([message]));
  }
}
