import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";

export interface Bindings {
  LETTERS: Workflow<Letter>;
  GREETING: string;
}

interface Letter {
  to: string;
}

export class LetterWorkflow extends WorkflowEntrypoint<Bindings, Letter> {
  async run(event: WorkflowEvent<Letter>, step: WorkflowStep) {
    const text = await step.do("write", async () => `${this.env.GREETING} ${event.payload.to}`);
    await step.sleep("dry", "10 milliseconds");
    return step.do("seal", async () => ({ text, sealed: true }));
  }
}
