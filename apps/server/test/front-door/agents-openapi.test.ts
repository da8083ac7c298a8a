import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { agentsOperations } from "@gantry/wire";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../support/gantry.ts";

let gantry: GantryNode;

beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());

test("the platform's document is valid OpenAPI 3.1 and calls all of it a preview", async () => {
  const { status, body } = await gantry.call("GET", "/v1/openapi.json");
  expect(status).toBe(200);
  const result = await new Validator().validate(structuredClone(body));
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
  expect(body.info["x-stability"]).toBe("preview");
  expect(body.servers[0].url).toBe(`${gantry.url}/v1`);
  const operations = Object.values(body.paths as Record<string, Record<string, Record<string, unknown>>>).flatMap(
    (methods) => Object.values(methods),
  );
  expect(operations.every((operation) => operation["x-stability"] === "preview")).toBe(true);
  expect(new Set(operations.map((operation) => operation.operationId)).size).toBe(operations.length);
  expect((await gantry.call("GET", "/v1/openapi.json", { key: "" })).status).toBe(401);
});

test("the files of a drive are told with all that they answer, and a listing with its defaults", async () => {
  const { paths } = (await gantry.call("GET", "/v1/openapi.json")).body;
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

test("every operation of the document is served", async () => {
  for (const { method, path } of agentsOperations) {
    const concrete = path.replace(/\{(\w+)\}/g, (_, name) => (name === "path" ? "a/b.txt" : "x-y"));
    const answer = await gantry.call(method.toUpperCase(), `/v1${concrete}`);
    const isUnknown = answer.body?.error?.message === "Not found" || answer.status === 405;
    expect(isUnknown, `${method} ${path} gave ${answer.status} ${answer.text}`).toBe(false);
  }
});

test("every route in the code stands in the document", async () => {
  const folder = fileURLToPath(new URL("../../src/http/agents-api/", import.meta.url));
  const files = (await readdir(folder)).filter((name) => name.endsWith("routes.ts"));
  const source = (await Promise.all(files.map((name) => readFile(folder + name, "utf8")))).join("\n");
  const count = [...source.matchAll(/\bapp\.(get|post|put|patch|delete|route)\b/g)].length;
  // `app.route` serves GET and HEAD of a file, which are two operations.
  expect(count).toBe(agentsOperations.filter(({ method }) => method !== "head").length);
});
