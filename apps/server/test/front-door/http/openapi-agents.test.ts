import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { inlined } from "../../support/openapi.ts";

let gantry: GantryNode;

beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());

test("the platform's document calls all of it a preview", async () => {
  const { status, body } = await gantry.call("GET", "/v1/openapi.json");
  expect(status).toBe(200);
  expect(body.info["x-stability"]).toBe("preview");
  const operations = Object.values(body.paths as Record<string, Record<string, Record<string, unknown>>>).flatMap(
    (methods) => Object.values(methods),
  );
  expect(operations.every((operation) => operation["x-stability"] === "preview")).toBe(true);
});

test("a client can tell the events of a run, and the ways to sign in, by their type", async () => {
  const { schemas } = (await gantry.call("GET", "/v1/openapi.json")).body.components;
  expect(schemas.RunEvent.discriminator).toMatchObject({
    propertyName: "type",
    mapping: { tool_call: "#/components/schemas/ToolCallEvent" },
  });
  expect(Object.keys(schemas.ToolServerAuth.discriminator.mapping)).toEqual(["bearer", "api_key"]);
  // An answer is open to fields that come later, a request is not.
  expect(schemas.Run).not.toHaveProperty("additionalProperties");
  expect(schemas.CreateRun.additionalProperties).toBe(false);
});

test("the files of a drive are told with all that they answer, and a listing with its defaults", async () => {
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
