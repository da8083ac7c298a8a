/** A Unicode noncharacter. The four digits after it encode a character that PostgreSQL rejects. */
const mark = "\uffff";
const loneSurrogates = /[\p{Cs}\uffff]/gu;
const marked = /\uffff([0-9a-f]{4})/g;

/** Escapes NUL and lone surrogates, which PostgreSQL rejects, as the mark and four digits. */
export function storableText(text: string): string {
  const wellFormed = text.isWellFormed() && !text.includes(mark) ? text : text.replaceAll(loneSurrogates, escaped);
  return wellFormed.replaceAll("\0", escaped);
}

export function originalText(stored: string): string {
  return stored.replaceAll(marked, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

function escaped(character: string): string {
  return mark + character.charCodeAt(0).toString(16).padStart(4, "0");
}

/** The text without a first half of a surrogate pair at its end, whose second half is still to come. */
export function wholePairs(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}

/** The text of the last claim that produced any. */
export function transcriptText(fragments: readonly { claim: number; fragment: string }[]): string {
  const last = fragments.at(-1)?.claim;
  return fragments.map(({ claim, fragment }) => (claim === last ? originalText(fragment) : "")).join("");
}
