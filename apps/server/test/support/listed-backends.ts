import { expect } from "vitest";
import type { FickleUpstream } from "./fickle-upstream.ts";
import type { GantryNode, GantryUnderTest } from "./gantry.ts";
import { chatModel } from "./models.ts";

export const form = { prompt: "hi" };

/** An entry of `backends` for an OpenAI-compatible upstream. */
export const backendAt = (name: string, { url }: Pick<FickleUpstream, "url">, change: object = {}) => ({
  name,
  type: "openai-chat",
  url,
  model: "test",
  ...change,
});

/** Creates or replaces a text model with these backends. */
export async function putListed(
  { call }: Pick<GantryUnderTest, "call">,
  endpointId: string,
  backends: readonly object[],
  change: object = {},
): Promise<void> {
  const { backend: _single, ...manifest } = chatModel("");
  const put = await call("PUT", `/api/v1/${endpointId}`, { json: { ...manifest, backends, ...change } });
  expect(put.status, put.text).toBeLessThan(300);
}

export interface Streamed {
  text: string;
  status: number;
  id: string;
}

export async function streamed(
  { call }: Pick<GantryUnderTest, "call">,
  model: string,
  options: object = {},
): Promise<Streamed> {
  const { text } = await call("POST", `/api/v1/${model}/predict/stream/`, { form, ...options });
  if (!text.startsWith("data:")) throw new Error(text);
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ""));
  const failed = events.find((event) => "detail" in event);
  const said = events.flatMap((event) => event.output_data?.output ?? []);
  return { text: said.join(""), status: failed?.status ?? 200, id: events[0].prediction_id };
}

export async function usageOf({ call }: Pick<GantryUnderTest, "call">, id: string, key?: string) {
  const { body } = await call("GET", "/api/v2/usage?page_size=100", key === undefined ? {} : { key });
  return body.results.find((row: { request_id: string }) => row.request_id === id);
}

export async function backendsAt({ call }: Pick<GantryUnderTest, "call">, model: string) {
  const { body, status } = await call("GET", `/api/v1/${model}/backends`);
  expect(status).toBe(200);
  return body.results;
}

/** Ends the cool-down of the first backend now, on all nodes. `model`: of the admin. */
export async function endCoolDown(node: GantryNode, model: string): Promise<void> {
  const { sql } = node.database;
  const ofModel = sql`model_id = (select id from models where name = ${model.replace("admin/", "")})`;
  await sql`update backend_circuits set open_until = now() where ${ofModel}`;
  await sql`select notify_circuit(c) from backend_circuits c where ${ofModel}`;
  await expect.poll(async () => (await backendsAt(node, model))[0].circuit).not.toBe("open");
}
