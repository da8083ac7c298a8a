const longestQuote = 8192;

/**
 * A server's own words on one line, and not without end. Whoever shows them makes them short, after hiding what they may
 * hold: of a secret that is cut through, half would be left.
 */
export function quote(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > longestQuote ? `${line.slice(0, longestQuote)}…` : line;
}
