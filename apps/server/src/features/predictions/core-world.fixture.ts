import { type Counted, type Key, type KeyLimits, minute, type Sum, sumsOf, tokensIn } from "./core-keys.fixture.ts";

export type Route = "sync" | "stream" | "async" | "agent";

export interface Plan {
  perMinute: number | null;
  parallel: number | null;
}

export interface Arrival {
  id: string;
  user: string;
  key: string;
  model: string;
  route: Route;
  highPriority: boolean;
  reservation: number;
  tokens: number;
  mustBeCovered: boolean;
  /** The user is not the owner of the key, and pays for calls of that key's run. */
  sponsored: boolean;
  /** The run whose next model call this is. */
  run: string | null;
  webhook: boolean;
  /** For async predictions: the node has a free slot. */
  here: boolean;
}

export interface End {
  id: string;
  /** Made under an earlier claim than the current one. */
  stale: boolean;
  status: number;
  price: number;
  tokens: number;
}

export type Operation =
  | { kind: "write"; node: string; ends: End[]; arrivals: Arrival[]; slots: number }
  | { kind: "settle"; ends: End[] }
  | { kind: "look"; node: string; arrival: Arrival; counts: boolean }
  | { kind: "claim"; node: string; slots: number }
  | { kind: "release"; ids: { id: string; stale: boolean }[]; died: boolean }
  | { kind: "start calls"; node: string }
  | { kind: "grant free slots" }
  | { kind: "capacity"; model: string; capacity: number }
  | { kind: "retire"; model: string }
  | { kind: "plan"; user: string; plan: string }
  | { kind: "revoke"; key: string; revoked: boolean }
  | { kind: "limit"; key: string; limits: KeyLimits }
  | { kind: "credit"; user: string; amount: number }
  | { kind: "fold"; user: string }
  | { kind: "run"; run: string; holder: string; call: string }
  | { kind: "day" }
  | { kind: "month" }
  | { kind: "pass"; ms: number };

export type Verdict =
  | "run"
  | "wait"
  | "run_lost"
  | "key_gone"
  | "model_retired"
  | "model_inactive"
  | "no_funds"
  | "rate_limit"
  | "token_limit"
  | "too_many_tokens"
  | "too_many_parallel"
  | "accepted_before";

/** `rate` is null for calls of runs, which do not count as requests, and for plans without a limit. */
export interface Decision {
  verdict: Verdict;
  rate: { limit: number; remaining: number; resetMs: number } | null;
  retryAfterMs: number | null;
}

export interface Answer {
  decisions?: Decision[];
  /** Whether each end took effect. */
  ended?: boolean[];
  /** The claimed jobs, the started calls of runs, or the released jobs. */
  ids?: string[];
  /** Waiting clients that were granted freed slots. */
  granted?: string[];
  /** Whether workers must be woken: a queued prediction may start now, and none could before. */
  wake?: boolean;
}

export interface World {
  plans: Record<string, Plan>;
  users: Record<string, { plan: string; balance: number }>;
  /** Parents come before their children. */
  keys: Record<string, { user: string; parent: string | null; limits: KeyLimits }>;
  models: Record<string, { capacity: number }>;
  /** The prices of runs are reserved. */
  runs: Record<string, { user: string; key: string; price: number; parent: string | null }>;
}

export interface User {
  plan: Plan;
  balance: number;
  reserved: number;
  running: number;
  requests: number[];
}

export interface Model {
  capacity: number;
  retired: boolean;
  /** The step of the last claim. */
  servedAt: number;
  /** By user and priority: the step in which they were last served, or -1. */
  servedSteps: Map<string, number>;
}

export interface Live {
  id: string;
  user: string;
  key: string | null;
  model: string;
  route: Route;
  highPriority: boolean;
  holder: string | null;
  claim: number;
  deaths: number;
  reserved: number;
  counted: Counted;
  counts: boolean;
  started: boolean;
  webhook: boolean;
  /** Counts up in the order of acceptance. */
  age: number;
}

export interface CoreTables {
  users: ReadonlyMap<string, User>;
  keys: ReadonlyMap<string, Key>;
  models: ReadonlyMap<string, Model>;
  live: ReadonlyMap<string, Live>;
}

export interface State {
  users: Record<string, { balance: number; reserved: number; running: number; waiting: number }>;
  /** By key and period, without empty ones. */
  months: Record<string, Sum>;
  days: Record<string, Sum>;
  /** By key, without those that are 0. */
  tokens: Record<string, number>;
  models: Record<string, { running: number; waiting: number }>;
  live: Record<
    string,
    Pick<
      Live,
      "user" | "key" | "model" | "route" | "highPriority" | "holder" | "claim" | "deaths" | "reserved" | "started"
    >
  >;
  ended: Record<
    string,
    {
      user: string;
      key: string | null;
      route: Route;
      status: number;
      reserved: number;
      price: number;
      started: boolean;
    }
  >;
}

export const byClient = ({ route }: { route: Route }) => route === "sync" || route === "stream";
export const queueOf = ({ user, highPriority }: { user: string; highPriority: boolean }) => `${highPriority} ${user}`;

export function found<T>(map: ReadonlyMap<string, T>, id: string): T {
  const value = map.get(id);
  if (value === undefined) throw new Error(`the model has no ${id}`);
  return value;
}

export const mapOf = <T, U>(record: Record<string, T>, of: (value: T) => U) =>
  new Map(Object.entries(record).map(([id, value]) => [id, of(value)]));

/** All orders that sort by rank. */
export function orders(items: readonly string[], rank: (item: string) => number): string[][] {
  if (items.length === 0) return [[]];
  const first = Math.min(...items.map(rank));
  return items
    .filter((item) => rank(item) === first)
    .flatMap((head) =>
      orders(
        items.filter((item) => item !== head),
        rank,
      ).map((rest) => [head, ...rest]),
    );
}

/** The state that a test compares with the database's. */
export function stateOf(
  { users, keys, models, live }: Pick<CoreTables, "users" | "keys" | "models" | "live">,
  ended: State["ended"],
  countsOf: (model: string) => { running: number; waiting: number },
  now: number,
): State {
  const sums = { months: sumsOf(keys, "months"), days: sumsOf(keys, "days") };
  const state: State = { users: {}, ...sums, tokens: {}, models: {}, live: {}, ended };
  for (const [id, { balance, reserved, running }] of users) {
    const waiting = [...live.values()].filter((one) => one.user === id && !one.started && !byClient(one)).length;
    state.users[id] = { balance, reserved, running, waiting };
  }
  for (const [id, key] of keys) if (tokensIn(key, now) !== 0) state.tokens[id] = tokensIn(key, now);
  for (const id of models.keys()) state.models[id] = countsOf(id);
  for (const one of live.values()) {
    const { user, key, model, route, highPriority, holder, claim, deaths, reserved, started } = one;
    state.live[one.id] = { user, key, model, route, highPriority, holder, claim, deaths, reserved, started };
  }
  return state;
}

type Change = Exclude<
  Operation,
  {
    kind:
      | "write"
      | "settle"
      | "look"
      | "claim"
      | "release"
      | "start calls"
      | "grant free slots"
      | "day"
      | "month"
      | "pass";
  }
>;

/** Changes that an admin, a user or the node of a run makes. */
export function changeWorld(
  tables: CoreTables & {
    runs: ReadonlyMap<string, { holder: string; call: string }>;
    plans: ReadonlyMap<string, Plan>;
  },
  change: Change,
): void {
  const { users, keys, models, runs, plans } = tables;
  switch (change.kind) {
    case "capacity":
      found(models, change.model).capacity = change.capacity;
      return;
    case "retire":
      found(models, change.model).retired = true;
      return;
    case "plan":
      found(users, change.user).plan = found(plans, change.plan);
      return;
    case "revoke":
      found(keys, change.key).revoked = change.revoked;
      return;
    case "limit":
      found(keys, change.key).limits = change.limits;
      return;
    case "credit":
      found(users, change.user).balance += change.amount;
      return;
    case "run":
      Object.assign(found(runs, change.run), { holder: change.holder, call: change.call });
      return;
    // Sums of usage are derived; no rule depends on them.
    case "fold":
  }
}

export function rateOf(perMinute: number | null, requests: readonly number[], now: number): Decision["rate"] {
  if (perMinute === null) return null;
  return {
    limit: perMinute,
    remaining: Math.max(0, perMinute - requests.length),
    resetMs: requests[0] === undefined ? 0 : requests[0] + minute - now,
  };
}

/** Counts one more of the id. */
export function isWithin(counts: Map<string, number>, id: string, left: number): boolean {
  const count = (counts.get(id) ?? 0) + 1;
  counts.set(id, count);
  return count <= left;
}
