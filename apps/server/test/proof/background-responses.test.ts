import OpenAI from "openai";
import { expect, test } from "vitest";
import { connect } from "../../src/engines/database/index.ts";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { clusterAdminKey, startCluster } from "../support/cluster.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { startScriptedLlm } from "../support/scripted-llm.ts";
import { waitFor } from "../support/wait-for.ts";
import { call } from "./client.ts";
import { recoveryBoundSeconds } from "./crash-storm.ts";
import { untilQuiet } from "./money-storm.ts";

test("a background response survives kill -9 of its worker and of the node that accepted it, and is charged once", async () => {
  const databaseUrl = await testDatabaseUrl();
  const llm = await startScriptedLlm(() => ({ text: "Half", hangs: true }));
  const cluster = await startCluster({
    databaseUrl,
    nodes: { api: { GANTRY_ROLE: "api" }, worker: { GANTRY_ROLE: "worker" } },
  });
  const database = connect({ url: databaseUrl, poolSize: 2 });
  try {
    const [api, worker] = [cluster.node("api"), cluster.node("worker")];
    const manifest = {
      title: "A model",
      kind: "text",
      visibility: "public",
      capacity: 4,
      input: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
      output: { type: "object", properties: { output: { type: "string", isStream: true } }, required: ["output"] },
      pricing: { per_million_input_tokens: 1, per_million_output_tokens: 10 },
      backend: { type: "openai-chat", url: llm.url, model: "test" },
    };
    const made = await call(api.url, "PUT", "/api/v1/admin/llm", { json: manifest });
    expect(made.status, made.text).toBe(201);
    const clientOf = () => new OpenAI({ baseURL: `${api.url}/v1`, apiKey: clusterAdminKey, maxRetries: 0 });
    const { id } = await clientOf().responses.create({ model: "admin/llm", input: "Survive.", background: true });
    await waitFor("the first call", () => llm.requests.length === 1, 30_000);
    llm.script = () => ({ text: "Survived.", usage: { in: 10, out: 5 } });
    const diedAt = performance.now();
    await Promise.all([worker.kill(), api.kill()]);
    await Promise.all([worker.start(), api.start()]);
    const read = () => clientOf().responses.retrieve(id);
    await waitFor("the response", async () => (await read()).status === "completed", 90_000);
    expect((performance.now() - diedAt) / 1000).toBeLessThan(recoveryBoundSeconds(cluster));
    expect(await read()).toMatchObject({ output_text: "Survived.", usage: { input_tokens: 10, output_tokens: 5 } });
    expect(llm.requests).toHaveLength(2);
    const usage = await database.sql`select route, door, price_micros as price from usage`;
    expect(usage).toEqual([{ route: "async", door: "openai-responses", price: 60 }]);
    await untilQuiet(database);
    expect(await verifyLedger(database)).toEqual([]);
  } finally {
    await cluster.close();
    await database.close();
    await llm.close();
  }
}, 180_000);
