import type { AgentCard, AgentRecord, CreateRunBody, GantryClient, RunRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { exitCodes, wrongArguments } from "../frame/failure.ts";
import { dollarsOf } from "../frame/moment.rules.ts";
import { followRun } from "../runs/follow-run.ts";
import { agreedPrice, findAgent, priceText } from "./find-agent.ts";
import { checkRequired } from "./input.rules.ts";
import { readInput } from "./read-input.ts";

export async function runAgent(context: Context): Promise<number> {
  const { out } = context;
  const [name = "", ...words] = context.words;
  return startedRun(context, async (client) => {
    const agent = await findAgent(client, name);
    const body = await bodyOf(context, agent, words);
    if (body.expected_price) out.note(priceText(agent));
    const idempotencyKey = context.text("idempotency-key");
    return client.runs.create(agent.id, body, { idempotencyKey });
  });
}

/** Starts a run, follows it and prints its result, by the options `followOptions` and `queue`. */
export async function startedRun(
  context: Context,
  start: (client: GantryClient) => Promise<RunRecord>,
): Promise<number> {
  const { out } = context;
  if (context.flag("queue") && (context.flag("follow") || context.flag("yes"))) {
    throw wrongArguments("--queue does not wait: leave out --follow and --yes.");
  }
  const client = await context.client();
  // From here on, Ctrl+C does not end the process: a run that is just being created must be cancelled too.
  const { signal } = context;
  const run = await start(client);
  if (context.flag("queue")) {
    if (context.flag("json")) out.json(run);
    else out.line(run.id);
    return exitCodes.done;
  }
  if (!signal.aborted) out.note(`${run.id} (${run.agent_name})`);
  return followRun(context, client, run, {
    showsSteps: context.flag("follow"),
    json: context.flag("json"),
    approvesAll: context.flag("yes"),
    cancels: true,
  });
}

async function bodyOf(context: Context, agent: AgentRecord | AgentCard, words: string[]): Promise<CreateRunBody> {
  const approve = context.texts("approve");
  const webhook = context.text("webhook");
  const input = await readInput(context, words, agent.input_schema);
  checkRequired(input, agent.input_schema);
  const connectors = context.texts("connector") as NonNullable<CreateRunBody["connectors"]>;
  return {
    input,
    thread_id: context.text("thread"),
    max_cost: dollarsOf("max-cost", context.text("max-cost")),
    max_steps: context.number("max-steps"),
    timeout_seconds: context.number("timeout"),
    ...(approve.length > 0 && { approve: [...approve] }),
    ...(connectors.length > 0 && { connectors: [...connectors] }),
    ...(webhook !== undefined && { webhook: { url: webhook } }),
    ...agreedPrice(agent),
  };
}
