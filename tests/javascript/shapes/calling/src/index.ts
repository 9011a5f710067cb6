// Two Workflows that call each other: the waiter starts the kitchen for each dish and waits to be told, the kitchen tells.

import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";

interface Env {
  KITCHEN: Workflow<Dish>;
  WAITER: Workflow<Order>;
}

interface Order {
  dishes: string[];
}

interface Dish {
  dish: string;
  waiter: string;
}

export class Waiter extends WorkflowEntrypoint<Env, Order> {
  async run(event: WorkflowEvent<Order>, step: WorkflowStep) {
    const { dishes } = event.payload;
    for (const dish of dishes) {
      await step.do(`order ${dish}`, async () => {
        const { id } = await this.env.KITCHEN.create({
          id: `${event.instanceId}-${dish}`,
          params: { dish, waiter: event.instanceId },
        });
        return id;
      });
    }
    const served = await Promise.all(
      dishes.map((dish) => step.waitForEvent<string>(`ready ${dish}`, { type: `ready-${dish}`, timeout: "1 minute" })),
    );
    return served.map(({ payload }) => payload);
  }
}

export class Kitchen extends WorkflowEntrypoint<Env, Dish> {
  async run(event: WorkflowEvent<Dish>, step: WorkflowStep) {
    const { dish, waiter } = event.payload;
    const plate = await step.do("cook", async () => `a plate of ${dish}`);
    await step.do("ring", async () => {
      await (await this.env.WAITER.get(waiter)).sendEvent({ type: `ready-${dish}`, payload: plate });
    });
    return plate;
  }
}

export default {
  async fetch(request, env): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const id = searchParams.get("id") ?? "";
    if (request.method === "POST") {
      await env.WAITER.create({ id, params: { dishes: (searchParams.get("dishes") ?? "").split(",") } });
      return Response.json({ id }, { status: 201 });
    }
    return Response.json(await (await env.WAITER.get(id)).status());
  },
} satisfies ExportedHandler<Env>;
