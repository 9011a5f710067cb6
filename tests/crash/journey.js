// The same as CODE in project.py, in JavaScript, with a step more that returns a stream; change both.

import { WorkerEntrypoint, WorkflowEntrypoint } from "cloudflare:workers";

const EAGER = { retries: { limit: 60, delay: 20, backoff: "constant" } };

const FILM = 40; // chunks
const CHUNK = 8192;

let number; // of this process: a Worker in workerd cannot ask for its id

function processNumber() {
  number ??= crypto.getRandomValues(new Uint32Array(1))[0];
  return number;
}

function knock({ attempt }) {
  if (attempt < 3) throw new Error("nobody opens");
  return "open";
}

export class Journey extends WorkflowEntrypoint {
  async run(event, step) {
    const { number } = event.payload;

    const note = async ({ step: { name }, attempt }, phase) => {
      const line = JSON.stringify([event.instanceId, name, attempt, phase, processNumber()]);
      await fetch(this.env.EFFECTS, { method: "POST", body: `${line}\n` });
    };
    const work = (name, result) =>
      step.do(name, EAGER, async (context) => {
        await note(context, "start");
        await scheduler.wait(2 + 98 * Math.random());
        try {
          const made = result(context);
          await note(context, "end");
          return made;
        } catch (error) {
          await note(context, "fail");
          throw error;
        }
      });
    const film = async (context) => {
      await note(context, "start");
      let left = FILM;
      const pull = async (controller) => {
        if (left-- > 0) return controller.enqueue(new Uint8Array(CHUNK).fill(number));
        await note(context, "end");
        controller.close();
      };
      return new ReadableStream({ pull });
    };
    const pick = async (n) => {
      const picked = await work(`pick-${n}`, () => number + n);
      return work(`check-${n}`, () => picked * 10);
    };

    const packed = await work("pack", () => [number, null]);
    const [reel, ...checked] = await Promise.all([step.do("film", EAGER, film), pick(0), pick(1), pick(2)]);
    const frames = new Uint8Array(await new Response(reel).arrayBuffer());
    if (frames.length !== FILM * CHUNK || frames.some((frame) => frame !== number % 256)) throw new Error("bad film");
    await step.sleep("rest", 400);
    const loaded = await work("load", () => packed[0] + checked[0] + checked[1] + checked[2]);
    const tokens = [];
    for (const n of [1, 2]) {
      const sign = await step.waitForEvent(`sign ${n}`, { type: "sign", timeout: "1 hour" });
      tokens.push(await work(`sign-${n}`, () => sign.payload.token));
    }
    const door = await work("knock", knock);
    await work("close", () => null);
    return { loaded, tokens, door };
  }
}

export default class extends WorkerEntrypoint {
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    try {
      return Response.json({ answer: await this.answer(pathname, Object.fromEntries(searchParams)) });
    } catch (error) {
      return Response.json({ error: error.message });
    }
  }

  async answer(path, asked) {
    const { JOURNEY } = this.env;
    if (path === "/create") {
      await JOURNEY.create({ id: asked.id, params: { number: Number(asked.number) } });
      return true;
    }
    if (path === "/batch") {
      const params = { number: Number(asked.number) };
      const made = await JOURNEY.createBatch(asked.ids.split(",").map((id) => ({ id, params })));
      return made.map(({ id }) => id);
    }
    const instance = await JOURNEY.get(asked.id);
    if (path === "/sign") {
      await instance.sendEvent({ type: "sign", payload: { token: asked.token } });
      return true;
    }
    if (path === "/delete") {
      await instance.delete();
      return true;
    }
    const { status, output } = await instance.status();
    return { status, output };
  }
}
