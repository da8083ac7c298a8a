import { describe, expect, it } from "vitest";
import type { ReadImage } from "../../features/predictions/index.ts";
import { readMessages } from "./read-messages.ts";

const noImages: ReadImage = () => Promise.reject(new Error("no image was expected"));
const read = (messages: readonly object[], body: object = {}) => readMessages({ ...body }, messages, noImages);

describe("messages", () => {
  it("put results before the user's text, also if the text came in a message before them", async () => {
    const messages = await read([
      { role: "user", content: "Look" },
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "read", input: {} }] },
      { role: "user", content: "And hurry" },
      {
        role: "user",
        content: [
          { type: "text", text: "please" },
          { type: "tool_result", tool_use_id: "t1" },
        ],
      },
    ]);
    expect(messages).toEqual([
      { role: "user", content: "Look" },
      { role: "assistant", text: "", toolCalls: [{ id: "t1", name: "read", arguments: {} }], reasoning: "" },
      { role: "tool", callId: "t1", name: "read", content: "" },
      { role: "user", content: "And hurry\nplease" },
    ]);
  });

  it("join turns of one role, with calls and thoughts", async () => {
    const thinking = (thought: string) => ({ type: "thinking", thinking: thought, signature: "s" });
    const call = (id: string) => ({ type: "tool_use", id, name: "read", input: "text" });
    const messages = await read([
      { role: "user", content: "Go" },
      { role: "assistant", content: [thinking("a"), { type: "text", text: "one" }, call("t1")] },
      { role: "assistant", content: [thinking("b"), { type: "text", text: "two" }, call("t2")] },
    ]);
    const invalid = { __invalid: '"text"' };
    expect(messages[1]).toEqual({
      role: "assistant",
      text: "one\ntwo",
      reasoning: "a\nb",
      toolCalls: ["t1", "t2"].map((id) => ({ id, name: "read", arguments: invalid })),
    });
  });

  it.each(["user", "assistant"])("are joined in linear time and leave time to others: %s", async (role) => {
    const count = 200_000;
    const block =
      role === "user" ? { type: "text", text: "word" } : { type: "tool_use", id: "t", name: "n", input: {} };
    const many = Array.from({ length: count }, () => ({ role, content: [block] }));
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    const startedAt = performance.now();
    expect(await read(many)).toHaveLength(1);
    // Joining pairs of turns takes minutes.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(20);
  });
});
