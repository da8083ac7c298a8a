import { expect } from "vitest";
import type { GantryNode } from "../../../server/test/support/gantry.ts";

export { textModel } from "./text-model.ts";

export async function putModel(gantry: GantryNode, name: string, manifest: object): Promise<void> {
  const put = await gantry.call("PUT", `/api/v1/admin/${name}`, { json: manifest });
  expect([200, 201], put.text).toContain(put.status);
}

/** Creates and publishes an agent, and returns its id. */
export async function putAgent(gantry: GantryNode, fields: object, key = gantry.adminKey): Promise<string> {
  const created = await gantry.call("POST", "/v1/agents", { key, json: { goal: "Do it.", tools: [], ...fields } });
  expect(created.status, created.text).toBe(201);
  const published = await gantry.call("POST", `/v1/agents/${created.body.id}/publish`, { key, json: {} });
  expect(published.status, published.text).toBe(200);
  return created.body.id;
}
