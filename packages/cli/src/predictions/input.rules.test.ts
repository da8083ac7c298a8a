import type { ObjectSchema } from "@gantry/sdk";
import { expect, test } from "vitest";
import { checkNames, describeField, fieldValue, readFields } from "./input.rules.ts";

const schema: ObjectSchema = {
  type: "object",
  required: ["prompt"],
  properties: {
    prompt: { type: "string", default: "a lighthouse" },
    steps: { type: ["integer", "null"], minimum: 1, maximum: 8 },
    style: { type: "string", enum: ["oil", "ink"] },
    sharp: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    photo: { type: "string", format: "binary", "x-media": "image" },
    photos: { type: "array", items: { type: "string", format: "binary" } },
    extra: { type: "object" },
  },
};
const read = (...words: string[]) => readFields(words, schema).map(({ name, form, value }) => [name, form, value]);
const convert = (name: string, text: string) => fieldValue(name, schema.properties[name] ?? {}, text);

test("words become fields, and text without a name is the prompt", () => {
  expect(read("style=ink", "steps:=3", "photo=@a b.png", "prompt=-", "photos=@-", "tags=a=b")).toEqual([
    ["style", "text", "ink"],
    ["steps", "json", "3"],
    ["photo", "file", "a b.png"],
    ["prompt", "stdin", ""],
    ["photos", "stdin-file", ""],
    ["tags", "text", "a=b"],
  ]);
  expect(read("a sea")).toEqual([["prompt", "text", "a sea"]]);
  expect(read("Solve x=2 for me")).toEqual([["prompt", "text", "Solve x=2 for me"]]);
  expect(() => read("stlye=ink")).toThrow("Unknown field stlye. Did you mean style?");
  expect(() => readFields(["hello"], { type: "object", properties: { n: {} } })).toThrow("Write hello as FIELD=VALUE");
});

test("values get the type of their field, or the message says what is allowed", () => {
  expect([convert("steps", "8"), convert("sharp", "Yes"), convert("prompt", "12")]).toEqual([8, true, "12"]);
  expect([convert("tags", "one"), convert("tags", '["a","b"]')]).toEqual(["one", ["a", "b"]]);
  expect(convert("extra", '{"a": [1]}')).toEqual({ a: [1] });
  expect(() => convert("steps", "9")).toThrow('steps must be a whole number from 1 to 8, not "9".');
  expect(() => convert("steps", "1.5")).toThrow("whole number");
  expect(() => convert("sharp", "maybe")).toThrow("sharp must be true or false");
  expect(() => convert("style", "oils")).toThrow("style must be one of: oil, ink");
  expect(() => convert("extra", "{a}")).toThrow("extra must be a JSON object");
  expect(describeField(schema.properties.photo ?? {})).toBe("an image file, as @path or a URL");
});

test("missing and repeated fields are reported before the call", () => {
  const check = (...words: string[]) => checkNames(readFields(words, schema), schema);
  expect(() => check("style=ink")).toThrow("Missing field: prompt=TEXT");
  expect(() => check("prompt=a", "prompt=b")).toThrow("Give prompt only once.");
  expect(() => check("prompt=a", "tags=a", "tags=b", "photos=@a", "photos=@b")).not.toThrow();
});
