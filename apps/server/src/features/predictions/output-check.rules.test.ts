import type { FieldSchema } from "@gantry/wire";
import { expect, test } from "vitest";
import { outputFault } from "./output-check.rules.ts";

const schema = (field: FieldSchema, required = ["v"]) => ({
  type: "object" as const,
  properties: { v: field },
  required,
});

test("an output of the promised type passes", () => {
  const values: [type: string | string[], value: unknown][] = [
    ["string", ""],
    ["integer", 3],
    ["number", 3],
    ["number", 0.5],
    ["boolean", false],
    ["array", []],
    ["object", {}],
    [["string", "null"], null],
  ];
  for (const [type, v] of values) expect(outputFault(schema({ type }), { v }), String(type)).toBeUndefined();
  expect(outputFault(schema({}), { v: [1] })).toBeUndefined();
  expect(outputFault(schema({ type: "string" }, []), {})).toBeUndefined();
  // A stored file stands in it as its address.
  expect(outputFault(schema({ type: "string", format: "binary" }), { v: "s3://a/b" })).toBeUndefined();
});

test("one of another type, or without a required field, is the upstream's fault", () => {
  const values: [type: string, value: unknown][] = [
    ["string", 1],
    ["string", null],
    ["string", { a: 1 }],
    ["integer", 1.5],
    ["integer", "1"],
    ["number", "1"],
    ["boolean", "true"],
    ["array", "[]"],
    ["object", []],
  ];
  for (const [type, v] of values) {
    expect(outputFault(schema({ type }), { v })?.type, type).toBe("downstream_service_error");
  }
  expect(outputFault(schema({ type: "string" }), {})?.type).toBe("downstream_service_error");
  expect(outputFault(schema({ type: "string", format: "binary" }), {})?.type).toBe("no_media_generated");
});
