import type { Database } from "../../../apps/server/src/engines/database/index.ts";
import { verifyLedger } from "../../../apps/server/src/features/billing/index.ts";
import { fillUsage, yearMs } from "../fill-usage.ts";
import type { Client, Dimension, Operation } from "./dimension.ts";
import { instantManifest } from "./models.ts";

/** A year of ended predictions with their results, usage and charges, nine of ten of one user. */
async function fill(database: Database, size: number, adminId: string): Promise<void> {
  await fillUsage(database, adminId, size);
  const found = await verifyLedger(database);
  if (found.length > 0) throw new Error(`The ledger does not balance: ${JSON.stringify(found.slice(0, 5))}`);
  const { sql } = database;
  const months = await sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'usage'::regclass order by 1`;
  for (const { name } of months) {
    await sql.unsafe(`
      insert into ended_predictions (id, user_id, key_id, model_id, model_name, route, status, created_at, started_at,
        ended_at, inference_ms, input, output, price_micros, request)
      select request_id, user_id, key_id, 'mdl_1', model_name, route, status, created_at, created_at, created_at,
        inference_ms, '{"prompt": "a lighthouse in the fog"}', '{"output": "a picture of a lighthouse"}', price_micros,
        '{"id": "req_1", "preview": "a lighthouse in the fog"}'
      from ${name}`);
  }
}

const within = (from: number, to: number): number => from + Math.random() * (to - from);
const naive = (time: number): string => new Date(time).toISOString().slice(0, 19);

/** Two times in the past year, not on the hour. */
function someRange(names: [string, string]): string {
  const [from, to] = [within(Date.now() - yearMs, Date.now()), within(Date.now() - yearMs, Date.now())].sort();
  return `${names[0]}=${naive(from as number)}&${names[1]}=${naive(to as number)}`;
}

const get = (name: string, path: () => string, grows?: string): Operation => ({
  name,
  run: (client) => client.call("GET", path()),
  ...(grows && { grows }),
});

const monthAgo = (): string => naive(Date.now() - 30 * 86_400_000);
const byRows = "Sums exist by model, so other groups read the rows of at most 31 days.";
const form = { prompt: "a lighthouse" };
const searched = "A filter reads at most 50,000 rows.";
const ofAll = "Adds up one row for each user, model and day.";
const byDays = "Totals add up one row for each day and model of the range.";
const model = "/api/v1/admin/instant";

/** Ids of predictions of the admin, from random times. */
async function sampleIds({ database: { sql } }: Client, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const ms = Math.floor(within(Date.now() - yearMs, Date.now() - yearMs / 10));
    const [row] = await sql<{ id: string }[]>`
      select id from ended_predictions
      where id > bench.id('pred', ${ms}::bigint, 0::bigint) and user_id = (select id from users where username = 'admin')
      order by id limit 1`;
    if (row) ids.push(row.id);
  }
  return ids;
}

export const predictions: Dimension = {
  name: "predictions",
  sizes: [10_000, 10_000_000],
  env: { GANTRY_RESULT_DAYS: "400" },
  startGrows: "The upkeep of sums begins, which reads those of hours.",
  fill,
  async fillLive(client) {
    await client.call("POST", "/api/v2/admin/users/admin/credits", {
      body: { amount: 1_000_000, reason: "benchmark" },
    });
    await client.call("PUT", model, { body: instantManifest(client.upstream.url) });
  },
  operations: (size) => [
    { name: "predict", run: (client) => client.call("POST", `${model}/predict`, { form }) },
    {
      name: "predict, queued",
      run: async (client) => {
        const ended = client.upstream.nextRequest("/instant");
        await client.call("POST", `${model}/predict/async/`, { form });
        await ended;
      },
    },
    {
      name: "read one",
      prepare: sampleIds,
      run: (client, id) => client.call("GET", `/api/v2/predictions/${id}`),
    },
    {
      name: "delete the content of one",
      prepare: sampleIds,
      run: (client, id) => client.call("DELETE", `/api/v2/predictions/${id}`),
    },
    get("list, first page", () => "/api/v2/predictions", byDays),
    get(
      "list, a deep page",
      () => `/api/v2/predictions?page_size=100&page=${Math.floor(within(1, size * 0.008))}`,
      byDays,
    ),
    get("list, a range", () => `/api/v2/predictions?${someRange(["from_date", "to_date"])}`, byDays),
    get("list of a model", () => "/api/v2/predictions?model=bench/model-3", searched),
    get("list of failures", () => "/api/v2/predictions?status=failed", searched),
    get("list of a mode", () => "/api/v2/predictions?mode=stream", searched),
    get("list of a key", () => "/api/v2/predictions?key_id=key_bench_3", searched),
    get("list of a run", () => "/api/v2/predictions?run_id=run_bench_3"),
    get("list of an agent", () => "/api/v2/predictions?agent_id=agt_none", searched),
    get("list by a part of the id", () => "/api/v2/predictions?q=0007", searched),
    get("usage, first page", () => "/api/v2/usage", byDays),
    get("usage, a deep page", () => `/api/v2/usage?page_size=100&page=${Math.floor(within(1, size * 0.009))}`, byDays),
    get("usage, the last page", () => `/api/v2/usage?page_size=100&page=${Math.floor(size * 0.009)}`, byDays),
    get("usage, a range", () => `/api/v2/usage?${someRange(["from_date", "to_date"])}`, byDays),
    get(
      "usage, deep in a range",
      () => `/api/v2/usage?to_date=${naive(Date.now() - yearMs / 3)}&page=${Math.floor(within(1, size * 0.02))}`,
      byDays,
    ),
    get("expenses, seven days", () => "/admin/expenses/", byDays),
    get("expenses, a range", () => `/admin/expenses/?${someRange(["start_date", "end_date"])}`, byDays),
    get("expenses, all", () => "/api/v2/admin/expenses/?start_date=2000-01-01T00:00:00", byDays),
    get("ledger, first page", () => "/api/v2/ledger", byDays),
    get(
      "ledger, a deep page",
      () => `/api/v2/ledger?page_size=100&page=${Math.floor(within(1, size * 0.007))}`,
      byDays,
    ),
    get("ledger, a range", () => `/api/v2/ledger?${someRange(["from_date", "to_date"])}`, byDays),
    get("series, a day by hour", () => "/api/v2/series?metric=spend", byDays),
    get("series, a year by day", () => `/api/v2/series?metric=latency&from_date=${naive(Date.now() - yearMs)}`, byDays),
    get(
      "series of models, a month",
      () => `/api/v2/series?metric=tokens&group_by=model&from_date=${monthAgo()}`,
      byDays,
    ),
    get("series of the service", () => `/api/v2/series?metric=requests&scope=service&from_date=${monthAgo()}`, ofAll),
    get("series by key, a day", () => "/api/v2/series?metric=spend&group_by=key", byRows),
    get("series by key, a month", () => `/api/v2/series?metric=spend&group_by=key&from_date=${monthAgo()}`, byRows),
    get("operator's overview", () => "/api/v2/admin/overview", ofAll),
    get("metrics", () => "/metrics"),
  ],
};
