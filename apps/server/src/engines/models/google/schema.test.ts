import { describe, expect, it } from "vitest";
import { schemaProblem } from "../test-upstreams/google.dialect.ts";
import { toGoogleParameters, toGoogleSchema } from "./schema.ts";

const free = { type: "string", description: "A JSON object, written as text." };
const any = { type: "string", description: "A JSON value, written as text." };

/** The schema in Gemini's form, and the restored value. */
function translated(schema: Record<string, unknown>, answered?: unknown) {
  const written = toGoogleSchema(schema);
  expect(schemaProblem(written.schema, "schema")).toBeUndefined();
  return { schema: written.schema, restored: written.restore ? written.restore(answered) : answered };
}

describe("toGoogleSchema", () => {
  it("bounds the size of resolved references", () => {
    const properties = Object.fromEntries(Array.from({ length: 1200 }, (_, n) => [`p${n}`, { $ref: "#/$defs/long" }]));
    const long = { type: "string", description: "d".repeat(25_000) };
    const described = translated({ type: "object", properties, $defs: { long } });
    expect(JSON.stringify(described.schema).length).toBeLessThan(500_000);

    const names = Array.from({ length: 12 }, (_, n) => `t${n}`);
    const all = Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }]));
    const $defs = Object.fromEntries(names.map((name) => [name, { type: "object", properties: all }]));
    const woven = translated({ type: "object", properties: all, $defs });
    expect(JSON.stringify(woven.schema).length).toBeLessThan(1_000_000);
  });

  it("resolves references and keeps supported keywords", () => {
    const given = {
      $defs: { size: { $ref: "#/$defs/real" }, real: { type: "string", enum: ["s", "m"], "x-note": 1 } },
      type: "object",
      properties: {
        size: { $ref: "#/$defs/size" },
        count: { type: ["integer", "null"], format: "int32", exclusiveMinimum: 0, maximum: 9, minLength: 1 },
        when: { type: "string", format: "email", description: "E-mail", title: 5 },
        either: { description: "Or", oneOf: [{ const: "a" }, { type: "number" }, { type: "null" }] },
        list: { type: "array", items: { type: "boolean" } },
      },
      required: ["size", "ghost"],
    };
    expect(translated(given).schema).toEqual({
      type: "object",
      properties: {
        size: { type: "string", enum: ["s", "m"] },
        count: { type: "integer", nullable: true, format: "int32", maximum: 9 },
        when: { type: "string", description: "E-mail" },
        either: {
          anyOf: [
            { type: "string", enum: ["a"], nullable: true, description: "Or" },
            { type: "number", nullable: true, description: "Or" },
          ],
        },
        list: { type: "array", items: { type: "boolean" } },
      },
      required: ["size"],
    });
  });

  it("asks for values without a schema as text at every depth and parses them", () => {
    const given = {
      type: "object",
      properties: {
        headers: { type: "object", additionalProperties: { type: "string" }, description: "By name." },
        deep: { type: "object", properties: { list: { type: "array", items: { type: "object" } } } },
        any: {},
        list: { type: "array" },
        plain: { type: "string" },
        nothing: { type: ["object", "null"] },
      },
    };
    const answered = {
      headers: '{"a":"b"}',
      deep: { list: ['{"c":1}', "{broken", "[1]"] },
      any: "[1,null]",
      list: ['"x"', "y", "null", 5],
      plain: '{"stays":"text"}',
      nothing: null,
      unknown: '{"stays":1}',
    };
    const { schema, restored } = translated(given, answered);
    expect(schema.properties).toEqual({
      headers: {
        type: "string",
        description:
          'By name.\nA JSON object, written as text. Its JSON Schema: {"type":"object","additionalProperties":{"type":"string"}}',
      },
      deep: { type: "object", properties: { list: { type: "array", items: free } } },
      any,
      list: { type: "array", items: any },
      plain: { type: "string" },
      nothing: expect.objectContaining({ type: "string", nullable: true }),
    });
    expect(restored).toEqual({
      headers: { a: "b" },
      // Invalid JSON, or JSON of another type, is left for the tool's own schema to refuse.
      deep: { list: [{ c: 1 }, "{broken", "[1]"] },
      any: [1, null],
      list: ["x", "y", null, 5],
      plain: '{"stays":"text"}',
      nothing: null,
      unknown: '{"stays":1}',
    });
  });

  it("accepts an object in place of its text", () => {
    const given = { type: "object", properties: { headers: { type: "object" } } };
    expect(translated(given, { headers: { a: 1 } }).restored).toEqual({ headers: { a: 1 } });
  });

  it("asks for enums of numbers and booleans as text", () => {
    const given = {
      type: "object",
      properties: {
        level: { type: "integer", enum: [1, 2, null], default: 1 },
        version: { const: 3 },
        mixed: { enum: ["a", true] },
        blank: { enum: ["", "x"] },
      },
    };
    const { schema, restored } = translated(given, { level: "2", version: 3, mixed: "true", blank: "" });
    expect(schema.properties).toEqual({
      level: { type: "string", enum: ["1", "2"], nullable: true },
      version: { type: "string", enum: ["3"] },
      mixed: { type: "string", enum: ["a", "true"] },
      blank: { type: "string", description: 'One of: ["","x"]' },
    });
    expect(restored).toEqual({ level: 2, version: 3, mixed: true, blank: "" });
  });

  it("distinguishes an object from a plain text alternative", () => {
    const given = { type: "object", properties: { body: { type: ["string", "object", "null"] } } };
    const { schema, restored } = translated(given, { body: { value: '{"a":1}' } });
    expect(schema.properties).toMatchObject({
      body: { anyOf: [{ type: "string" }, { type: "object", properties: { value: { type: "string" } } }] },
    });
    expect(restored).toEqual({ body: { a: 1 } });
    expect(translated(given, { body: '{"a":1}' }).restored).toEqual({ body: '{"a":1}' });
    expect(translated(given, { body: null }).restored).toEqual({ body: null });
  });

  it("restores a value with the alternative that it fits", () => {
    const kind = (name: string, data: unknown) => ({
      type: "object",
      properties: { kind: { const: name }, data },
      required: ["kind"],
    });
    const given = {
      type: "object",
      properties: { one: { anyOf: [kind("object", { type: "object" }), kind("text", { type: "string" })] } },
    };
    expect(translated(given, { one: { kind: "object", data: '{"a":1}' } }).restored).toEqual({
      one: { kind: "object", data: { a: 1 } },
    });
    expect(translated(given, { one: { kind: "text", data: '{"a":1}' } }).restored).toEqual({
      one: { kind: "text", data: '{"a":1}' },
    });
  });

  it.each([
    ["alternatives without a type", { anyOf: [{}, {}] }],
    ["conditions beside properties", { properties: { a: { type: "string" } }, anyOf: [{ required: ["a"] }] }],
    ["conditions beside a type", { type: "string", anyOf: [{ pattern: "a" }, { minLength: 3 }] }],
    ["parts put together", { allOf: [{ properties: { a: { type: "string" } } }, { $ref: "#/$defs/b" }] }],
    ["parts of a text", { allOf: [{ type: "string" }, { minLength: 3 }] }],
    ["places of a list", { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] }],
    [
      "an alternative within an alternative",
      { anyOf: [{ anyOf: [{ type: "string" }, { type: "number" }] }, { type: "boolean" }] },
    ],
    ["nothing but null", { type: "null" }],
    ["words that every object knows", { type: "string", constructor: "x", toString: 1 }],
    ["a type that every object knows", { type: "constructor" }],
    ["no schema at all", true],
    ["a reference to nowhere", { $ref: "#/$defs/nowhere" }],
  ])("has a form for %s that Gemini takes", (_, part) => {
    const $defs = { b: { type: "object", properties: { b: { type: "object" } }, required: ["b"] } };
    translated({ $defs, type: "object", properties: { part } });
    if (typeof part === "object") translated({ $defs, ...part });
  });

  it("terminates on a recursive schema", () => {
    const node = { type: "object", properties: { left: { $ref: "#" }, right: { $ref: "#/" } } };
    const endless = {
      $defs: { n: { type: "object", properties: { l: { $ref: "#/$defs/n" }, r: { $ref: "#/$defs/n" } } } },
      properties: { a: { $ref: "#/$defs/n" }, b: { $ref: "#/$defs/loop" }, c: node },
    };
    const { schema, restored } = translated(endless, { a: { l: '{"l":{"l":{}}}' } });
    expect(JSON.stringify(schema).length).toBeLessThan(10_000);
    expect(restored).toEqual({ a: { l: { l: { l: {} } } } });
    const many = Array.from({ length: 12 }, () => ({ $ref: "#/$defs/many" }));
    const started = performance.now();
    translated({ $defs: { many: { anyOf: many, properties: { a: { $ref: "#/$defs/many" } } } }, $ref: "#/$defs/many" });
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  // Without a bound these would take minutes, beyond the time limit of a test.
  const indexes = (count: number) => Array.from({ length: count }, (_, n) => n);
  const repeated = (part: object) => ({
    $defs: { a: part },
    properties: Object.fromEntries(indexes(1900).map((n) => [`p${n}`, { $ref: "#/$defs/a" }])),
  });

  const wide = (n: number) => ({
    properties: Object.fromEntries(indexes(250).map((name) => [`p${name}`, { const: n }])),
  });
  const described = (n: number) => ({ type: "object", description: `${n}` });
  const keywords = (count: number) => Object.fromEntries(indexes(count).map((n) => [`x-${n}`, n]));
  const long = "x".repeat(8_000_000);
  const beside = (outer: object) => ({
    properties: { a: { ...outer, anyOf: indexes(100_000).map(() => ({ type: "object" })) } },
  });

  it.each<[what: string, schema: () => Record<string, unknown>]>([
    ["a union with many properties", () => ({ anyOf: indexes(1999).map(wide) })],
    ["references to a long enumeration", () => repeated({ enum: indexes(500_000).map(String) })],
    ["references to a long keyword", () => repeated({ type: "object", "x-long": long })],
    ["references to many keywords", () => repeated(keywords(50_000))],
    ["references to many types", () => repeated({ type: indexes(300_000).map(String) })],
    ["references to a long constant", () => repeated({ const: { x: long } })],
    ["references to a long default", () => repeated({ type: "string", default: { x: long } })],
    ["references to a long part", () => repeated({ allOf: [{ properties: { a: { default: { x: long } } } }] })],
    ["references to a long reference", () => repeated({ $ref: `#/${"x/".repeat(4_000_000)}` })],
    ["alternatives beside many keywords", () => beside(keywords(90_000))],
    ["alternatives beside a long description", () => beside({ description: "x".repeat(80_000) })],
    [
      "types beside many keywords",
      () => ({ properties: { a: { type: indexes(100_000).map(String), ...keywords(90_000) } } }),
    ],
    ["many alternatives", () => ({ properties: { a: { anyOf: indexes(200_000).map(described) } } })],
    ["many parts", () => ({ properties: { a: { allOf: indexes(200_000).map(() => ({ type: "string" })) } } })],
  ])("ends soon for %s", (_, schema) => {
    expect(JSON.stringify(toGoogleSchema(schema()).schema).length).toBeLessThan(50_000_000);
  });
});

describe("toGoogleParameters", () => {
  it("is undefined for a tool without parameters", () => {
    expect(toGoogleParameters({ type: "object" }, false)).toBeUndefined();
    expect(toGoogleParameters({ type: "object", properties: {}, additionalProperties: false }, false)).toBeUndefined();
  });

  it("wraps parameters and answers without a schema in one field", () => {
    for (const offered of [
      toGoogleParameters({ type: "object", additionalProperties: true }, false),
      toGoogleParameters({ type: "object" }, true),
    ]) {
      expect(offered?.schema).toMatchObject({ type: "object", properties: { value: { type: "string" } } });
      expect(offered?.restore?.({ value: '{"a":1}' })).toEqual({ a: 1 });
    }
    const list = toGoogleParameters({ type: "array", items: { type: "number" } }, true);
    expect(list?.schema.properties).toEqual({ value: { type: "array", items: { type: "number" } } });
    expect(list?.restore?.({ value: [1] })).toEqual([1]);
  });

  it("turns a union of objects into an object", () => {
    const union = {
      oneOf: [
        { type: "object", properties: { kind: { const: "a" }, n: { type: "number" } }, required: ["kind", "n"] },
        { type: "object", properties: { kind: { const: "b" }, t: { type: "string" } }, required: ["kind"] },
      ],
    };
    expect(toGoogleParameters(union, false)?.schema).toMatchObject({
      type: "object",
      properties: { kind: { type: "string", enum: ["a", "b"] }, n: { type: "number" }, t: { type: "string" } },
      required: ["kind"],
      description: expect.stringContaining("exactly one"),
    });
  });
});
