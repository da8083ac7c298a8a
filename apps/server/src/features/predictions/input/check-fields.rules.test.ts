import type { FieldSchema, ObjectSchema } from "@gantry/wire";
import { describe, expect, it } from "vitest";
import { checkFields, missingFields } from "./check-fields.rules.ts";
import { planOf } from "./plan-input.rules.ts";

const both = { user: true, webhook: true };

function plan(properties: Record<string, FieldSchema>, required: string[] = []) {
  const input: ObjectSchema = { type: "object", properties, required };
  return planOf({ input } as Parameters<typeof planOf>[0]);
}

function check(properties: Record<string, FieldSchema>, sent: [string, string][], required: string[] = []) {
  const entries = sent.map(([name, value]) => ({ name, value }));
  const { values, issues, addresses, user, webhook } = checkFields<never>(plan(properties, required), entries, both);
  return { values: { ...values }, issues, addresses, user, webhook };
}

/** The value that a field reads from a text, or its issues. */
function one(schema: FieldSchema, text: string) {
  const { values, issues } = check({ f: schema }, [["f", text]]);
  return issues.length > 0 ? issues : values.f;
}

const typeOf = (result: unknown) => (Array.isArray(result) ? result[0]?.type : result);

describe("values of fields", () => {
  it.each(["true", "TRUE", "True", "1", "yes", "YES", "on", " on "])("%s is true", (text) => {
    expect(one({ type: "boolean" }, text)).toBe(true);
  });
  it.each(["false", "FALSE", "0", "no", "No", "off"])("%s is false", (text) => {
    expect(one({ type: "boolean" }, text)).toBe(false);
  });
  it.each(["", "null", "2", "t", "y", "constructor", "ja"])("%j is not a boolean", (text) => {
    expect(typeOf(one({ type: "boolean" }, text))).toBe("bool_parsing");
  });

  it.each([
    ["0", 0],
    ["-0", 0],
    ["+7", 7],
    [" 42 ", 42],
    ["-12", -12],
    ["9007199254740991", 9_007_199_254_740_991],
  ])("%j is the whole number %d", (text, value) => expect(one({ type: "integer" }, text)).toBe(value));
  it.each(["", "1.5", "1e3", "0x10", "abc", "9007199254740992", "1 2", "NaN", "٣"])(
    "%j is not a whole number",
    (text) => {
      expect(typeOf(one({ type: "integer" }, text))).toBe("int_parsing");
    },
  );

  it.each([
    ["1", 1],
    ["-1.5", -1.5],
    [".5", 0.5],
    ["5.", 5],
    ["1e-3", 0.001],
  ])("%j is the number %d", (text, value) => expect(one({ type: "number" }, text)).toBe(value));
  it.each(["", "NaN", "Infinity", "1e999", "0x10", "1,5", "--1"])("%j is not a number", (text) => {
    expect(typeOf(one({ type: "number" }, text))).toBe("float_parsing");
  });

  it("checks the bounds of numbers", () => {
    const schema = { type: "integer", minimum: 1, maximum: 10 };
    expect(one(schema, "1")).toBe(1);
    expect(one(schema, "0")).toMatchObject([{ type: "greater_than_equal", ctx: { ge: 1 }, input: "0" }]);
    expect(one(schema, "11")).toMatchObject([{ type: "less_than_equal", ctx: { le: 10 } }]);
  });

  it("counts characters, not code units", () => {
    const schema = { type: "string", minLength: 2, maxLength: 3 };
    expect(one(schema, "😀😀😀")).toBe("😀😀😀");
    expect(one(schema, "😀")).toMatchObject([{ type: "sequence_too_short", ctx: { min_length: 2 } }]);
    expect(one(schema, "😀😀😀😀")).toMatchObject([{ type: "string_too_long", ctx: { max_length: 3 } }]);
    expect(one({ type: "string" }, "")).toBe("");
    expect(typeOf(one({ type: "string" }, "a\0b"))).toBe("string_type");
  });

  it("checks addresses and times", () => {
    expect(one({ type: "string", format: "uri" }, "https://a.example/x")).toBe("https://a.example/x");
    for (const text of ["a.example", "ftp://a.example", "https://u:p@a.example", "http://"]) {
      expect(typeOf(one({ type: "string", format: "uri" }, text))).toBe("url_parsing");
    }
    expect(one({ type: "string", format: "date-time" }, "2026-01-31T10:00:00Z")).toBe("2026-01-31T10:00:00Z");
    for (const text of ["yesterday", "2026-13-01T10:00:00", "2026-02-30T10:00:00", "2026-01-31T24:00", "2026"]) {
      expect(typeOf(one({ type: "string", format: "date-time" }, text))).toBe("datetime_parsing");
    }
  });

  it("checks options and names them", () => {
    expect(one({ type: "string", enum: ["a", "b"] }, "b")).toBe("b");
    expect(one({ type: ["string", "null"], enum: ["a", "b", null] }, "c")).toEqual([
      { type: "one_of", loc: ["body", "f"], msg: expect.any(String), ctx: { expected: ["a", "b"] }, input: "c" },
    ]);
    expect(one({ type: "integer", enum: [1, 2] }, "2")).toBe(2);
    expect(typeOf(one({ type: "integer", enum: [1, 2] }, "x"))).toBe("one_of");
  });

  it("reads arrays and objects from JSON and locates issues in them", () => {
    const list = { type: "array", items: { type: "integer", minimum: 0 }, minItems: 1, maxItems: 3 };
    expect(one(list, "[1, 2]")).toEqual([1, 2]);
    expect(one(list, "[]")).toMatchObject([{ type: "sequence_too_short", ctx: { min_length: 1 } }]);
    expect(one(list, "[1,2,3,4]")).toMatchObject([{ type: "sequence_too_long", ctx: { max_length: 3 } }]);
    expect(one(list, '[1,"x",-1]')).toMatchObject([
      { type: "int_parsing", loc: ["body", "f", 1] },
      { type: "greater_than_equal", loc: ["body", "f", 2], ctx: { ge: 0 } },
    ]);
    for (const text of ["1,2", "{}", "", '"x"', "null", "[1", "[1e999]"]) {
      expect(typeOf(one(list, text)), text).toBe("json_invalid");
    }
    const object = {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string", enum: ["x"] } },
      required: ["a"],
      additionalProperties: false,
    };
    expect(one(object, '{"a": "1"}')).toEqual({ a: "1" });
    expect(one(object, '{"b": "y", "c": 1}')).toMatchObject([
      { type: "missing", loc: ["body", "f", "a"] },
      { type: "one_of", loc: ["body", "f", "b"], ctx: { expected: ["x"] } },
      { type: "extra_forbidden", loc: ["body", "f", "c"] },
    ]);
    expect(typeOf(one(object, "[]"))).toBe("json_invalid");
  });

  it("refuses JSON that cannot be stored or serialized", () => {
    const object = { type: "object" };
    expect(one(object, '{"a": "\\\\u0000"}')).toEqual({ a: "\\u0000" });
    for (const text of ['{"a": "\\u0000"}', '{"a": "\\ud800"}', '{"\\udfff": 1}']) {
      expect(typeOf(one(object, text)), text).toBe("json_invalid");
    }
    expect(typeOf(one({ type: "array" }, "[".repeat(200_000) + "]".repeat(200_000)))).toBe("json_invalid");
  });

  it("reports at most twenty issues of one array", () => {
    const faults = one({ type: "array", items: { type: "integer" } }, JSON.stringify(Array(1000).fill("x")));
    expect(faults).toHaveLength(20);
  });

  it("echoes short values only", () => {
    expect(one({ type: "integer" }, "x".repeat(100))).toMatchObject([{ input: "x".repeat(100) }]);
    expect((one({ type: "integer" }, "x".repeat(101)) as object[])[0]).not.toHaveProperty("input");
  });
});

describe("null and defaults", () => {
  it.each(["", "null"])("%j is null in a nullable field and selects the default", (text) => {
    expect(check({ f: { type: ["boolean", "null"], default: true } }, [["f", text]]).values).toEqual({ f: true });
    expect(check({ f: { type: ["string", "null"] } }, [["f", text]])).toMatchObject({ values: {}, issues: [] });
  });

  it("reads both literally in a text that is not nullable", () => {
    expect(one({ type: "string", default: "x" }, "null")).toBe("null");
    expect(one({ type: "string", default: "x" }, "")).toBe("");
  });

  it("fills in defaults, except for required fields", () => {
    const fields = { a: { type: "string", default: "x" }, b: { type: "integer", default: 0 }, c: { type: "string" } };
    const { values, issues } = check(fields, [], ["a"]);
    expect(values).toEqual({ b: 0 });
    expect(issues).toEqual([{ type: "missing", loc: ["body", "a"], msg: "Field required" }]);
  });
});

describe("fields", () => {
  const image: FieldSchema = { type: ["string", "null"], format: "binary", "x-media": "image" };

  it("refuses unknown and repeated fields under the name they were sent with", () => {
    const fields = { prompt: { type: "string" }, image };
    const sent: [string, string][] = [
      ["prompt", "a"],
      ["prompt", "b"],
      ["image", "https://a.example/1"],
      ["i_image", "https://a.example/2"],
      ["i_prompt", "x"],
      ["toString", "x"],
      ["__proto__", "x"],
    ];
    const { issues, values, addresses } = check(fields, sent);
    expect(issues.map(({ type, loc }) => [type, loc[1]])).toEqual([
      ["extra_forbidden", "prompt"],
      ["extra_forbidden", "i_image"],
      ["extra_forbidden", "i_prompt"],
      ["extra_forbidden", "toString"],
      ["extra_forbidden", "__proto__"],
    ]);
    expect(values).toEqual({ prompt: "a" });
    expect(addresses.map(({ address }) => address)).toEqual(["https://a.example/1"]);
  });

  it("accepts both names of a file field, and treats an empty one as omitted", () => {
    expect(check({ image }, [["i_image", "s3://b/k"]]).addresses).toMatchObject([
      { sentAs: "i_image", address: "s3://b/k" },
    ]);
    expect(check({ image }, [["image", "null"]])).toMatchObject({ addresses: [], issues: [] });
    const strict: FieldSchema = { ...image, type: "string" };
    expect(check({ image: strict }, [["i_image", ""]], ["image"]).issues).toMatchObject([
      { type: "missing", loc: ["body", "image"] },
    ]);
    expect(check({ image: strict }, [["image", "null"]]).addresses).toMatchObject([{ address: "null" }]);
  });

  it("collects all issues", () => {
    const fields = { a: { type: "integer" }, b: { type: "boolean" }, c: { type: "string" } };
    const { issues } = check(
      fields,
      [
        ["a", "x"],
        ["b", "x"],
        ["d", "x"],
      ],
      ["c"],
    );
    expect(issues.map(({ type }) => type)).toEqual(["int_parsing", "bool_parsing", "extra_forbidden", "missing"]);
  });

  it("names missing fields if the body is not a form", () => {
    const ctx = { given: "text/plain" };
    expect(missingFields(plan({ a: { type: "string" }, b: { type: "string" } }, ["a", "b"]), ctx)).toEqual([
      { type: "missing", loc: ["body", "a"], msg: "Field required", ctx },
      { type: "missing", loc: ["body", "b"], msg: "Field required", ctx },
    ]);
    expect(missingFields(plan({ a: { type: "string" } }), ctx)).toEqual([
      { type: "missing", loc: ["body"], msg: "Field required", ctx },
    ]);
  });
});

describe("user", () => {
  const user = (text: string) => check({}, [["user", text]]);
  it("is an object with an id", () => {
    expect(user('{"id": 7, "high_priority": true, "team": "x"}').user).toEqual({
      id: 7,
      high_priority: true,
      team: "x",
    });
    expect(user('{"id": 7, "high_priority": null}').user).toEqual({ id: 7, high_priority: false });
    expect(user("null")).toMatchObject({ user: undefined, issues: [] });
  });
  it.each([
    ["x", "json_invalid", ["body", "user"]],
    ["[1]", "json_invalid", ["body", "user"]],
    ["{}", "missing", ["body", "user", "id"]],
    ['{"id": "7"}', "int_parsing", ["body", "user", "id"]],
    ['{"id": 1.5}', "int_parsing", ["body", "user", "id"]],
    ['{"id": null}', "int_parsing", ["body", "user", "id"]],
    ['{"id": 1, "high_priority": "yes"}', "bool_parsing", ["body", "user", "high_priority"]],
  ])("refuses %s", (text, type, loc) => expect(user(text).issues).toMatchObject([{ type, loc }]));
  it("is unknown on routes that do not accept it", () => {
    const entries = [
      { name: "user", value: '{"id":1}' },
      { name: "webhook", value: "{}" },
    ];
    const { issues } = checkFields<never>(plan({}), entries, { user: false, webhook: false });
    expect(issues.map(({ type }) => type)).toEqual(["extra_forbidden", "extra_forbidden"]);
  });
});

describe("webhook", () => {
  const webhook = (text: string) => check({}, [["webhook", text]]);
  it("is an address with headers and parameters", () => {
    const text =
      '{"url": "https://a.example/hook?x=1", "headers": {"X-A": "1", "N": 2}, "query_params": {"q": "é", "b": true}}';
    expect(webhook(text)).toMatchObject({
      issues: [],
      webhook: {
        url: "https://a.example/hook?x=1",
        headers: { "X-A": "1", N: "2" },
        query_params: { q: "é", b: "true" },
      },
    });
    expect(webhook('{"url": "http://a.example"}').webhook).toEqual({
      url: "http://a.example",
      headers: {},
      query_params: {},
    });
  });
  it.each(["", "null", '{"url":"","headers":{},"query_params":{}}'])("%j means no webhook", (text) => {
    expect(webhook(text)).toMatchObject({ webhook: undefined, issues: [] });
  });
  it.each([
    ["https://a.example", "json_invalid", ["body", "webhook"]],
    ['"https://a.example"', "json_invalid", ["body", "webhook"]],
    ["{}", "missing", ["body", "webhook", "url"]],
    ['{"url": "ftp://a.example"}', "url_parsing", ["body", "webhook", "url"]],
    ['{"url": "a.example"}', "url_parsing", ["body", "webhook", "url"]],
    ['{"url": 5}', "url_parsing", ["body", "webhook", "url"]],
    ['{"url": "https://u:p@a.example"}', "url_parsing", ["body", "webhook", "url"]],
    [`{"url": "https://a.example/${"x".repeat(2083)}"}`, "string_too_long", ["body", "webhook", "url"]],
    ['{"url": "https://a.example", "headers": []}', "json_invalid", ["body", "webhook", "headers"]],
    ['{"url": "https://a.example", "headers": {"A": {}}}', "string_type", ["body", "webhook", "headers", "A"]],
    [
      '{"url": "https://a.example", "headers": {"A": "x\\r\\nB: y"}}',
      "value_error",
      ["body", "webhook", "headers", "A"],
    ],
    ['{"url": "https://a.example", "headers": {"A B": "x"}}', "value_error", ["body", "webhook", "headers", "A B"]],
    ['{"url": "https://a.example", "query_params": "x"}', "json_invalid", ["body", "webhook", "query_params"]],
  ])("refuses %.60s", (text, type, loc) => expect(webhook(text).issues).toMatchObject([{ type, loc }]));
});
