import { describe, expect, test } from "vitest";
import type { ChatMessage } from "../../../engines/models/chat.ts";
import { conversationInput, doorIssue, imagesApart } from "./conversation-input.rules.ts";

const image = { type: "image" as const, contentType: "image/png", base64: "AAAA" };
const messages: ChatMessage[] = [
  { role: "system", content: "Be kind." },
  { role: "user", content: "First." },
  { role: "assistant", text: "Yes?", toolCalls: [] },
  { role: "assistant", text: "", toolCalls: [{ id: "c", name: "f", arguments: {} }] },
  { role: "tool", callId: "c", name: "f", content: "Result." },
  { role: "user", content: [{ type: "text", text: "What is" }, image, { type: "text", text: "this?" }] },
];
const plain = [
  { role: "system", content: "Be kind." },
  { role: "user", content: "First." },
  { role: "assistant", content: "Yes?" },
  { role: "tool", content: "Result." },
  {
    role: "user",
    content: [
      { type: "text", text: "What is" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      { type: "text", text: "this?" },
    ],
  },
];
const own = { messages: plain, input: "What is\nthis?" };

describe("the input of a conversation", () => {
  test("contains the messages and the text of the last user message", () => {
    expect(conversationInput({ type: "object" }, messages, undefined)).toEqual(own);
  });

  test.each([[null], ["text"], [["a"]], [{ user_id: "u" }]])("ignores the metadata %j", (metadata) => {
    expect(conversationInput({ properties: { city: {} } }, messages, metadata)).toEqual(own);
  });

  test("takes fields of the schema from the metadata", () => {
    const schema = { properties: { city: { type: "string" }, constructor: {} } };
    expect(conversationInput(schema, messages, { city: "Rome", other: "x" })).toEqual({ ...own, city: "Rome" });
  });

  test.each([
    ["integer", "12", 12],
    ["number", "1.5", 1.5],
    ["boolean", "true", true],
    ["object", '{"a":1}', { a: 1 }],
    ["array", "[1]", [1]],
    [["integer", "null"], "null", null],
    ["integer", "twelve", "twelve"],
    ["string", "12", "12"],
    [["string", "integer"], "12", "12"],
    [undefined, "12", "12"],
    ["integer", 12, 12],
  ])("a field of type %j parses the metadata %j as %j", (type, given, expected) => {
    expect(conversationInput({ properties: { n: { type } } }, messages, { n: given })).toMatchObject({ n: expected });
  });

  test.each([
    [{ additionalProperties: false }],
    [{ unevaluatedProperties: false }],
    [{ additionalProperties: { type: "string" } }],
  ])("leaves its own fields out with %j", (rule) => {
    expect(conversationInput({ properties: { city: {} }, ...rule }, messages, { city: "Rome" })).toEqual({
      city: "Rome",
    });
  });

  test("contains its own fields where a closed schema names them", () => {
    const schema = { properties: { input: { type: "string" } }, additionalProperties: false };
    expect(conversationInput(schema, messages, {})).toEqual({ input: "What is\nthis?" });
  });

  test("metadata wins over the conversation", () => {
    const schema = { properties: { input: { type: "integer" } } };
    expect(conversationInput(schema, messages, { input: "3" })).toEqual({ messages: plain, input: 3 });
  });

  test("without a user message the input is empty", () => {
    expect(conversationInput({}, [{ role: "system", content: "s" }], {})).toMatchObject({ input: "" });
  });
});

test("images are shown to the model as images", () => {
  const { shown, images } = imagesApart(conversationInput({}, messages, {}));
  expect(images).toEqual([image]);
  expect(JSON.stringify(shown)).not.toContain("base64");
  expect((shown.messages as { content: unknown }[]).at(-1)?.content).toEqual([
    { type: "text", text: "What is" },
    { type: "text", text: "[image 1]" },
    { type: "text", text: "this?" },
  ]);
});

test.each([
  [{}],
  [{ messages: "text" }],
  [{ messages: [null, "x", { content: "text" }] }],
  [{ messages: [{ content: [null, { type: "image_url" }, { type: "image_url", image_url: { url: "https://x" } }] }] }],
])("the input %j has no images", (input) => {
  expect(imagesApart(input)).toEqual({ shown: input, images: [] });
});

test.each([
  [
    ["body", "input", "city"],
    ["body", "metadata", "city"],
  ],
  [
    ["body", "input", "messages", 0, "content"],
    ["body", "messages", 0, "content"],
  ],
  [
    ["body", "input", "input"],
    ["body", "messages"],
  ],
  [
    ["body", "input"],
    ["body", "metadata"],
  ],
  [
    ["header", "idempotency-key"],
    ["header", "idempotency-key"],
  ],
])("an issue at %j is shown at %j", (loc, expected) => {
  expect(doorIssue({ type: "value_error", loc, msg: "m" }).loc).toEqual(expected);
});
