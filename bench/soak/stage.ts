import { call, newUser, putModel, textModel } from "../../apps/server/test/proof/client.ts";
import type { StormUser } from "../../apps/server/test/proof/money-storm.ts";
import { type Observation, stormModels } from "../../apps/server/test/proof/paid-calls.ts";
import { startUpstreams, type Upstreams } from "../../apps/server/test/proof/upstreams.ts";
import { type ScriptedLlm, startScriptedLlm } from "../../apps/server/test/support/scripted-llm.ts";
import { playAgent } from "./agent-script.ts";
import { type Gate, openGate } from "./gate.ts";
import type { Installation } from "./installation.ts";
import type { Journal } from "./journal.ts";
import { type SoakReceiver, startSoakReceiver } from "./receiver.ts";

/** A user who uses everything but the models of the money audit. */
export interface Person {
  name: string;
  key: string;
  agents: { worker: string; careful: string };
  drive: string;
  hook: string;
  schedules: string[];
}

/** What the servers around the installation and the users have at hand, and what users have learned. */
export interface Stage {
  installation: Installation;
  journal: Journal;
  upstreams: Upstreams;
  llm: ScriptedLlm;
  receiver: SoakReceiver;
  gates: Record<"models" | "agents" | "receiver", Gate>;
  /** Address of the receiver behind its gate. */
  receiverUrl: string;
  buyers: readonly StormUser[];
  /** API keys by user. */
  keys: Map<string, string>;
  people: [Person, ...Person[]];
  learned: Learned;
}

/** What clients know, to be compared with the books. */
export interface Learned {
  calls: Observation[];
  /** Queued predictions with a webhook, by id, with the user. */
  webhooks: Map<string, string>;
  /**
   * Created runs: the user, whether a webhook is due, whether they may be deleted with a thread, and the status that a
   * client saw at the end.
   */
  runs: Map<string, { user: string; hasWebhook: boolean; isTurn: boolean; status?: string }>;
  /** Run ids by delivery id of a trigger. */
  deliveries: Map<string, Set<string>>;
  /** SHA-256 that a stored file may have: several after a lost answer. Null: the file may be deleted. */
  driveFiles: Map<string, Set<string | null>>;
  uploads: Map<string, string>;
}

/** In dollars, per call of the money audit. */
const usualPrice = 0.012;
const slowPlan = { name: "soak-slow", requests_per_minute: 6, parallel: 2 };

/** Users with too little money or small limits; `calls` is the number of calls of each. */
function buyersOf(calls: number): StormUser[] {
  const credit = (share: number) => Math.max(0.02, Math.round(calls * usualPrice * share * 1e6) / 1e6);
  const plan = "unlimited";
  return [
    { name: "rich-1", credit: credit(20), plan },
    { name: "rich-2", credit: credit(20), plan },
    { name: "third", credit: credit(0.2), plan, meets: 403 },
    { name: "tenth", credit: credit(0.1), plan, meets: 403 },
    { name: "penniless", credit: 0, plan, meets: 403 },
    { name: "pro", credit: credit(0.5), plan: "pro" },
    { name: "slow", credit: credit(20), plan: slowPlan.name, meets: 429 },
    { name: "capped", credit: credit(20), plan, monthlyLimit: credit(0.15), meets: 403 },
  ];
}

const names = ["ann", "ben", "cleo", "dan"] as const;
const schedulesOfEach = 2;

export async function setStage(installation: Installation, journal: Journal, callsOfBuyer: number): Promise<Stage> {
  const [upstreams, llm, receiver] = await Promise.all([
    startUpstreams(),
    startScriptedLlm(playAgent),
    startSoakReceiver(),
  ]);
  const gates = {
    models: await openGate(upstreams.chatUrl),
    agents: await openGate(llm.url),
    receiver: await openGate(receiver.url),
  };
  const { url } = installation;
  const at = (gate: Gate, path: string) => `http://127.0.0.1:${gate.port}${path}`;
  const cog = { type: "cog", url: at(gates.models, "/cog") };
  await putModel(url, "quick", { ...stormModels.quick, backend: cog });
  await putModel(url, "narrow", { ...stormModels.narrow, backend: cog });
  const chat = { type: "openai-chat", url: at(gates.models, "/chat"), model: "test" };
  await putModel(url, "talk", { ...stormModels.talk, ...textModel, backend: chat });
  await putModel(url, "llm", {
    ...textModel,
    capacity: 50,
    timeout_seconds: 30,
    context_window: 8000,
    pricing: { per_million_input_tokens: 1, per_million_output_tokens: 10 },
    backend: { type: "openai-chat", url: at(gates.agents, "/v1"), model: "test" },
  });
  const { name: planName, ...plan } = slowPlan;
  await must(call(url, "PUT", `/api/v2/admin/plans/${planName}`, { json: plan }));
  const buyers = buyersOf(callsOfBuyer);
  const keys = new Map<string, string>();
  for (const { name, credit, plan: of, monthlyLimit } of buyers) {
    const key = monthlyLimit === undefined ? {} : { monthly_limit: monthlyLimit };
    keys.set(name, await newUser(url, name, { plan: of, credit, key }));
  }
  const people: Person[] = [];
  for (const name of names) {
    keys.set(name, await newUser(url, name, { credit: 10_000 }));
    people.push(await settle(url, name, keys.get(name) ?? ""));
  }
  return {
    installation,
    journal,
    upstreams,
    llm,
    receiver,
    gates,
    receiverUrl: at(gates.receiver, "/"),
    buyers,
    keys,
    people: people as Stage["people"],
    learned: {
      calls: [],
      webhooks: new Map(),
      runs: new Map(),
      deliveries: new Map(),
      driveFiles: new Map(),
      uploads: new Map(),
    },
  };
}

async function settle(url: string, name: string, key: string): Promise<Person> {
  const post = async (path: string, json: object) => (await must(call(url, "POST", path, { key, json }))).body;
  const drive = (await post("/v1/drives", { name: "Papers", index: {} })).id;
  const publish = async (fields: object) => {
    const { id } = await post("/v1/agents", { model: "admin/llm", goal: "plan:{{plan}} mark:{{mark}}", ...fields });
    await post(`/v1/agents/${id}/publish`, {});
    return id as string;
  };
  const clerk = await publish({ name: "Clerk", goal: "plan:echo mark:sub", tools: [] });
  const worker = await publish({
    name: "Worker",
    tools: [
      ...["run_javascript", "drive_read", "drive_write", "drive_search"],
      { type: "agent", agent_id: clerk, name: "clerk" },
    ],
    drives: [drive],
  });
  const careful = await publish({
    name: "Careful",
    tools: [{ type: "tool", id: "run_javascript", confirm: "always" }],
  });
  const trigger = { input: { plan: "calc", mark: "{{body.mark}}" }, delivery_id: { path: "id" } };
  const hook = new URL((await post(`/v1/agents/${worker}/triggers`, trigger)).url).pathname;
  const schedules: string[] = [];
  for (let n = 0; n < schedulesOfEach; n++) {
    const cron = { cron: "* * * * *", overlap: "queue", input: { plan: n % 2 === 0 ? "calc" : "sub", mark: "cron" } };
    schedules.push((await post(`/v1/agents/${worker}/schedules`, cron)).id);
  }
  return { name, key, agents: { worker, careful }, drive, hook, schedules };
}

async function must(answer: ReturnType<typeof call>): ReturnType<typeof call> {
  const got = await answer;
  if (got.status >= 300) throw new Error(`setting up: ${got.status} ${got.text}`);
  return got;
}

export async function clearStage({ gates, upstreams, llm, receiver }: Stage): Promise<void> {
  await Promise.all([...Object.values(gates), upstreams, llm, receiver].map((one) => one.close()));
}
