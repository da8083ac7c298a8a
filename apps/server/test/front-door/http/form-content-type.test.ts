import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

/** A client that sends JSON where a form is needed learns the right type, not that a field is missing. */
let gantry: GantryNode;
const expected_content_type = "multipart/form-data";

beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());

const missing = (field: string, given: string | null) => ({
  type: "missing",
  loc: ["body", field],
  msg: "Field required",
  ctx: { expected_content_type, given },
});

test.each(["predict", "predict/stream/", "predict/async"])("a prediction by %s", async (way) => {
  const sent = await gantry.call("POST", `/api/v1/gantry/image/${way}`, { json: { prompt: "a red drone" } });
  expect(sent.status).toBe(422);
  expect(sent.body.detail[0]).toMatchObject(missing("prompt", "application/json"));
});

test.each([
  ["Application/JSON; charset=utf-8", "application/json"],
  [`text/${"x".repeat(300)}`, `text/${"x".repeat(95)}`],
  [undefined, null],
])("the sent type is named, shortened and without parameters: %s", async (type, given) => {
  const body = new Uint8Array([123, 125]);
  const response = await fetch(`${gantry.url}/api/v1/gantry/image/predict`, {
    method: "POST",
    headers: { "x-api-key": gantry.adminKey, ...(type !== undefined && { "content-type": type }) },
    body,
  });
  expect(await response.json()).toMatchObject({ detail: [missing("prompt", given)] });
});

test("a form that lacks a field does not mention the type", async () => {
  const sent = await gantry.call("POST", "/api/v1/gantry/image/predict", { form: { unknown: "1" } });
  const { ctx: _, ...plain } = missing("prompt", null);
  expect(sent.body.detail).toContainEqual({ ...plain, url: expect.any(String) });
});

test("an upload", async () => {
  const sent = await gantry.call("POST", "/api/v1/gantry/image/upload_file", { json: { file: "x" } });
  expect(sent.body.detail[0]).toMatchObject(missing("file", "application/json"));
});

test("a file of a drive", async () => {
  const { id } = (await gantry.call("POST", "/v1/drives", { json: { name: "shelf" } })).body;
  const sent = await gantry.call("POST", `/v1/drives/${id}/files`, { json: { path: "/a", file: "x" } });
  expect(sent.status).toBe(400);
  const reason = { message: "Field required", reason: "missing", ctx: missing("path", "application/json").ctx };
  expect(sent.body.error.details).toEqual([
    { loc: ["body", "path"], ...reason },
    { loc: ["body", "file"], ...reason },
  ]);
});
