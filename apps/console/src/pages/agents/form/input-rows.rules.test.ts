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

test("a schema survives the conversion to rows and back", () => {
  expect(withRows(schema, rowsOf(schema))).toEqual(schema);
  expect(rowsOf({})).toEqual([]);
});

test("keywords that the form does not show are kept", () => {
  const [topic, ...others] = rowsOf(schema);
  if (!topic) throw new Error("no row");
  const changed = withRows(schema, [{ ...topic, name: "subject", required: false }, ...others]);
  expect(changed).toMatchObject({ properties: { subject: { type: "string", minLength: 2 } } });
  expect(changed).not.toHaveProperty("required");
});

test("rows without a name are left out, and duplicate names are reported", () => {
  expect(withRows({}, [newRow])).toEqual({ type: "object", properties: {} });
  const rows = [{ ...newRow, name: "a" }, newRow, { ...newRow, name: "a" }];
  expect(rows.map((_, at) => nameFault(rows, at))).toEqual([undefined, undefined, "Another field has this name"]);
});
