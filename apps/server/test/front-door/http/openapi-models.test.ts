import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { inlined, type Operation } from "../../support/openapi.ts";

let gantry: GantryNode;
let paths: Record<string, Record<string, Operation>>;

beforeAll(async () => {
  gantry = await startGantry();
  ({ paths } = inlined((await gantry.call("GET", "/api/v1/openapi.json")).body));
});
afterAll(() => gantry.close());

const ajv = new Ajv2020({ strict: false, formats: { "date-time": true, uri: true } });
const ofModel = "/{owner}/{model}";

/** Sends a request and checks its body and answer against the document. */
async function check(method: string, path: string, at: string, json?: Record<string, unknown>) {
  const told = paths[path]?.[method];
  const body = told?.requestBody?.content["application/json"]?.schema;
  if (json && body) expect(ajv.validate(body, json), `${method} ${at}: ${ajv.errorsText()}`).toBe(true);
  const answer = await gantry.call(method.toUpperCase(), `/api/v1${at}`, json ? { json } : {});
  const response = told?.responses[answer.status];
  expect(response, `${method} ${at} gave ${answer.status} ${answer.text}`).toBeDefined();
  const schema = response?.content?.["application/json"]?.schema;
  if (schema) {
    const isTold = ajv.validate({ ...schema, unevaluatedProperties: false }, answer.body);
    expect(isTold, `${method} ${at}: ${ajv.errorsText()}`).toBe(true);
  }
  return answer;
}

test("requests and answers about models match the document", async () => {
  for (const at of ["/", "", "?kind=text&q=rules&page=1&page_size=2"]) {
    expect((await check("get", "/", at)).body.results.length).toBeGreaterThan(0);
  }
  expect((await check("get", "/", "?kind=nonsense")).status).toBe(422);
  const manifest = {
    kind: "text",
    backend: { type: "openai-chat", url: "https://llm.example/v1", model: "large" },
    input: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
    output: { type: "object", properties: { output: { type: "string", isStream: true } } },
  };
  expect((await check("put", ofModel, "/admin/told", manifest)).status).toBe(201);
  expect((await check("put", ofModel, "/admin/told", { ...manifest, context_window: 8000 })).status).toBe(200);
  const changed = await check("patch", ofModel, "/admin/told", { capacity: 4, context_window: null, pricing: null });
  expect(changed.body).toMatchObject({ capacity: 4, pricing: {}, version: 3 });
  expect(changed.body).not.toHaveProperty("context_window");
  expect((await check("get", ofModel, "/gantry/image")).status).toBe(200);
  expect((await check("delete", ofModel, "/admin/told")).status).toBe(204);
  expect((await check("get", ofModel, "/admin/told")).status).toBe(404);
  expect((await check("post", `${ofModel}/restore`, "/gantry/rules/restore")).status).toBe(409);
  await check("delete", ofModel, "/gantry/rules");
  expect((await check("post", `${ofModel}/restore`, "/gantry/rules/restore")).status).toBe(201);
});
