import { setTimeout as sleep } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { auditMoney } from "../../apps/server/test/proof/audit-money.ts";
import { call } from "../../apps/server/test/proof/client.ts";
import { untilQuiet, untilRunsEnd } from "../../apps/server/test/proof/money-storm.ts";
import { waitFor } from "../../apps/server/test/support/wait-for.ts";
import { countAgedRows } from "./aged-rows.ts";
import type { Stage } from "./stage.ts";
import { auditFiles } from "./traffic-files.ts";

const errorLevel = 50;
const patienceMs = 180_000;

/** First due times of the schedules, read before the load. */
export type FirstDue = ReadonlyMap<string, Date>;

export async function readFirstDue({ installation }: Stage): Promise<FirstDue> {
  const rows = await installation.database.sql<{ id: string; next: Date }[]>`select id, next_at as next from schedules`;
  return new Map(rows.map(({ id, next }) => [id, next]));
}

/** Lets all work end, then compares what clients know with the books. Faults go to the journal. */
export async function audit(
  stage: Stage,
  { firstDue, lowest, say }: { firstDue: FirstDue; lowest: Map<string, number>; say: (line: string) => void },
): Promise<void> {
  const { installation, journal } = stage;
  const { database } = installation;
  const step = async (name: string, work: () => Promise<void>) => {
    say(`audit: ${name}`);
    await work().catch((error: Error) => journal.fault(`audit: ${name}`, String(error.stack)));
  };
  await step("schedules", () => auditSchedules(stage, firstDue));
  await step("everything accepted ends", async () => {
    await answerConfirmations(stage);
    await untilRunsEnd(database, patienceMs);
    await untilQuiet(database, patienceMs);
  });
  await step("retention", async () => {
    if ((await countAgedRows(database)) === 0) return;
    // A soak that ended early: retention works again two minutes after a start.
    await installation.end("SIGTERM");
    await installation.start();
    const isDone = async () => {
      await sleep(1000);
      return (await countAgedRows(database)) === 0;
    };
    await waitFor("expired rows to be deleted", isDone, patienceMs);
  });
  await step("webhooks", () => auditWebhooks(stage));
  await step("runs", () => auditRuns(stage));
  await step("files", () => auditFiles(stage));
  await step("money", async () => {
    const { upstreams, buyers: users, keys, learned } = stage;
    const seen = learned.calls;
    const cluster = installation;
    const faults = await auditMoney({ database, cluster, upstreams, users, keys, seen, lowestAvailable: lowest });
    for (const fault of faults) journal.fault("money", fault);
  });
  for (const crash of installation.crashes) journal.fault("crash", crash);
  for (const { at, level, text } of installation.log) {
    if (level < errorLevel) continue;
    const isExpected = level === errorLevel && (journal.isDisturbed(at, at) || isOfUpstream(text));
    if (!isExpected) journal.fault("error in the log", text);
  }
}

const ofUpstream = /^The model failed|longer than the model's time limit|^The upstream's answer is not JSON$/;

/** Calls whose script makes the upstream fail, send garbage or take too long are errors for the operator too. */
function isOfUpstream(line: string): boolean {
  const { err } = JSON.parse(line) as { err?: { type: string; message: string } };
  return /^Upstream/.test(err?.type ?? "") || ofUpstream.test(err?.message ?? "");
}

/** Each due time has exactly one run. Then no more are created. */
async function auditSchedules({ installation, journal, people }: Stage, firstDue: FirstDue): Promise<void> {
  const { sql } = installation.database;
  await waitFor("due times to be handled", async () => {
    await sleep(100);
    return (await sql`select 1 from schedules where next_at <= now()`).length === 0;
  });
  const rows = await sql<{ id: string; next: Date; runs: number; skipped: string | null; paused: string | null }[]>`
    select s.id, s.next_at as next, s.skipped_reason as skipped, s.paused_reason as paused,
      (select count(*)::int from runs r where r.source_id = s.id) as runs
    from schedules s`;
  for (const { id, next, runs, skipped, paused } of rows) {
    const due = Math.round((next.getTime() - (firstDue.get(id)?.getTime() ?? 0)) / 60_000);
    const reason = skipped ?? paused;
    if (runs !== due || reason !== null)
      journal.fault("schedules", `${id} was due ${due} times and has ${runs} runs${reason ? ` (${reason})` : ""}`);
  }
  for (const { key, schedules } of people) {
    for (const id of schedules)
      await call(installation.url, "PATCH", `/v1/schedules/${id}`, { key, json: { enabled: false } });
  }
}

/** Some clients lost the answer that told them about a question. */
async function answerConfirmations({ installation: { url }, people }: Stage): Promise<void> {
  for (const { key } of people) {
    for (;;) {
      const listed = (await call(url, "GET", "/v1/confirmations?status=pending&limit=100", { key })).body;
      if (listed.confirmations.length === 0) break;
      for (const { id, run_id } of listed.confirmations)
        await call(url, "POST", `/v1/runs/${run_id}/confirmations/${id}`, { key, json: { approve: true } });
    }
  }
}

/** Waiting retries are sent now. Every webhook that is due has arrived under one id, signed, with the recorded status. */
async function auditWebhooks({ installation, journal, receiver, keys, learned }: Stage): Promise<void> {
  const { database, url } = installation;
  receiver.isUnreliable = false;
  await waitFor(
    "all webhooks to be delivered",
    async () => {
      const { count } = await database.sql`update webhook_deliveries set due_at = now() where status = 'pending'`;
      const events = await database.sql`select 1 from run_webhook_events limit 1`;
      if (count > 0 || events.length > 0) await sleep(1000);
      return count === 0 && events.length === 0;
    },
    patienceMs,
  );
  const rows = await database.sql<{ id: string; deliveryId: string; status: string; ended: number | null }[]>`
    select coalesce(d.run_id || ' run.' || d.event, d.prediction_id) as id, d.id as "deliveryId", d.status,
      e.status as ended
    from webhook_deliveries d left join ended_predictions e on e.id = d.prediction_id`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  const secrets = new Map<string, string>();
  for (const [name, key] of keys) {
    const answer = await call(url, "GET", "/api/v2/webhooks/secret", { key });
    secrets.set(name, answer.body.secrets[0]);
  }
  const check = (id: string, user: string) => {
    const row = byId.get(id);
    const got = receiver.received.get(id);
    if (row?.status !== "delivered" || !got)
      return journal.fault("webhooks", `${id}: ${row?.status}, received: ${!!got}`);
    if (got.ids.size !== 1 || !got.ids.has(row.deliveryId))
      return journal.fault("webhooks", `${id} came as ${[...got.ids].join(", ")}; its id is ${row.deliveryId}`);
    if (!isSigned(got, secrets.get(user) ?? "")) return journal.fault("webhooks", `${id} has a wrong signature`);
    const said = (JSON.parse(got.body) as { infer_details?: { status: number } }).infer_details?.status;
    if (row.ended !== null && said !== row.ended)
      journal.fault("webhooks", `${id} reports ${said}, the books have ${row.ended}`);
  };
  for (const [id, user] of learned.webhooks) check(id, user);
  for (const [id, { user, hasWebhook, status }] of learned.runs) {
    if (hasWebhook && status !== undefined) check(`${id} run.${status}`, user);
  }
}

/** As the library verifies, but also long after the delivery. */
function isSigned({ body, headers }: { body: string; headers: Record<string, string> }, secret: string): boolean {
  const sentAt = new Date(Number(headers["webhook-timestamp"]) * 1000);
  const expected = new Webhook(secret).sign(headers["webhook-id"] ?? "", sentAt, body);
  return (headers["webhook-signature"] ?? "").split(" ").includes(expected);
}

interface RunRow {
  id: string;
  status: string;
  cost: number;
  charged: number;
  hasChildren: boolean;
}

async function auditRuns({ installation: { database }, journal, llm, learned }: Stage): Promise<void> {
  const rows = await database.sql<RunRow[]>`
    select r.id, r.status, r.cost_micros as cost,
      coalesce((select sum(u.price_micros) from usage u where u.run_id = r.id), 0)::bigint as charged,
      exists (select 1 from runs c where r.id = any (c.ancestors)) as "hasChildren"
    from runs r`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const [id, { status, isTurn }] of learned.runs) {
    const row = byId.get(id);
    if (!row && !isTurn) journal.fault("runs", `${id} was created and does not exist`);
    if (row && status !== undefined && row.status !== status)
      journal.fault("runs", `a client saw ${id} end as ${status}; it is ${row.status}`);
  }
  for (const { id, cost, charged, hasChildren } of rows) {
    if (!hasChildren && cost !== charged)
      journal.fault("runs", `${id} cost ${cost}, and ${charged} was charged for it`);
  }
  for (const [delivery, runs] of learned.deliveries) {
    if (runs.size > 1) journal.fault("triggers", `${delivery} started ${[...runs].join(" and ")}`);
  }
  const [row] = await database.sql<[{ n: number }]>`
    select count(*)::int as n from usage where model_name = 'admin/llm' and status = 200`;
  if (row.n > llm.requests.length) journal.fault("money", `${row.n} paid calls of agents, ${llm.requests.length} made`);
}
