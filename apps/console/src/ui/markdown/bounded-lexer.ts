import { getDefaults, Lexer, type Token, Tokenizer, type Tokens, type TokensList } from "marked";

/** Deeper lists and quotes are shown as plain text. */
const maxDepth = 24;
/** At each of these, marked may read to the end of the paragraph. */
const stops = /[*_~<!]/g;
/** These cost less than a tenth of that. */
const lightStops = /[`[]/g;
/** Stops × characters. This much takes about 0.1 s. */
const maxParagraphWork = 5e6;
const maxWork = 2e7;
/** Of all tables. A short row is filled up to the width of its table: 60 kB can ask for 40 million cells. */
const maxCells = 50_000;
/** Without headings, code and quotes. A task costs more: marked searches all of them for each. */
const maxBlocks = 20_000;
const taskBlocks = 5;
/** Lines × characters of quotes. After a code block in a quote, for example, marked reads the rest of the quote again. */
const maxQuoteWork = 5e7;
/** Characters. Further lines are not searched for the underline of a heading. */
const longestHeading = 1_000;
/** Longer addresses are not linked, because marked reads an address once for each punctuation mark at its end. */
const longestAddress = 2_000;
/** Not shown as a break, because marked reads all of the white space at each line break in it. */
const longBreak = /^(?: *|\\)\n\s{200}/;
/** marked reads the rest of a run of spaces at each space. The page shows one. */
const longSpace = / {20,}/g;
const shownSpace = " ".repeat(20);

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
    const work = (countOf(stops, src) + countOf(lightStops, src) / 10) * src.length;
    this.#work += work;
    if (work > maxParagraphWork || this.#work > maxWork) {
      tokens.push(plain(src));
      return tokens;
    }
    return super.inlineTokens(src.replaceAll(longSpace, shownSpace), tokens);
  }
}

/** Shows what is beyond the limits as plain text. */
class BoundedTokenizer extends Tokenizer {
  #blocks = 0;
  #cells = 0;
  #quoteWork = 0;

  /** Beyond a limit, the rest of the text is HTML, which the page shows as it is written. */
  override html(src: string): Tokens.HTML | undefined {
    this.#blocks += /^\[[ xX]\]/.test(src) ? taskBlocks : 1;
    if (this.#blocks <= maxBlocks && this.#cells <= maxCells) return super.html(src);
    return { type: "html", block: true, pre: false, raw: src, text: src };
  }

  override table(src: string): Tokens.Table | undefined {
    const found = this.rules.block.table.exec(src);
    if (!found) return undefined;
    const [, head = "", , rows = ""] = found;
    this.#cells += head.split("|").length * rows.split("\n").length;
    return this.#cells > maxCells ? undefined : super.table(src);
  }

  override blockquote(src: string): Tokens.Blockquote | undefined {
    const [quoted] = this.rules.block.blockquote.exec(src) ?? [];
    if (quoted === undefined) return undefined;
    this.#quoteWork += quoted.split("\n").length * quoted.length;
    if (this.#quoteWork <= maxQuoteWork) return super.blockquote(src);
    const raw = quoted.replace(/\n+$/, "");
    return { type: "blockquote", raw, text: raw, tokens: [plain(raw)] };
  }

  override lheading(src: string): Tokens.Heading | undefined {
    const end = src.indexOf("\n", longestHeading);
    return super.lheading(end < 0 ? src : src.slice(0, end));
  }

  override br(src: string): Tokens.Br | undefined {
    return longBreak.test(src) ? undefined : super.br(src);
  }

  override url(src: string): Tokens.Link | undefined {
    const end = src.slice(0, longestAddress + 1).search(/[\s<]/);
    return end < 0 && src.length > longestAddress ? undefined : super.url(src);
  }
}

const countOf = (pattern: RegExp, text: string): number => text.match(pattern)?.length ?? 0;

const plain = (text: string): Token => ({ type: "text", raw: text, text, escaped: false });
