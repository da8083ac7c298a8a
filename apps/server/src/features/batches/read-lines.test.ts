import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { mostLineBytes, readLines } from "./read-lines.ts";

const text = "one\n\n  \ntwö\r\n\nlast";
const whole = Buffer.from(text);

function pieces(size: number): Readable {
  const chunks: Buffer[] = [];
  for (let at = 0; at < whole.length; at += size) chunks.push(whole.subarray(at, at + size));
  return Readable.from(chunks);
}

test.each([1, 2, 3, 100])("lines have their number and place, read in pieces of %i bytes", async (size) => {
  const lines = await Array.fromAsync(readLines(pieces(size), { line: 1, byte: 0 }));
  expect(lines.map(({ line, text: content }) => [line, content])).toEqual([
    [1, "one"],
    [4, "twö\r"],
    [6, "last"],
  ]);
  for (const { startByte, bytes, text: content } of lines)
    expect(whole.subarray(startByte, startByte + bytes).toString()).toBe(content);
});

test("reading continues where it has stopped, and closes the stream", async () => {
  const first = pieces(4);
  for await (const { line } of readLines(first, { line: 1, byte: 0 })) {
    expect(line).toBe(1);
    break;
  }
  expect(first.destroyed).toBe(true);
  const rest = Readable.from([whole.subarray(4)]);
  const lines = await Array.fromAsync(readLines(rest, { line: 2, byte: 4 }));
  expect(lines.map(({ line, startByte }) => [line, startByte])).toEqual([
    [4, 8],
    [6, 15],
  ]);
});

test("a line that is too long is not held", async () => {
  const long = Readable.from([Buffer.alloc(mostLineBytes, "x"), Buffer.from("x\nshort")]);
  const lines = await Array.fromAsync(readLines(long, { line: 1, byte: 0 }));
  expect(lines.map(({ text: content, bytes }) => [content, bytes])).toEqual([
    [undefined, mostLineBytes + 1],
    ["short", 5],
  ]);
});
