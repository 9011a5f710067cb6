// The socket of a run. Its closing ends the run's code, which no other kind of request does (measured).

import { workflow } from "./hidden.js";
import { Run } from "./run.js";

const BROKEN = 1011; // the host takes it that the run is lost, and begins it anew

const runs = new Map(); // by number

/** The run that code was started for. */
export function runOf(number) {
  return runs.get(number);
}

/** Accept the socket of a run of a class. */
export function openRun(name) {
  const [theirs, ours] = Object.values(new WebSocketPair());
  const outbox = new Outbox(ours);
  let run;
  ours.accept();
  ours.addEventListener("message", ({ data }) => {
    try {
      for (const message of JSON.parse(data)) {
        if (message.t === "start") run = begin(message, outbox, workflow(name));
        else run.hear(message);
      }
    } catch (error) {
      outbox.breakOff(error);
    }
  });
  ours.addEventListener("close", () => {
    runs.delete(run?.number);
    run?.release();
    ours.close(); // without an answer the connection stays, and the code with it
  });
  return new Response(null, { status: 101, webSocket: theirs });
}

function begin(start, outbox, entrypoint) {
  const run = new Run(start, {
    send: (message) => outbox.send(message),
    broken: (error) => outbox.breakOff(error),
  });
  runs.set(run.number, run);
  run.live(entrypoint);
  return run;
}

/** What a run says, all of one turn in one frame. */
class Outbox {
  #socket;
  #waiting = [];

  constructor(socket) {
    this.#socket = socket;
  }

  send(message) {
    if (this.#waiting.push(message) === 1) queueMicrotask(() => this.#flush());
  }

  #flush() {
    const frame = JSON.stringify(this.#waiting);
    this.#waiting = [];
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(frame);
  }

  /** The bridge itself has failed: say why, and end the run. */
  breakOff(error) {
    console.error(`The bridge: ${error?.stack ?? error}`);
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.close(BROKEN, String(error).slice(0, 100));
  }
}
