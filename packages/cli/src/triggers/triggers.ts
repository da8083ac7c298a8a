import type {
  ChangeTriggerBody,
  CreateTriggerBody,
  TriggerOverlap,
  TriggerRecord,
  TriggerVerification,
} from "@gantry/sdk";
import { agreedPrice, findAgent, priceText } from "../agents/find-agent.ts";
import type { Context } from "../frame/command.ts";
import { exitCodes, wrongArguments } from "../frame/failure.ts";
import { ago, money, time } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import { dollarsOf } from "../frame/moment.rules.ts";
import { printDeleted } from "../shared/print-deleted.ts";
import { confirmDeletion, confirmed } from "../shared/questions.ts";
import { readJsonObject } from "../shared/read-json.ts";
import { readSecret } from "../shared/read-secret.ts";
import { runChangesOf } from "../shared/run-changes.ts";

export async function listTriggers(context: Context): Promise<number> {
  const client = await context.client();
  const agent = context.text("agent");
  const filter = agent === undefined ? {} : { agent_id: (await findAgent(client, agent)).id };
  return printList(
    context,
    client.triggers.each(filter),
    [
      { title: "trigger", value: ({ id }) => id },
      { title: "agent", value: ({ agent_name }) => agent_name },
      { title: "status", value: ({ status }) => status },
      { title: "last delivery", value: ({ last_delivery_at }) => ago(last_delivery_at) },
      { title: "name", value: ({ name }) => name },
    ],
    "You have no triggers. Create one with: gantry triggers create AGENT",
  );
}

export async function createTrigger(context: Context): Promise<number> {
  const client = await context.client();
  const agent = await findAgent(client, context.words[0] ?? "");
  const price = agreedPrice(agent);
  if (price.expected_price) context.out.note(priceText(agent));
  const name = context.text("name");
  const max_cost = dollarsOf("max-cost", context.text("max-cost"));
  const thread_id = context.text("thread");
  const body: CreateTriggerBody = {
    approve: [...context.texts("approve")],
    ...(await deliveryOf(context)),
    ...(name !== undefined && { name }),
    ...(max_cost !== undefined && { max_cost }),
    ...(thread_id !== undefined && { thread_id }),
    ...price,
  };
  return printUrl(context, await client.triggers.create(agent.id, body));
}

export async function changeTrigger(context: Context): Promise<number> {
  const change: ChangeTriggerBody = { ...(await deliveryOf(context)), ...runChangesOf(context) };
  return update(context, change);
}

export const pauseTrigger = (context: Context): Promise<number> => update(context, { enabled: false });
export const resumeTrigger = (context: Context): Promise<number> => update(context, { enabled: true });

async function update(context: Context, change: ChangeTriggerBody): Promise<number> {
  const client = await context.client();
  const trigger = await client.triggers.update(context.words[0] ?? "", change);
  if (context.flag("json")) context.out.json(trigger);
  else printTrigger(context, trigger);
  return exitCodes.done;
}

/** How deliveries are checked and become the input of a run. */
async function deliveryOf(context: Context) {
  const [file, overlap] = [context.text("input"), context.text("overlap")];
  const verification = await readVerification(context);
  return {
    ...(file !== undefined && { input: await readJsonObject<Record<string, unknown>>(file) }),
    ...(verification && { verification }),
    ...(overlap !== undefined && { overlap: overlap as TriggerOverlap }),
  };
}

async function readVerification(context: Context): Promise<TriggerVerification | undefined> {
  const type = context.text("verify") as TriggerVerification["type"] | undefined;
  if (type === undefined) return undefined;
  if (context.flag("secret-stdin") && context.text("input") === "-") {
    throw wrongArguments("Only one of --secret-stdin and --input - can read stdin.");
  }
  const secret = await readSecret(context, "secret", "The secret that you share with the sender");
  if (secret === undefined) throw wrongArguments("Give the secret with --secret-env VARIABLE or --secret-stdin.");
  if (type !== "hmac") return { type, secret };
  const header = context.text("header");
  if (header === undefined) throw wrongArguments("Name the header of the signature: --header X-Signature");
  return { type, secret, header, algorithm: "sha256", encoding: "hex" };
}

export async function showTrigger(context: Context): Promise<number> {
  const { out } = context;
  const client = await context.client();
  const trigger = await client.triggers.get(context.words[0] ?? "");
  if (context.flag("json")) {
    out.json(trigger);
    return exitCodes.done;
  }
  const { deliveries } = await client.triggers.deliveries(trigger.id, { limit: 10 });
  printTrigger(context, trigger);
  if (deliveries.length === 0) return exitCodes.done;
  out.line("");
  out.table(
    [
      { title: "received", value: ({ created_at }) => time(created_at) },
      { title: "status", value: ({ status }) => status },
      { title: "run", value: ({ run_id }) => run_id },
      { title: "reason", value: ({ reason }) => reason },
    ],
    deliveries,
    "",
  );
  return exitCodes.done;
}

export async function rotateTrigger(context: Context): Promise<number> {
  const [id = ""] = context.words;
  if (!(await confirmed(context, `Replace the URL of ${id}?`, `replace the URL of ${id}`))) return exitCodes.failed;
  return printUrl(context, await (await context.client()).triggers.rotate(id));
}

export async function deleteTrigger(context: Context): Promise<number> {
  const client = await context.client();
  const { id, name, agent_name } = await client.triggers.get(context.words[0] ?? "");
  if (!(await confirmDeletion(context, `the trigger ${name ?? id} of ${agent_name}`))) return exitCodes.failed;
  await client.triggers.delete(id);
  return printDeleted(context, id);
}

function printUrl(context: Context, trigger: TriggerRecord & { url: string }): number {
  const { out } = context;
  if (context.flag("json")) out.json(trigger);
  else {
    printTrigger(context, trigger);
    out.details([["URL", trigger.url]]);
  }
  out.note("The URL is shown once. Anyone who has it can start runs at your expense.");
  return exitCodes.done;
}

function printTrigger({ out }: Context, trigger: TriggerRecord): void {
  out.details([
    ["Trigger", trigger.id],
    ["Name", trigger.name],
    ["Agent", `${trigger.agent_name} (${trigger.agent_id})`],
    ["Status", trigger.status],
    ["Paused", trigger.paused_reason],
    ["Verification", trigger.verification?.type],
    ["Overlap", trigger.overlap],
    ["Thread", trigger.thread_id],
    ["Input", trigger.input && JSON.stringify(trigger.input)],
    ["Price agreed to", trigger.expected_price === null ? undefined : money(trigger.expected_price)],
    ["Most a run may cost", trigger.max_cost === null ? undefined : money(trigger.max_cost)],
    ["Approved tools", trigger.approve.join(", ")],
    ["Last run", trigger.last_run_id],
  ]);
}
