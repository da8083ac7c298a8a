import { describe, expect, test } from "vitest";
import { chatFields, shownInput } from "./chat-input.rules.ts";

const text = { type: "string" };
const schema = (properties: object, required: string[] = []) => ({ type: "object", properties, required });

describe("the field that a message fills", () => {
  test.each([
    ["the only field", schema({ city: text }), "city"],
    ["a usual name among several texts", schema({ tone: text, question: text }), "question"],
    ["the only required text", schema({ tone: text, topic: text }, ["topic"]), "topic"],
    ["a usual name before a required text", schema({ message: text, topic: text }, ["topic"]), "message"],
    ["input, where any input is accepted", { type: "object" }, "input"],
    ["none among equal texts", schema({ first: text, second: text }), undefined],
    ["none without texts", schema({ n: { type: "integer" } }), undefined],
    ["none where no input is accepted", { type: "object", additionalProperties: false }, undefined],
    ["no list of choices, whatever its name", schema({ message: { ...text, enum: ["a", "b"] } }), undefined],
  ])("%s", (_name, given, expected) => {
    expect(chatFields(given).message).toBe(expected);
  });
});

test("other fields are kept apart", () => {
  const { others } = chatFields(schema({ message: text, language: text, n: { type: "integer" } }));
  expect(others.map(({ name }) => name)).toEqual(["language", "n"]);
});

test("a turn shows other values only where they changed", () => {
  const input = { message: "Hello", language: "de", n: 3 };
  expect(shownInput(input, "message", undefined)).toEqual({
    text: "Hello",
    facts: [
      ["language", "de"],
      ["n", "3"],
    ],
  });
  expect(shownInput({ ...input, n: 4 }, "message", input)).toEqual({ text: "Hello", facts: [["n", "4"]] });
  expect(shownInput({ list: [1, 2] }, undefined, undefined)).toEqual({ text: "", facts: [["list", "[1,2]"]] });
});

test("a turn of a chat client shows the text of its last message only", () => {
  const messages = [{ role: "user", content: "What is 6 * 7?" }];
  const input = { messages, input: "What is 6 * 7?", tone: "brief" };
  expect(shownInput(input, "input", undefined)).toEqual({ text: "What is 6 * 7?", facts: [["tone", "brief"]] });
  // A field of the agent with this name.
  expect(shownInput({ messages, input: 3 }, undefined, undefined).facts).toHaveLength(2);
});
