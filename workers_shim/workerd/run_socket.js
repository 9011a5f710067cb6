// The socket of a run. Its closing ends the run's code, which no other kind of request does (measured).

import { ask } from "./internal.js";
import { Run } from "./run.js";

const BROKEN = 1011; // the host takes it that the run is lost, and begins it anew

/** Accept the socket of a run. */
export function openRun(env, ctx) {
  const [theirs, ours] = Object.values(new WebSocketPair());
  const outbox = new Outbox(ours);
  let run;
  ours.accept();
  ours.addEventListener("message", ({ data }) => {
    try {
      for (const message of JSON.parse(data)) {
        if (message.t === "start") run = begin(message, env, ctx, outbox);
        else run.hear(message);
      }
    } catch (error) {
      outbox.breakOff(error);
    }
  });
  ours.addEventListener("close", () => {
    run?.release();
    ours.close(); // without an answer the connection stays, and the code with it
  });
  return new Response(null, { status: 101, webSocket: theirs });
}

function begin(start, env, ctx, outbox) {
  const { class: name, user } = env.WORKFLOWS[start.workflow];
  const about = { run: start.run };
  const run = new Run(start, {
    host: env.HOST,
    send: (message) => outbox.send(message),
    broken: (error) => outbox.breakOff(error),
    wake: () => ask(env[user], "wake", about),
    forget: () => ctx.waitUntil(ask(env[user], "forget", about).catch(() => {})), // else it is gone, and all it keeps
  });
  run.live(env[name]).catch((error) => outbox.breakOff(error));
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
