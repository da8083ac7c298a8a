import type { FieldSchema } from "@gantry/wire";
import { expect, test } from "vitest";
import type { Fault } from "../../../kernel/errors.ts";
import type { StoredOutput } from "../prediction.ts";
import { checkedOutput } from "./output-check.rules.ts";

const schema = (field: FieldSchema, required = ["v"]) => ({
  type: "object" as const,
  properties: { v: field },
  required,
});
const file = { type: "string", format: "binary" };

function faultOf(field: FieldSchema, output: StoredOutput, required?: string[]): string | undefined {
  try {
    checkedOutput(schema(field, required), output);
    return undefined;
  } catch (error) {
    return (error as Fault).type;
  }
}

test("an output that satisfies its schema passes", () => {
  const values: [field: FieldSchema, value: StoredOutput[string]][] = [
    [{ type: "string" }, ""],
    [{ type: "integer" }, 3],
    [{ type: "number" }, 3],
    [{ type: "number" }, 0.5],
    [{ type: "boolean" }, false],
    [{ type: "array" }, []],
    [{ type: "array", items: { type: "string" } }, ["a"]],
    [{ type: "object" }, {}],
    [{ type: ["string", "null"] }, null],
    [{ type: "string", enum: ["a", "b"] }, "a"],
    [{ type: ["string", "null"], enum: ["a", "b"] }, null],
    [{ type: "number", minimum: 0, maximum: 1 }, 1],
    [{ type: "string", maxLength: 2 }, "😀😀"],
    [{ type: "array", enum: [[1, { a: 1, b: 2 }]] }, [1, { b: 2, a: 1 }]],
    [
      { type: "object", properties: { k: { type: "integer" } }, required: ["k"] },
      { k: 1, more: [] },
    ],
    [{ type: "string", format: "uri" }, "https://a.example"],
    // Seeds may exceed the integers that a double represents exactly.
    [{ type: "integer" }, 2 ** 60],
    [{}, [1]],
    // A stored file is an address in the output.
    [file, "s3://a/b"],
  ];
  for (const [field, v] of values) expect(checkedOutput(schema(field), { v }), JSON.stringify(field)).toEqual({ v });
  expect(checkedOutput(schema({ type: "string" }, []), {})).toEqual({});
});

test("a null in a field that is not nullable is dropped", () => {
  expect(checkedOutput(schema({ type: "integer" }, []), { v: null })).toEqual({});
  expect(faultOf({ type: "integer" }, { v: null })).toBe("downstream_service_error");
});

test("fields that the manifest does not name are dropped", () => {
  const given = { v: "a", w: "b", constructor: "c" };
  expect(checkedOutput(schema({ type: "string" }), given)).toEqual({ v: "a" });
  expect(given).toHaveProperty("w");
  expect(faultOf({ type: "string" }, { w: "b" })).toBe("downstream_service_error");
});

test("an invalid or missing field is an error of the upstream", () => {
  const values: [field: FieldSchema, value: StoredOutput[string]][] = [
    [{ type: "string" }, 1],
    [{ type: "string" }, { a: 1 }],
    [{ type: "integer" }, 1.5],
    [{ type: "integer" }, "1"],
    [{ type: "number" }, "1"],
    [{ type: "boolean" }, "true"],
    [{ type: "array" }, "[]"],
    [{ type: "array", items: { type: "string" } }, [1]],
    [{ type: "object" }, []],
    [{ type: "string", enum: ["a", "b"] }, "c"],
    [{ type: "number", minimum: 0, maximum: 1 }, 5],
    [{ type: "string", maxLength: 2 }, "long"],
    [{ type: "string", minLength: 2 }, "😀"],
    [{ type: "array", minItems: 1 }, []],
    [{ type: "array", maxItems: 1 }, [1, 2]],
    [{ type: "array", items: { type: "array", items: { type: "integer" } } }, [[1], ["1"]]],
    [{ type: "array", enum: [[1, 2]] }, [2, 1]],
    [{ type: "object", properties: { k: { type: "integer" } } }, { k: "z" }],
    [{ type: "object", required: ["k"], properties: { k: {} } }, {}],
    [{ type: "object", additionalProperties: false }, { z: 1 }],
    [{ type: "string", format: "uri" }, "mailto:a@b"],
    [{ type: "string", format: "date-time" }, "soon"],
  ];
  for (const [field, v] of values) {
    expect(faultOf(field, { v }), JSON.stringify(field)).toBe("downstream_service_error");
  }
  expect(faultOf({ type: "string" }, {})).toBe("downstream_service_error");
});

test("a model that creates files must return one", () => {
  expect(faultOf(file, {})).toBe("no_media_generated");
  expect(faultOf(file, {}, [])).toBe("no_media_generated");
  expect(faultOf(file, { v: null }, [])).toBe("no_media_generated");
});
