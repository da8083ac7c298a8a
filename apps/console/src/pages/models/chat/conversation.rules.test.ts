import { describe, expect, it } from "vitest";
import {
  type Answer,
  conversationIn,
  emptyConversation,
  isForChat,
  messagesOf,
  requestOf,
  restored,
} from "./conversation.rules.ts";

const answer = (text: string, state: Answer["state"] = "done"): Answer => ({ text, reasoning: "", state, sentAt: 1 });
const turn = (question: string, given: Answer) => ({ id: question, question, answer: given });
const conversation = {
  ...emptyConversation,
  system: "Be brief.",
  turns: [turn("One?", answer("1")), turn("Two?", answer("", "failed")), turn("Three?", answer("", "open"))],
};

describe("a conversation", () => {
  it("is sent with its answers, without failed turns", () => {
    expect(messagesOf(conversation)).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "One?" },
      { role: "assistant", content: "1" },
      { role: "user", content: "Three?" },
    ]);
  });

  it("sends settings only where they are set", () => {
    expect(requestOf("a/b", { ...emptyConversation, temperature: "0", maxTokens: "" })).toEqual({
      model: "a/b",
      messages: [],
      stream: true,
      temperature: 0,
    });
  });

  it("comes back after a reload, with the open answer stopped", () => {
    const back = restored(JSON.parse(JSON.stringify(conversation)));
    expect(back?.turns.map(({ answer: { state } }) => state)).toEqual(["done", "failed", "stopped"]);
    expect(restored("broken")).toBeUndefined();
    expect(restored({ turns: 5 })).toBeUndefined();
  });

  it("is read from the kept input of a prediction", () => {
    const read = conversationIn({
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: [{ type: "text", text: "One?" }] },
        { role: "assistant", content: "1" },
        { role: "user", content: "Two?" },
      ],
      temperature: 0.5,
    });
    expect(read?.draft).toBe("Two?");
    expect(read?.past).toMatchObject({
      system: "Be brief.",
      temperature: "0.5",
      turns: [{ question: "One?", answer: { text: "1" } }],
    });
    expect(conversationIn({ prompt: "Hi" })).toBeUndefined();
  });
});

describe("models for a chat", () => {
  const output = { type: "object", properties: { output: { type: "string", isStream: true } } } as const;
  const input = (...names: string[]) => ({
    type: "object" as const,
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" as const }])),
  });
  it("write text and have no fields of their own", () => {
    expect(isForChat({ kind: "text", input: input("prompt", "system", "seed"), output })).toBe(true);
    expect(isForChat({ kind: "text", input: input("prompt", "style"), output })).toBe(false);
    expect(isForChat({ kind: "image", input: input("prompt"), output })).toBe(false);
    const whole = { type: "object", properties: { output: { type: "string" } } } as const;
    expect(isForChat({ kind: "text", input: input("prompt"), output: whole })).toBe(false);
  });
});
