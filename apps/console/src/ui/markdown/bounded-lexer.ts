import { getDefaults, Lexer, type Token, Tokenizer, type Tokens, type TokensList } from "marked";

/** Deeper lists and quotes are shown as plain text. */
const maxDepth = 24;
/** Delimiters × characters. Matching delimiters takes quadratic time, about 0.1 s for this much. */
const maxParagraphWork = 5e6;
const maxWork = 2e7;
/** Of all tables. A short row is filled up to the width of its table: 60 kB can ask for 40 million cells. */
const maxCells = 50_000;

/**
 * A lexer whose time and stack do not depend on the good will of the author: 50,000 asterisks would keep marked busy for
 * half a minute.
 */
export class BoundedLexer extends Lexer {
  #depth = 0;
  #work = 0;

  constructor({ breaks }: { breaks: boolean }) {
    super({ ...getDefaults(), gfm: true, breaks, tokenizer: new BoundedTokenizer() });
  }

  override blockTokens(src: string, tokens?: Token[], isClipped?: boolean): Token[];
  override blockTokens(src: string, tokens?: TokensList, isClipped?: boolean): TokensList;
  override blockTokens(src: string, tokens: Token[] = [], isClipped = false): Token[] {
    if (this.#depth >= maxDepth) {
      tokens.push({ type: "paragraph", raw: src, text: src, tokens: [plain(src)] });
      return tokens;
    }
    this.#depth++;
    try {
      return super.blockTokens(src, tokens, isClipped);
    } finally {
      this.#depth--;
    }
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    const work = (src.match(/[*_~]/g)?.length ?? 0) * src.length;
    this.#work += work;
    if (work > maxParagraphWork || this.#work > maxWork) {
      tokens.push(plain(src));
      return tokens;
    }
    return super.inlineTokens(src, tokens);
  }
}

/** Shows tables beyond the limit as plain text. */
class BoundedTokenizer extends Tokenizer {
  #cells = 0;

  override table(src: string): Tokens.Table | undefined {
    const found = this.rules.block.table.exec(src);
    if (!found) return undefined;
    const [, head = "", , rows = ""] = found;
    this.#cells += head.split("|").length * rows.split("\n").length;
    return this.#cells > maxCells ? undefined : super.table(src);
  }
}

const plain = (text: string): Token => ({ type: "text", raw: text, text, escaped: false });
