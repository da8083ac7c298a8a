import { setTimeout as sleep } from "node:timers/promises";
import { send } from "../../apps/server/test/proof/client.ts";
import type { Random } from "../../apps/server/test/proof/random.ts";
import { type AgentPlan, agentPlans } from "./agent-script.ts";
import { ask } from "./ask.ts";
import type { Person, Stage } from "./stage.ts";

const plans = agentPlans as unknown as [AgentPlan, ...AgentPlan[]];

function learn(
  stage: Stage,
  { name }: Person,
  run: { id: string; status: string },
  { hasWebhook = false, isTurn = false } = {},
): void {
  const known = stage.learned.runs.get(run.id) ?? { user: name, hasWebhook, isTurn };
  const isEnd = run.status === "done" || run.status === "error";
  stage.learned.runs.set(run.id, { ...known, ...(isEnd && { status: run.status }) });
}

/** A run to its end, alone or as a turn of a thread, with or without a webhook. */
export async function runAgent(stage: Stage, random: Random, mark: string): Promise<void> {
  const person = random.pick(stage.people);
  const plan = random.pick(plans);
  const isTurn = random.chance(0.3);
  const hasWebhook = !isTurn && random.chance(0.4);
  const json = {
    input: { plan, mark },
    wait: 30,
    ...(isTurn && { thread_id: `thread-${random.between(1, 40)}` }),
    ...(hasWebhook && { webhook: { url: stage.receiverUrl, events: ["done", "error"] } }),
  };
  const path = `/v1/agents/${person.agents.worker}/runs`;
  const from = Date.now();
  // Another client may be deleting the thread.
  const expect = isTurn ? [201, 409] : [201];
  const answer = await ask(stage, `run ${plan}`, "POST", path, { key: person.key, json, expect });
  if (answer?.status !== 201) return;
  learn(stage, person, answer.body, { hasWebhook, isTurn });
  const { status } = answer.body;
  const wanted = plan === "fail" ? "error" : "done";
  if ((status === "done" || status === "error") && status !== wanted && !stage.journal.isDisturbed(from))
    stage.journal.fault(`run ${plan}: ${status}`, answer.text);
}

/** Follows the events of a run; some readers leave, and some cancel the run. */
export async function followRun(stage: Stage, random: Random, mark: string): Promise<void> {
  const person = random.pick(stage.people);
  const { key } = person;
  const json = { input: { plan: random.pick(plans), mark } };
  const created = await ask(stage, "run", "POST", `/v1/agents/${person.agents.worker}/runs`, { key, json });
  if (!created) return;
  const { id } = created.body;
  learn(stage, person, created.body);
  if (random.chance(0.15)) {
    await sleep(random.between(0, 200));
    await ask(stage, "cancel run", "POST", `/v1/runs/${id}/cancel`, { key, expect: [200, 202, 409] });
  }
  const leaving = new AbortController();
  const leaves = random.chance(0.3);
  const from = Date.now();
  try {
    const response = await send(stage.installation.url, "GET", `/v1/runs/${id}/events?text=true`, {
      key,
      signal: leaving.signal,
    });
    stage.journal.count("follow", String(response.status));
    for await (const _ of response.body ?? []) if (leaves) leaving.abort();
  } catch (error) {
    if (!leaving.signal.aborted && !stage.journal.isDisturbed(from)) stage.journal.fault("follow: lost", String(error));
  }
  const read = await ask(stage, "read run", "GET", `/v1/runs/${id}?wait=30`, { key });
  if (read) learn(stage, person, read.body);
}

/** A tool that asks first: approved, denied, or the run is cancelled. */
export async function approve(stage: Stage, random: Random, mark: string): Promise<void> {
  const person = random.pick(stage.people);
  const { key } = person;
  const json = { input: { plan: "calc", mark }, wait: 30 };
  const created = await ask(stage, "run with approval", "POST", `/v1/agents/${person.agents.careful}/runs`, {
    key,
    json,
  });
  if (!created) return;
  const { id, phase } = created.body;
  learn(stage, person, created.body);
  if (phase !== "awaiting_confirmation") return;
  const listed = await ask(stage, "confirmations", "GET", `/v1/runs/${id}/confirmations`, { key });
  const asked = listed?.body.confirmations.find((one: { status: string }) => one.status === "pending");
  if (random.chance(0.1)) {
    await ask(stage, "cancel run", "POST", `/v1/runs/${id}/cancel`, { key });
  } else if (asked) {
    const answer = { approve: random.chance(0.8) };
    // After a lost answer the confirmation may be answered already.
    const expect = [200, 201, 202, 409];
    await ask(stage, "confirm", "POST", `/v1/runs/${id}/confirmations/${asked.id}`, { key, json: answer, expect });
  }
  const read = await ask(stage, "read run", "GET", `/v1/runs/${id}?wait=30`, { key });
  if (read) learn(stage, person, read.body);
}

/** Posts to a trigger, and repeats some deliveries, as senders do. */
export async function trigger(stage: Stage, random: Random, mark: string): Promise<void> {
  const person = random.pick(stage.people);
  const delivery = `${person.name} ${mark}`;
  const times = random.chance(0.3) ? 2 : 1;
  for (let n = 0; n < times; n++) {
    const answer = await ask(stage, "trigger", "POST", person.hook, { json: { id: delivery, mark }, expect: [202] });
    if (!answer) continue;
    const known = stage.learned.deliveries.get(delivery) ?? new Set();
    stage.learned.deliveries.set(delivery, known.add(answer.body.run_id));
    learn(stage, person, { id: answer.body.run_id, status: "pending" });
  }
}

export async function readThreads(stage: Stage, random: Random): Promise<void> {
  const { key } = random.pick(stage.people);
  const listed = await ask(stage, "threads", "GET", "/v1/threads?limit=50", { key });
  const threads: { id: string }[] = listed?.body.threads ?? [];
  const [first, ...others] = threads;
  if (!first) return;
  const { id } = random.pick([first, ...others]);
  await ask(stage, "read thread", "GET", `/v1/threads/${id}`, { key, expect: [200, 404] });
  if (random.chance(0.2))
    await ask(stage, "delete thread", "DELETE", `/v1/threads/${id}`, { key, expect: [204, 404, 409] });
}
