import type { Tokens } from "marked";
import { describe, expect, it } from "vitest";
import { type Parsed, parseBlocks } from "./blocks.rules.ts";

const document = `# Title

A paragraph with **bold**,
over two lines.

- one

- two
  more of it

| a | b |
|---|---|
| 1 | 2 |

\`\`\`ts
const a = 1;

const b = 2;
\`\`\`

> quoted
> more

Heading
=======

1. first
2. second

The end[^1] of <b>it</b>.
`;

const types = ({ blocks }: Parsed) => blocks.map(({ token }) => token.type).filter((type) => type !== "space");

/** Parses as a stream would, a few characters at a time. */
function parseStreamed(text: string, step: number): Parsed {
  let parsed: Parsed | undefined;
  for (let end = step; end < text.length + step; end += step) {
    parsed = parseBlocks(text.slice(0, end), { before: parsed });
  }
  return parsed ?? parseBlocks(text);
}

describe("blocks of Markdown", () => {
  it("are the same whether the text came at once or bit by bit", () => {
    const whole = parseBlocks(document);
    expect(types(whole)).toEqual([
      "heading",
      "paragraph",
      "list",
      "table",
      "code",
      "blockquote",
      "heading",
      "list",
      "paragraph",
    ]);
    for (const step of [1, 2, 7, 50]) expect(parseStreamed(document, step)).toEqual(whole);
    const windows = document.replaceAll("\n", "\r\n");
    for (const step of [1, 3]) expect(parseStreamed(windows, step)).toEqual(whole);
  });

  it("keep their tokens while more text follows", () => {
    const before = parseBlocks(document);
    const after = parseBlocks(`${document}\n\nMore.`, { before });
    expect(after.blocks.length).toBeGreaterThan(before.blocks.length);
    for (const [n, block] of before.blocks.slice(0, -1).entries()) expect(after.blocks[n]).toBe(block);
  });

  it("start again when the text is replaced", () => {
    const other = parseBlocks("Something else", { before: parseBlocks(document) });
    expect(other).toEqual(parseBlocks("Something else"));
  });

  it("take a bounded time, whatever the text is", () => {
    const hostile = [
      "*".repeat(50_000),
      "_a".repeat(50_000),
      "**a_b".repeat(20_000),
      `${"*".repeat(2_000)}\n\n`.repeat(100),
      ">".repeat(20_000),
      "- ".repeat(20_000),
      Array.from({ length: 500 }, (_, n) => `${"  ".repeat(n)}- a`).join("\n"),
      "[".repeat(50_000),
      "![](".repeat(20_000),
      "<".repeat(50_000),
      "`".repeat(50_000),
      "|".repeat(50_000),
      // marked alone takes from 20 seconds to many minutes for each of these.
      "a<!X ".repeat(80_000),
      "!".repeat(200_000),
      `a${" ".repeat(200_000)}b`,
      `a${"\n\u00a0".repeat(100_000)}b`,
      "- [x] a\n".repeat(25_000),
      ">     a\nb\n".repeat(20_000),
      "a\n<?x?>b\n".repeat(20_000),
      `www.a.b/${"&amp;".repeat(40_000)}`,
      `${"|a".repeat(200)}|\n${"|-".repeat(200)}|\n${"|1|\n".repeat(400)}${"|a|\n|-|\n".repeat(25_000)}`,
    ];
    for (const text of hostile) {
      const begun = performance.now();
      const { blocks } = parseBlocks(text);
      expect(blocks.map(({ token }) => token.raw).join(""), text.slice(0, 10)).toBe(text);
      expect(performance.now() - begun, text.slice(0, 10)).toBeLessThan(10_000);
    }
  });

  it("keep their form where the text is long but ordinary", () => {
    const lines = Array.from({ length: 150 }, (_, n) => `\`name-${n}\`: see [the page](https://example.org/${n})!`);
    const paragraphs = parseBlocks(lines.join("\n")).blocks.map(({ token }) => token as Tokens.Paragraph);
    const inline = paragraphs.flatMap(({ tokens }) => tokens.map(({ type }) => type));
    expect(inline.filter((type) => type === "codespan")).toHaveLength(150);
    expect(inline.filter((type) => type === "link")).toHaveLength(150);
    const items = "- [ ] Buy **milk** < 2 l\n".repeat(1_000);
    const quotes = "> Long words\n".repeat(200);
    const whole = `${"Some *soft* text!\n\n".repeat(1_000)}${items}\n${quotes}\nTitle\n=====\n`;
    const [, ...ends] = types(parseBlocks(whole)).filter((type) => type !== "paragraph");
    expect(ends).toEqual(["blockquote", "heading"]);
    expect(whole.length).toBeGreaterThan(40_000);
  });

  it("have a bounded number of table cells, which short rows do not show", () => {
    const table = (columns: number, rows: number) =>
      `${"|a".repeat(columns)}|\n${"|-".repeat(columns)}|\n${"|1|\n".repeat(rows)}`;
    const tablesIn = (text: string) => parseBlocks(text).blocks.filter(({ token }) => token.type === "table").length;
    expect(tablesIn(table(2_000, 20_000))).toBe(0);
    expect(tablesIn(`${table(200, 200)}\n`.repeat(20))).toBe(1);
  });

  it("of a long stream are parsed once", () => {
    const text = document.repeat(500);
    expect(text.length).toBeGreaterThan(100_000);
    const begun = performance.now();
    const parsed = parseStreamed(text, 100);
    expect(parsed.text).toBe(text);
    // Parsing everything again for each of the 1,000 steps takes minutes.
    expect(performance.now() - begun).toBeLessThan(15_000);
  });
});
