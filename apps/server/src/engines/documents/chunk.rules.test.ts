import { expect, test } from "vitest";
import { chunksOf, mostChunksOfFile } from "./chunk.rules.ts";

const textChunks = (text: string) => chunksOf({ format: "text", pages: [{ text }] }).chunks;
const markdownChunks = (text: string) => chunksOf({ format: "markdown", pages: [{ text }] }).chunks;

test("a long line is divided between characters, and nothing is lost", () => {
  const text = "😀".repeat(4_000);
  const chunks = textChunks(text);
  expect(chunks.length).toBeGreaterThan(4);
  for (const chunk of chunks) expect(chunk.text.isWellFormed()).toBe(true);
  expect(chunks.map((chunk) => chunk.text.length).reduce((sum, length) => sum + length)).toBeGreaterThanOrEqual(
    text.length,
  );
});

test("a chunk repeats the end of the one before, in words", () => {
  const [first, second] = textChunks(Array.from({ length: 400 }, (_, n) => `word${n}`).join(" "));
  const repeated = second?.text.split("\n")[0] ?? "";
  expect(repeated).toMatch(/^word\d+/);
  expect(first?.text.endsWith(repeated)).toBe(true);
});

test("headings form a path, also with missing levels; code has no headings", () => {
  const headings = markdownChunks("# A\n\na\n\n### C\n\nc\n\n## B\n\n```\n# not\n```\n\n# D\n\nd").map(
    ({ heading, lineFrom, lineTo }) => [heading, lineFrom, lineTo],
  );
  expect(headings).toEqual([
    ["A", 1, 3],
    ["A › C", 5, 7],
    ["A › B", 9, 13],
    ["D", 15, 17],
  ]);
  expect(textChunks("# A\n\n# B").map(({ heading }) => heading)).toEqual([null]);
});

test("lines of many spaces and files of many lines are divided in a moment", () => {
  const start = performance.now();
  const spaces = " ".repeat(100_000);
  const headings = markdownChunks(`# a${spaces}b\n\n# c${spaces}#${spaces}\n\n# D ##\n\n# #\n`).map(
    (one) => one.heading,
  );
  expect([...new Set(headings.map((heading) => heading?.trimEnd()))]).toEqual(["a", "c", "D"]);
  expect(chunksOf({ format: "text", pages: [{ text: "a\n".repeat(3_000_000) }] }).isCut).toBe(false);
  expect(performance.now() - start).toBeLessThan(20_000);
});

test("blank text has no chunks, and a file has a bounded number", () => {
  expect(textChunks(" \n\t\n")).toEqual([]);
  const text = Array.from({ length: mostChunksOfFile + 10 }, (_, n) => `# ${n}\n`).join("\n");
  const { chunks, isCut } = chunksOf({ format: "markdown", pages: [{ text }] });
  expect([chunks.length, isCut]).toEqual([mostChunksOfFile, true]);
});
