import { describe, expect, it } from "vitest";
import { objectParameters } from "./tool-parameters.ts";

const a = { type: "object", properties: { kind: { const: "a" }, n: { type: "number" } }, required: ["kind", "n"] };
const b = { type: "object", properties: { kind: { const: "b" }, t: { type: "string" } }, required: ["kind"] };

describe("objectParameters", () => {
  it("does not confuse a field of the value with the wrapper", () => {
    const one = { type: "object", properties: { value: { type: "object" } }, required: ["value"] };
    const { schema, restore } = objectParameters({ anyOf: [one, { type: "string" }] });
    expect(schema.required).toEqual(["wrapped_value"]);
    expect(restore?.({ value: { a: 1 } })).toEqual({ value: { a: 1 } });
    expect(restore?.({ wrapped_value: { value: { a: 1 } } })).toEqual({ value: { a: 1 } });
  });

  it("leaves an object unchanged", () => {
    const schema = { type: "object", properties: { x: { anyOf: [{ type: "string" }] } }, additionalProperties: false };
    expect(objectParameters(schema)).toEqual({ schema });
    expect(objectParameters({ properties: {} })).toEqual({ schema: { type: "object", properties: {} } });
  });

  it("folds a union of objects into one and describes the alternatives", () => {
    const { schema, restore } = objectParameters({ description: "A or b.", oneOf: [a, b] });
    expect(restore).toBeUndefined();
    expect(schema).not.toHaveProperty("oneOf");
    expect(schema).toMatchObject({
      type: "object",
      properties: { kind: { enum: ["a", "b"] }, n: { type: "number" }, t: { type: "string" } },
      required: ["kind"],
    });
    expect(schema.description).toMatch(/^A or b\.\nIt must match exactly one of these schemas: \[\{/);
  });

  it("keeps properties next to conditions on them", () => {
    const properties = { url: { type: "string" }, file: { type: "string" } };
    const anyOf = [{ required: ["url"] }, { required: ["file"] }];
    const { schema } = objectParameters({ type: "object", properties, anyOf, additionalProperties: false });
    expect(schema).toMatchObject({ type: "object", properties, required: [], additionalProperties: false });
    expect(schema).not.toHaveProperty("anyOf");
  });

  it("merges the parts of an object, with references, and keeps definitions", () => {
    const $defs = { b, t: { type: "string" } };
    const { schema } = objectParameters({
      allOf: [{ properties: { x: { $ref: "#/$defs/t" } } }, { $ref: "#/$defs/b" }],
      $defs,
    });
    expect(schema).toMatchObject({ $defs, properties: { x: { $ref: "#/$defs/t" }, t: {} }, required: ["kind"] });
    const referred = objectParameters({ $ref: "#/definitions/b", definitions: { b } });
    expect(referred.schema).toMatchObject({ ...b, definitions: { b } });
    expect(referred.schema).not.toHaveProperty("$ref");
  });

  it.each([
    ["a list", { type: "array", items: { $ref: "#/$defs/x" }, $defs: { x: { type: "number" } } }, [1]],
    ["a choice", { enum: ["a", "b"] }, "a"],
    ["a union with something else", { anyOf: [a, { type: "array" }] }, [1]],
    [
      "a union that refers into itself",
      { anyOf: [a, { properties: { x: { $ref: "#/anyOf/0/properties/n" } } }] },
      { x: 1 },
    ],
  ])("asks for %s as a field, and takes it out again", (_, given, value) => {
    const { schema, restore } = objectParameters(given);
    expect(schema).toMatchObject({ type: "object", properties: { value: {} }, required: ["value"] });
    expect(restore?.({ value })).toEqual(value);
    const refs = JSON.stringify(schema).match(/"#[^"]*"/g) ?? [];
    for (const ref of refs) expect(ref).toMatch(/^"#\/properties\/value\//);
  });

  it("terminates on a union that refers to itself", () => {
    const many = Array.from({ length: 12 }, () => ({ $ref: "#/$defs/many" }));
    const started = performance.now();
    objectParameters({ $ref: "#/$defs/many", $defs: { many: { anyOf: many } } });
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  // Without a bound these would take minutes, beyond the time limit of a test.
  const indexes = (count: number) => Array.from({ length: count }, (_, n) => n);
  const wide = (count: number, part: (n: number) => object) => ({
    properties: Object.fromEntries(indexes(count).map((n) => [`p${n}`, part(n)])),
  });

  const references = (part: object) => ({
    anyOf: indexes(1500).map(() => ({ $ref: "#/$defs/a" })),
    $defs: { a: part },
  });

  it.each<[what: string, schema: () => Record<string, unknown>]>([
    ["many properties", () => ({ anyOf: indexes(1999).map((n) => wide(250, () => ({ const: n }))) })],
    ["references to many properties", () => references(wide(50_000, () => ({})))],
    ["references to many required names", () => references({ required: indexes(200_000).map(String) })],
    ["references to many nulls", () => references({ anyOf: indexes(200_000).map(() => ({ type: "null" })) })],
  ])("does not fold a union with %s", (_, schema) => {
    expect(objectParameters(schema()).schema.required).toEqual(["value"]);
  });

  it("folds nested parts with many properties of one name", () => {
    const nested = (levels: number, n: number): object =>
      levels === 0 ? wide(20, () => ({ const: n })) : { allOf: [nested(levels - 1, n)] };
    const { schema } = objectParameters({ anyOf: indexes(180).map((n) => nested(6, n)) });
    expect(schema.properties).toMatchObject({ p19: { enum: indexes(180) } });
  });

  it("describes alternatives that repeat a large schema by their start", () => {
    const large = wide(1, () => ({ description: "x".repeat(1_000_000) }));
    const { schema } = objectParameters(references(large));
    expect(schema.properties).toEqual(large.properties);
    expect(String(schema.description).length).toBeLessThan(3000);
  });

  it("lists equal alternatives once, also if one is a reference", () => {
    const part = { properties: { x: { type: "string", minLength: 1 } } };
    const anyOf = [{ $ref: "#/$defs/p" }, { $ref: "#/$defs/p" }, structuredClone(part), a];
    expect(objectParameters({ anyOf, $defs: { p: part } }).schema.properties).toMatchObject(part.properties);
  });
});
