// A Durable Object that steps call: the till keeps its sales in its own SQLite, and knows each by the instance's id.

import { DurableObject, WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";

interface Env {
  TILL: DurableObjectNamespace<Till>;
  SALES: Workflow<Goods>;
}

interface Goods {
  till: string;
  prices: number[];
}

export class Till extends DurableObject<Env> {
  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    state.storage.sql.exec("CREATE TABLE IF NOT EXISTS sales (sale TEXT PRIMARY KEY, price INTEGER)");
  }

  // Taking the same sale twice takes it once, so a step that is tried again does no harm.
  take(sale: string, price: number): number {
    this.ctx.storage.sql.exec("INSERT OR IGNORE INTO sales VALUES (?, ?)", sale, price);
    return this.total();
  }

  total(): number {
    return Number(this.ctx.storage.sql.exec("SELECT coalesce(sum(price), 0) AS total FROM sales").one().total);
  }
}

export class Sale extends WorkflowEntrypoint<Env, Goods> {
  async run(event: WorkflowEvent<Goods>, step: WorkflowStep) {
    const till = this.env.TILL.getByName(event.payload.till);
    let total = 0;
    for (const [i, price] of event.payload.prices.entries()) {
      total = await step.do(`take ${i}`, async () => till.take(`${event.instanceId}/${i}`, price));
      await step.sleep("next", "5 milliseconds");
    }
    return total;
  }
}

export default {
  async fetch(request, env): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === "/total") {
      return Response.json({ total: await env.TILL.getByName(url.searchParams.get("till") ?? "").total() });
    }
    if (request.method === "POST") {
      const { id } = await env.SALES.create({ params: await request.json<Goods>() });
      return Response.json({ id }, { status: 201 });
    }
    return Response.json(await (await env.SALES.get(url.searchParams.get("id") ?? "")).status());
  },
} satisfies ExportedHandler<Env>;
