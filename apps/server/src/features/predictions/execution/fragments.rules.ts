/** A piece of what a run has said; `seq` counts from 1 in each claim. */
export interface Fragment {
  claim: number;
  seq: number;
  field: string;
  /** As the database holds it: see `storableText`. */
  fragment: string;
}

/** No character of any text: what follows it stands for a character that the database does not take. */
const mark = "\uffff";
const halfPairs = /[\p{Cs}\uffff]/gu;
const marked = /\uffff([0-9a-f]{4})/g;

/** A text as the database can hold it: NUL and half surrogate pairs are written as the mark and four digits. */
export function storableText(text: string): string {
  const wellFormed = text.isWellFormed() && !text.includes(mark) ? text : text.replaceAll(halfPairs, escaped);
  return wellFormed.replaceAll("\0", escaped);
}

export function originalText(stored: string): string {
  return stored.replaceAll(marked, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

function escaped(character: string): string {
  return mark + character.charCodeAt(0).toString(16).padStart(4, "0");
}

/** What of a text can be told already: the first half of a pair at its end waits for the other one. */
export function wholePairs(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
