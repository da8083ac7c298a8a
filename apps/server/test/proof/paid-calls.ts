import { setTimeout as sleep } from "node:timers/promises";
import type { Pricing } from "@gantry/wire";
import { readStream } from "../support/read-stream.ts";
import { call, send } from "./client.ts";
import type { Random } from "./random.ts";
import { promptOf, type Script } from "./upstreams.ts";

/** The models of the storm cover every kind of price. */
export const stormModels = {
  /** Cog, many at a time. */
  quick: { capacity: 60, timeout_seconds: 20, pricing: { per_request: 0.003 } },
  /** Cog, few at a time, also charged by the second, with a time limit that some predictions reach. */
  narrow: { capacity: 8, timeout_seconds: 3, pricing: { per_request: 0.01, per_second: 0.002 } },
  /** Chat, charged by the token. */
  talk: {
    capacity: 40,
    timeout_seconds: 20,
    pricing: { per_million_input_tokens: 30, per_million_output_tokens: 200 },
  },
} as const satisfies Record<string, { capacity: number; timeout_seconds: number; pricing: Pricing }>;

export type StormModel = keyof typeof stormModels;
export const maxTokens = 64;

export interface PlannedCall {
  user: string;
  model: StormModel;
  way: "sync" | "stream" | "async";
  script: Script;
  /** The client disconnects after this time, or cancels an async prediction. */
  leaveAfterMs: number | undefined;
  /** With a key, a call whose answer was lost is repeated. */
  idempotencyKey: string | undefined;
  startAfterMs: number;
}

/** The outcome as the client saw it. */
export interface Observation {
  plan: PlannedCall;
  /** Set once the client received it. Repeats of one call may have one each. */
  id: string | undefined;
  told:
    | "done" // the whole result
    | "failed" // an error of an accepted prediction
    | "accepted" // async: queued
    | "refused" // 403 or 429, nothing was accepted
    | "unavailable" // 5xx before acceptance
    | "left" // the client disconnected
    | "lost"; // the connection broke
  status: number | undefined;
}

export function planCall(random: Random, user: string, mark: string, spreadMs: number): PlannedCall {
  const model = random.pick<StormModel>(["quick", "quick", "narrow", "talk", "talk"]);
  const way = random.pick<PlannedCall["way"]>(model === "talk" ? ["stream", "async"] : ["sync", "stream", "async"]);
  const end = random.pick<Script["end"]>(["ok", "ok", "ok", "ok", "ok", "ok", "ok", "fail", "cut", "hang"]);
  const isLong = random.chance(0.1);
  return {
    user,
    model,
    way,
    script: {
      // A hanging call ends by the time limit, which is short only for the narrow model.
      end: end === "hang" && model !== "narrow" ? "ok" : end,
      ms: isLong ? random.between(1000, 2500) : random.between(5, 400),
      words: random.between(2, 12),
      inputTokens: random.between(1, 60),
      // Some upstreams produce more than requested.
      outputTokens: random.chance(0.1) ? random.between(maxTokens + 1, 3 * maxTokens) : random.between(1, maxTokens),
      mark: `${model}-${mark}`,
    },
    leaveAfterMs: random.chance(0.15) ? random.between(5, 1500) : undefined,
    idempotencyKey: way !== "stream" && random.chance(0.2) ? `key-${mark}` : undefined,
    startAfterMs: random.between(0, spreadMs),
  };
}

/** The servers that accept calls now. */
export interface Servers {
  up(): readonly { url: string }[];
}

const mostTries = 4;

/** Makes one planned call through a running node. Reports the outcome of each attempt. */
export async function carryOut(
  cluster: Servers,
  random: Random,
  keys: ReadonlyMap<string, string>,
  plan: PlannedCall,
): Promise<Observation[]> {
  await sleep(plan.startAfterMs);
  const seen: Observation[] = [];
  for (let attempt = 1; ; attempt++) {
    const last = await attemptOnce(cluster, random, keys.get(plan.user) ?? "", plan);
    seen.push(last);
    const isUnsure = last.told === "lost" || last.told === "unavailable";
    if (!isUnsure || plan.idempotencyKey === undefined || attempt === mostTries) return seen;
    await sleep(200);
  }
}

async function attemptOnce(cluster: Servers, random: Random, key: string, plan: PlannedCall): Promise<Observation> {
  const [first, ...others] = cluster.up();
  if (!first) {
    await sleep(100);
    return { plan, id: undefined, told: "lost", status: undefined };
  }
  const { url } = random.pick([first, ...others]);
  const leaving = new AbortController();
  const timer =
    plan.leaveAfterMs === undefined || plan.way === "async"
      ? undefined
      : setTimeout(() => leaving.abort(), plan.leaveAfterMs);
  let id: string | undefined;
  const learnt = (told: Observation["told"], status?: number): Observation => ({ plan, id, told, status });
  const form = {
    prompt: promptOf(plan.script),
    ...(plan.model === "talk" && { max_tokens: String(maxTokens) }),
  };
  const headers: Record<string, string> =
    plan.idempotencyKey === undefined ? {} : { "idempotency-key": plan.idempotencyKey };
  const path = `/api/v1/admin/${plan.model}/predict${plan.way === "sync" ? "" : `/${plan.way}/`}`;
  try {
    const response = await send(url, "POST", path, { key, form, headers, signal: leaving.signal });
    id = response.headers.get("x-prediction-id") ?? undefined;
    if (plan.way === "stream" && response.status === 200) {
      let last: { status?: number; detail?: unknown; output_data?: object } = {};
      for await (const event of readStream(response)) last = event;
      if (last.detail) return learnt("failed", last.status);
      return learnt(isFinal(last) ? "done" : "lost", last.status);
    }
    const body = JSON.parse(await response.text());
    if (response.status === 200) {
      if (plan.way === "async" && plan.leaveAfterMs !== undefined) {
        await sleep(plan.leaveAfterMs);
        await call(url, "POST", `/api/v1/admin/${plan.model}/predict/cancel/?prediction_id=${body.prediction_id}`, {
          key,
        }).catch(() => undefined);
      }
      return learnt(plan.way === "async" ? "accepted" : "done", 200);
    }
    if (id !== undefined) return learnt("failed", response.status);
    return learnt(response.status < 500 ? "refused" : "unavailable", response.status);
  } catch {
    return learnt(leaving.signal.aborted ? "left" : "lost");
  } finally {
    clearTimeout(timer);
  }
}

function isFinal(event: { status?: number; output_data?: object }): boolean {
  return event.status === 200 && event.output_data !== undefined && Object.keys(event.output_data).length === 0;
}
