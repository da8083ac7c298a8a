import type { Database } from "../../src/engines/database/index.ts";
import { reservationOf, verifyLedger } from "../../src/features/billing/index.ts";
import { type Micros, microsOfDollars, priceOf } from "../../src/kernel/money.ts";
import { type Answer, call } from "./client.ts";
import type { StormUser } from "./money-storm.ts";
import { maxTokens, type Observation, type Servers, type StormModel, stormModels } from "./paid-calls.ts";
import type { Upstreams } from "./upstreams.ts";

interface EndedRow {
  id: string;
  username: string;
  model: string;
  status: number;
  inferenceMs: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  cachedTokens: number | null;
  /** Number and sum of the charges. */
  charges: number;
  charged: Micros;
}

/** More tokens than the longest prompt of the storm. */
const longestPrompt = 60;

/** Checks the ledger once all work has ended. Returns faults in sentences; an empty list is the proof. */
export async function auditMoney(storm: {
  database: Database;
  cluster: Servers;
  upstreams: Upstreams;
  users: readonly StormUser[];
  keys: ReadonlyMap<string, string>;
  seen: readonly Observation[];
  lowestAvailable: ReadonlyMap<string, Micros>;
}): Promise<string[]> {
  const { database, seen } = storm;
  const faults: string[] = [];
  for (const { rule, subject, expected, found } of await verifyLedger(database))
    faults.push(`the books: ${rule} of ${subject} is ${found} instead of ${expected}`);
  faults.push(...(await leftOvers(database)));
  const ended = await endedRows(
    database,
    storm.users.map(({ name }) => name),
  );
  const byId = new Map(ended.map((row) => [row.id, row]));
  for (const one of seen) faults.push(...toldTruth(one, byId));
  faults.push(...repeatedWork(seen, byId));
  for (const row of ended) faults.push(...rightPrice(row, storm.upstreams));
  for (const user of storm.users) {
    const rows = ended.filter((row) => row.username === user.name);
    faults.push(...withinBudget(user, rows, storm.lowestAvailable.get(user.name) ?? 0));
    faults.push(...metRefusal(user, seen));
    faults.push(...(await sameSums(storm, user, rows)));
  }
  return faults;
}

/** Must be empty or zero when no work is left. */
async function leftOvers(database: Database): Promise<string[]> {
  const rows = await database.sql<{ what: string; n: number }[]>`
    select 'live predictions' as what, count(*)::int as n from live_predictions
    union all select 'stream fragments', count(*)::int from prediction_fragments
    union all select 'wallets with reservations or running ones', count(*)::int from wallets
      where reserved_micros <> 0 or running <> 0
    union all select 'models with running or waiting ones', count(*)::int from model_slots
      where running <> 0 or waiting <> 0
    union all select 'keys with reservations', count(*)::int from key_months where reserved_micros <> 0
    union all select 'days with reservations', count(*)::int from key_days where reserved_micros <> 0
    union all select 'predictions without usage', count(*)::int from ended_predictions e
      where not exists (select 1 from usage u where u.request_id = e.id)`;
  return rows.filter((row) => row.n !== 0).map((row) => `${row.n} ${row.what} are left`);
}

async function endedRows(database: Database, usernames: string[]): Promise<EndedRow[]> {
  return database.sql<EndedRow[]>`
    select e.id, u.username, split_part(e.model_name, '/', 2) as model, e.status, e.inference_ms as "inferenceMs",
      e.input_tokens as "inputTokens", e.output_tokens as "outputTokens", e.cached_tokens as "cachedTokens",
      count(c.price_micros)::int as charges, coalesce(sum(c.price_micros), 0)::bigint as charged
    from ended_predictions e join users u on u.id = e.user_id
      left join usage c on c.request_id = e.id and c.price_micros > 0
    where u.username = any (${usernames})
    group by e.id, u.username`;
}

/** Clients saw what was recorded. */
function toldTruth({ id, told, status, plan }: Observation, byId: ReadonlyMap<string, EndedRow>): string[] {
  if (id === undefined) return [];
  const row = byId.get(id);
  const what = `${plan.way} ${id} of ${plan.user}`;
  if (!row) return [`${what} was accepted and is nowhere`];
  if (row.username !== plan.user) return [`${what} was written down for ${row.username}`];
  if (told === "done" && row.status !== 200)
    return [`the client of ${what} got its result, the books say ${row.status}`];
  if (told === "failed" && row.status === 200 && status !== 503)
    return [`the client of ${what} got ${status}, but 200 was recorded`];
  return [];
}

/** Repeats with one Idempotency-Key are charged at most once. */
function repeatedWork(seen: readonly Observation[], byId: ReadonlyMap<string, EndedRow>): string[] {
  const idsByKey = new Map<string, Set<string>>();
  for (const { plan, id } of seen) {
    if (plan.idempotencyKey === undefined || id === undefined) continue;
    const ids = idsByKey.get(plan.idempotencyKey) ?? new Set();
    idsByKey.set(plan.idempotencyKey, ids.add(id));
  }
  const isPaid = (id: string) => byId.get(id)?.status === 200;
  return [...idsByKey]
    .filter(([, ids]) => [...ids].filter(isPaid).length > 1)
    .map(([key, ids]) => `${[...ids].join(" and ")} were both paid under the one key ${key}`);
}

/** Done is charged for everything, cancelled for tokens and time, failed for nothing; never twice. */
function rightPrice(row: EndedRow, upstreams: Upstreams): string[] {
  const { pricing, timeout_seconds: longest } = stormModels[row.model as StormModel];
  const used = {
    // On a slow machine a call can outlast its time limit. No more than the reserved seconds are charged.
    seconds: Math.min((row.inferenceMs ?? 0) / 1000, longest),
    inputTokens: row.inputTokens ?? 0,
    cachedTokens: row.cachedTokens ?? 0,
    cacheWriteTokens: 0,
    outputTokens: row.outputTokens ?? 0,
  };
  const expected =
    row.status === 200
      ? priceOf(pricing, { ...used, requests: 1, outputs: 1 })
      : row.status === 499
        ? priceOf(pricing, { ...used, requests: 0, outputs: 0 })
        : 0;
  const what = `${row.model} ${row.id} (${row.status})`;
  if (row.charged !== expected) return [`${what} cost ${row.charged} instead of ${expected}`];
  if (row.charges !== (expected > 0 ? 1 : 0)) return [`${what} has ${row.charges} charges`];
  if (row.status === 200 && (upstreams.seen.get(row.id)?.completed ?? 0) < 1)
    return [`${what} is done, and no upstream made it`];
  return [];
}

function mostReserved(model: StormModel): Micros {
  const { pricing, timeout_seconds: seconds } = stormModels[model];
  const bounds = { seconds, outputs: 1, inputTokens: Math.ceil(longestPrompt * 1.25) + 64, outputTokens: maxTokens };
  return reservationOf({ pricing, bounds });
}

/** A wallet may go below zero by one reservation. A key's monthly limit is strict. */
function withinBudget(user: StormUser, rows: readonly EndedRow[], lowestAvailable: Micros): string[] {
  const models = Object.keys(stormModels) as StormModel[];
  const allowed = Math.max(...models.map(mostReserved));
  const spent = rows.reduce((sum, row) => sum + row.charged, 0);
  const faults: string[] = [];
  const balance = microsOfDollars(user.credit) - spent;
  if (balance < -allowed) faults.push(`${user.name} ended at ${balance}, the rule allows ${-allowed}`);
  if (lowestAvailable < -allowed)
    faults.push(`${user.name} once had ${lowestAvailable} at its disposal, the rule allows ${-allowed}`);
  if (user.monthlyLimit !== undefined && spent > microsOfDollars(user.monthlyLimit))
    faults.push(`the key of ${user.name} spent ${spent} with a limit of ${user.monthlyLimit}`);
  return faults;
}

/** The storm must have reached budgets and limits, and refused no other caller for lack of funds. */
function metRefusal(user: StormUser, seen: readonly Observation[]): string[] {
  const met = (status: number) =>
    seen.some((one) => one.plan.user === user.name && one.told === "refused" && one.status === status);
  const isRich = user.name.startsWith("rich");
  if (user.meets !== undefined && !met(user.meets)) return [`${user.name} never met a ${user.meets}: no storm`];
  if (isRich && (met(403) || met(429))) return [`${user.name} was refused although it has money and no limits`];
  return [];
}

/** The server may close a disconnected client's connection at the moment it is reused. */
async function readSurely(read: () => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const answer = await read().catch(() => undefined);
    if (answer?.status === 200) return answer;
    if (attempt === 3) throw new Error(`an account could not be read: ${answer?.status} ${answer?.text}`);
  }
}

/** Usage, ledger, expenses and balance agree, also over HTTP. */
async function sameSums(
  { cluster, keys }: { cluster: Servers; keys: ReadonlyMap<string, string> },
  user: StormUser,
  rows: readonly EndedRow[],
): Promise<string[]> {
  const [node] = cluster.up();
  const key = keys.get(user.name) ?? "";
  const get = (path: string): Promise<Answer> => readSurely(() => call(node?.url ?? "", "GET", path, { key }));
  const spent = rows.reduce((sum, row) => sum + row.charged, 0);
  const all = async <Row>(path: string): Promise<Row[]> => {
    const rows: Row[] = [];
    for (let page = 1; ; page++) {
      const { body } = await get(`${path}?page=${page}&page_size=100`);
      rows.push(...body.results);
      if (page >= body.total_pages) return rows;
    }
  };
  const usage = await all<{ request_id: string; price: number; status: number }>("/api/v2/usage");
  const ledger = await all<{ kind: string; amount: number }>("/api/v2/ledger");
  const tomorrow = encodeURIComponent(new Date(Date.now() + 86_400_000).toISOString());
  const expenses = (await get(`/api/v2/${user.name}/expenses/?end_date=${tomorrow}`)).body;
  const sameExpenses = (await get(`/${user.name}/expenses/?end_date=${tomorrow}`)).body;
  const me = (await get("/api/v2/me")).body;
  const sums: [string, Micros, Micros][] = [
    [
      "the ledger's charges",
      ledger.reduce((sum, { kind, amount }) => (kind === "charge" ? sum - microsOfDollars(amount) : sum), 0),
      spent,
    ],
    ["usage", usage.reduce((sum, row) => sum + microsOfDollars(row.price), 0), spent],
    ["usage rows", usage.length, rows.length],
    ["different usage rows", new Set(usage.map((row) => row.request_id)).size, rows.length],
    ["expenses", microsOfDollars(expenses.total_spent), spent],
    ["the other address of expenses", microsOfDollars(sameExpenses.total_spent), spent],
    [
      "the models of expenses",
      expenses.results.reduce(
        (sum: number, one: { sub_total_spent: number }) => sum + microsOfDollars(one.sub_total_spent),
        0,
      ),
      spent,
    ],
    ["paid requests of expenses", expenses.total_count, rows.filter((row) => row.charged > 0).length],
    ["the balance", microsOfDollars(me.balance), microsOfDollars(user.credit) - spent],
    ["the reserved sum", microsOfDollars(me.reserved), 0],
  ];
  return sums
    .filter(([, found, expected]) => found !== expected)
    .map(([what, found, expected]) => `${what} of ${user.name} is ${found} instead of ${expected}`);
}
