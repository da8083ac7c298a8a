import { describe, expect, it } from "vitest";
import { createSseReader, type SseEvent } from "./sse.ts";

function read(bytes: Buffer, size: number): SseEvent[] {
  const reader = createSseReader();
  const events: SseEvent[] = [];
  for (let from = 0; from < bytes.length; from += size) events.push(...reader.push(bytes.subarray(from, from + size)));
  return [...events, ...reader.end()];
}

const stream =
  '\uFEFF: a comment\n\nevent: one\ndata: {"text":"Grüße 👩‍🚀"}\n\nid: 7\nretry: 10\ndata: first\ndata: second\n\n' +
  "event: only\n\ndata:[DONE]\n\nunknown: x\ndata: no blank line after";
const expected = [
  { event: "one", data: '{"text":"Grüße 👩‍🚀"}' },
  { event: "", data: "first\nsecond" },
  { event: "", data: "[DONE]" },
  { event: "", data: "no blank line after" },
];

describe("createSseReader", () => {
  for (const [name, lineEnd] of [
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"],
  ] as const) {
    it.each([1, 2, 3, 7, 64, 10_000])(`reads ${name} in pieces of %i bytes`, (size) => {
      expect(read(Buffer.from(stream.replaceAll("\n", lineEnd)), size)).toEqual(expected);
    });
  }

  it("returns every event as soon as it is complete", () => {
    const reader = createSseReader();
    expect(reader.push(Buffer.from("data: a\n\ndata: b\n"))).toEqual([{ event: "", data: "a" }]);
    expect(reader.push(Buffer.from("\n"))).toEqual([{ event: "", data: "b" }]);
  });

  it("bounds the length of lines and events", () => {
    const line = createSseReader({ maxEventLength: 100 });
    line.push(Buffer.from(`data: ${"x".repeat(60)}`));
    expect(() => line.push(Buffer.from("x".repeat(60)))).toThrow();
    const lines = createSseReader({ maxEventLength: 100 });
    expect(() => {
      for (let n = 0; n < 50; n++) lines.push(Buffer.from("data: abc\n"));
    }).toThrow();
  });
});
