import { agentVisibilities, confirmPolicies, runStatuses } from "@gantry/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { inlined, type Operation } from "../../support/openapi.ts";

let gantry: GantryNode;
let paths: Record<string, Record<string, Operation>>;

beforeAll(async () => {
  gantry = await startGantry();
  ({ paths } = inlined((await gantry.call("GET", "/v1/openapi.json")).body));
});
afterAll(() => gantry.close());

const operationOf = (method: string, path: string) => paths[path]?.[method] as Operation;
const queryOf = (method: string, path: string) =>
  Object.fromEntries(
    operationOf(method, path)
      .parameters.filter((parameter) => parameter.in === "query")
      .map(({ name, schema }) => [name, schema]),
  );
const bodyOf = (method: string, path: string) =>
  operationOf(method, path).requestBody?.content["application/json"]?.schema.properties ?? {};

test("the platform's document calls all of it a preview", async () => {
  const { status, body } = await gantry.call("GET", "/v1/openapi.json");
  expect(status).toBe(200);
  expect(body.info["x-stability"]).toBe("preview");
  const operations = Object.values(body.paths as Record<string, Record<string, Record<string, unknown>>>).flatMap(
    (methods) => Object.values(methods),
  );
  expect(operations.every((operation) => operation["x-stability"] === "preview")).toBe(true);
});

test("run events and sign-in methods have a discriminator", async () => {
  const { schemas } = (await gantry.call("GET", "/v1/openapi.json")).body.components;
  expect(schemas.RunEvent.discriminator).toMatchObject({
    propertyName: "type",
    mapping: { tool_call: "#/components/schemas/ToolCallEvent" },
  });
  expect(Object.keys(schemas.ToolServerAuth.discriminator.mapping)).toEqual(["bearer", "api_key", "oauth"]);
  // Answers may gain fields later; requests are closed.
  expect(schemas.Run).not.toHaveProperty("additionalProperties");
  expect(schemas.CreateRun.additionalProperties).toBe(false);
});

test("drive files document all their answers, and listings their defaults", async () => {
  const { paths } = inlined((await gantry.call("GET", "/v1/openapi.json")).body);
  const file = paths["/drives/{drive_id}/files/{path}"];
  for (const method of ["get", "head"]) {
    expect(Object.keys(file[method].responses)).toEqual(expect.arrayContaining(["200", "206", "304", "412", "416"]));
    expect(file[method].responses["304"]).not.toHaveProperty("content");
  }
  expect(Object.keys(file.get.responses["206"].content)).toEqual(["application/octet-stream"]);
  expect(Object.keys(file.get.responses["416"].content)).toEqual(["application/json"]);
  const answers = Object.values(file.head.responses) as object[];
  expect(answers.filter((answer) => "content" in answer)).toEqual([]);
  for (const operation of [paths["/drives/{drive_id}/files"].post, file.put, file.delete, file.get, file.head]) {
    expect(operation.responses).toHaveProperty("412");
    const named = operation.parameters.map(({ name }: { name: string }) => name);
    expect(named).toEqual(expect.arrayContaining(["If-Match", "If-None-Match"]));
  }
  expect(paths["/drives/{drive_id}"].get.responses).not.toHaveProperty("412");
  const parameters = paths["/drives/{drive_id}/items"].get.parameters as { name: string; schema: object }[];
  expect(Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]))).toMatchObject({
    path: { type: "string", default: "/" },
    limit: { type: "integer", minimum: 1, maximum: 1000, default: 1000 },
    offset: { type: "integer", default: 0 },
  });
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
  const optional = Object.entries(paths).filter(([, methods]) =>
    Object.values(methods).some(({ requestBody }) => requestBody?.required === false),
  );
  expect(optional.map(([path]) => path)).toEqual([
    "/agents/{agent_id}/publish",
    "/agents/{agent_id}/triggers",
    "/connectors/idp/actions/{name}",
  ]);
});

test("a file is replaced by its bytes or by a form", () => {
  const content = operationOf("put", "/drives/{drive_id}/files/{path}").requestBody?.content;
  expect(Object.keys(content ?? {})).toEqual(["application/octet-stream", "multipart/form-data"]);
  expect(content?.["multipart/form-data"]?.schema.required).toEqual(["file"]);
});
