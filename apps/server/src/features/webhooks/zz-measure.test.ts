import { createServer } from "node:http";
import { pino } from "pino";
import { test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { createNet } from "../../engines/net/create-net.ts";
import { createAesVault } from "../../engines/vault/aes-vault.ts";
import { newId } from "@gantry/wire";
import { claimDue, lookAhead } from "./store.ts";
import { enqueueDeliveries, startWebhookSender, openWebhooks } from "./index.ts";
const rooms = (d: string[] = []) => ({ free: 256, perDestination: 4, perUser: 64, destinations: d.map((name) => ({ name, room: 0 })), users: [] });
test("measure", { timeout: 120000 }, async () => {
  const s = await testDatabase();
  const sql = s.database.sql;
  await sql`insert into webhook_deliveries (id, user_id, prediction_id, model_name, destination, target, payload, due_at)
    select 'dlv_'||n, 'usr_'||(n % 5000), 'pred_'||n, 'm', 'https://d'||(n%5000), '', '{}', now() + interval '1 hour' from generate_series(1, 20000) n`;
  await sql`insert into webhook_deliveries (id, user_id, prediction_id, model_name, destination, target, payload, due_at)
    select 'dlv_x'||n, 'usr_x', 'pred_x'||n, 'm', 'https://dead', '', '{}', now() - interval '1 hour' from generate_series(1, 100000) n`;
  const t = async (label: string, f: () => Promise<unknown>) => { for (let i = 0; i < 4; i++) { const a = performance.now(); const r = await f(); console.log(label, (performance.now() - a).toFixed(1), JSON.stringify(r)?.slice(0, 60)); } };
  await t("unanalyzed 5k lanes", async () => (await claimDue(sql, { nodeId: "n", leaseMs: 60000, rooms: rooms(["https://dead"]) })).claimed.length);
  await sql`analyze webhook_deliveries`;
  await t("analyzed 5k lanes, saturated", async () => (await claimDue(sql, { nodeId: "n", leaseMs: 60000, rooms: rooms(["https://dead"]) })).claimed.length);
  await t("analyzed 5k lanes, open", async () => (await claimDue(sql, { nodeId: "n", leaseMs: 60000, rooms: rooms() })).claimed.length);
  await t("look", () => lookAhead(sql));

  await sql`delete from webhook_deliveries where destination = 'https://dead'`;
  await t("5k lanes none due", async () => (await claimDue(sql, { nodeId: "n", leaseMs: 60000, rooms: rooms() })).claimed.length);
  await sql`update webhook_deliveries set due_at = now() where id in (select id from webhook_deliveries limit 200)`;
  await t("200 due", async () => (await claimDue(sql, { nodeId: "n", leaseMs: 60000, rooms: rooms() })).claimed.length);
  await sql`truncate webhook_deliveries`;
  await sql`insert into webhook_deliveries (id, user_id, prediction_id, model_name, destination, target, payload, due_at)
    select 'dlv_x'||n, 'usr_x', 'pred_x'||n, 'm', 'https://dead', '', '{}', now() + interval '1 hour' from generate_series(1, 100000) n`;
  await sql`insert into webhook_deliveries (id, user_id, prediction_id, model_name, destination, target, payload, due_at)
    select 'dlv_y'||n, 'usr_y', 'pred_y'||n, 'm', 'https://dead2', '', '{}', now() - interval '1 hour' from generate_series(1, 100000) n`;
  await t("deep lanes", async () => (await claimDue(sql, { nodeId: "n", leaseMs: 60000, rooms: rooms() })).claimed.length);
  await sql`truncate webhook_deliveries`;
  let got = 0;
  const sites = await Promise.all(Array.from({ length: 20 }, async () => { const srv = createServer((q, r) => { q.resume(); q.on("end", () => { got++; r.writeHead(204).end(); }); }); await new Promise<void>((ok) => srv.listen(0, "127.0.0.1", ok)); return srv; }));
  const vault = createAesVault(Buffer.alloc(32, 1));
  const clock = { now: () => new Date() };
  const wh = openWebhooks({ database: s.database, vault, clock });
  const net = createNet({ allowPrivateNetwork: true });
  const N = 5000;
  const rows = Array.from({ length: N }, (_, n) => { const o = { userId: `u${n % 10}`, predictionId: newId("prediction") }; return { ...o, modelName: "m", payload: { n }, webhook: wh.seal(o, { url: `http://127.0.0.1:${(sites[n % 20]!.address() as any).port}/x`, headers: {}, query_params: {} }) }; });
  for (let i = 0; i < N; i += 500) { const a = performance.now(); await s.database.transaction((tx) => enqueueDeliveries(tx, rows.slice(i, i + 500))); if (i % 2500 === 0) console.log("enqueue 500", (performance.now() - a).toFixed(1)); }
  const a = performance.now();
  const sender = await startWebhookSender({ database: s.database, net, vault, clock, log: pino({ level: "silent" }), nodeId: "n" });
  while (got < N) await new Promise((r) => setTimeout(r, 10));
  console.log("sent", N, "in", (performance.now() - a).toFixed(0), "ms");
  await sender.stop(); await net.close();
  for (const x of sites) { x.close(); x.closeAllConnections(); }
  await s.drop();
});
