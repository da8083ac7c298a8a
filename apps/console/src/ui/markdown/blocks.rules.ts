import type { MarkedToken } from "marked";
import { BoundedLexer } from "./bounded-lexer.ts";

export interface Block {
  /** Of its first character in the text. */
  offset: number;
  token: MarkedToken;
}

export interface Parsed {
  text: string;
  blocks: readonly Block[];
}

interface ParseOptions {
  /** Single line breaks are shown. Models mean them; authors of documents wrap their lines. */
  breaks?: boolean;
  /** The text so far of a stream that continues: only its last block is parsed again. */
  before?: Parsed | undefined;
}

/** Blocks that did not change are the same objects as before. */
export function parseBlocks(given: string, { breaks = true, before }: ParseOptions = {}): Parsed {
  const text = given.replaceAll(/\r\n?/g, "\n");
  const kept = before && text.startsWith(before.text) ? finalBlocks(before) : [];
  const from = endOf(kept.at(-1));
  const blocks = [...kept];
  let offset = from;
  for (const token of new BoundedLexer({ breaks }).lex(text.slice(from)) as MarkedToken[]) {
    blocks.push({ offset, token });
    offset += token.raw.length;
  }
  // Offsets identify blocks only if the lexer left nothing out.
  if (offset !== text.length && kept.length > 0) return parseBlocks(given, { breaks });
  return { text, blocks: offset === text.length ? blocks.map((block, n) => sameAs(before?.blocks[n], block)) : blocks };
}

/** More text can still change the last block: a paragraph may become a table, a list may go on after a blank line. */
function finalBlocks({ blocks, text }: Parsed): Block[] {
  if (endOf(blocks.at(-1)) !== text.length) return [];
  const last = blocks.findLastIndex(({ token }) => token.type !== "space");
  return blocks.slice(0, Math.max(0, last));
}

const endOf = (block: Block | undefined): number => (block ? block.offset + block.token.raw.length : 0);

function sameAs(before: Block | undefined, block: Block): Block {
  const isSame =
    before?.offset === block.offset && before.token.type === block.token.type && before.token.raw === block.token.raw;
  return isSame ? before : block;
}
