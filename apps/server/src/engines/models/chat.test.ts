import { describe, expect, it } from "vitest";
import { sentText } from "./chat.ts";

const toolCalls = [{ id: "c1", name: "look", arguments: { q: "short" } }];
const assistant = (opaque: unknown) => ({ role: "assistant", text: "I look.", toolCalls, opaque }) as const;
const said = 'I look.\nlook{"q":"short"}';

describe("the sent text of a message", () => {
  it("includes its text and calls", () => {
    expect(sentText({ role: "user", content: "Hi" })).toBe("Hi");
    expect(sentText(assistant(undefined))).toBe(said);
  });

  it("includes its thoughts, and each text once", () => {
    const content = [
      { type: "thinking", thinking: "hm", signature: "abcdefgh" },
      { type: "redacted_thinking", data: "ijkl" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "c1", name: "look", input: { q: "as long as it was" } },
    ];
    expect(sentText(assistant({ protocol: "anthropic", content }))).toBe(`${said}\nhm\nab\ni`);
    const parts = [
      { text: "I look.", thoughtSignature: "abcd" },
      { functionCall: { name: "look", args: { q: "as long as it was" } }, thoughtSignature: "efgh" },
    ];
    const restored = { c1: { q: "as long as it was" } };
    expect(sentText(assistant({ protocol: "google", parts, callIds: ["c1"], restored }))).toBe(`${said}\na\ne`);
    const thoughts = { protocol: "openai-chat", server: "0123", field: "reasoning_content", text: "hm" };
    expect(sentText(assistant(thoughts))).toBe(`${said}\nhm`);
  });
});
