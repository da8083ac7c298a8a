import { expect, test } from "vitest";
import { preview, shownAnswer, shownText } from "./step-content.rules.ts";

test("only objects and lists are shown as JSON", () => {
  expect(shownText('{"a":1}')).toEqual({ kind: "json", text: '{\n  "a": 1\n}' });
  expect(shownText("[1, 2]").kind).toBe("json");
  for (const text of ["42", "{not json", "# Title", ""]) expect(shownText(text)).toEqual({ kind: "text", text });
});

test("an answer shows what it has", () => {
  const calls = [
    { call_id: "c1", tool: "add", arguments: { a: 1 } },
    { call_id: "c2", tool: "hidden" },
  ];
  expect(shownAnswer({ text: "Look", tool_calls: calls })).toEqual({
    text: "Look",
    reasoning: "",
    calls: [
      { id: "c1", tool: "add", arguments: '{\n  "a": 1\n}' },
      { id: "c2", tool: "hidden", arguments: undefined },
    ],
  });
  expect(shownAnswer(undefined)).toEqual({ text: "", reasoning: "", calls: [] });
});

test("a preview is one short line", () => {
  expect(preview("a\n\n  b ")).toBe("a b");
  expect(preview("x".repeat(500)).length).toBeLessThanOrEqual(121);
});
