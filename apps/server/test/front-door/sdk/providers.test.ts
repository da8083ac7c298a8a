import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, type GantryClient } from "../../../../../packages/sdk/src/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { type ScriptedOllama, startScriptedOllama } from "../../support/scripted-ollama.ts";

let gantry: GantryNode;
let ollama: ScriptedOllama;
let client: GantryClient;

beforeAll(async () => {
  ollama = await startScriptedOllama([{ name: "llama3.2:3b" }]);
  gantry = await startGantry();
  client = createClient({ url: gantry.url, key: gantry.adminKey });
});
afterAll(async () => {
  await gantry.close();
  await ollama.close();
});

test.each([
  ["own", () => client.providers, "admin/llama3.2-3b"],
  ["the operator's", () => client.admin.providers, "gantry/llama3.2-3b"],
] as const)("%s providers are saved, tested, listed, imported and deleted", async (_, providers, endpointId) => {
  const saved = await providers().put("lab", { type: "ollama", url: ollama.url });
  expect(await providers().get("lab")).toEqual(saved);
  expect(await providers().test("lab")).toMatchObject({ ok: true });
  expect(await providers().discover("lab")).toMatchObject([{ id: "llama3.2:3b", imported: null }]);
  expect(await providers().import("lab", [{ id: "llama3.2:3b" }])).toMatchObject([{ endpoint_id: endpointId }]);
  expect(await providers().import("lab")).toMatchObject([{ outcome: "unchanged" }]);
  const names: string[] = [];
  for await (const { name, models } of providers().each()) names.push(`${name} ${models}`);
  expect(names).toContain("lab 1");
  await providers().delete("lab");
  await expect(providers().get("lab")).rejects.toMatchObject({ status: 404 });
});

test("the operator's secrets are apart from the admin's", async () => {
  await client.admin.secrets.put("shared", "value");
  expect((await client.admin.secrets.list()).results).toMatchObject([{ name: "shared" }]);
  expect((await client.secrets.list()).results).toEqual([]);
  await client.admin.secrets.delete("shared");
});
