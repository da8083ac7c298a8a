import Handlebars from "handlebars";

const maxSourceLength = 65_536;
const maxBlockDepth = 8;
const maxElseIfs = 100;
const maxCallDepth = 8;
const maxTokens = 8_000;

/** Made by jison: `lex` gives the next token by its name or number, or nothing where it only changed its state. */
interface Lexer {
  setInput(source: string): void;
  lex(): string | number | undefined;
  yy: unknown;
}
interface Parser {
  lexer: Lexer;
  terminals_: Readonly<Record<number, string>>;
}

const { lexer: sharedLexer, terminals_: tokenNames } = (Handlebars.create() as unknown as { Parser: Parser }).Parser;

/**
 * Refuses what the parser must not see. Its time grows with more than the square of the depth: 64 kB of `{{#if a}}`
 * take it half a minute, of `{{a (b (b …` some minutes. Its lexer is linear up to the first thing that is no
 * token, so the depth is counted on tokens first, with the eyes of the parser itself: nothing hides from it in a text,
 * a comment or a raw block.
 */
export function faultOfBounds(source: string): string | undefined {
  if (source.length > maxSourceLength) return `A template has ${maxSourceLength} characters at most`;
  let blocks = 0;
  let elseIfs = 0;
  let calls = 0;
  let tokens = 0;
  for (const token of tokensOf(source)) {
    if (++tokens > maxTokens) return `A template has ${maxTokens} words and signs within its braces at most`;
    switch (token) {
      case "OPEN_BLOCK":
      case "OPEN_INVERSE":
      case "OPEN_PARTIAL_BLOCK":
      case "OPEN_RAW_BLOCK":
        if (++blocks > maxBlockDepth) return `More than ${maxBlockDepth} blocks within each other`;
        break;
      case "OPEN_ENDBLOCK":
      case "END_RAW_BLOCK":
        blocks -= 1;
        break;
      case "OPEN_INVERSE_CHAIN":
        if (++elseIfs > maxElseIfs) return `More than ${maxElseIfs} times else if`;
        break;
      case "OPEN_SEXPR":
        if (++calls > maxCallDepth) return `More than ${maxCallDepth} calls within each other`;
        break;
      case "CLOSE_SEXPR":
        calls -= 1;
        break;
    }
    // More ends than beginnings: the parser stops there and says so.
    if (blocks < 0 || calls < 0) return undefined;
  }
  return undefined;
}

function* tokensOf(source: string): Generator<string> {
  // The parser's own lexer must stay as it is: this one keeps its state in an object of its own.
  const lexer = Object.create(sharedLexer) as Lexer;
  lexer.yy = {};
  lexer.setInput(source);
  for (;;) {
    let token: string | number | undefined;
    try {
      token = lexer.lex();
    } catch {
      return; // The parser stops at the same place and says why.
    }
    const name = typeof token === "number" ? tokenNames[token] : token;
    // What is no token ends the parsing; to read on here would look for the end of every open bracket anew.
    if (name === undefined || name === "EOF" || name === "INVALID") return;
    yield name;
  }
}
