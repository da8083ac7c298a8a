import { useRef } from "react";
import { BlockView } from "./block.tsx";
import { type Parsed, parseBlocks } from "./blocks.rules.ts";

interface MarkdownBlocksProps {
  text: string;
  streaming: boolean;
  breaks: boolean;
}

/** With the parser, in a chunk of its own. */
export function MarkdownBlocks({ text, streaming, breaks }: MarkdownBlocksProps) {
  const before = useRef<Parsed>(undefined);
  // A finished text is parsed as a whole, because links may be defined at its end.
  const parsed = parseBlocks(text, { breaks, before: streaming ? before.current : undefined });
  before.current = parsed;
  return parsed.blocks.map(({ offset, token }) => <BlockView key={offset} token={token} />);
}
