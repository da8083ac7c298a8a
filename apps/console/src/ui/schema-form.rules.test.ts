import { expect, test } from "vitest";
import { hint, readFields, schemaFields, typedFrom, withUnshown } from "./schema-form.rules.ts";

const fields = schemaFields({
  required: ["topic"],
  properties: {
    depth: { type: "integer", minimum: 1, maximum: 5, default: 2, description: "How deep" },
    topic: { type: "string", description: "What it is about" },
    name: { type: ["string", "null"], maxLength: 80, title: "Full name" },
    style: { type: ["string", "null"], enum: ["plain", "formal", null] },
    size: { type: "integer", enum: [1, 2] },
    urgent: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    places: { type: "array", items: { type: "object" } },
    either: { type: ["string", "object"] },
    password: { type: "string", writeOnly: true },
  },
});
const of = (name: string) => fields.find((field) => field.name === name);

test("fields get an input of their type, required ones first", () => {
  expect(fields.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    "topic paragraph",
    "depth number",
    "name text",
    "style choice",
    "size number",
    "urgent yes-no",
    "tags lines",
    "places json",
    "either json",
    "password secret",
  ]);
  expect(of("depth")).toMatchObject({ initial: "2", hint: "How deep. Between 1 and 5.", label: "depth" });
  expect(of("name")).toMatchObject({ initial: "", hint: undefined, label: "Full name" });
  expect(of("style")?.choices).toEqual(["plain", "formal"]);
  expect(of("places")?.hint).toBe("JSON list.");
});

test("entered text is parsed, and empty fields are left out", () => {
  const typed = { topic: "piers ", name: " Ann ", urgent: "false", tags: "a\n\n b ", places: "[{}]", either: "null" };
  expect(readFields(fields, { ...typed, password: " with spaces " })).toEqual({
    values: {
      topic: "piers ",
      depth: 2,
      name: "Ann",
      urgent: false,
      tags: ["a", "b"],
      places: [{}],
      either: null,
      password: " with spaces ",
    },
    faults: {},
  });
});

test("missing and invalid values are reported by field", () => {
  expect(readFields(fields, { depth: "deep", places: "[a]" }).faults).toEqual({
    topic: "This field is required",
    depth: "Must be a number",
    places: "Invalid JSON",
  });
});

test("a hint consists of sentences", () => {
  expect(hint("Ids.", ["One per line."])).toBe("Ids. One per line.");
  expect(hint("Ids", [undefined])).toBe("Ids");
  expect(hint(undefined, [])).toBeUndefined();
});

test("the input of an earlier run is read back as it was", () => {
  const earlier = { topic: "piers", urgent: false, tags: ["a", "b"], places: [{ x: 1 }], either: null, size: 2 };
  expect(readFields(fields, typedFrom(fields, earlier))).toEqual({ values: earlier, faults: {} });
  // A default would add a field that the earlier run did not have.
  expect(typedFrom(fields, earlier).depth).toBe("");
});

test("a field that was not edited keeps a value that its text does not express", () => {
  const earlier = { topic: " ", name: " Ann ", tags: ["a\nb", " c"], size: null, places: "[", urgent: null };
  const typed = typedFrom(fields, earlier);
  expect(readFields(fields, typed, earlier)).toEqual({ values: earlier, faults: {} });
  expect(readFields(fields, { ...typed, tags: "a\n c", topic: "" }, earlier)).toEqual({
    values: { ...earlier, tags: ["a", "c"], topic: undefined },
    faults: { topic: "This field is required" },
  });
});

test("values that the form does not show are kept, unless the schema refuses them", () => {
  const schema = { properties: { topic: { type: "string" }, depth: { type: "integer" } } };
  const earlier = { topic: "piers", depth: 2, trace: { id: 1 } };
  expect(withUnshown(schema, { topic: "boats" }, earlier)).toEqual({ topic: "boats", trace: { id: 1 } });
  expect(withUnshown({ ...schema, additionalProperties: false }, { topic: "boats" }, earlier)).toEqual({
    topic: "boats",
  });
  const some = { ...schema, additionalProperties: false, patternProperties: { "^t": {} } };
  expect(withUnshown(some, { topic: "boats" }, earlier)).toEqual({ topic: "boats", trace: { id: 1 } });
});

test("an input without changes is the earlier one itself", () => {
  const schema = { properties: { topic: { type: "string" } } };
  const earlier = { topic: "piers", trace: 1 };
  expect(withUnshown(schema, { topic: "piers" }, earlier)).toBe(earlier);
  expect(withUnshown(schema, {}, earlier)).toEqual({ trace: 1 });
  expect(withUnshown({ ...schema, additionalProperties: false }, { topic: "piers" }, earlier)).toEqual({
    topic: "piers",
  });
});
