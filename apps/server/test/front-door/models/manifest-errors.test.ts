import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
let user: string;

beforeAll(async () => {
  gantry = await startGantry();
  user = await gantry.newUser("maker");
});
afterAll(() => gantry.close());

const text = { type: "string" };
const fields = (properties: object) => ({ type: "object", properties });
const manifest = (change: object = {}) => ({
  kind: "other",
  input: { ...fields({ prompt: text }), required: ["prompt"] },
  output: fields({ output: text }),
  backend: { type: "cog", url: "http://127.0.0.1:9" },
  ...change,
});
const faults = ({ status, body, text: whole }: Answer) => {
  expect(status, whole).toBe(422);
  return body.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.join(".")} ${type}`).sort();
};
const builtin = (model?: string) => ({ type: "builtin", ...(model !== undefined && { model }) });

describe("every fault of a manifest is reported at once", () => {
  test("faults of its fields, its name and a forbidden backend", async () => {
    const json = manifest({ kind: "poem", capacity: -1, backend: builtin("rules") });
    expect(faults(await gantry.call("PUT", "/api/v1/maker/Wrong", { json, key: user }))).toEqual([
      "body.backend.type value_error",
      "body.capacity greater_than_equal",
      "body.kind one_of",
      "path.model value_error",
    ]);
  });

  test("an unknown built-in model beside other faults, and once if none is named", async () => {
    const put = async (backend: object) =>
      faults(await gantry.call("PUT", "/api/v1/admin/wrong", { json: manifest({ capacity: -1, backend }) }));
    expect(await put(builtin("poet"))).toEqual(["body.backend.model one_of", "body.capacity greater_than_equal"]);
    expect(await put(builtin())).toEqual(["body.backend.model missing", "body.capacity greater_than_equal"]);
    expect(await put({ type: "builtin", model: 5 })).toEqual([
      "body.backend.model string_type",
      "body.capacity greater_than_equal",
    ]);
    expect(await put([builtin("poet")])).toEqual(["body.backend json_invalid", "body.capacity greater_than_equal"]);
  });

  test("also by PATCH", async () => {
    expect((await gantry.call("PUT", "/api/v1/maker/mine", { json: manifest(), key: user })).status).toBe(201);
    const json = { capacity: -1, backend: builtin("rules") };
    expect(faults(await gantry.call("PATCH", "/api/v1/maker/mine", { json, key: user }))).toEqual([
      "body.backend.type value_error",
      "body.capacity greater_than_equal",
    ]);
  });

  test("a Cog server that does not answer, without faults about its schemas", async () => {
    const json = { kind: "poem", capacity: -1, backend: { type: "cog", url: "http://127.0.0.1:9" } };
    expect(faults(await gantry.call("PUT", "/api/v1/admin/silent", { json }))).toEqual([
      "body.backend.url file_download_error",
      "body.capacity greater_than_equal",
      "body.kind one_of",
    ]);
    const unreadable = { ...json, backend: { type: "cog", url: "ftp://127.0.0.1" }, input: fields({ a: {} }) };
    expect(faults(await gantry.call("PUT", "/api/v1/admin/silent", { json: unreadable }))).toEqual([
      "body.backend.url url_parsing",
      "body.capacity greater_than_equal",
      "body.input.properties.a.type missing",
      "body.kind one_of",
    ]);
  });
});

test("a field name that every object has is reserved", async () => {
  const json = manifest({ input: fields({ constructor: text, "1st": text }), output: fields({ toString: text }) });
  const { body } = await gantry.call("PUT", "/api/v1/admin/reserved", { json });
  expect(body.detail.map(({ loc, msg }: { loc: string[]; msg: string }) => [loc.join("."), msg])).toEqual([
    ["body.input.properties.constructor", "The name constructor is reserved"],
    ["body.input.properties.1st", expect.stringContaining("begins with a letter")],
    ["body.output.properties.toString", "The name toString is reserved"],
  ]);
});

test("a model's schema lists null among the values of a nullable enum", async () => {
  const choice = { type: ["string", "null"], enum: ["a", "b"] };
  const listed = { type: ["string", "null"], enum: ["a", null] };
  const json = manifest({
    input: fields({ choice, listed, plain: { type: "string", enum: ["a"] }, free: { type: ["string", "null"] } }),
    output: fields({ choice }),
  });
  const put = await gantry.call("PUT", "/api/v1/admin/choosy", { json });
  expect(put.status, put.text).toBe(201);
  expect(put.body.input.properties.choice).toEqual(choice);
  const { schemas } = (await gantry.call("GET", "/api/v1/admin/choosy/openapi.json")).body.components;
  for (const name of ["DynamicInputModel", "DynamicStreamInputModel", "DynamicAsyncInputModel"]) {
    expect(schemas[name].properties).toMatchObject({
      choice: { ...choice, enum: ["a", "b", null] },
      listed,
      plain: { type: "string", enum: ["a"] },
      free: { type: ["string", "null"] },
    });
    expect(schemas[name].properties.free).not.toHaveProperty("enum");
  }
  expect(schemas.DynamicOutputModel.properties).toEqual({ choice: { ...choice, enum: ["a", "b", null] } });
});
