// All scenarios, by name. Each has the parts that instances play, and an observer that tells what was seen of them.

import { watchOne } from "../stage.js";
import { CONTROL } from "./control.js";
import { CREATION } from "./creation.js";
import { ERRORS } from "./errors.js";
import { EVENTS } from "./events.js";
import { LIMITS } from "./limits.js";
import { RETRIES } from "./retries.js";
import { ROLLBACK } from "./rollback.js";
import { STEPS } from "./steps.js";
import { SUBSCRIBE } from "./subscribe.js";
import { TIME } from "./time.js";
import { VALUES } from "./values.js";

const GROUPS = [STEPS, VALUES, RETRIES, ERRORS, TIME, EVENTS, CONTROL, CREATION, ROLLBACK, SUBSCRIBE, LIMITS];

// A function alone is a scenario of one part that is watched to its end.
function scenario(given) {
  const { main, parts, observe, binding } = typeof given === "function" ? { main: given } : given;
  return { parts: parts ?? (main && { main }), observe: observe ?? watchOne, binding };
}

export const SCENARIOS = Object.fromEntries(
  GROUPS.flatMap((group) => Object.entries(group)).map(([name, given]) => [name, scenario(given)]),
);
