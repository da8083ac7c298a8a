import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../../src/engines/database/index.ts";
import { type Micros, microsOfDollars } from "../../src/kernel/money.ts";
import type { Cluster } from "../support/cluster.ts";
import { type ScriptedLlm, startScriptedLlm } from "../support/scripted-llm.ts";
import { type Answer, type CallOptions, call, newUser, putModel, textModel } from "./client.ts";
import type { Random } from "./random.ts";

/** In dollars. The patron can pay for everything except the golden agent; the others for a part. */
const credits = { seller: 30, patron: 1000, poor: 0, cent: 0.01, budget: 50 } as const;
const monthlyLimit = 0.06;
const baitPrices = [0.01, 0.02, 40] as const;
const goldenPrice = 1_000_000;
const hiddenPrice = 5;

type Name = keyof typeof credits;
const buyers = ["patron", "poor", "cent", "budget"] as const satisfies Name[];

/** False reports of an upstream: far too much, more than requested, not a count. */
const lies = [
  { in: 10_000_000, out: 10_000_000 },
  { in: 1e15, out: 1e15 },
  { in: -500, out: -500 },
  { in: 1.5, out: 2.5 },
  { in: 10, out: 5000 },
];
const askedFor = 8;

export interface MarketCounts {
  /** Sold runs of agents whose price changes constantly. */
  sold: number;
  /** 409 answers: the price had changed. */
  priceChanged: number;
  /** 403 answers. */
  refused: number;
  /** Calls of the private model, charged to its owner. */
  sponsored: number;
  /** Charges for calls whose upstream lied. */
  liedAbout: number;
}

interface Bought {
  runId: string;
  expected: number;
}

export interface HostileMarket {
  /** Buys and lies until stopped. */
  storm(random: Random): { stop(): Promise<void> };
  /** Faults after all runs have ended; an empty list is the proof. */
  audit(lowestAvailable: ReadonlyMap<string, Micros>): Promise<{ faults: string[]; counts: MarketCounts }>;
  close(): Promise<void>;
}

/**
 * A seller who changes prices between quote and run, asks for a million and hides an expensive private model behind a cheap
 * agent; an upstream that reports false token counts; and buyers with almost no credit.
 */
export async function openHostileMarket(cluster: Cluster, database: Database): Promise<HostileMarket> {
  const [{ url }] = cluster.nodes as [Cluster["nodes"][number]];
  let told = 0;
  const honest = await startScriptedLlm(() => ({ text: "Here you are.", usage: { in: 20, out: 4 } }));
  const liar = await startScriptedLlm(() => ({ text: "Here you are.", usage: lies[told++ % lies.length] ?? null }));
  const keys = new Map<Name, string>();
  for (const [name, credit] of Object.entries(credits) as [Name, number][]) {
    const key = name === "budget" ? { monthly_limit: monthlyLimit } : {};
    keys.set(name, await newUser(url, name, { credit, key }));
  }
  const as = (name: Name): CallOptions => ({ key: keys.get(name) ?? "" });
  await putModels({ url, ...as("seller") }, { honest, liar });
  const agents = {
    bait: await putAgent(url, as("seller"), { name: "bait", model: "seller/gratis", perRun: baitPrices[0] }),
    golden: await putAgent(url, as("seller"), { name: "golden", model: "seller/gratis", perRun: goldenPrice }),
    deep: await putAgent(url, as("seller"), { name: "deep", model: "seller/hidden", perRun: 0.01 }),
    lies: await putAgent(url, as("seller"), { name: "lies", model: "seller/liar", perRun: 0 }),
  };
  const bought: Bought[] = [];
  const counts: MarketCounts = { sold: 0, priceChanged: 0, refused: 0, sponsored: 0, liedAbout: 0 };
  const unexpected: string[] = [];

  /** Undefined if the node was killed. */
  async function ask(method: string, path: string, options: CallOptions): Promise<Answer | undefined> {
    const [node] = cluster.up();
    return node && (await call(node.url, method, path, options).catch(() => undefined));
  }

  async function buy(name: (typeof buyers)[number], agent: keyof typeof agents, random: Random): Promise<void> {
    const card = await ask("GET", `/v1/agents/${agents[agent]}`, as(name));
    if (card?.status !== 200) return;
    const expected: number = card.body.pricing.per_run;
    await sleep(random.between(0, 40));
    const max_cost = agent === "lies" ? { max_cost: 0.05 } : {};
    const json = { input: {}, expected_price: expected, ...max_cost };
    const answer = await ask("POST", `/v1/agents/${agents[agent]}/runs`, { ...as(name), json });
    if (answer?.status === 201) bought.push({ runId: answer.body.id, expected });
    else if (answer?.status === 409) counts.priceChanged++;
    else if (answer?.status === 403) counts.refused++;
    else if (answer && answer.status < 500) unexpected.push(`${name} buying ${agent}: ${answer.status} ${answer.text}`);
  }

  async function changePrice(n: number): Promise<void> {
    const json = { pricing: { per_run: baitPrices[n % baitPrices.length] } };
    await ask("PATCH", `/v1/agents/${agents.bait}`, { ...as("seller"), json });
    await ask("POST", `/v1/agents/${agents.bait}/publish`, { ...as("seller"), json: {} });
  }

  async function callLiar(name: "patron" | "budget"): Promise<void> {
    const form = { prompt: "hi", max_tokens: String(askedFor) };
    await ask("POST", "/api/v1/seller/liar/predict/async/", { ...as(name), form });
  }

  return {
    storm(random) {
      let isOver = false;
      const until = async (work: (n: number) => Promise<void>) => {
        for (let n = 1; !isOver; n++) {
          await work(n);
          await sleep(random.between(50, 150));
        }
      };
      const working = [
        until(changePrice),
        ...buyers.flatMap((name) => [
          until((n) => buy(name, "bait", random).then(() => (n % 4 === 0 ? buy(name, "golden", random) : undefined))),
          until((n) => buy(name, n % 2 === 0 ? "deep" : "lies", random)),
        ]),
        until(() => callLiar("patron")),
        until(() => callLiar("budget")),
      ];
      return {
        async stop() {
          isOver = true;
          await Promise.all(working);
        },
      };
    },

    async audit(lowestAvailable) {
      const faults = [...unexpected];
      const prices = new Map(
        (await database.sql<{ id: string; price: Micros }[]>`select id, price_micros as price from runs`).map((run) => [
          run.id,
          run.price,
        ]),
      );
      for (const { runId, expected } of bought) {
        const price = prices.get(runId);
        if (price !== microsOfDollars(expected)) faults.push(`${runId} cost ${price}, shown was ${expected} dollars`);
      }
      // Their purchases go to another user or are calls of another user's agent: covered or refused.
      for (const name of ["seller", "poor", "cent"]) {
        const lowest = lowestAvailable.get(name) ?? 0;
        if (lowest < 0) faults.push(`${name} once had ${lowest} at its disposal`);
      }
      const [row] = await database.sql<Record<string, number>[]>`
        select
          (select count(*) from ledger where kind = 'sale')::int as sold,
          (select count(*) from ledger where kind = 'sale' and amount_micros >= ${microsOfDollars(goldenPrice)})::int as golden,
          (select count(*) from usage where model_name = 'seller/hidden' and status = 200)::int as sponsored,
          (select count(*) from usage u join users on users.id = u.user_id where u.model_name = 'seller/hidden'
            and (users.username <> 'seller' or u.key_id is not null))::int as "paidByOthers",
          (select count(*) from usage where model_name = 'seller/liar' and price_micros > 0)::int as "liedAbout",
          (select count(*) from usage where price_micros > reserved_micros or price_micros < 0
            or input_tokens < 0 or output_tokens < 0)::int as "wrong",
          (select count(*) from usage where price_micros > 0 and reserved_micros is null)::int as "unknown"`;
      if (row?.golden) faults.push(`${row.golden} golden runs were sold`);
      if (row?.paidByOthers) faults.push(`${row.paidByOthers} calls of the private model were not paid by its owner`);
      if (row?.wrong) faults.push(`${row.wrong} charges are above their reservation, or below zero`);
      if (row?.unknown) faults.push(`${row.unknown} charges do not say what was reserved`);
      const { sold = 0, sponsored = 0, liedAbout = 0 } = row ?? {};
      return { faults, counts: { ...counts, sold, sponsored, liedAbout } };
    },

    async close() {
      await honest.close();
      await liar.close();
    },
  };
}

async function putModels(
  { url, ...as }: CallOptions & { url: string },
  { honest, liar }: { honest: ScriptedLlm; liar: ScriptedLlm },
): Promise<void> {
  const common = { ...textModel, capacity: 50, timeout_seconds: 20, context_window: 8000 };
  const on = (llm: ScriptedLlm) => ({ type: "openai-chat", url: llm.url, model: "test" });
  const perToken = { per_million_input_tokens: 10, per_million_output_tokens: 1000 };
  await putModel(url, "gratis", { ...common, pricing: {}, backend: on(honest) }, { owner: "seller", ...as });
  const hidden = { visibility: "private", pricing: { per_request: hiddenPrice }, backend: on(honest) };
  await putModel(url, "hidden", { ...common, ...hidden }, { owner: "seller", ...as });
  await putModel(url, "liar", { ...common, pricing: perToken, backend: on(liar) }, { owner: "seller", ...as });
}

async function putAgent(
  url: string,
  as: CallOptions,
  { name, model, perRun }: { name: string; model: string; perRun: number },
): Promise<string> {
  const json = { name, goal: "Help.", tools: [], model, visibility: "public", pricing: { per_run: perRun } };
  const made = await call(url, "POST", "/v1/agents", { ...as, json });
  if (made.status !== 201) throw new Error(`the agent ${name}: ${made.status} ${made.text}`);
  await call(url, "POST", `/v1/agents/${made.body.id}/publish`, { ...as, json: {} });
  return made.body.id;
}
