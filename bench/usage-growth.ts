/**
 * Usage, expenses and ledger of one user over a hundred thousand and over ten million rows. Response times must not grow.
 * One request at a time over HTTP to a real server with an embedded database.
 *
 *     node bench/usage-growth.ts [rows …]
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownSchema } from "../apps/server/src/compose/own-schema.ts";
import { migrate, startEmbeddedDatabase } from "../apps/server/src/engines/database/index.ts";
import { openAccounts } from "../apps/server/src/features/accounts/index.ts";
import { verifyLedger } from "../apps/server/src/features/billing/index.ts";
import { systemClock } from "../apps/server/src/kernel/clock.ts";
import { createLog } from "../apps/server/src/kernel/log.ts";
import { fillUsage, yearMs } from "./support/fill-usage.ts";
import { serve } from "./support/processes.ts";

const given = process.argv.slice(2).map(Number);
const sizes = given.length > 0 ? given : [100_000, 10_000_000];
const budgetMs = 50;
const requests = 200;
const adminKey = "bench-admin-key-0123456789-0123456789";

const within = (from: number, to: number): number => from + Math.random() * (to - from);
const naive = (time: number): string => new Date(time).toISOString().slice(0, 19);

/** Two times in the past year, not on the hour. */
function someRange(names: [string, string]): string {
  const [from, to] = [within(Date.now() - yearMs, Date.now()), within(Date.now() - yearMs, Date.now())].sort();
  return `${names[0]}=${naive(from as number)}&${names[1]}=${naive(to as number)}`;
}

const kinds: Record<string, (rows: number) => string> = {
  "usage, first page": () => "/api/v2/usage",
  "usage, a deep page": (rows) => `/api/v2/usage?page_size=100&page=${Math.floor(within(1, rows * 0.009))}`,
  "usage, the last page": (rows) => `/api/v2/usage?page_size=100&page=${Math.floor(rows * 0.009)}`,
  "usage, a range": () => `/api/v2/usage?${someRange(["from_date", "to_date"])}`,
  "usage, deep in a range": (rows) =>
    `/api/v2/usage?to_date=${naive(Date.now() - yearMs / 3)}&page=${Math.floor(within(1, rows * 0.02))}`,
  "expenses, seven days": () => "/admin/expenses/",
  "expenses, a range": () => `/admin/expenses/?${someRange(["start_date", "end_date"])}`,
  "expenses, all": () => "/api/v2/admin/expenses/?start_date=2000-01-01T00:00:00",
  "ledger, first page": () => "/api/v2/ledger",
  "ledger, a deep page": (rows) => `/api/v2/ledger?page_size=100&page=${Math.floor(within(1, rows * 0.008))}`,
  "ledger, a range": () => `/api/v2/ledger?${someRange(["from_date", "to_date"])}`,
  "operator's overview": () => "/api/v2/admin/overview",
};

async function prepare(home: string, rows: number): Promise<{ verifySeconds: number }> {
  const database = await startEmbeddedDatabase({ home, deadlineMs: 3_600_000 });
  try {
    await migrate(database, ownSchema);
    const accounts = await openAccounts({ database, clock: systemClock, log: createLog("silent") });
    const { adminId } = await accounts.bootstrap(adminKey);
    await accounts.close();
    await fillUsage(database, adminId, rows);
    const startedAt = performance.now();
    const found = await verifyLedger(database);
    if (found.length > 0) throw new Error(`the ledger does not balance: ${JSON.stringify(found.slice(0, 5))}`);
    return { verifySeconds: (performance.now() - startedAt) / 1000 };
  } finally {
    await database.close();
  }
}

async function measure(base: string, path: () => string): Promise<{ p50: number; p95: number }> {
  const times: number[] = [];
  for (let n = -20; n < requests; n++) {
    const url = `${base}${path()}`;
    const startedAt = performance.now();
    const response = await fetch(url, { headers: { "x-api-key": adminKey } });
    const body = await response.text();
    if (n >= 0) times.push(performance.now() - startedAt);
    if (response.status !== 200) throw new Error(`${url}: ${response.status} ${body}`);
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95) };
}

let slow = 0;
for (const rows of sizes) {
  const home = await mkdtemp(join(tmpdir(), "gantry-bench-"));
  try {
    const startedAt = performance.now();
    const { verifySeconds } = await prepare(home, rows);
    const seconds = (performance.now() - startedAt) / 1000;
    console.log(
      `\n${rows.toLocaleString("en")} rows (filled in ${seconds.toFixed(0)} s), budget: p95 under ${budgetMs} ms`,
    );
    const gantry = await serve(new URL("../apps/server/src/main.ts", import.meta.url), {
      GANTRY_HOME: home,
      GANTRY_ADMIN_KEY: adminKey,
      GANTRY_LOG_LEVEL: "warn",
      PORT: "0",
    });
    try {
      for (const [name, pathOf] of Object.entries(kinds)) {
        const { p50, p95 } = await measure(`http://127.0.0.1:${gantry.port}`, () => pathOf(rows));
        if (p95 >= budgetMs) slow++;
        const figures = `p50 ${p50.toFixed(1).padStart(6)} ms   p95 ${p95.toFixed(1).padStart(6)} ms`;
        console.log(`  ${name.padEnd(24)} ${figures}   ${p95 < budgetMs ? "ok" : "TOO SLOW"}`);
      }
    } finally {
      await gantry.stop();
    }
    console.log(`  verifying the whole ledger ${verifySeconds.toFixed(1)} s`);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}
if (slow > 0) process.exitCode = 1;
