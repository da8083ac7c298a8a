import { expect, test } from "vitest";
import { checkRequired, fieldOf, inputOf } from "./input.rules.ts";

const schema = {
  type: "object",
  properties: {
    city: { type: "string" },
    days: { type: "integer" },
    factor: { type: ["number", "null"] },
    loud: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    sizes: { type: "array", items: { type: "number" } },
    more: { type: "object" },
  },
};

const read = (...words: string[]) =>
  inputOf(
    words.map(fieldOf).map(({ key, kind, value }) => ({ key, value, isJson: kind === "json" })),
    schema,
  );

test("fields are converted to the types of the schema", () => {
  expect(
    read("city=1=one", "days=3", "factor=null", "loud=true", "tags=a", "sizes=[1,2]", 'more={"a":1}', "other=7"),
  ).toEqual({
    city: "1=one",
    days: 3,
    factor: null,
    loud: true,
    tags: ["a"],
    sizes: [1, 2],
    more: { a: 1 },
    other: "7",
  });
  expect(read("tags=a", "tags=b", "sizes=1.5", "sizes=2", "n:=5", "city:=null")).toEqual({
    tags: ["a", "b"],
    sizes: [1.5, 2],
    n: 5,
    city: null,
  });
  expect(Object.keys(read("__proto__=x"))).toEqual(["__proto__"]);
});

test("where the text of a field comes from", () => {
  expect(fieldOf("text=@notes.txt")).toEqual({ key: "text", kind: "file", value: "notes.txt" });
  expect(fieldOf("text=-")).toEqual({ key: "text", kind: "stdin", value: "-" });
  expect(fieldOf("text=")).toEqual({ key: "text", kind: "text", value: "" });
});

test.each([
  ["days=2.5", 'days must be a whole number, not "2.5".'],
  ["loud=yes", 'loud must be true or false, not "yes".'],
  ["factor=many", 'factor must be a number or null, not "many".'],
  ["sizes=x", 'sizes must be a number, not "x".'],
  ["more=x", 'more must be a JSON object, not "x".'],
  ["n:=x", "n is not valid JSON"],
  ["hello", "hello is not a field of the input. Use KEY=VALUE or KEY:=JSON."],
])("%s is refused", (word, message) => {
  expect(() => read(word)).toThrow(message);
});

test("missing fields are named as they are typed", () => {
  expect(() => checkRequired({ days: 3 }, { ...schema, required: ["city", "days", "tags"] })).toThrow(
    "Missing fields: city=VALUE tags=VALUE",
  );
  expect(() => checkRequired({ city: "Rome" }, schema)).not.toThrow();
});
