import { accountApi, agentsApi, doorsApi, modelsApi } from "@gantry/wire/openapi";
import { accountOperations, agentsOperations, doorOperations } from "@gantry/wire/operations";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { inlined, referencesIn } from "../../support/openapi.ts";

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  parameters: { name: string; in: string; description?: string }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: object }> }>;
}

let gantry: GantryNode;

beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());

test.each([
  ["/v1", "/agents/{agent_id}/runs", "post", "201 400 401 403 404 409 422 429 500 503"],
  ["/v1", "/tools", "get", "200 401 500 503"],
  ["/v1", "/drives/{drive_id}/files/{path}", "put", "200 400 401 403 404 409 412 413 500 503 507"],
  ["/api/v1", "/", "get", "200 401 422 500 503"],
  ["/api/v1", "/{owner}/{model}", "put", "200 201 401 403 422 500 503"],
  ["/api/v2", "/me", "get", "200 401 500 503"],
  ["/api/v2", "/{username}/expenses", "get", "200 400 401 403 404 500 503"],
  ["/api/v2", "/secrets/{name}", "put", "200 201 401 403 422 500 503"],
])("an operation documents its possible answers: %s%s %s", async (base, path, method, statuses) => {
  const { paths } = (await gantry.call("GET", `${base}/openapi.json`)).body;
  expect(Object.keys(paths[path][method].responses).join(" ")).toBe(statuses);
});

/** Every regular expression with its path. */
function patternsIn(node: unknown, at = ""): [at: string, pattern: string][] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([name, part]): [string, string][] => {
    const own = name === "pattern" && typeof part === "string" ? [part] : [];
    const names = name === "patternProperties" ? Object.keys(part as object) : [];
    return [...[...own, ...names].map((found): [string, string] => [at, found]), ...patternsIn(part, `${at}/${name}`)];
  });
}

test.each(["/v1/openapi.json", "/api/v1/openapi.json", "/api/v2/openapi.json", "/docs/manifest.schema.json"])(
  "%s has only portable regular expressions",
  async (address) => {
    const { text } = await gantry.call("GET", address);
    const patterns = patternsIn(JSON.parse(text));
    expect(patterns.length).toBeGreaterThan(0);
    const plain = /^(\\[dDsSwW.x/-]|\(\?:|\((?!\?)|[^\\(])+$/;
    expect(patterns.filter(([, pattern]) => !plain.test(pattern))).toEqual([]);
  },
);

describe.each([
  ["/v1", agentsApi, Object.keys(agentsOperations)],
  // The other operations are in the document of each model.
  [
    "/api/v1",
    modelsApi,
    ["listModels", "readModel", "putModel", "changeModel", "deleteModel", "listBackends", "restoreModel"],
  ],
  ["/api/v2", accountApi, Object.keys(accountOperations)],
  ["/v1/doors", doorsApi, Object.keys(doorOperations)],
])("the document of %s", (base, api, ids) => {
  const read = async () => (await gantry.call("GET", `${base}/openapi.json`)).body;
  const operationsOf = (paths: Record<string, Record<string, Operation>>) =>
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
    );

  test("is valid OpenAPI 3.1 and needs a key", async () => {
    const document = await read();
    const result = await new Validator().validate(structuredClone(document));
    expect(result.errors ?? []).toEqual([]);
    expect([result.valid, document.openapi]).toEqual([true, "3.1.0"]);
    expect(document.servers[0].url).toBe(gantry.url + api.base);
    expect((await gantry.call("GET", `${base}/openapi.json`, { key: "" })).status).toBe(401);
  });

  test("has the server's version", async () => {
    const front = (await gantry.call("GET", "/")).text;
    expect(front).toContain(`Gantry ${(await read()).info.version}:`);
    expect(front).toContain(`${base}/openapi.json`);
  });

  test("has every operation, and no other", async () => {
    const inDocument = operationsOf((await read()).paths).map(({ operation }) => operation.operationId);
    expect(inDocument.toSorted()).toEqual(ids.toSorted());
  });

  test("names and explains every operation", async () => {
    const { paths, tags } = await read();
    const operations = operationsOf(paths);
    for (const { operation } of operations) {
      expect(operation.operationId).toMatch(/^[a-z][A-Za-z]+$/);
      expect(operation.summary).not.toBe("");
      expect(tags.map(({ name }: { name: string }) => name)).toContain(operation.tags[0]);
      for (const parameter of operation.parameters.filter((one) => one.in !== "query")) {
        expect(parameter.description, `${operation.operationId} ${parameter.name}`).toBeTypeOf("string");
      }
    }
  });

  test("names every JSON body and answer", async () => {
    const { paths } = await read();
    for (const { operation } of operationsOf(paths)) {
      const contents = [operation.requestBody, ...Object.values(operation.responses)].map((part) => part?.content);
      for (const content of contents) {
        const schema = content?.["application/json"]?.schema;
        if (schema) expect(Object.keys(schema), operation.operationId).toEqual(["$ref"]);
      }
      for (const status of ["401", "500", "503"]) expect(operation.responses).toHaveProperty(status);
    }
  });

  test("has no dangling references and no unused components", async () => {
    const document = await read();
    const { schemas, responses } = document.components;
    const components = [
      ...Object.keys(schemas).map((name) => `#/components/schemas/${name}`),
      ...Object.keys(responses).map((name) => `#/components/responses/${name}`),
    ];
    expect([...referencesIn(document)].sort()).toEqual(components.sort());
  });

  test("has no regular expression in answers, whose format may change", async () => {
    const document = inlined(await read());
    const answers = operationsOf(document.paths).map(({ operation }) => operation.responses);
    expect(patternsIn(answers)).toEqual([]);
  });

  test("has examples that its routes would accept", () => {
    const operations = api.groups.flatMap((group) => Object.values(group.operations));
    const withExample = operations.filter(({ example }) => example !== undefined);
    expect(withExample.length).toBeGreaterThanOrEqual(2);
    for (const { id, body, example } of withExample) {
      if (!body || typeof body === "string") throw new Error(`${id} has an example of nothing`);
      expect(body.safeParse(example).error, id).toBeUndefined();
    }
  });
});
