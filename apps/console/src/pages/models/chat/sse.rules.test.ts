import { describe, expect, it } from "vitest";
import { ChatFailure, dataIn, pieceOf } from "./sse.rules.ts";

async function* inPieces(text: string, size: number) {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

describe("events of a stream", () => {
  it("are read whatever the pieces are", async () => {
    const stream = ': hello\r\n\r\ndata: {"a":1}\r\n\r\nevent: x\ndata:two\n\ndata: [DONE]\n\n';
    for (const size of [1, 3, 1000]) {
      expect(await Array.fromAsync(dataIn(inPieces(stream, size)))).toEqual(['{"a":1}', "two", "[DONE]"]);
    }
  });
});

describe("pieces of a chat completion", () => {
  const chunk = (delta: object) => JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] });
  it("have text and thoughts", () => {
    expect(pieceOf(chunk({ content: "Hi" }))).toEqual({ text: "Hi", reasoning: "" });
    expect(pieceOf(chunk({ reasoning_content: "Hm" }))).toEqual({ text: "", reasoning: "Hm" });
    expect(pieceOf(chunk({ role: "assistant", content: "" }))).toBeUndefined();
    expect(pieceOf('{"choices":[],"usage":{}}')).toBeUndefined();
  });

  it("may be an error", () => {
    const failed = () => pieceOf('{"error":{"message":"It broke","type":"server_error","code":"upstream_error"}}');
    expect(failed).toThrow(ChatFailure);
    expect(failed).toThrow("It broke");
  });
});
