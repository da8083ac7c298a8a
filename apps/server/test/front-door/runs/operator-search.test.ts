import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { agentModel, createModels } from "../../support/models.ts";
import { inTurn, type ScriptedLlm, startScriptedLlm, toolResults } from "../../support/scripted-llm.ts";

const searxng = createServer((_, response) => {
  response.setHeader("content-type", "application/json");
  response.end(
    JSON.stringify({ results: [{ title: "Cranes", url: "https://example.com/", content: "About cranes" }] }),
  );
});
let origin: string;
let gantry: GantryNode;
let llm: ScriptedLlm;
beforeAll(async () => {
  searxng.listen(0, "127.0.0.1");
  await once(searxng, "listening");
  origin = `http://127.0.0.1:${(searxng.address() as AddressInfo).port}`;
  llm = await startScriptedLlm();
  // Only the model may be reached at a private address.
  const env = { GANTRY_ALLOW_PRIVATE_NETWORK: new URL(llm.url).host, GANTRY_SEARXNG_URL: origin };
  gantry = await startGantry({ env });
  await createModels(gantry, {
    llm: agentModel(llm.url, { backend: { type: "openai-chat", url: llm.url, model: "llm" } }),
  });
});
afterAll(async () => {
  await gantry.close();
  await llm.close();
  searxng.close();
});

test("the operator's private SearXNG serves searches, and no other tool reaches it", async () => {
  const json = { name: "Searcher", goal: "Search.", tools: ["web_search", "web_fetch"], model: "admin/llm" };
  const made = await gantry.call("POST", "/v1/agents", { json });
  expect([made.status, made.body.warnings], made.text).toEqual([201, []]);
  await gantry.call("POST", `/v1/agents/${made.body.id}/publish`, { json: {} });
  llm.script = inTurn(
    { calls: [{ name: "web_search", args: { query: "cranes" } }] },
    { calls: [{ name: "web_fetch", args: { url: `${origin}/search` } }] },
    { text: "done" },
  );
  const run = await gantry.call("POST", `/v1/agents/${made.body.id}/runs`, { json: { input: {}, wait: 30 } });
  expect(run.body.status, run.text).toBe("done");
  const [found, page] = toolResults(llm.requests.at(-1));
  expect(found).toContain("1. Cranes\n   https://example.com/\n   About cranes");
  expect(page).toContain("The address is not allowed");
});
