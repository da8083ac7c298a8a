import type { AgentCreatedRecord, AgentRecord, ChangeAgentBody, GantryClient, NewAgent } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { exitCodes } from "../frame/failure.ts";
import { printDeleted } from "../shared/print-deleted.ts";
import { confirmDeletion } from "../shared/questions.ts";
import { readJsonObject } from "../shared/read-json.ts";
import { findAgent } from "./find-agent.ts";
import { statusOf } from "./list.ts";
import { printWarnings } from "./show.ts";

export async function createAgent(context: Context): Promise<number> {
  const [file = ""] = context.words;
  const fields = await readJsonObject<NewAgent>(file);
  const client = await context.client();
  const created = await client.agents.create(fields);
  return printAgent(context, context.flag("publish") ? await client.agents.publish(created.id) : created);
}

export async function updateAgent(context: Context): Promise<number> {
  const [agent = "", file = ""] = context.words;
  const change = await readJsonObject<ChangeAgentBody>(file);
  const client = await context.client();
  const { id } = await findAgent(client, agent);
  const updated = await client.agents.update(id, change);
  return printAgent(context, context.flag("publish") ? await client.agents.publish(id) : updated);
}

export async function publishAgent(context: Context): Promise<number> {
  const client = await context.client();
  const { id } = await find(context, client);
  const revision_id = context.text("revision");
  return printAgent(context, await client.agents.publish(id, { revision_id }));
}

export async function deleteAgent(context: Context): Promise<number> {
  const client = await context.client();
  const { id, name } = await find(context, client);
  if (!(await confirmDeletion(context, `the agent ${name} (${id})`))) return exitCodes.failed;
  await client.agents.delete(id);
  return printDeleted(context, id);
}

const find = (context: Context, client: GantryClient) => findAgent(client, context.words[0] ?? "");

function printAgent(context: Context, agent: AgentCreatedRecord | AgentRecord): number {
  const { out } = context;
  if (context.flag("json")) out.json(agent);
  else {
    const status = "latest_revision_id" in agent ? statusOf(agent) : agent.status;
    out.details([
      ["Agent", agent.slug],
      ["Id", agent.id],
      ["Status", status],
    ]);
    if (agent.status === "unpublished")
      out.note(`Publish the agent before you run it: gantry agents publish ${agent.slug}`);
  }
  printWarnings(context, agent.warnings);
  return exitCodes.done;
}
