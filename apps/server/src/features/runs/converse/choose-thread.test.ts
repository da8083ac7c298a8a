import { expect, test } from "vitest";
import type { ChatMessage } from "../../../engines/models/chat.ts";
import { newMessages } from "./choose-thread.ts";

const message = (text: string): ChatMessage =>
  text.startsWith("a")
    ? { role: "assistant", text, toolCalls: [] }
    : { role: text.startsWith("s") ? "system" : "user", content: text };

test.each([
  ["u1", "u1"],
  ["s1 s2 u1 a1 u2", "s1 s2 u2"],
  ["u1 a1 u2 a2 u3 u4", "u3 u4"],
  ["u1 a1 s1 u2", "s1 u2"],
  ["u1 a1 u2 a2", "u2 a2"],
  ["s1 a1", "s1"],
  ["s1", "s1"],
])("of %s, the new messages are %s", (all, kept) => {
  expect(newMessages(all.split(" ").map(message))).toEqual(kept.split(" ").map(message));
});
