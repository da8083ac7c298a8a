import { agentVisibilities, confirmPolicies, connectionTypes, runStatuses } from "@gantry/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type GantryNode, startGantry } from "../../support/gantry.ts";
import { inlined, type Operation, type Schema } from "../../support/openapi.ts";

let gantry: GantryNode;
let paths: Record<string, Record<string, Operation>>;

beforeAll(async () => {
  gantry = await startGantry();
  ({ paths } = inlined((await gantry.call("GET", "/v1/openapi.json")).body));
});
afterAll(() => gantry.close());

const operationOf = (method: string, path: string) => paths[path]?.[method] as Operation;
const operations = () =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
const queryOf = (method: string, path: string) =>
  Object.fromEntries(
    operationOf(method, path)
      .parameters.filter((parameter) => parameter.in === "query")
      .map(({ name, schema }) => [name, schema]),
  );
const bodyOf = (method: string, path: string) =>
  operationOf(method, path).requestBody?.content["application/json"]?.schema.properties ?? {};
const answerOf = (method: string, path: string, status = "200") =>
  operationOf(method, path).responses[status]?.content?.["application/json"]?.schema;
/** Nothing of that name is there: what is wrong with the request is told before that. */
const concrete = (path: string) => `/v1${path.replace(/\{\w+\}/g, "x-y")}`;
const places = ({ body }: Answer): string[] =>
  body?.error?.type === "invalid_input"
    ? body.error.details.map(({ loc }: { loc: unknown[] }) => loc.slice(0, 2).join("."))
    : [];

/** Values that a parameter of this form does not have. */
function wrongOnes(name: string, { type, enum: values, minimum, maximum }: Schema): string[] {
  const twice = `${name}=${values?.[0] ?? 1}&${name}=${values?.[0] ?? 1}`;
  if (type === "string") return values ? [twice, `${name}=nonsense`] : [twice];
  return [twice, `${name}=nonsense`, `${name}=${Number(minimum) - 1}`, `${name}=${Number(maximum) + 1}`];
}

/** Values at the edges of what it may be. */
function rightOnes(name: string, { type, enum: values, minimum, maximum }: Schema): string[] {
  if (type === "string") return (values ?? ["text"]).map((value) => `${name}=${value}`);
  // Waiting is not what is tested.
  return (name === "wait" ? [minimum] : [minimum, maximum]).map((value) => `${name}=${value}`);
}

describe("what the document says of a query is what its route reads", () => {
  test("a value that a parameter does not have is refused, one that it has is not", async () => {
    let count = 0;
    for (const { method, path, operation } of operations()) {
      for (const { name, schema } of operation.parameters.filter((parameter) => parameter.in === "query")) {
        const ask = (query: string) => gantry.call(method.toUpperCase(), `${concrete(path)}?${query}`);
        for (const query of wrongOnes(name, schema)) {
          const answer = await ask(query);
          expect([answer.status, places(answer)], `${method} ${path}?${query}`).toEqual([400, [`query.${name}`]]);
        }
        for (const query of rightOnes(name, schema)) {
          expect(places(await ask(query)), `${method} ${path}?${query}`).not.toContain(`query.${name}`);
        }
        count++;
      }
    }
    expect(count).toBeGreaterThan(20);
  });

  test("what is left out is the default that is told", async () => {
    const lists = operations().filter(({ method, path }) => method === "get" && !path.includes("{"));
    const paged = lists.filter(({ path }) => "limit" in queryOf("get", path));
    for (const { path } of paged) {
      const { limit, offset } = queryOf("get", path);
      expect((await gantry.call("GET", concrete(path))).body, path).toMatchObject({
        limit: limit?.default,
        offset: offset?.default,
      });
    }
    expect(paged.map(({ path }) => path).sort()).toEqual([
      "/agents",
      "/drives",
      "/marketplace/agents",
      "/mcp-servers",
      "/runs",
    ]);
  });

  test("the lists of the specification have its defaults, bounds and values", () => {
    const range = {
      limit: { type: "integer", default: 20, minimum: 1, maximum: 100 },
      offset: { type: "integer", default: 0, minimum: 0 },
    };
    expect(queryOf("get", "/agents")).toMatchObject({ ...range, visibility: { enum: [...agentVisibilities] } });
    for (const path of ["/runs", "/agents/{agent_id}/runs"]) {
      expect(queryOf("get", path)).toMatchObject({ ...range, status: { enum: [...runStatuses] } });
    }
    expect(queryOf("get", "/agents/{agent_id}/runs")).not.toHaveProperty("parent_run_id");
  });

  test.each([
    "/tools",
    "/mcp-servers/{mcp_server_id}/tools",
    "/connectors/idp/actions",
    "/runs/{run_id}/confirmations",
  ])("%s has no pages, and does not say so", (path) => {
    expect(queryOf("get", path)).toEqual({});
    const { properties, required } = answerOf("get", path) as Schema;
    expect(Object.keys(properties ?? {})).toEqual(required);
    for (const word of ["total", "limit", "offset"]) expect(required).not.toContain(word);
  });
});

describe("what the document says of a body is what its route reads", () => {
  test("every field with a set of values takes these and no other", async () => {
    const agent = { name: "A", goal: "G", tools: [] };
    const { id } = (await gantry.call("POST", "/v1/agents", { json: agent })).body;
    let count = 0;
    for (const { method, path } of operations()) {
      for (const [name, { enum: values }] of Object.entries(bodyOf(method, path))) {
        if (!values) continue;
        const send = (value: string) =>
          gantry.call(method.toUpperCase(), concrete(path.replace("{agent_id}", id)), {
            json: { [name]: value, unknown_field: 1 },
          });
        expect(places(await send("nonsense")), `${method} ${path} ${name}`).toContain(`body.${name}`);
        for (const value of values) expect(places(await send(value)), value).not.toContain(`body.${name}`);
        count++;
      }
    }
    expect(count).toBe(4);
    expect(bodyOf("post", "/agents").visibility).toMatchObject({ enum: [...agentVisibilities], default: "private" });
    expect(bodyOf("post", "/mcp-servers").connection_type).toMatchObject({ enum: [...connectionTypes] });
  });

  test("a tool is an id or one of the two bindings", () => {
    for (const method of ["post", "patch"]) {
      const [id, agent, tool] =
        bodyOf(method, method === "post" ? "/agents" : "/agents/{agent_id}").tools?.items?.anyOf ?? [];
      expect(id).toMatchObject({ type: "string" });
      expect(Object.keys(agent?.properties ?? {})).toEqual(["type", "agent_id", "name", "description"]);
      expect(agent?.required).toEqual(["type", "agent_id"]);
      expect(tool?.properties).toMatchObject({
        confirm: { enum: [...confirmPolicies] },
        arguments: { type: "object" },
      });
      expect(tool?.required).toEqual(["type", "id"]);
    }
  });

  test("what a run may take has its defaults", async () => {
    for (const path of ["/agents/{agent_id}/runs", "/agents/{creator_username}/{agent_slug}/runs"]) {
      const { timeout_seconds, max_steps } = bodyOf("post", path);
      expect([timeout_seconds?.default, max_steps?.default]).toEqual([900, 50]);
    }
  });

  test("a body may be left out where nothing in it must be given", () => {
    const optional = operations().filter(({ operation }) => operation.requestBody?.required === false);
    expect(optional.map(({ path }) => path)).toEqual(["/agents/{agent_id}/publish", "/connectors/idp/actions/{name}"]);
  });

  test("a file is replaced by its bytes or by a form", () => {
    const content = operationOf("put", "/drives/{drive_id}/files/{path}").requestBody?.content;
    expect(Object.keys(content ?? {})).toEqual(["application/octet-stream", "multipart/form-data"]);
    expect(content?.["multipart/form-data"]?.schema.required).toEqual(["file"]);
  });
});

test("every answer of JSON says what is in it, and a stream that it may have nothing to tell", () => {
  for (const { method, path, operation } of operations()) {
    for (const [status, { content }] of Object.entries(operation.responses)) {
      const schema = content?.["application/json"]?.schema;
      if (!schema || status >= "300") continue;
      expect(schema.properties ?? schema.anyOf, `${method} ${path}`).toBeDefined();
    }
  }
  expect(answerOf("get", "/runs/{run_id}/events/list")?.properties?.events?.items).toBeDefined();
  expect(Object.keys(answerOf("post", "/connectors/idp/actions/{name}")?.properties ?? {})).toContain("result");
  expect(operationOf("get", "/runs/{run_id}/events").responses["204"]).not.toHaveProperty("content");
});
