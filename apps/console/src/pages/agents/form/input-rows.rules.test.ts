import { expect, test } from "vitest";
import { nameFault, newRow, rowsOf, withRows } from "./input-rows.rules.ts";

const schema = {
  type: "object",
  additionalProperties: false,
  required: ["topic"],
  properties: {
    topic: { type: "string", description: "What it is about", minLength: 2 },
    either: { type: ["string", "null"] },
    nested: { anyOf: [{ type: "string" }] },
  },
};

test("a schema survives the way into rows and back", () => {
  expect(withRows(schema, rowsOf(schema))).toEqual(schema);
  expect(rowsOf({})).toEqual([]);
});

test("what the form does not show of a field is kept when the rest changes", () => {
  const [topic, ...others] = rowsOf(schema);
  if (!topic) throw new Error("no row");
  const changed = withRows(schema, [{ ...topic, name: "subject", required: false }, ...others]);
  expect(changed).toMatchObject({ properties: { subject: { type: "string", minLength: 2 } } });
  expect(changed).not.toHaveProperty("required");
});

test("a row without a name is no field, and a name stands once", () => {
  expect(withRows({}, [newRow])).toEqual({ type: "object", properties: {} });
  const rows = [{ ...newRow, name: "a" }, newRow, { ...newRow, name: "a" }];
  expect(rows.map((_, at) => nameFault(rows, at))).toEqual([undefined, undefined, "Another field has this name"]);
});
