import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../support/gantry.ts";

let gantry: GantryNode;
/** The owner's own key, and one that was made for an application. */
let whole: { key: string };
let confined: { key: string };
const path = "/api/v1/alice/mock";
const secret = "sk-upstream-very-secret-value";

/** Two upstreams: the owner's, and one that wants the owner's secret. */
const sent: Record<"own" | "evil", (string | undefined)[]> = { own: [], evil: [] };
const upstreamOf = (name: keyof typeof sent) =>
  createServer((request, response) => {
    sent[name].push(request.headers.authorization);
    request.resume();
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ status: "succeeded", output: "made" }));
  });
const own = upstreamOf("own");
const evil = upstreamOf("evil");
const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const text = { type: "string" };
const manifest = (url: string) => ({
  title: "A model",
  kind: "other",
  visibility: "private",
  input: { type: "object", properties: { prompt: text } },
  output: { type: "object", properties: { output: text } },
  backend: { type: "cog", url, secret: "up" },
});

beforeAll(async () => {
  for (const upstream of [own, evil]) await new Promise<void>((done) => upstream.listen(0, "127.0.0.1", done));
  gantry = await startGantry();
  whole = { key: await gantry.newUser("alice") };
  await gantry.call("PUT", "/api/v2/secrets/up", { ...whole, json: { value: secret } });
  const made = await gantry.call("PUT", path, { ...whole, json: manifest(urlOf(own)) });
  expect(made.status, made.text).toBe(201);
  // It is gone by the time the key is used: a name of its list that the key might take.
  const later = "/api/v1/alice/later";
  await gantry.call("PUT", later, { ...whole, json: manifest(urlOf(own)) });
  const models = ["alice/mock", "alice/later"];
  confined = { key: (await gantry.call("POST", "/api/v2/keys", { ...whole, json: { models } })).body.key };
  expect((await gantry.call("DELETE", later, whole)).status).toBe(204);
});
afterAll(async () => {
  await gantry.close();
  for (const upstream of [own, evil]) upstream.close();
});

test("a confined key makes, changes and retires no model, also none of its list", async () => {
  const before = (await gantry.call("GET", path, whole)).body;
  const { backend } = manifest(urlOf(evil));
  for (const [method, where, json] of [
    ["PATCH", path, { backend }],
    ["PATCH", path, { title: "Other" }],
    ["PATCH", path, { visibility: "public" }],
    ["PUT", path, manifest(urlOf(evil))],
    ["PUT", "/api/v1/alice/later", manifest(urlOf(evil))],
    ["PUT", path, "not a manifest"],
    ["DELETE", path, undefined],
  ] as const) {
    const answer = await gantry.call(method, where, { ...confined, ...(json !== undefined && { json }) });
    expect(answer.body, `${method} ${where}`).toEqual({
      detail: "This key is confined to some models and may not change models",
      status_code: 403,
    });
  }
  expect((await gantry.call("GET", path, whole)).body).toEqual(before);
  expect((await gantry.call("GET", "/api/v1/alice/later", whole)).status).toBe(404);
  expect((await gantry.call("PATCH", "/api/v1/alice/later", { ...confined, json: {} })).status).toBe(404);

  const made = await gantry.call("POST", `${path}/predict`, { ...confined, form: { prompt: "x" } });
  expect(made.status, made.text).toBe(200);
  expect(sent).toEqual({ own: [`Bearer ${secret}`], evil: [] });
});

test("a key with a monthly limit sets no price and no backend: it makes, changes, retires and restores no model", async () => {
  const limited = {
    key: (await gantry.call("POST", "/api/v2/keys", { ...whole, json: { monthly_limit: 1 } })).body.key,
  };
  const before = (await gantry.call("GET", path, whole)).body;
  for (const [method, where, json] of [
    ["PATCH", path, { pricing: {} }],
    ["PUT", path, manifest(urlOf(evil))],
    ["PUT", "/api/v1/alice/later", manifest(urlOf(own))],
    ["DELETE", path, undefined],
    ["POST", `${path}/restore`, undefined],
  ] as const) {
    const answer = await gantry.call(method, where, { ...limited, ...(json !== undefined && { json }) });
    expect(answer.body, `${method} ${where}`).toEqual({
      detail: "This key has a monthly limit and may not change models",
      status_code: 403,
    });
  }
  for (const [method, where, json] of [
    ["GET", "/api/v2/secrets", undefined],
    ["PUT", "/api/v2/secrets/up", { value: "other" }],
    ["DELETE", "/api/v2/secrets/up", undefined],
  ] as const) {
    const answer = await gantry.call(method, where, { ...limited, ...(json !== undefined && { json }) });
    expect(answer.body.detail, `${method} ${where}`).toBe("This key has a monthly limit and may not manage secrets");
  }
  expect((await gantry.call("GET", path, whole)).body).toEqual(before);
  // All else is as for any key of the owner.
  expect((await gantry.call("POST", `${path}/predict`, { ...limited, form: { prompt: "x" } })).status).toBe(200);
  expect((await gantry.call("POST", "/v1/drives", { ...limited, json: { name: "Papers" } })).status).toBe(201);
  expect(sent.evil).toEqual([]);
});

/** What belongs to the owner, and what such a key may not do with it. */
const ownersAlone: readonly (readonly [string, string, string])[] = [
  ["GET", "/api/v2/secrets", "manage secrets"],
  ["PUT", "/api/v2/secrets/{name}", "manage secrets"],
  ["DELETE", "/api/v2/secrets/{name}", "manage secrets"],
  ["GET", "/api/v2/files", "manage files"],
  ["DELETE", "/api/v2/files/{id}", "manage files"],
  ["GET", "/api/v2/webhooks/secret", "see webhook secrets"],
  ["POST", "/api/v2/webhooks/secret/rotate", "see webhook secrets"],
  ["POST", "/v1/mcp-servers", "use tool servers"],
  ["GET", "/v1/mcp-servers", "use tool servers"],
  ["GET", "/v1/mcp-servers/{mcp_server_id}", "use tool servers"],
  ["PATCH", "/v1/mcp-servers/{mcp_server_id}", "use tool servers"],
  ["DELETE", "/v1/mcp-servers/{mcp_server_id}", "use tool servers"],
  ["GET", "/v1/mcp-servers/{mcp_server_id}/tools", "use tool servers"],
  ["POST", "/v1/drives", "use drives"],
  ["GET", "/v1/drives", "use drives"],
  ["GET", "/v1/drives/{drive_id}", "use drives"],
  ["DELETE", "/v1/drives/{drive_id}", "use drives"],
  ["GET", "/v1/drives/{drive_id}/items", "use drives"],
  ["POST", "/v1/drives/{drive_id}/files", "use drives"],
  ["GET", "/v1/drives/{drive_id}/files/{path}", "use drives"],
  ["PUT", "/v1/drives/{drive_id}/files/{path}", "use drives"],
  ["DELETE", "/v1/drives/{drive_id}/files/{path}", "use drives"],
  ["DELETE", "/v1/drives/{drive_id}/tree/{path}", "use drives"],
  ["PUT", "/v1/connectors/idp", "use the connector"],
  ["GET", "/v1/connectors/idp", "use the connector"],
  ["DELETE", "/v1/connectors/idp", "use the connector"],
  ["GET", "/v1/connectors/idp/actions", "use the connector"],
  ["POST", "/v1/connectors/idp/actions/{name}", "use the connector"],
];

test.each(ownersAlone)("403 for a confined key: %s %s", async (method, where, what) => {
  const answer = await gantry.call(method, where.replace(/\{\w+\}/g, "x"), confined);
  const message = `This key is confined to some models and may not ${what}`;
  expect([answer.status, answer.body.detail ?? answer.body.error?.message]).toEqual([403, message]);
});

test("403 stands in the document for every operation that refuses such a key", async () => {
  const { paths } = (await gantry.call("GET", "/v1/openapi.json", whole)).body;
  const refusing = [
    ...ownersAlone.filter(([, where]) => where.startsWith("/v1")),
    ["POST", "/v1/agents"],
    ["PATCH", "/v1/agents/{agent_id}"],
    ["DELETE", "/v1/agents/{agent_id}"],
    ["POST", "/v1/agents/{agent_id}/publish"],
    ["POST", "/v1/agents/{agent_id}/runs"],
    ["POST", "/v1/runs/{run_id}/confirmations/{confirmation_id}"],
    ["GET", "/v1/runs/{run_id}/secrets/{secret_id}"],
  ] as const;
  for (const [method, where] of refusing) {
    const operation = paths[where.slice("/v1".length)]?.[method.toLowerCase()];
    expect(operation?.responses, `${method} ${where}`).toHaveProperty("403");
  }
});
