import { expect, test } from "vitest";
import { inputText, titleOf } from "./turn-texts.rules.ts";

const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const messages = [
  { role: "system", content: "Be kind." },
  { role: "user", content: "Look at this:" },
  { role: "user", content: [{ type: "text", text: "What is it?" }, image] },
];

test.each([
  [{ question: "Why?" }, "Why?"],
  [{ question: "Why?", n: 1 }, '{"question":"Why?","n":1}'],
  [{ n: 1 }, '{"n":1}'],
  [{ messages, input: "What is it?" }, "Look at this:\n\nWhat is it?\n[image]"],
  [{ messages, input: "What is it?", city: "Rome" }, 'Look at this:\n\nWhat is it?\n[image]\n\n{"city":"Rome"}'],
  [
    {
      messages: [...messages.slice(0, 2), { role: "assistant", content: "A cat." }, { role: "user", content: "Why?" }],
    },
    "user: Look at this:\n\nassistant: A cat.\n\nuser: Why?",
  ],
  [{ messages: [5, null, { role: "user" }] }, '""'],
])("%j is shown as %j", (input, text) => {
  expect(inputText(input)).toBe(text);
});

test.each([
  [{ messages, input: "What is it?" }, "What is it?"],
  [{ n: 1, text: "\n  First line \r\nsecond" }, "First line"],
  [{ n: 1 }, '{"n":1}'],
  [{}, ""],
  [{ text: `${"\n".repeat(20_000)}Late` }, "Late"],
  [{ text: "🙂".repeat(150) }, "🙂".repeat(100)],
])("%j has the title %j", (input, title) => {
  expect(titleOf(input)).toBe(title);
});
