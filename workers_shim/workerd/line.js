// The line of a run: a WebSocket from the request of its code to the host, on which all is said that engine and host
// have to say to each other. While it is open workerd does not end the code, whatever that waits for. So the host hangs
// up to learn whether the code waits for it alone: then workerd ends it (hold.js). If it goes on, because it has a timer or
// a request of its own, the line is opened anew as soon as either side has something to say.

import { AsyncLocalStorage } from "node:async_hooks";

import { Promise, setTimeout } from "./globals.js";
import { lines } from "./hidden.js";

const OPEN = 1; // a WebSocket's readyState
const TOO_EARLY = 409; // the host has not noticed yet that the line before is closed
const OVER = 410; // the run, for the host: whoever holds it is about to learn that
const A_MOMENT = 1; // ms

export class Line {
  #number;
  #hear;
  #broken;
  #socket; // until it is closed on both sides
  #opening = false;
  #wanted = false; // to be opened when the socket is closed
  #waiting = []; // messages
  #outside = AsyncLocalStorage.snapshot(); // not in the context of the code that happens to open it

  /** The line of the run of this number. `hear` is given what comes, in arrays; `broken` why there is none. */
  constructor(number, { hear, broken }) {
    this.#number = number;
    this.#hear = hear;
    this.#broken = broken;
  }

  /** Say something, with all that is said in this turn of the code. */
  send(message) {
    if (this.#waiting.push(message) === 1) Promise.resolve().then(() => this.#flush());
  }

  /** The engine has failed: the run ends. */
  broke(error) {
    this.#broken(error);
  }

  /** Have it open. */
  open() {
    if (this.#opening) return;
    if (this.#socket !== undefined) {
      this.#wanted = this.#socket.readyState !== OPEN;
      return;
    }
    this.#opening = true;
    this.#outside(() => this.#connect()).catch((error) => this.broke(error));
  }

  async #connect() {
    const webSocket = await this.#asked();
    if (webSocket === undefined) return;
    webSocket.accept();
    webSocket.addEventListener("message", ({ data }) => this.#took(data));
    webSocket.addEventListener("close", () => this.#closed());
    [this.#socket, this.#opening] = [webSocket, false];
    this.#flush();
  }

  /** Ask the host for the WebSocket; undefined when it takes the run to be over. */
  async #asked() {
    const headers = { upgrade: "websocket", "celld-run": String(this.#number) };
    for (;;) {
      const { status, webSocket } = await lines().fetch("http://host/", { headers });
      if (webSocket) return webSocket;
      if (status === OVER) return undefined;
      if (status !== TOO_EARLY) throw new Error(`the host does not take the line of run ${this.#number}: ${status}`);
      await new Promise((resolve) => setTimeout(resolve, A_MOMENT));
    }
  }

  #took(data) {
    try {
      this.#hear(JSON.parse(data));
    } catch (error) {
      this.broke(error);
    }
  }

  #closed() {
    this.#socket.close(); // at older dates workerd does not answer by itself
    this.#socket = undefined;
    if (this.#wanted || this.#waiting.length > 0) this.open();
    this.#wanted = false;
  }

  #flush() {
    if (this.#waiting.length === 0) return;
    if (this.#socket?.readyState !== OPEN) {
      this.open();
      return;
    }
    const frame = JSON.stringify(this.#waiting);
    this.#waiting = [];
    this.#socket.send(frame);
  }
}
