import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
const cog = createServer((request, response) => {
  request.resume();
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ status: "succeeded", output: "made" }));
});

const text = { type: "string" };
const manifest = (properties: object) => ({
  kind: "other",
  capacity: 8,
  input: { type: "object", properties },
  output: { type: "object", properties: { output: text } },
  backend: { type: "cog", url: `http://127.0.0.1:${(cog.address() as AddressInfo).port}` },
});

async function put(name: string, properties: object): Promise<Answer> {
  return gantry.call("PUT", `/api/v1/admin/${name}`, { json: manifest(properties) });
}

/** Checks a value as a field, in a list, in an object and as a default; each result is "fits" or the fault types. */
async function judged(rule: object, value: unknown): Promise<{ field: string; list: string; object: string }> {
  const properties = {
    field: rule,
    list: { type: "array", items: rule },
    object: { type: "object", properties: { inner: rule } },
  };
  expect((await put("judge", properties)).status).toBeLessThan(300);
  const asked = async (form: Record<string, string>) => {
    const answer = await gantry.call("POST", "/api/v1/admin/judge/predict", { form });
    if (answer.status === 200) return "fits";
    expect(answer.status, answer.text).toBe(422);
    return answer.body.detail
      .map(({ type, loc }: { type: string; loc: unknown[] }) => `${type} ${loc.join(".")}`)
      .join();
  };
  return {
    field: await asked({ field: String(value) }),
    list: await asked({ list: JSON.stringify([value]) }),
    object: await asked({ object: JSON.stringify({ inner: value }) }),
  };
}

beforeAll(async () => {
  await new Promise<void>((resolve) => cog.listen(0, "127.0.0.1", resolve));
  gantry = await startGantry();
});
afterAll(async () => {
  await gantry.close();
  cog.close();
});

const uri = { type: "string", format: "uri" };
const moment = { type: "string", format: "date-time" };
const short = { type: "string", minLength: 2, maxLength: 3 };

const fitting: [object, unknown][] = [
  [uri, "http://exämple.org/ü"],
  [uri, "https://a.example/x?y#z"],
  [moment, "2026-01-01T00:00:00"],
  [moment, "2026-01-31 23:59"],
  [moment, "2026-01-31t23:59:59.123456789012z"],
  [moment, "2024-02-29T00:00:00-0530"],
  [short, "😀😀😀"],
  [{ type: "integer", minimum: 1, maximum: 3 }, 3],
  [{ type: "string", enum: ["a", "b"] }, "b"],
];
const wrong: [object, unknown, string][] = [
  [uri, "mailto:a@b", "url_parsing"],
  [uri, "javascript:alert(1)", "url_parsing"],
  [uri, "http://u:p@x/", "url_parsing"],
  [uri, "http://:p@x/", "url_parsing"],
  [uri, "http://u@x/", "url_parsing"],
  [uri, "no uri", "url_parsing"],
  [uri, `http://${"\u6587".repeat(300)}.example/`, "url_parsing"],
  [moment, "2026-02-30T00:00:00Z", "datetime_parsing"],
  [moment, "2026-01-31T23:59:60Z", "datetime_parsing"],
  [moment, "2026-01-31T00:00:00+24:00", "datetime_parsing"],
  [moment, "2026-01-31", "datetime_parsing"],
  [moment, "x", "datetime_parsing"],
  [short, "😀", "sequence_too_short"],
  [short, "😀😀😀😀", "string_too_long"],
  [{ type: "integer", minimum: 1, maximum: 3 }, 4, "less_than_equal"],
  [{ type: "string", enum: ["a", "b"] }, "c", "one_of"],
];

describe("a value is checked by one rule everywhere", () => {
  test.each(fitting)("%j accepts %j", async (rule, value) => {
    expect(await judged(rule, value)).toEqual({ field: "fits", list: "fits", object: "fits" });
    const defaulted = { a: { ...rule, default: value }, b: { type: "array", items: rule, default: [value] } };
    const answer = await put("defaulted", defaulted);
    expect(answer.status, answer.text).toBeLessThan(300);
  });

  test.each(wrong)("%j refuses %j as %s", async (rule, value, type) => {
    expect(await judged(rule, value)).toEqual({
      field: `${type} body.field`,
      list: `${type} body.list.0`,
      object: `${type} body.object.inner`,
    });
    const answer = await put("defaulted", {
      a: { ...rule, default: value },
      b: { type: "array", items: rule, default: [value] },
      c: { type: "object", properties: { inner: { ...rule, default: value } } },
      d: "enum" in rule ? rule : { ...rule, enum: [value] },
    });
    expect(answer.status, answer.text).toBe(422);
    const places = answer.body.detail.map(({ loc }: { loc: unknown[] }) => loc.slice(3).join("."));
    const inEnum = "enum" in rule ? [] : ["d.enum.0"];
    expect(places).toEqual(["a.default", "b.default", "c.properties.inner.default", ...inEnum]);
  });
});

test("null is valid for nullable list entries, whatever their enum", async () => {
  const rule = { type: ["string", "null"], enum: ["a"] };
  expect(await judged(rule, null)).toMatchObject({ list: "fits", object: "fits" });
});

test("equal lists and objects match an enum value, whatever their key order", async () => {
  const choice = { type: "object", enum: [{ a: 1, b: [2] }] };
  const answer = await put("chooser", { choice: { ...choice, default: { b: [2], a: 1 } } });
  expect(answer.status, answer.text).toBe(201);
  const ask = (value: unknown) =>
    gantry.call("POST", "/api/v1/admin/chooser/predict", { form: { choice: JSON.stringify(value) } });
  expect((await ask({ b: [2], a: 1 })).status).toBe(200);
  expect((await ask({ b: [3], a: 1 })).body.detail).toMatchObject([{ type: "one_of", loc: ["body", "choice"] }]);
});

test.each(["http://:pw@a.example/", "http://u@a.example/", "http://u:p@a.example/"])(
  "%s is not a webhook address",
  async (url) => {
    expect((await put("hooked", {})).status).toBeLessThan(300);
    const form = { webhook: JSON.stringify({ url }) };
    const answer = await gantry.call("POST", "/api/v1/admin/hooked/predict/async/", { form });
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.detail).toMatchObject([{ type: "url_parsing", loc: ["body", "webhook", "url"] }]);
  },
);

test("a slow value is checked, and 20 of its faults are reported", async () => {
  const values = Array.from({ length: 500 }, (_, i) => `value-${i}`);
  const answer = await put("slow", {
    many: { type: "array", items: { type: "string", enum: values } },
    wrong: { type: "array", items: { type: "integer" } },
  });
  expect(answer.status, answer.text).toBe(201);
  const many = JSON.stringify(Array(100_000).fill("value-499").slice(0, 80_000));
  const wrongs = JSON.stringify(Array(200_000).fill(""));
  const { status, body } = await gantry.call("POST", "/api/v1/admin/slow/predict", { form: { many, wrong: wrongs } });
  expect(status).toBe(422);
  expect(body.detail).toHaveLength(20);
});

describe("a model stored under an earlier rule", () => {
  test("can be patched, and repaired where it is invalid", async () => {
    expect((await put("older", { link: text })).status).toBe(201);
    const older = { link: { ...uri, default: "" } };
    await gantry.database.sql`
      update models set manifest = jsonb_set(manifest::jsonb, '{input,properties}', ${JSON.stringify(older)}::text::jsonb)::json
      where name = 'older'`;
    await gantry.call("GET", "/api/v1/admin/older");
    const patch = (json: object) => gantry.call("PATCH", "/api/v1/admin/older", { json });
    const changed = await patch({ title: "New", capacity: 3, pricing: null });
    expect(changed.status, changed.text).toBe(200);
    const card = (await gantry.call("GET", "/api/v1/admin/older")).body;
    expect(card).toMatchObject({ title: "New", capacity: 3 });
    expect((await patch({ capacity: -1 })).status).toBe(422);
    const again = await patch({ input: { type: "object", properties: older } });
    expect([again.status, again.body.detail[0].loc.join(".")]).toEqual([422, "body.input.properties.link.default"]);
    expect((await patch({ input: { type: "object", properties: { link: uri } } })).status).toBe(200);
  });

  test("an integer too large to be exact is not a valid default, also within an object or a list", async () => {
    const whole = { type: "integer" };
    for (const field of [
      { type: "object", properties: { big: whole }, default: { big: 2 ** 60 } },
      { type: "array", items: whole, default: [2 ** 60] },
      { ...whole, default: 2 ** 60 },
    ]) {
      const refused = await put("inexact", { field });
      expect(refused.status, JSON.stringify(field)).toBe(422);
      expect(refused.text).toContain("too large to be exact");
    }
  });
});
