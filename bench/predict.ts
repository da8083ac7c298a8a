/**
 * `/predict` with four text fields and an upstream that answers at once. Gantry checks key, limits and funds, and commits
 * usage and charge before the answer. Compared in the same run with a bare node:http + undici proxy and with
 * @portkey-ai/gateway, which relays the same form.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countCpu, countOwnCpu } from "./support/cpu.ts";
import { formRequest, load } from "./support/load.ts";
import { median } from "./support/median.ts";
import { installPeers } from "./support/peers.ts";
import { type Served, serve } from "./support/processes.ts";
import { rowsWritten } from "./support/rows-written.ts";
import { verdict } from "./support/verdict.ts";

const seconds = Number(process.argv[2] ?? 6);
const rounds = Number(process.argv[3] ?? 3);
const adminKey = "bench-admin-key-0123456789-0123456789";
const fields = { prompt: "a lighthouse in the fog", style: "ink", mood: "calm", size: "2k" };

const home = await mkdtemp(join(tmpdir(), "gantry-bench-"));
const upstream = await serve(new URL("./support/instant-upstream.ts", import.meta.url));
const proxy = await serve(new URL("./support/bare-proxy.ts", import.meta.url), {
  UPSTREAM_PORT: String(upstream.port),
});
const portkey = installPeers()
  ? await serve(new URL("./support/portkey.ts", import.meta.url), { NODE_ENV: "production" })
  : undefined;
const gantry = await serve(new URL("../apps/server/src/main.ts", import.meta.url), {
  GANTRY_HOME: home,
  GANTRY_ADMIN_KEY: adminKey,
  GANTRY_ALLOW_PRIVATE_NETWORK: "1",
  GANTRY_LOG_LEVEL: "warn",
  PORT: "0",
});

async function putModel(): Promise<void> {
  const text = { type: "string" };
  const response = await fetch(`http://127.0.0.1:${gantry.port}/api/v1/admin/instant`, {
    method: "PUT",
    headers: { "x-api-key": adminKey, "content-type": "application/json" },
    body: JSON.stringify({
      title: "Instant",
      description: "Answers at once.",
      kind: "other",
      visibility: "public",
      capacity: 1000,
      pricing: { per_request: 0.000001 },
      input: {
        type: "object",
        required: ["prompt"],
        properties: { prompt: text, style: text, mood: text, size: text },
      },
      output: { type: "object", required: ["output"], properties: { output: text } },
      backend: { type: "cog", url: `http://127.0.0.1:${upstream.port}` },
    }),
  });
  if (!response.ok) throw new Error(await response.text());
}

async function measure(name: string, served: Served, request: Buffer, connections: number) {
  const used = { server: countCpu(served.pid), upstream: countCpu(upstream.pid), client: countOwnCpu() };
  const result = await load({ port: served.port, request, connections, seconds });
  const [server, client] = [used.server(), used.client()];
  const perRequest = (cpu: number) => Math.round((cpu / result.requests) * 1e6);
  console.log(
    `${name.padEnd(8)} ${String(connections).padStart(4)} connections: ${result.perSecond.toFixed(0).padStart(6)} /s  ` +
      `p50 ${result.p50.toFixed(2)} ms  p99 ${result.p99.toFixed(2)} ms  failures ${result.failures}  ` +
      `CPU µs a request: server ${perRequest(server.own + server.below)}` +
      `${server.below > 0 ? ` (PostgreSQL ${perRequest(server.below)})` : ""}, ` +
      `upstream ${perRequest(used.upstream().own)}, load client ${perRequest(client)}`,
  );
  if (result.failures > 0) throw new Error("the run had failures, so its figures are invalid");
  return result;
}

try {
  await putModel();
  const toGantry = formRequest("/api/v1/admin/instant/predict", fields, { "X-API-KEY": adminKey });
  const toProxy = formRequest("/", fields, {});
  const toPortkey = formRequest("/v1/images/variations", fields, {
    "x-portkey-provider": "openai",
    "x-portkey-custom-host": `http://127.0.0.1:${upstream.port}/v1`,
    Authorization: "Bearer bench",
  });
  await load({ port: gantry.port, request: toGantry, connections: 64, seconds: 2 });
  await load({ port: proxy.port, request: toProxy, connections: 64, seconds: 2 });
  if (portkey) await load({ port: portkey.port, request: toPortkey, connections: 64, seconds: 2 });
  for (const connections of [1, 16, 64, 256]) {
    const ratios: number[] = [];
    let predictions = 0;
    const toPeer: number[] = [];
    const bareToPeer: number[] = [];
    const milliseconds: { own: number[]; bare: number[]; peer: number[] } = { own: [], bare: [], peer: [] };
    const countWritten = await rowsWritten(home);
    for (let round = 0; round < rounds; round++) {
      const bare = await measure("bare", proxy, toProxy, connections);
      const own = await measure("gantry", gantry, toGantry, connections);
      ratios.push(own.perSecond / bare.perSecond);
      milliseconds.own.push(own.p50);
      milliseconds.bare.push(bare.p50);
      predictions += own.requests;
      if (!portkey) continue;
      const peer = await measure("portkey", portkey, toPortkey, connections);
      milliseconds.peer.push(peer.p50);
      toPeer.push(own.perSecond / peer.perSecond);
      bareToPeer.push(bare.perSecond / peer.perSecond);
    }
    const written = await countWritten();
    console.log(
      `at ${connections}: a prediction writes ${(written.rows / predictions).toFixed(2)} rows in ` +
        `${(written.transactions / predictions).toFixed(2)} transactions`,
    );
    const shown = (list: readonly number[]) => list.map((one) => one.toFixed(2)).join(", ");
    console.log(
      `at ${connections}: ${shown(ratios)} of the bare proxy, ${shown(toPeer)} times Portkey ` +
        `(the bare proxy: ${shown(bareToPeer)} times)`,
    );
    if (connections === 1) {
      const timesBare = median(milliseconds.own) / median(milliseconds.bare);
      verdict("p50 at 1 connection, in times of the bare proxy's", timesBare, "at most", 1.5 / 0.28);
      if (portkey)
        verdict(
          "p50 at 1 connection against Portkey",
          median(milliseconds.own) / median(milliseconds.peer),
          "at most",
          1,
        );
    }
    if (connections === 16) verdict("rate at 16 connections against the bare proxy", median(ratios), "at least", 0.4);
    if (connections === 256) verdict("rate at 256 connections against the bare proxy", median(ratios), "at least", 0.7);
  }
} finally {
  await Promise.all([upstream.stop(), proxy.stop(), portkey?.stop(), gantry.stop()]);
  await rm(home, { recursive: true, force: true });
}
