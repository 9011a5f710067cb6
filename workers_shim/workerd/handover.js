// How outcomes reach the code: one at a time, and the next one when the code has come to rest after it. Code that is
// repeated then meets them as it did the first time, whatever it does in between.
//
// The code is at rest when a turn begins, an event of a socket or of a timer: workerd lets all promises run dry before.

import { setTimeout } from "./globals.js";

const WAITS = 0; // the first of the queue, if there is one
const UNDER_WAY = 1;
const GIVEN = 2; // and the code may still be running

export class Handover {
  #give;
  #after; // what to do when the code is at rest
  #queue = [];
  #first = WAITS;
  #calm = false; // in a turn in which no code has run
  #turn; // timer

  /** `give` hands an item over, and gives a promise where that takes time. */
  constructor(give) {
    this.#give = give;
  }

  /** Whether something is to be handed over, or the code has not come to rest since. */
  get busy() {
    return this.#queue.length > 0;
  }

  /** Hand something over when its turn has come. */
  add(item) {
    this.#queue.push(item);
    this.#advance();
  }

  /** Do something at the beginning of a turn. */
  turn(action) {
    if (this.#first === GIVEN) {
      this.#queue.shift();
      this.#first = WAITS;
    }
    this.#calm = true;
    this.#advance();
    if (!this.busy) this.#rested();
    action();
    this.#calm = false;
  }

  /** Do something as soon as all is handed over and the code has come to rest; or, without an action, do not. */
  afterwards(action) {
    this.#after = action;
    this.#advance();
  }

  #rested() {
    const action = this.#after;
    this.#after = undefined;
    action?.();
  }

  #advance() {
    if (this.#first === GIVEN) {
      if (this.#queue.length > 1 || this.#after !== undefined) this.#soon();
    } else if (this.#first === WAITS && this.busy) {
      if (this.#calm) this.#begin();
      else this.#soon();
    }
  }

  #soon() {
    this.#turn ??= setTimeout(() => {
      this.#turn = undefined;
      this.turn(() => {});
    }, 0);
  }

  #begin() {
    this.#first = UNDER_WAY;
    const giving = this.#give(this.#queue[0]);
    if (giving === undefined) this.#given();
    else giving.then(() => this.#given());
  }

  #given() {
    this.#first = GIVEN;
    this.#advance();
  }
}
