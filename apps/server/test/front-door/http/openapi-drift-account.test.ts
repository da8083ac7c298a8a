import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, type GantryNode, startGantry } from "../../support/gantry.ts";
import { inlined, type Operation, type Schema } from "../../support/openapi.ts";

let gantry: GantryNode;
let paths: Record<string, Record<string, Operation>>;

beforeAll(async () => {
  gantry = await startGantry();
  ({ paths } = inlined((await gantry.call("GET", "/api/v2/openapi.json")).body));
});
afterAll(() => gantry.close());

const operations = () =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
const concrete = (path: string) => `/api/v2${path.replace("{username}", "admin").replace(/\{\w+\}/g, "x-y")}`;
const places = ({ status, body }: Answer): string[] =>
  status === 422 || status === 400 ? body.detail.map(({ loc }: { loc: unknown[] }) => loc.slice(0, 2).join(".")) : [];

test("a value that a parameter does not have is refused, with a status that is told; one that it has is not", async () => {
  let count = 0;
  for (const { method, path, operation } of operations()) {
    for (const { name, schema } of operation.parameters.filter((parameter) => parameter.in === "query")) {
      const ask = (value: unknown) => gantry.call(method.toUpperCase(), `${concrete(path)}?${name}=${value}`);
      const isTime = name.endsWith("_date");
      const bounds = schema.type === "integer" ? [Number(schema.minimum) - 1, `1${Number(schema.maximum) + 1}`] : [];
      const wrong = schema.enum || isTime || schema.type === "integer" ? ["nonsense", ...bounds] : [];
      for (const value of wrong) {
        const answer = await ask(value);
        expect(places(answer), `${path}?${name}=${value} gave ${answer.text}`).toEqual([`query.${name}`]);
        expect(Object.keys(operation.responses)).toContain(String(answer.status));
      }
      const edges = [schema.minimum, name === "page" ? 1000 : schema.maximum];
      const right = schema.enum ?? (isTime ? [new Date().toISOString()] : schema.type === "integer" ? edges : ["x"]);
      for (const value of right) expect((await ask(value)).status, `${path}?${name}=${value}`).toBe(200);
      count++;
    }
  }
  expect(count).toBeGreaterThan(15);
});

test("what is left out of the query of a list is the default that is told", async () => {
  const lists = operations().filter(({ operation }) => operation.parameters.some(({ name }) => name === "page_size"));
  expect(lists.length).toBe(10);
  for (const { path, operation } of lists) {
    const told = Object.fromEntries(operation.parameters.map(({ name, schema }) => [name, schema.default]));
    const { body } = await gantry.call("GET", concrete(path));
    expect([body.page, body.page_size], path).toEqual([told.page, told.page_size]);
  }
});

test("of expenses it is told that they count only what cost something", async () => {
  const free = await gantry.call("POST", "/api/v1/gantry/rules/predict", { form: { prompt: "x" } });
  expect(free.status, free.text).toBe(200);
  const { body } = await gantry.call("GET", "/api/v2/admin/expenses");
  const { schema } = paths["/{username}/expenses"]?.get?.responses["200"]?.content?.["application/json"] ?? {};
  const { total_count, total_models, results } = schema?.properties ?? {};
  expect([body.total_count, body.total_models, body.results]).toEqual([0, 0, []]);
  for (const told of [total_count, total_models, results?.items?.properties?.request_count]) {
    expect(told?.description).toContain("cost something");
  }
});

test("a body must have what is told to be required, and nothing that is not told", async () => {
  let count = 0;
  for (const { method, path, operation } of operations()) {
    const body = operation.requestBody?.content["application/json"]?.schema;
    if (!body) continue;
    const answer = await gantry.call(method.toUpperCase(), concrete(path), { json: { nobody_knows_this: 1 } });
    const expected = ["nobody_knows_this", ...(body.required ?? [])].map((name) => `body.${name}`);
    expect(places(answer).sort(), `${method} ${path} gave ${answer.text}`).toEqual(expected.sort());
    count++;
  }
  expect(count).toBe(11);
});

test("what is answered is what is told, no more and no less", async () => {
  const ajv = new Ajv2020({ strict: false, formats: { "date-time": true, uri: true } });
  const seen = new Set<string>();
  async function check(method: "get" | "post" | "put" | "patch" | "delete", path: string, at: string, json?: unknown) {
    const answer = await gantry.call(method.toUpperCase(), `/api/v2${at}`, json === undefined ? {} : { json });
    const told = paths[path]?.[method]?.responses[answer.status];
    expect(told, `${method} ${at} gave ${answer.status} ${answer.text}`).toBeDefined();
    const schema = told?.content?.["application/json"]?.schema;
    if (schema) {
      const validate = ajv.compile({ ...schema, unevaluatedProperties: false });
      expect(validate(answer.body) ? [] : validate.errors, `${method} ${at} gave ${answer.text}`).toEqual([]);
      const [entry] = answer.body.results ?? [];
      const entries = (schema.properties?.results as { items?: Schema } | undefined)?.items?.properties;
      if (entry && entries) expect(Object.keys(entries)).toEqual(expect.arrayContaining(Object.keys(entry)));
    }
    seen.add(`${method} ${path}`);
    return answer.body;
  }

  await gantry.call("POST", "/api/v1/gantry/image/predict", { form: { prompt: "a pier", size: "1280x720" } });
  await check("post", "/admin/users", "/admin/users", { username: "told-anna", plan: "pro" });
  await check("patch", "/admin/users/{username}", "/admin/users/told-anna", { plan: "free" });
  await check("post", "/admin/users/{username}/keys", "/admin/users/told-anna/keys", { name: "laptop" });
  await check("post", "/admin/users/{username}/credits", "/admin/users/told-anna/credits", { amount: 5, reason: "x" });
  await check("put", "/admin/plans/{name}", "/admin/plans/told", { requests_per_minute: 1, parallel: null });
  await check("put", "/admin/plans/{name}", "/admin/plans/told", { requests_per_minute: 2, parallel: 2 });
  await check("put", "/secrets/{name}", "/secrets/told", { value: "12345678" });
  const { id } = await check("post", "/keys", "/keys", { name: "told", models: ["gantry/image"] });
  await check("post", "/keys/{id}/rotate", `/keys/${id}/rotate`, {});
  await check("post", "/sign-in-links", "/sign-in-links", { username: "told-anna" });
  await check("post", "/webhooks/secret/rotate", "/webhooks/secret/rotate");
  await check("post", "/webhooks/deliveries/{id}/resend", "/webhooks/deliveries/none/resend");
  const agent = await gantry.call("POST", "/v1/agents", { json: { name: "Told", goal: "g", tools: [] } });
  const text = { type: "string" };
  const manifest = {
    kind: "other",
    input: { type: "object", properties: { prompt: text } },
    output: { type: "object", properties: { output: text } },
    backend: { type: "cog", url: "http://127.0.0.1:9" },
  };
  expect((await gantry.call("PUT", "/api/v1/admin/told", { json: manifest })).status).toBe(201);
  for (const [told, at] of [
    ["/admin/agents/{id}", `/admin/agents/${agent.body.id}`],
    ["/admin/models/{owner}/{name}", "/admin/models/admin/told"],
  ]) {
    await check("post", `${told}/restore`, `${at}/restore`);
    await check("post", `${told}/take-down`, `${at}/take-down`, { reason: "told" });
  }
  for (const { method, path } of operations()) {
    if (method === "get") await check("get", path, path.replace("{username}", "admin"));
  }
  const { results } = await check("get", "/files", "/files");
  await check("delete", "/files/{id}", `/files/${results[0].id}`);
  await check("delete", "/keys/{id}", `/keys/${id}`);
  await check("delete", "/secrets/{name}", "/secrets/told");
  await check("delete", "/admin/plans/{name}", "/admin/plans/told");
  expect(seen.size).toBe(operations().length);
});
